// Complex numbers in the text of an ElementwiseKernel or a ReductionKernel: the class and the functions that CuPy
// provides (thrust::complex), and arithmetic with real numbers of every type. Elements of complex arrays have this
// class; it has the layout of catena::complex.
//
// An operation on two types gives the wider one: complex<float> with a double, or with a complex<double>, gives
// complex<double>, and with an integer complex<float>. Assignment narrows, as for real numbers.
#pragma once

#include <catena/kernels/complex_functions.h>

namespace thrust {

template <class T> struct complex {
  T re, im;
  using value_type = T;

  complex() = default;
  ND_FN complex(T real, T imag = T(0)) : re(real), im(imag) {}
  template <class S> ND_FN complex(complex<S> z) : re(T(z.re)), im(T(z.im)) {}
  ND_FN complex(catena::complex<T> z) : re(z.re), im(z.im) {}
  ND_FN operator catena::complex<T>() const { return {re, im}; }

  ND_FN T real() const { return re; }
  ND_FN T imag() const { return im; }
  ND_FN void real(T v) { re = v; }
  ND_FN void imag(T v) { im = v; }

  template <class S> ND_FN complex& operator+=(S v) { return *this = *this + v; }
  template <class S> ND_FN complex& operator-=(S v) { return *this = *this - v; }
  template <class S> ND_FN complex& operator*=(S v) { return *this = *this * v; }
  template <class S> ND_FN complex& operator/=(S v) { return *this = *this / v; }
};

// Any number that is not complex: bool, the integers, float, double, and the 16-bit floats.
template <class S>
concept real_number = requires(S s) {
  double(s);
};
template <class A, class B>
using wider =
    catena::conditional_t<bool(catena::same_type<A, double>::value) || bool(catena::same_type<B, double>::value),
                          double, float>;

// ---- operators ----------------------------------------------------------------------------------
// CATENA_USER_COMPLEX(op) defines the operator for all pairs of types by the operator for two numbers of one type.
#define CATENA_USER_COMPLEX(op)                                                                    \
  template <class A, class B> ND_FN complex<wider<A, B>> operator op(complex<A> a, complex<B> b) { \
    using T = wider<A, B>;                                                                         \
    return catena::complex<T>(complex<T>(a)) op catena::complex<T>(complex<T>(b));                 \
  }
CATENA_USER_COMPLEX(+)
CATENA_USER_COMPLEX(-)
CATENA_USER_COMPLEX(*)
CATENA_USER_COMPLEX(/)
#undef CATENA_USER_COMPLEX

// A real number has no imaginary part; an imaginary part of 0 would turn an infinity into NaN.
template <class T, real_number S> ND_FN complex<wider<T, S>> operator+(complex<T> z, S s) {
  return {wider<T, S>(z.re) + wider<T, S>(s), wider<T, S>(z.im)};
}
template <class T, real_number S> ND_FN complex<wider<T, S>> operator+(S s, complex<T> z) { return z + s; }
template <class T, real_number S> ND_FN complex<wider<T, S>> operator-(complex<T> z, S s) {
  return {wider<T, S>(z.re) - wider<T, S>(s), wider<T, S>(z.im)};
}
template <class T, real_number S> ND_FN complex<wider<T, S>> operator-(S s, complex<T> z) {
  return {wider<T, S>(s) - wider<T, S>(z.re), -wider<T, S>(z.im)};
}
template <class T, real_number S> ND_FN complex<wider<T, S>> operator*(complex<T> z, S s) {
  return {wider<T, S>(z.re) * wider<T, S>(s), wider<T, S>(z.im) * wider<T, S>(s)};
}
template <class T, real_number S> ND_FN complex<wider<T, S>> operator*(S s, complex<T> z) { return z * s; }
template <class T, real_number S> ND_FN complex<wider<T, S>> operator/(complex<T> z, S s) {
  return {wider<T, S>(z.re) / wider<T, S>(s), wider<T, S>(z.im) / wider<T, S>(s)};
}
template <class T, real_number S> ND_FN complex<wider<T, S>> operator/(S s, complex<T> z) {
  return complex<wider<T, S>>(wider<T, S>(s)) / z;
}
template <class T> ND_FN complex<T> operator+(complex<T> z) { return z; }
template <class T> ND_FN complex<T> operator-(complex<T> z) { return {-z.re, -z.im}; }

template <class A, class B> ND_FN bool operator==(complex<A> a, complex<B> b) {
  return (a.re == b.re) & (a.im == b.im);
}
template <class T, real_number S> ND_FN bool operator==(complex<T> z, S s) { return (z.re == s) & (z.im == T(0)); }
template <class T, real_number S> ND_FN bool operator==(S s, complex<T> z) { return z == s; }
template <class A, class B> ND_FN bool operator!=(complex<A> a, complex<B> b) { return !(a == b); }
template <class T, real_number S> ND_FN bool operator!=(complex<T> z, S s) { return !(z == s); }
template <class T, real_number S> ND_FN bool operator!=(S s, complex<T> z) { return !(z == s); }

// ---- parts --------------------------------------------------------------------------------------
template <class T> ND_FN T real(complex<T> z) { return z.re; }
template <class T> ND_FN T imag(complex<T> z) { return z.im; }
template <real_number S> ND_FN S real(S s) { return s; }
template <real_number S> ND_FN S imag(S) { return S(0); }
template <class T> ND_FN complex<T> conj(complex<T> z) { return {z.re, -z.im}; }
template <real_number S> ND_FN S conj(S s) { return s; }
template <class T> ND_FN T abs(complex<T> z) { return catena::m::abs(catena::complex<T>(z)); }
template <class T> ND_FN T norm(complex<T> z) { return z.re * z.re + z.im * z.im; }  // the square of abs
template <class T> ND_FN T arg(complex<T> z) { return catena::m::atan2(z.im, z.re); }
template <class T> ND_FN complex<T> polar(T length, T angle = T(0)) {
  return {length * catena::m::cos(angle), length * catena::m::sin(angle)};
}
template <class T> ND_FN bool isnan(complex<T> z) { return z.re != z.re || z.im != z.im; }
template <class T> ND_FN bool isinf(complex<T> z) {
  const T infinity = catena::limits<T>::max();
  return catena::m::fabs(z.re) == infinity || catena::m::fabs(z.im) == infinity;
}
template <class T> ND_FN bool isfinite(complex<T> z) { return !isnan(z) && !isinf(z); }
// Projection on the Riemann sphere, on which all infinities are one point.
template <class T> ND_FN complex<T> proj(complex<T> z) {
  return isinf(z) ? complex<T>(catena::limits<T>::max(), catena::m::copysign(T(0), z.im)) : z;
}
template <class T> ND_FN complex<T> rint(complex<T> z) { return {catena::m::rint(z.re), catena::m::rint(z.im)}; }

// Compares the real parts, then the imaginary parts. NaN is ignored, as for real numbers.
template <class A, class B> ND_FN complex<wider<A, B>> min(complex<A> a, complex<B> b) {
  if (isnan(a) || isnan(b)) return isnan(a) ? complex<wider<A, B>>(b) : complex<wider<A, B>>(a);
  return a.re < b.re || (a.re == b.re && a.im < b.im) ? complex<wider<A, B>>(a) : complex<wider<A, B>>(b);
}
template <class A, class B> ND_FN complex<wider<A, B>> max(complex<A> a, complex<B> b) {
  if (isnan(a) || isnan(b)) return isnan(a) ? complex<wider<A, B>>(b) : complex<wider<A, B>>(a);
  return a.re > b.re || (a.re == b.re && a.im > b.im) ? complex<wider<A, B>>(a) : complex<wider<A, B>>(b);
}

// ---- functions: those of nd -----------------------------------------------------------------------
#define CATENA_FUNCTION(name) \
  template <class T> ND_FN complex<T> name(complex<T> z) { return catena::m::name(catena::complex<T>(z)); }
// clang-format off
CATENA_FUNCTION(exp)
CATENA_FUNCTION(expm1)
CATENA_FUNCTION(sqrt)
CATENA_FUNCTION(log)
CATENA_FUNCTION(log2)
CATENA_FUNCTION(log10)
CATENA_FUNCTION(log1p)
CATENA_FUNCTION(sin)
CATENA_FUNCTION(cos)
CATENA_FUNCTION(tan)
CATENA_FUNCTION(asin)
CATENA_FUNCTION(acos)
CATENA_FUNCTION(atan)
CATENA_FUNCTION(sinh)
CATENA_FUNCTION(cosh)
CATENA_FUNCTION(tanh)
CATENA_FUNCTION(asinh)
CATENA_FUNCTION(acosh)
CATENA_FUNCTION(atanh)
// clang-format on
#undef CATENA_FUNCTION

template <class A, class B> ND_FN complex<wider<A, B>> pow(complex<A> z, complex<B> exponent) {
  using C = catena::complex<wider<A, B>>;
  return catena::m::pow(C(complex<wider<A, B>>(z)), C(complex<wider<A, B>>(exponent)));
}
template <class T, real_number S> ND_FN complex<wider<T, S>> pow(complex<T> z, S exponent) {
  return pow(z, complex<wider<T, S>>(wider<T, S>(exponent)));
}
template <class T, real_number S> ND_FN complex<wider<T, S>> pow(S s, complex<T> exponent) {
  return pow(complex<wider<T, S>>(wider<T, S>(s)), exponent);
}

}  // namespace thrust

using thrust::arg;
using thrust::complex;
using thrust::conj;
using thrust::imag;
using thrust::polar;
using thrust::proj;
using thrust::real;
using complex64 = thrust::complex<float>;
using complex128 = thrust::complex<double>;

// Makes std::exp(z) available beside exp(z).
namespace std {
using thrust::abs;
using thrust::acos;
using thrust::acosh;
using thrust::arg;
using thrust::asin;
using thrust::asinh;
using thrust::atan;
using thrust::atanh;
using thrust::conj;
using thrust::cos;
using thrust::cosh;
using thrust::exp;
using thrust::imag;
using thrust::log;
using thrust::log10;
using thrust::norm;
using thrust::polar;
using thrust::pow;
using thrust::proj;
using thrust::real;
using thrust::sin;
using thrust::sinh;
using thrust::sqrt;
using thrust::tan;
using thrust::tanh;
}  // namespace std
