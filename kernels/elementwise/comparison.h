// Comparisons, and the selections made by one. Operands of different types are int64 and uint64, compared as the
// numbers they are.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

struct equal {
  template <class A, class B>
  ND_FN static void run(A a, B b, bool& y) {
    if constexpr (is_same<A, B>) y = a == b;
    else if constexpr (is_signed_int<A>) y = (a >= A(0)) & (B(a) == b);
    else y = (b >= B(0)) & (a == A(b));
  }
};
struct less {
  template <class A, class B>
  ND_FN static void run(A a, B b, bool& y) {
    if constexpr (is_same<A, B>) y = a < b;
    else if constexpr (is_signed_int<A>) y = (a < A(0)) | (B(a) < b);
    else y = (b >= B(0)) & (a < A(b));
  }
};
struct less_equal {
  template <class A, class B>
  ND_FN static void run(A a, B b, bool& y) {
    if constexpr (is_same<A, B>) y = a <= b;
    else if constexpr (is_signed_int<A>) y = (a < A(0)) | (B(a) <= b);
    else y = (b >= B(0)) & (a <= A(b));
  }
};
struct not_equal {
  template <class A, class B>
  ND_FN static void run(A a, B b, bool& y) {
    equal::run(a, b, y);
    y = !y;
  }
};
struct greater {
  template <class A, class B>
  ND_FN static void run(A a, B b, bool& y) {
    less::run(b, a, y);
  }
};
struct greater_equal {
  template <class A, class B>
  ND_FN static void run(A a, B b, bool& y) {
    less_equal::run(b, a, y);
  }
};

// NaN in either operand is the result of maximum and minimum; fmax and fmin ignore it unless both are NaN.
struct maximum {
  template <class T>
  ND_FN static void run(T a, T b, T& y) {
    y = nan_max(a, b);
  }
};
struct minimum {
  template <class T>
  ND_FN static void run(T a, T b, T& y) {
    y = nan_min(a, b);
  }
};
struct fmax {
  template <class T>
  ND_FN static void run(T a, T b, T& y) {
    y = skip_nan_max(a, b);
  }
};
struct fmin {
  template <class T>
  ND_FN static void run(T a, T b, T& y) {
    y = skip_nan_min(a, b);
  }
};

}  // namespace catena::k
