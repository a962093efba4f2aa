// Exponentials and logarithms.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

struct exp {
  template <class T> ND_FN static void run(T x, T& y) { y = m::exp(x); }
};
struct expm1 {
  template <class T> ND_FN static void run(T x, T& y) { y = m::expm1(x); }
};
struct exp2 {
  template <class T> ND_FN static void run(T x, T& y) { y = m::exp2(x); }
};
struct log {
  template <class T> ND_FN static void run(T x, T& y) { y = m::log(x); }
};
struct log2 {
  template <class T> ND_FN static void run(T x, T& y) { y = m::log2(x); }
};
struct log10 {
  template <class T> ND_FN static void run(T x, T& y) { y = m::log10(x); }
};
struct log1p {
  template <class T> ND_FN static void run(T x, T& y) { y = m::log1p(x); }
};

// log(e^a + e^b). Equal operands are a case of their own: the difference of two equal infinities would be NaN.
struct logaddexp {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    const T distance = m::fabs(a - b);
    const T larger = nan_max(a, b) + m::log1p(m::exp(-distance));
    y = a == b ? a + T(0.693147180559945309417232121458) : larger;
  }
};
// log2(2^a + 2^b)
struct logaddexp2 {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    const T distance = m::fabs(a - b);
    const T larger = nan_max(a, b) + m::log1p(m::exp2(-distance)) * T(1.44269504088896340735992468100);
    y = a == b ? a + T(1) : larger;
  }
};

}  // namespace catena::k
