// Complex numbers in the text of an ElementwiseKernel or a ReductionKernel: the class and the functions that CuPy
// provides (thrust::complex), and arithmetic with real numbers of every type. Elements of complex arrays have this
// class; it has the layout of catena::complex.
//
// An operation on two types gives the wider one: complex<float> with a double, or with a complex<double>, gives
// complex<double>, and with an integer complex<float>. Assignment narrows, as for real numbers.
#pragma once

#include <catena/kernels/complex_math.h>

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

// ---- functions ----------------------------------------------------------------------------------
template <class T> ND_FN complex<T> exp(complex<T> z) { return catena::m::exp(catena::complex<T>(z)); }
template <class T> ND_FN complex<T> sqrt(complex<T> z) { return catena::m::sqrt(catena::complex<T>(z)); }

// Near |z| = 1, computes half of log1p(|z|^2 - 1), because the logarithm of the length would lose its digits.
template <class T> ND_FN complex<T> log(complex<T> z) {
  using namespace catena;
  const T a = m::fabs(z.re), b = m::fabs(z.im), large = a > b ? a : b, small = a > b ? b : a, size = abs(z);
  const bool near = size > T(0.5) && size < T(2);
  return {near ? T(0.5) * m::log1p((large - T(1)) * (large + T(1)) + small * small) : m::log(size), arg(z)};
}
template <class T> ND_FN complex<T> log2(complex<T> z) { return log(z) / T(0.69314718055994530942); }
template <class T> ND_FN complex<T> log10(complex<T> z) { return log(z) / T(2.30258509299404568402); }
template <class T> ND_FN complex<T> log1p(complex<T> z) {
  const bool near = abs(z) < T(0.5);
  const complex<T> w = log(z + T(1));
  return {near ? T(0.5) * catena::m::log1p(z.re * (T(2) + z.re) + z.im * z.im) : w.re, w.im};
}
template <class T> ND_FN complex<T> expm1(complex<T> z) {
  using namespace catena;
  const T half = m::sin(z.im * T(0.5));
  return {m::expm1(z.re) * m::cos(z.im) - T(2) * half * half, m::exp(z.re) * m::sin(z.im)};
}

// Computes whole exponents up to 100 by multiplication, as NumPy does.
template <class T> ND_FN complex<T> pow(complex<T> z, complex<T> exponent) {
  if (exponent.re == T(0) && exponent.im == T(0)) return {T(1), T(0)};
  if (z == T(0) && exponent.re > T(0)) return {T(0), T(0)};
  if (exponent.im == T(0) && catena::m::fabs(exponent.re) <= T(100) && exponent.re == catena::m::trunc(exponent.re)) {
    complex<T> power(T(1)), square = z;
    for (int n = int(catena::m::fabs(exponent.re)); n != 0; n /= 2) {
      if (n % 2 != 0) power = power * square;
      square = square * square;
    }
    return exponent.re < T(0) ? complex<T>(T(1)) / power : power;
  }
  return exp(exponent * log(z));
}
template <class A, class B> ND_FN complex<wider<A, B>> pow(complex<A> z, complex<B> exponent) {
  return pow(complex<wider<A, B>>(z), complex<wider<A, B>>(exponent));
}
template <class T, real_number S> ND_FN complex<wider<T, S>> pow(complex<T> z, S exponent) {
  return pow(z, complex<wider<T, S>>(wider<T, S>(exponent)));
}
template <class T, real_number S> ND_FN complex<wider<T, S>> pow(S s, complex<T> exponent) {
  return pow(complex<wider<T, S>>(wider<T, S>(s)), exponent);
}

template <class T> ND_FN complex<T> sinh(complex<T> z) {
  using namespace catena;
  return {m::sinh(z.re) * m::cos(z.im), m::cosh(z.re) * m::sin(z.im)};
}
template <class T> ND_FN complex<T> cosh(complex<T> z) {
  using namespace catena;
  return {m::cosh(z.re) * m::cos(z.im), m::sinh(z.re) * m::sin(z.im)};
}
// W. Kahan, Branch cuts for complex elementary functions, 1987. Beyond 20 the result is 1 up to rounding.
template <class T> ND_FN complex<T> tanh(complex<T> z) {
  using namespace catena;
  if (m::fabs(z.re) > T(20)) {
    const T e = m::exp(-m::fabs(z.re));
    return {m::copysign(T(1), z.re), T(4) * m::sin(z.im) * m::cos(z.im) * e * e};
  }
  const T t = m::tan(z.im), s = m::sinh(z.re), b = T(1) + t * t, size = T(1) + b * s * s;
  return {b * m::sqrt(T(1) + s * s) * s / size, t / size};
}
template <class T> ND_FN complex<T> asinh(complex<T> z);
template <class T> ND_FN complex<T> atanh(complex<T> z);
// The trigonometric functions from the hyperbolic ones: f(iz) = i g(z).
template <class T> ND_FN complex<T> sin(complex<T> z) {
  const complex<T> w = sinh(complex<T>(-z.im, z.re));
  return {w.im, -w.re};
}
template <class T> ND_FN complex<T> cos(complex<T> z) { return cosh(complex<T>(-z.im, z.re)); }
template <class T> ND_FN complex<T> tan(complex<T> z) {
  const complex<T> w = tanh(complex<T>(-z.im, z.re));
  return {w.im, -w.re};
}
// W. Kahan, as above.
template <class T> ND_FN complex<T> asin(complex<T> z) {
  const complex<T> a = sqrt(T(1) - z), b = sqrt(T(1) + z);
  return {catena::m::atan2(z.re, real(a * b)), catena::m::asinh(imag(conj(a) * b))};
}
template <class T> ND_FN complex<T> acos(complex<T> z) {
  const complex<T> a = sqrt(T(1) - z), b = sqrt(T(1) + z);
  return {T(2) * catena::m::atan2(a.re, b.re), catena::m::asinh(imag(conj(b) * a))};
}
template <class T> ND_FN complex<T> acosh(complex<T> z) {
  const complex<T> a = sqrt(z - T(1)), b = sqrt(z + T(1));
  return {catena::m::asinh(real(conj(a) * b)), T(2) * catena::m::atan2(a.im, b.re)};
}
template <class T> ND_FN complex<T> asinh(complex<T> z) {
  const complex<T> w = asin(complex<T>(-z.im, z.re));
  return {w.im, -w.re};
}
template <class T> ND_FN complex<T> atanh(complex<T> z) {
  using namespace catena;
  const T x = z.re, y = z.im, d = T(1) - x;
  return {T(0.25) * m::log1p(T(4) * x / (d * d + y * y)), T(0.5) * m::atan2(T(2) * y, d * (T(1) + x) - y * y)};
}
template <class T> ND_FN complex<T> atan(complex<T> z) {
  const complex<T> w = atanh(complex<T>(-z.im, z.re));
  return {w.im, -w.re};
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
