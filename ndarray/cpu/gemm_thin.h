// Products of which one operand is a few rows or columns: limited by reading the other one, in any of its storage
// orders, which packing it would double; short lines alone are packed. Results do not depend on the number of threads.
#pragma once

#include <catena/ndarray/cpu/gemm.h>

namespace nd::cpu {

// Whether gemm_thin() takes the product.
bool is_thin(const Gemm& g, std::int64_t itemsize);

// For elements of type T: float, double or an unsigned integer.
template <class T> void gemm_thin(const Gemm& g);
// k = 1: a column times a row.
template <class T> void gemm_outer(const Gemm& g);

}  // namespace nd::cpu
