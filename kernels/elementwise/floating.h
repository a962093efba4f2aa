// Kinds of floating-point values, and signs.
#pragma once

#include "kernels/numeric.h"

namespace catena::k {

struct isnan { template <class T> ND_FN static void run(T x, bool& y) { y = x != x; } };
struct isinf { template <class T> ND_FN static void run(T x, bool& y) { y = m::fabs(x) == limits<T>::max(); } };
struct isfinite { template <class T> ND_FN static void run(T x, bool& y) { y = m::fabs(x) < limits<T>::max(); } };
// True for negative values, -0.0 and NaN with its sign set.
struct signbit {
  template <class T> ND_FN static void run(T x, bool& y) {
    using U = typename uint_of_size<sizeof(T)>::type;
    y = (bit_cast<U>(x) >> (8 * sizeof(T) - 1)) != 0;
  }
};
struct copysign { template <class T> ND_FN static void run(T a, T b, T& y) { y = m::copysign(a, b); } };

}  // namespace catena::k
