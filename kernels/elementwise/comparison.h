// Comparisons, and selections by a comparison. Operands of different types are int64 and uint64; they are compared by
// their mathematical values.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

struct equal {
  template <class A, class B> ND_FN static void run(A a, B b, bool& y) {
    if constexpr (is_same<A, B>) y = a == b;
    else if constexpr (is_signed_int<A>) y = (a >= A(0)) & (B(a) == b);
    else y = (b >= B(0)) & (a == A(b));
  }
};
struct less {
  template <class A, class B> ND_FN static void run(A a, B b, bool& y) {
    if constexpr (is_same<A, B>) y = a < b;
    else if constexpr (is_signed_int<A>) y = (a < A(0)) | (B(a) < b);
    else y = (b >= B(0)) & (a < A(b));
  }
};
struct less_equal {
  template <class A, class B> ND_FN static void run(A a, B b, bool& y) {
    if constexpr (is_same<A, B>) y = a <= b;
    else if constexpr (is_signed_int<A>) y = (a < A(0)) | (B(a) <= b);
    else y = (b >= B(0)) & (a <= A(b));
  }
};
struct not_equal {
  template <class A, class B> ND_FN static void run(A a, B b, bool& y) {
    equal::run(a, b, y);
    y = !y;
  }
};
struct greater {
  template <class A, class B> ND_FN static void run(A a, B b, bool& y) { less::run(b, a, y); }
};
struct greater_equal {
  template <class A, class B> ND_FN static void run(A a, B b, bool& y) { less_equal::run(b, a, y); }
};

// maximum and minimum give NaN if either operand is NaN; fmax and fmin only if both are. For integers, which have no
// NaN, fmax and fmin share the loops of maximum and minimum (exact_form).
struct maximum {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = nan_max(a, b); }
};
struct minimum {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = nan_min(a, b); }
};
struct fmax {
  using exact_form = maximum;
  template <class T> ND_FN static void run(T a, T b, T& y) { y = skip_nan_max(a, b); }
};
struct fmin {
  using exact_form = minimum;
  template <class T> ND_FN static void run(T a, T b, T& y) { y = skip_nan_min(a, b); }
};

}  // namespace catena::k
