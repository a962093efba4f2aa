// Exponentials and logarithms that use only sums, products and quotients. These operations are rounded in the same way
// everywhere, so unlike the functions of math.h, these functions have results with the same bits on every device and in
// every loop.
#pragma once

#include <catena/kernels/traits.h>

namespace catena {

namespace exact {

template <class T> struct constants;
template <> struct constants<float> {
  enum : int { digits = 23, bias = 127 };
  ND_FN static constexpr float round() { return 0x1.8p23f; }      // a sum with it is an integer, in its last bits
  ND_FN static constexpr float ln2_high() { return 0x1.63p-1f; }  // a product with an exponent is exact
  ND_FN static constexpr float ln2_low() { return -2.12194440e-4f; }
  ND_FN static constexpr float least() { return -105; }  // exp is 0 below
};
template <> struct constants<double> {
  enum : int { digits = 52, bias = 1023 };
  ND_FN static constexpr double round() { return 0x1.8p52; }
  ND_FN static constexpr double ln2_high() { return 0x1.62e42feep-1; }
  ND_FN static constexpr double ln2_low() { return 1.90821492927058770002e-10; }
  ND_FN static constexpr double least() { return -750; }
};

// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, by interpolation between Chebyshev's points. Relative to exp(r) the
// error is 2e-10 (float) and 1e-17 (double).
ND_FN float exp_rest(float r) {
  float p = 0.00019890990824673654f;
  p = p * r + 0.0013933649996309251f;
  p = p * r + 0.0083333109254809f;
  p = p * r + 0.041666464925285904f;
  p = p * r + 0.16666666681623232f;
  return p * r + 0.500000001346581f;
}
ND_FN double exp_rest(double r) {
  double p = 2.510038549551032e-08;
  p = p * r + 2.7620088445409746e-07;
  p = p * r + 2.7557268459997064e-06;
  p = p * r + 2.4801521295954376e-05;
  p = p * r + 0.00019841269863053618;
  p = p * r + 0.0013888888917213717;
  p = p * r + 0.008333333333330062;
  p = p * r + 0.04166666666662413;
  p = p * r + 0.16666666666666669;
  return p * r + 0.5;
}

// log(1 + f) / s - 2 for s = f / (2 + f), s^2 = z <= 0.0295. The coefficients are those of FreeBSD's msun (e_logf.c,
// e_log.c), with errors of 2^-34 and 2^-58.
ND_FN float log_rest(float z) {
  return z * (0.66666662693f + z * (0.40000972152f + z * (0.28498786688f + z * 0.24279078841f)));
}
ND_FN double log_rest(double z) {
  double p = 1.479819860511658591e-01;
  p = p * z + 1.531383769920937332e-01;
  p = p * z + 1.818357216161805012e-01;
  p = p * z + 2.222219843214978396e-01;
  p = p * z + 2.857142874366239149e-01;
  p = p * z + 3.999999999940941908e-01;
  p = p * z + 6.666666666666735130e-01;
  return z * p;
}

template <class T> ND_FN T nearest_integer(T x) { return (x + constants<T>::round()) - constants<T>::round(); }
// 2^n for an integer n; the result must be a normal number.
template <class T> ND_FN T power_of_two(T n) {
  using U = unsigned_of<T>;
  using C = constants<T>;
  return bit_cast<T>(U(U(bit_cast<U>(n + C::round()) + U(C::bias)) << C::digits));
}
// 2^n exp(r) for n <= 0. The power is applied in two steps, because it may be smaller than all normal numbers.
template <class T> ND_FN T scaled_exp(T r, T n) {
  const T half = nearest_integer(n * T(0.5));
  return (T(1) + (r + r * r * exp_rest(r))) * power_of_two(half) * power_of_two(n - half);
}

}  // namespace exact

// e^x and 2^x for x <= 0; NaN gives 0.
template <class T> ND_FN T exp_of_negative(T x) {
  using C = exact::constants<T>;
  const T least = x > C::least() ? x : C::least();
  const T n = exact::nearest_integer(least * T(1.44269504088896340735992468100));
  return exact::scaled_exp((least - n * C::ln2_high()) - n * C::ln2_low(), n);
}
template <class T> ND_FN T exp2_of_negative(T x) {
  constexpr T two = T(1.44269504088896340735992468100), least_power = exact::constants<T>::least() * two;
  const T least = x > least_power ? x : least_power;
  const T n = exact::nearest_integer(least);
  return exact::scaled_exp((least - n) * T(0.693147180559945309417232121458), n);
}

// log(1 + x) for 0 <= x <= 1, as two terms: log(1 + x) = rest + (halved ? log(2) : 0).
template <class T> struct log1p_terms {
  T rest;
  bool halved;
  ND_FN explicit log1p_terms(T x) : halved(x > T(0.41421356237309505)) {
    // f / (2 + f) for f = x, or for 1 + f = (1 + x) / 2.
    const T s = (halved ? x - T(1) : x) / (halved ? x + T(3) : x + T(2));
    rest = s * (T(2) + exact::log_rest(s * s));
  }
};

}  // namespace catena
