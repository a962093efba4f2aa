// The numeric rules that both backends share: conversions, integer division and power, NaN-aware minimum and maximum.
// Written once here because the language leaves them undefined or the two compilers would differ.
#pragma once

#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>
#include <catena/kernels/traits.h>

namespace catena {

// The type in which a stored type is computed: float for the 16-bit floats, itself otherwise.
template <class T>
struct compute {
  using type = T;
};
template <>
struct compute<float16> {
  using type = float;
};
template <>
struct compute<bfloat16> {
  using type = float;
};
template <class T>
using compute_t = typename compute<T>::type;

// Conversion between element types: float to integer truncates and saturates, NaN gives 0; integers wrap; to bool is !=
// 0.
template <class To, class From>
ND_FN To convert(From v) {
  if constexpr (is_same<To, From>) {
    return v;
  } else if constexpr (is_same<From, float16> || is_same<From, bfloat16>) {
    return convert<To>(static_cast<float>(v));
  } else if constexpr (is_same<To, float16> || is_same<To, bfloat16>) {
    return To(static_cast<float>(v));
  } else if constexpr (is_same<To, bool>) {
    return v != From(0);
  } else if constexpr (is_float<From> && is_int<To>) {
    // max() + 1 is a power of two, hence exact in float; comparing against it keeps the cast itself in range.
    constexpr From upper = From(2) * From(unsigned_of<To>(1) << (8 * sizeof(To) - (is_signed_int<To> ? 2 : 1)));
    constexpr From lower = is_signed_int<To> ? -upper : From(0);
    const bool high = v >= upper, low = v <= lower, nan = v != v;
    const From safe = (high | low | nan) ? From(0) : v;
    return high ? limits<To>::max() : (low ? limits<To>::min() : static_cast<To>(safe));
  } else {
    return static_cast<To>(v);
  }
}

// Element access for kernels: load widens a stored value to its compute type, store rounds it back.
template <class T>
ND_FN compute_t<T> load(const T& v) {
  return static_cast<compute_t<T>>(v);
}
template <class T>
ND_FN void store(T& to, compute_t<T> v) {
  to = static_cast<T>(v);
}

template <class T>
ND_FN bool is_nan(T v) {
  if constexpr (is_float<T>) return v != v;
  return false;
}

// Quotient rounded toward minus infinity. Integers: divisor 0 gives 0, minimum / -1 wraps. Floats: Python's rule, from
// the exact remainder, so that it fits floor_mod (1.0 // 0.1 is 9, though 1.0 / 0.1 rounds to 10).
template <class T>
ND_FN T floor_divide(T a, T b) {
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
template <class T>
ND_FN T floor_mod(T a, T b) {
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
template <class T>
ND_FN T c_mod(T a, T b) {
  if constexpr (is_float<T>) {
    return m::fmod(a, b);
  } else if constexpr (is_signed_int<T>) {
    return (b == T(0) || b == T(-1)) ? T(0) : T(a % b);
  } else {
    return b == T(0) ? T(0) : T(a % b);
  }
}

// Integer power, exact modulo 2^n. Negative exponents: base 1 gives 1, -1 gives +-1, anything else 0.
template <class T>
ND_FN T int_power(T base, T exponent) {
  if constexpr (is_signed_int<T>) {
    if (exponent < T(0)) {
      if (base == T(1)) return T(1);
      if (base == T(-1)) return (exponent & T(1)) ? T(-1) : T(1);
      return T(0);
    }
  }
  using U =
      conditional_t<(sizeof(T) < 4), uint32_t, unsigned_of<T>>;  // narrow unsigned types would promote to signed int
  U result = 1, b = U(base);
  for (unsigned_of<T> e = unsigned_of<T>(exponent); e != 0; e = unsigned_of<T>(e >> 1)) {
    if (e & 1) result *= b;
    b *= b;
  }
  return T(result);
}

// NaN in either operand is propagated (the first one met).
template <class T>
ND_FN T nan_max(T a, T b) {
  if constexpr (is_float<T>) return (a != a) | (a >= b) ? a : b;
  return a >= b ? a : b;
}
template <class T>
ND_FN T nan_min(T a, T b) {
  if constexpr (is_float<T>) return (a != a) | (a <= b) ? a : b;
  return a <= b ? a : b;
}
// NaN is ignored unless both operands are NaN.
template <class T>
ND_FN T skip_nan_max(T a, T b) {
  if constexpr (is_float<T>) return (b != b) | (a >= b) ? a : b;
  return a >= b ? a : b;
}
template <class T>
ND_FN T skip_nan_min(T a, T b) {
  if constexpr (is_float<T>) return (b != b) | (a <= b) ? a : b;
  return a <= b ? a : b;
}

template <class T>
ND_FN T absolute(T a) {
  if constexpr (is_float<T>) return m::fabs(a);
  else if constexpr (is_signed_int<T>) return a < T(0) ? T(unsigned_of<T>(0) - unsigned_of<T>(a)) : a;
  else return a;
}
// -1, 0 or 1; NaN stays NaN.
template <class T>
ND_FN T sign_of(T a) {
  if constexpr (is_float<T>) return a > T(0) ? T(1) : (a < T(0) ? T(-1) : (a == T(0) ? T(0) : a));
  else if constexpr (is_signed_int<T>) return T((a > T(0)) - (a < T(0)));
  else return T(a != T(0));
}
template <class T>
ND_FN T not_a_number() {
  return limits<T>::max() - limits<T>::max();
}

// Wrapping integer arithmetic (plain for floats).
template <class T>
ND_FN T wrap_add(T a, T b) {
  if constexpr (is_signed_int<T>) return T(unsigned_of<T>(a) + unsigned_of<T>(b));
  return T(a + b);
}
template <class T>
ND_FN T wrap_sub(T a, T b) {
  if constexpr (is_signed_int<T>) return T(unsigned_of<T>(a) - unsigned_of<T>(b));
  return T(a - b);
}
template <class T>
ND_FN T wrap_mul(T a, T b) {
  if constexpr (is_int<T> && sizeof(T) < 4) return T(uint32_t(a) * uint32_t(b));
  else if constexpr (is_int<T>) return T(unsigned_of<T>(a) * unsigned_of<T>(b));
  else return T(a * b);
}

}  // namespace catena
