// Loops over samples in host memory.
//
// Thread safety: may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/ndarray/core/array.h>

namespace nd::internal {

// Elements [first, first + out.size()) of the convolution of a and v, which are C-contiguous, of one dtype among
// uint32, uint64, float32, float64, complex64 and complex128, and of rank 1 with elements; a is not shorter than v.
void convolve_samples(const Array& a, const Array& v, std::int64_t first, const Array& out);

// out[i] is the piecewise linear function through the m points (xp, fp) at x[i], as nd::interp. Below and above all
// points it is `left` and `right`, by default the values at the ends.
void interpolate_samples(const double* x, std::int64_t n, const double* xp, const double* fp, std::int64_t m,
                         double* out, std::optional<double> left, std::optional<double> right);

}  // namespace nd::internal
