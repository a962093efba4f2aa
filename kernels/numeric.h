// Numeric rules for both backends: integer division and power, minimum and maximum with NaN (conversions: convert.h).
// The rules cover the cases that C++ leaves undefined or in which g++ and NVRTC would differ.
#pragma once

#include <catena/kernels/complex_math.h>
#include <catena/kernels/convert.h>
#include <catena/kernels/math.h>

namespace catena {

// A call with an array finds these functions, too, because the base class of arrays is in this namespace.
template <class T>
concept is_number = __is_trivially_copyable(T);

template <is_number T> ND_FN bool is_nan(T v) {
  if constexpr (is_float<T> || is_complex<T>) return v != v;
  return false;
}

// Quotient rounded toward minus infinity. Integers: divisor 0 gives 0, minimum / -1 wraps. Floats: Python's rule,
// computed from the exact remainder so that it is consistent with floor_mod (1.0 // 0.1 is 9, though 1.0 / 0.1 rounds
// to 10).
template <is_number T> ND_FN T floor_divide(T a, T b) {
  if constexpr (is_float<T>) {
    const T r = m::fmod(a, b);
    const T quotient = (a - r) / b - T((r != T(0)) & ((b < T(0)) != (r < T(0))));
    const T down = m::floor(quotient);
    const T whole = quotient - down > T(0.5) ? down + T(1) : down;
    return b == T(0) ? a / b : (quotient == T(0) ? m::copysign(T(0), a / b) : whole);
  } else if constexpr (is_signed_int<T>) {
    if (b == T(0)) return T(0);
    if (b == T(-1)) return T(unsigned_of<T>(0) - unsigned_of<T>(a));
    const T q = T(a / b), r = T(a % b);
    return T(q - T((r != T(0)) & ((r < T(0)) != (b < T(0)))));
  } else {
    return b == T(0) ? T(0) : T(a / b);
  }
}

// Remainder with the sign of the divisor (Python). Integers: divisor 0 gives 0. Floats: divisor 0 gives NaN.
template <is_number T> ND_FN T floor_mod(T a, T b) {
  if constexpr (is_float<T>) {
    const T r = m::fmod(a, b);
    if (r == T(0)) return m::copysign(T(0), b);
    return ((r < T(0)) != (b < T(0))) ? r + b : r;
  } else if constexpr (is_signed_int<T>) {
    if (b == T(0) || b == T(-1)) return T(0);
    const T r = T(a % b);
    return ((r != T(0)) & ((r < T(0)) != (b < T(0)))) ? T(r + b) : r;
  } else {
    return b == T(0) ? T(0) : T(a % b);
  }
}

// Remainder with the sign of the dividend (C).
template <is_number T> ND_FN T c_mod(T a, T b) {
  if constexpr (is_float<T>) {
    return m::fmod(a, b);
  } else if constexpr (is_signed_int<T>) {
    return (b == T(0) || b == T(-1)) ? T(0) : T(a % b);
  } else {
    return b == T(0) ? T(0) : T(a % b);
  }
}

// Integer power, exact modulo 2^n. Negative exponents: base 1 gives 1, -1 gives +-1, anything else 0.
template <is_number T> ND_FN T int_power(T base, T exponent) {
  if constexpr (is_signed_int<T>) {
    if (exponent < T(0)) {
      if (base == T(1)) return T(1);
      if (base == T(-1)) return (exponent & T(1)) ? T(-1) : T(1);
      return T(0);
    }
  }
  using U = conditional_t<(sizeof(T) < 4), uint32_t,
                          unsigned_of<T>>;  // unsigned types narrower than int would promote to signed int
  U result = 1, b = U(base);
  for (unsigned_of<T> e = unsigned_of<T>(exponent); e != 0; e = unsigned_of<T>(e >> 1)) {
    if (e & 1) result *= b;
    b *= b;
  }
  return T(result);
}

// Minimum and maximum that propagate NaN; if both operands are NaN the first is returned.
template <is_number T> ND_FN T nan_max(T a, T b) {
  if constexpr (is_float<T> || is_complex<T>) return (a != a) | (a >= b) ? a : b;
  return a >= b ? a : b;
}
template <is_number T> ND_FN T nan_min(T a, T b) {
  if constexpr (is_float<T> || is_complex<T>) return (a != a) | (a <= b) ? a : b;
  return a <= b ? a : b;
}
// Minimum and maximum that ignore NaN unless both operands are NaN.
template <is_number T> ND_FN T skip_nan_max(T a, T b) {
  if constexpr (is_float<T> || is_complex<T>) return (b != b) | (a >= b) ? a : b;
  return a >= b ? a : b;
}
template <is_number T> ND_FN T skip_nan_min(T a, T b) {
  if constexpr (is_float<T> || is_complex<T>) return (b != b) | (a <= b) ? a : b;
  return a <= b ? a : b;
}

template <is_number T> ND_FN real_of_t<T> absolute(T a) {
  if constexpr (is_float<T>) return m::fabs(a);
  else if constexpr (is_complex<T>) return m::abs(a);
  else if constexpr (is_signed_int<T>) return a < T(0) ? T(unsigned_of<T>(0) - unsigned_of<T>(a)) : a;
  else return a;
}
// -1, 0 or 1; NaN stays NaN. Complex numbers: a / |a|.
template <is_number T> ND_FN T sign_of(T a) {
  if constexpr (is_float<T>) return a > T(0) ? T(1) : (a < T(0) ? T(-1) : (a == T(0) ? T(0) : a));
  else if constexpr (is_complex<T>) return m::sign(a);
  else if constexpr (is_signed_int<T>) return T((a > T(0)) - (a < T(0)));
  else return T(a != T(0));
}
// A NaN with the same bits everywhere: the sign of a difference of infinities depends on the processor.
template <is_number T> ND_FN T not_a_number() { return T(bit_cast<float>(uint32_t(0x7fc00000u))); }

// Wrapping integer arithmetic (plain for floats).
template <is_number T> ND_FN T wrap_add(T a, T b) {
  if constexpr (is_signed_int<T>) return T(unsigned_of<T>(a) + unsigned_of<T>(b));
  return T(a + b);
}
template <is_number T> ND_FN T wrap_sub(T a, T b) {
  if constexpr (is_signed_int<T>) return T(unsigned_of<T>(a) - unsigned_of<T>(b));
  return T(a - b);
}
template <is_number T> ND_FN T wrap_mul(T a, T b) {
  if constexpr (is_int<T> && sizeof(T) < 4) return T(uint32_t(a) * uint32_t(b));
  else if constexpr (is_int<T>) return T(unsigned_of<T>(a) * unsigned_of<T>(b));
  else return T(a * b);
}

}  // namespace catena
