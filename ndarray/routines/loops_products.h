// Sums of products of arrays in host memory.
//
// Thread safety: may be called from any thread.
#pragma once

#include <cstdint>

namespace nd::internal {

// out[j] = the sum over i of x[i, j] y[i, j], for matrices of n rows of m numbers. Every 64 rows are added by
// themselves, so that rounding errors grow with n / 64.
void sum_products_of_rows(const float* x, const float* y, float* out, std::int64_t n, std::int64_t m);
void sum_products_of_rows(const double* x, const double* y, double* out, std::int64_t n, std::int64_t m);

}  // namespace nd::internal
