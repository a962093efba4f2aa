// Products in which one operand has few rows or columns. Their time is limited by reading the other operand, and
// packing it would double that, so it is read in any of its storage orders; only short lines are packed. Results do not
// depend on the number of threads.
#pragma once

#include <catena/ndarray/cpu/gemm.h>

namespace nd::cpu {

// True if gemm_thin() supports the product.
bool is_thin(const Gemm& g, std::int64_t itemsize);

// For elements of type T: float, double or an unsigned integer.
template <class T> void gemm_thin(const Gemm& g);
// The product for k = 1: a column times a row.
template <class T> void gemm_outer(const Gemm& g);

}  // namespace nd::cpu
