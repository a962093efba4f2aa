// Special functions. Those of special_math.h are computed in float64 for every dtype and rounded once.
#pragma once

#include <catena/kernels/special_math.h>

namespace catena::m {

#define CATENA_BESSEL(name)                         \
  ND_FN double name(double x) { return ::name(x); } \
  ND_FN float name(float x) { return static_cast<float>(::name(double(x))); }
CATENA_BESSEL(j0)
CATENA_BESSEL(j1)
CATENA_BESSEL(y0)
CATENA_BESSEL(y1)
#undef CATENA_BESSEL

}  // namespace catena::m

namespace catena::k {

// ---- by the functions of the C library and of CUDA ------------------------------------------------
struct erf {
  template <class T> ND_FN static void run(T x, T& y) { y = m::erf(x); }
};
struct erfc {
  template <class T> ND_FN static void run(T x, T& y) { y = m::erfc(x); }
};
struct j0 {
  template <class T> ND_FN static void run(T x, T& y) { y = m::j0(x); }
};
struct j1 {
  template <class T> ND_FN static void run(T x, T& y) { y = m::j1(x); }
};
// NaN below 0.
struct y0 {
  template <class T> ND_FN static void run(T x, T& y) { y = x < T(0) ? not_a_number<T>() : m::y0(x); }
};
struct y1 {
  template <class T> ND_FN static void run(T x, T& y) { y = x < T(0) ? not_a_number<T>() : m::y1(x); }
};
// The distribution function of the normal distribution.
struct ndtr {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::normal_cdf(double(x))); }
};

// ---- logarithms with special cases -----------------------------------------------------------------
// log(x / (1 - x)); near 1/2 as 2 artanh(2 x - 1), whose argument is exact.
struct logit {
  template <class T> ND_FN static void run(T x, T& y) {
    const T s = T(2) * x - T(1), near_half = m::log1p(T(2) * s / (T(1) - s)), far = m::log(x / (T(1) - x));
    y = m::fabs(s) < T(0.5) ? near_half : far;
  }
};
// log(1 / (1 + e^-x))
struct log_expit {
  template <class T> ND_FN static void run(T x, T& y) {
    const T rest = m::log1p(m::exp(-m::fabs(x)));
    y = (x < T(0) ? x : T(0)) - rest;
  }
};
// x log(y) and x log(1 + y), which are 0 for x = 0 unless y is NaN.
struct xlogy {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    const T product = a * m::log(b);
    y = (a == T(0)) & (b == b) ? T(0) : product;
  }
};
struct xlog1py {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    const T product = a * m::log1p(b);
    y = (a == T(0)) & (b == b) ? T(0) : product;
  }
};
// -x log(x); 0 at 0, -inf below.
struct entr {
  template <class T> ND_FN static void run(T x, T& y) {
    const T product = -x * m::log(x);
    y = x < T(0) ? limits<T>::min() : (x == T(0) ? T(0) : product);
  }
};
// a log(a / b) for positive numbers; 0 for a = 0, b >= 0; else inf. Where a and b are close to each other, by their
// difference.
struct rel_entr {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    const T d = (a - b) / b, near_one = m::log1p(d), far = m::log(a / b);
    const T product = a * (m::fabs(d) < T(0.5) ? near_one : far);
    const T edge = (a == T(0)) & (b >= T(0)) ? T(0) : limits<T>::max();
    y = (a != a) | (b != b) ? a + b : ((a > T(0)) & (b > T(0)) ? product : edge);
  }
};

// ---- by special_math.h --------------------------------------------------------------------------------
// sin(pi x) / (pi x)
struct sinc {
  template <class T> ND_FN static void run(T x, T& y) {
    const double a = double(x), far = special::sin_pi(a) / (3.141592653589793 * a);
    y = a == 0 ? T(1) : (m::fabs(a) == special::infinity() ? T(0) : static_cast<T>(far));
  }
};
struct erfinv {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::erfinv(double(x))); }
};
struct erfcinv {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::erfcinv(double(x))); }
};
struct gamma {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::gamma(double(x))); }
};
struct gammaln {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::log_gamma(double(x))); }
};
struct digamma {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::digamma(double(x))); }
};
struct riemann_zeta {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::riemann_zeta(double(x))); }
};
struct i0 {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::bessel_i0(double(x))); }
};
struct i0e {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::bessel_i0e(double(x))); }
};
struct i1 {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::bessel_i1(double(x))); }
};
struct i1e {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::bessel_i1e(double(x))); }
};
struct beta {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = static_cast<T>(special::beta(double(a), double(b))); }
};
struct betaln {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    y = static_cast<T>(special::log_beta(double(a), double(b)));
  }
};
struct zeta {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = static_cast<T>(special::zeta(double(a), double(b))); }
};
// The logarithm of ndtr.
struct log_ndtr {
  template <class T> ND_FN static void run(T x, T& y) { y = static_cast<T>(special::log_normal_cdf(double(x))); }
};
// The inverse of ndtr.
struct ndtri {
  template <class T> ND_FN static void run(T p, T& y) {
    y = static_cast<T>(-1.4142135623730951 * special::erfcinv(2 * double(p)));
  }
};

}  // namespace catena::k
