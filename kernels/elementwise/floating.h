// Classification of floating-point values, signs, and the parts of a number.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

// A complex number is NaN or infinite if one of its parts is, and finite if both are.
struct isnan {
  template <class T> ND_FN static void run(T x, bool& y) { y = x != x; }
};
struct isinf {
  template <class T> ND_FN static bool of(T x) { return m::fabs(x) == limits<T>::max(); }
  template <class T> ND_FN static void run(T x, bool& y) {
    if constexpr (is_complex<T>) y = of(x.re) | of(x.im);
    else y = of(x);
  }
};
struct isfinite {
  template <class T> ND_FN static bool of(T x) { return m::fabs(x) < limits<T>::max(); }
  template <class T> ND_FN static void run(T x, bool& y) {
    if constexpr (is_complex<T>) y = of(x.re) & of(x.im);
    else y = of(x);
  }
};
// True for negative values, -0.0 and NaN with its sign set.
struct signbit {
  template <class T> ND_FN static void run(T x, bool& y) {
    using U = typename uint_of_size<sizeof(T)>::type;
    y = (bit_cast<U>(x) >> (8 * sizeof(T) - 1)) != 0;
  }
};
// 0 below 0, `at_zero` at 0, 1 above; NaN of NaN.
struct heaviside {
  template <class T> ND_FN static void run(T x, T at_zero, T& y) {
    y = x != x ? x : (x == T(0) ? at_zero : T(x > T(0)));
  }
};
struct copysign {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = m::copysign(a, b); }
};

// Fraction and integral part, both with the sign of x.
struct modf {
  template <class T> ND_FN static void run(T x, T& fraction, T& whole) {
    const T w = m::trunc(x);
    const T rest = m::fabs(x) == limits<T>::max() ? T(0) : x - w;
    fraction = m::copysign(rest, x);
    whole = w;
  }
};

// x = mantissa 2^exponent with 0.5 <= |mantissa| < 1. For 0, infinities and NaN the mantissa is x and the exponent 0.
struct frexp {
  template <class T> ND_FN static void run(T x, T& mantissa, int32_t& exponent) {
    using U = typename uint_of_size<sizeof(T)>::type;
    constexpr int digits = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 126 : 1022;
    constexpr U exponent_bits = sizeof(T) == 4 ? U(0x7f800000u) : U(0x7ff0000000000000u);
    const bool subnormal = (bit_cast<U>(x) & exponent_bits) == 0;
    const U bits = bit_cast<U>(subnormal ? x * T(U(1) << digits) : x);
    const bool ordinary = x != T(0) && m::fabs(x) < limits<T>::max();
    mantissa = ordinary ? bit_cast<T>(U((bits & ~exponent_bits) | (U(bias) << digits))) : x;
    exponent = ordinary ? int32_t((bits & exponent_bits) >> digits) - bias - (subnormal ? digits : 0) : 0;
  }
};

// x 2^exponent, rounded once.
struct ldexp {
  template <class T, class N> ND_FN static void run(T x, N exponent, T& y) {
    const int n = int(exponent > N(3000) ? N(3000) : (exponent < N(-3000) ? N(-3000) : exponent));
    if constexpr (sizeof(T) == 4) {
      y = static_cast<float>(double(x) * power_of_two(n > 400 ? 400 : (n < -400 ? -400 : n)));
    } else {
      // Up to three steps. All are exact except the last one downwards, which can reach the subnormal numbers and
      // round.
      const int step = n > 1023 ? 1023 : (n < -1022 ? -969 : 0);
      const int rest = n - step, step2 = rest > 1023 ? 1023 : (rest < -1022 ? -969 : 0);
      const int last = rest - step2;
      y = x * power_of_two(step) * power_of_two(step2) *
          power_of_two(last > 1023 ? 1023 : (last < -1022 ? -1022 : last));
    }
  }
  static ND_FN double power_of_two(int n) { return bit_cast<double>(uint64_t(1023 + n) << 52); }
};

// The neighbour of a in the direction of b. The 16-bit types have their own bodies: as floats, their neighbours would
// be different numbers.
struct nextafter {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = m::nextafter(a, b); }
};
template <class Half> ND_FN float next_half(float a, float b) {
  const uint16_t bits = Half(a).bits;
  // Away from 0 the bit pattern grows by one, toward 0 it shrinks by one; from 0 the result is the smallest subnormal
  // with the sign of b.
  const bool away = (a > 0.0f) == (b > a);
  const uint16_t smallest = uint16_t(b < 0.0f ? 0x8001 : 0x0001);
  const uint16_t next = a == 0.0f ? smallest : uint16_t(away ? bits + 1 : bits - 1);
  const float moved = static_cast<float>(Half::from_bits(next));
  return (a != a) | (b != b) ? a + b : (a == b ? a : moved);
}
struct nextafter_float16 {
  static ND_FN void run(float a, float b, float& y) { y = next_half<float16>(a, b); }
};
struct nextafter_bfloat16 {
  static ND_FN void run(float a, float b, float& y) { y = next_half<bfloat16>(a, b); }
};

}  // namespace catena::k
