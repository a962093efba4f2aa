// Folder kernels/elementwise/: bodies that compute one output element from one element of each input, by NumPy's
// chapters. Reductions, row-wise kernels and the bodies of neural networks are in other folders of kernels/. May use
// only the headers of kernels/.
//
// This header: arithmetic. Integers wrap; for bools, addition is or and multiplication is and.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

struct add {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    if constexpr (is_same<T, bool>) y = a | b;
    else y = wrap_add(a, b);
  }
};
struct subtract {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = wrap_sub(a, b); }
};
struct multiply {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    if constexpr (is_same<T, bool>) y = a & b;
    else y = wrap_mul(a, b);
  }
};
// Integers are converted to float64 before the division.
struct true_divide {
  template <class T, class R> ND_FN static void run(T a, T b, R& y) { y = static_cast<R>(a) / static_cast<R>(b); }
};
struct negative {
  template <class T> ND_FN static void run(T x, T& y) {
    if constexpr (is_float<T> || is_complex<T>) y = -x;
    else y = wrap_sub(T(0), x);
  }
};
// The modulus of a complex number.
struct absolute {
  template <class T> ND_FN static void run(T x, real_of_t<T>& y) { y = catena::absolute(x); }
};
struct conjugate {
  template <class T> ND_FN static void run(T x, T& y) {
    if constexpr (is_complex<T>) y = conj(x);
    else y = x;
  }
};
struct reciprocal {
  template <class T> ND_FN static void run(T x, T& y) {
    if constexpr (is_float<T> || is_complex<T>) y = T(1) / x;
    else if constexpr (is_signed_int<T>) y = (x == T(1)) | (x == T(-1)) ? x : T(0);
    else y = T(x == T(1));
  }
};
struct square {
  template <class T> ND_FN static void run(T x, T& y) { y = wrap_mul(x, x); }
};
struct sqrt {
  template <class T> ND_FN static void run(T x, T& y) { y = m::sqrt(x); }
};
struct rsqrt {
  template <class T> ND_FN static void run(T x, T& y) { y = T(1) / m::sqrt(x); }
};
struct sign {
  template <class T> ND_FN static void run(T x, T& y) { y = sign_of(x); }
};
// NaN stays NaN, a NaN bound does not clip, and the upper bound wins if the bounds cross.
struct clip {
  template <class T> ND_FN static void run(T x, T low, T high, T& y) {
    const T raised = x < low ? low : x;
    y = raised > high ? high : raised;
  }
};
struct copy {
  template <class T> ND_FN static void run(T x, T& y) { y = x; }
};

}  // namespace catena::k
