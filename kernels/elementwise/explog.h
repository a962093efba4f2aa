// Exponentials and logarithms.
#pragma once

#include <catena/kernels/complex_functions.h>
#include <catena/kernels/exp_log.h>
#include <catena/kernels/numeric.h>

namespace catena::k {

struct cbrt {
  template <class T> ND_FN static void run(T x, T& y) { y = m::cbrt(x); }
};
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

// log(e^a + e^b) = m + log(1 + e^-|a - b|), where m is the larger operand; the bits are the same on every device. If
// the two terms have different signs (e^a + e^b is near 1), digits cancel: the error is at most 2 units in the last
// place of the largest of m, the result and 1/2. The distance of two equal infinities is NaN, which counts as a large
// one.
struct logaddexp {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    const log1p_terms<T> log1p(exp_of_negative(-m::fabs(a - b)));
    using C = exact::constants<T>;
    y = (nan_max(a, b) + (log1p.halved ? C::ln2_high() : T(0))) + (log1p.rest + (log1p.halved ? C::ln2_low() : T(0)));
  }
};
// log2(2^a + 2^b), likewise.
struct logaddexp2 {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    const log1p_terms<T> log1p(exp2_of_negative(-m::fabs(a - b)));
    y = (nan_max(a, b) + (log1p.halved ? T(1) : T(0))) + log1p.rest * T(1.44269504088896340735992468100);
  }
};

}  // namespace catena::k
