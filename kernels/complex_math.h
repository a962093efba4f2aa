// Arithmetic of complex numbers, and the mathematical functions that have complex loops.
#pragma once

#include <catena/kernels/complex.h>
#include <catena/kernels/math.h>

namespace catena {

// Returns -x in a way that makes the compiler treat `negated(x) * y + z` as a sum. For a difference beside a sum, g++
// 12 generates fused operations in the loops that it vectorises, even under -ffp-contract=off, and a value would depend
// on its position.
template <class T> ND_FN T negated(T x) {
  using U = typename uint_of_size<sizeof(T)>::type;
  return CATENA_DEVICE ? -x : bit_cast<T>(U(bit_cast<U>(x) ^ (U(1) << (8 * sizeof(T) - 1))));
}

template <class T> ND_FN complex<T> operator+(complex<T> a, complex<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> ND_FN complex<T> operator-(complex<T> a, complex<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> ND_FN complex<T> operator-(complex<T> a) { return {-a.re, -a.im}; }
template <class T> ND_FN complex<T> operator*(complex<T> a, complex<T> b) {
  return {a.re * b.re + negated(a.im) * b.im, a.re * b.im + a.im * b.re};
}
template <class T> ND_FN complex<T> operator/(complex<T> a, T b) { return {a.re / b, a.im / b}; }
// Smith, Algorithm 116: Complex division, Communications of the ACM 5(8), 1962. No intermediate result overflows
// unless the quotient nearly does. A divisor of 0 divides both parts by 0.
template <class T> ND_FN complex<T> operator/(complex<T> a, complex<T> b) {
  if (m::fabs(b.re) >= m::fabs(b.im)) {
    if (b.re == T(0) && b.im == T(0)) return a / m::fabs(b.re);
    const T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
    return {(a.re + a.im * ratio) * scale, (a.im + negated(a.re) * ratio) * scale};
  }
  const T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
  return {(a.re * ratio + a.im) * scale, (a.im * ratio + negated(a.re)) * scale};
}
template <class T> ND_FN complex<T>& operator+=(complex<T>& a, complex<T> b) { return a = a + b; }
template <class T> ND_FN complex<T>& operator-=(complex<T>& a, complex<T> b) { return a = a - b; }
template <class T> ND_FN complex<T>& operator*=(complex<T>& a, complex<T> b) { return a = a * b; }
template <class T> ND_FN complex<T>& operator/=(complex<T>& a, complex<T> b) { return a = a / b; }
template <class T> ND_FN complex<T> conj(complex<T> z) { return {z.re, -z.im}; }

namespace m {

// Does not use hypot, whose vector version gives other results than the scalar one.
template <class T> ND_FN T abs(complex<T> z) {
  const T a = fabs(z.re), b = fabs(z.im), infinity = limits<T>::max();
  const T large = a > b ? a : b, small = a > b ? b : a, ratio = small / large;
  const T size = large == T(0) ? a + b : large * sqrt(T(1) + ratio * ratio);
  return (a == infinity) | (b == infinity) ? infinity : size;
}

// C99, annex G.6.3.1. The exponential of a large real part is applied in two steps, because the result may be finite
// even if the exponential is not.
template <class T> ND_FN complex<T> exp(complex<T> z) {
  const T e = exp(z.re), infinity = limits<T>::max();
  if (z.im == T(0)) return {e, z.im};
  if (m::fabs(z.im) < infinity) {
    const T c = cos(z.im), s = sin(z.im);
    if (e < infinity || z.re == infinity) return {e * c, e * s};
    const T half = exp(z.re * T(0.5));
    return {half * c * half, half * s * half};
  }
  if (z.re == -infinity) return {T(0), T(0)};
  const T nan = z.im - z.im;
  return {z.re == infinity ? z.re : nan, nan};
}

// Returns the root whose real part is not negative; C99, annex G.6.4.2. Large arguments are scaled down, so that the
// sum of the real part and the modulus does not overflow; subnormal arguments are scaled up.
template <class T> ND_FN complex<T> sqrt(complex<T> z) {
  const T infinity = limits<T>::max();
  T a = z.re, b = z.im;
  if (a == T(0) && b == T(0)) return {T(0), b};
  if (m::fabs(b) == infinity) return {infinity, b};
  if (a != a) return {a, a};
  if (a == infinity) return {a, b != b ? b : copysign(T(0), b)};
  if (a == -infinity) return {b != b ? b : T(0), b != b ? infinity : copysign(infinity, b)};
  constexpr T large = sizeof(T) == 4 ? T(1e38) : T(5e307), small = sizeof(T) == 4 ? T(1e-36) : T(1e-304);
  const T size = m::fabs(a) > m::fabs(b) ? m::fabs(a) : m::fabs(b);
  const T scale = size >= large ? T(0.25) : (size < small ? T(0x1p54) : T(1));
  const T back = size >= large ? T(2) : (size < small ? T(0x1p-27) : T(1));
  a *= scale;
  b *= scale;
  const T root = sqrt((m::fabs(a) + abs(complex<T>(a, b))) * T(0.5)), other = b / (root * T(2));
  if (a >= T(0)) return {root * back, other * back};
  return {m::fabs(other) * back, copysign(root, b) * back};
}

// z / |z|; 0 of 0, NaN of NaN and of two infinite parts, as NumPy's.
template <class T> ND_FN complex<T> sign(complex<T> z) {
  const T size = abs(z), infinity = limits<T>::max();
  if (size == T(0)) return {T(0), T(0)};
  if (size < infinity) return {z.re / size, z.im / size};
  const bool x = fabs(z.re) == infinity, y = fabs(z.im) == infinity;
  const T nan = infinity - infinity;
  if (x == y || z.re != z.re || z.im != z.im) return {nan, nan};
  return {x ? copysign(T(1), z.re) : T(0), y ? copysign(T(1), z.im) : T(0)};
}

}  // namespace m
}  // namespace catena
