// Arithmetic and conversions with the directed roundings of CUDA's intrinsics (__fadd_rz, __double2float_ru...) for the
// CPU. The exact result is computed as an integer times a power of two and rounded once, so neither the rounding mode
// of the process nor the compiler's reordering matters. Empty for NVRTC, which has the intrinsics.
#pragma once

#if !defined(__CUDACC_RTC__)

#include <math.h>
#include <stdint.h>

namespace catena::user {

enum class Rounding { nearest, zero, up, down };  // nearest: ties to even

using Wide = unsigned __int128;

template <class F> struct FloatFormat;
template <> struct FloatFormat<float> {
  using Bits = uint32_t;
  static constexpr int kDigits = 24, kLowest = -149;  // bits of a significand, exponent of the smallest number
};
template <> struct FloatFormat<double> {
  using Bits = uint64_t;
  static constexpr int kDigits = 53, kLowest = -1074;
};

// digits * 2^exponent with a sign. If bits were lost, the lowest digit is 1 and is at least two places below the last
// place of any result, which is sufficient for rounding.
struct Exact {
  bool negative;
  int exponent;
  Wide digits;
};

inline int width_of(Wide v) {
  const auto high = uint64_t(v >> 64), low = uint64_t(v);
  return high != 0 ? 128 - __builtin_clzll(high) : low != 0 ? 64 - __builtin_clzll(low) : 0;
}

// Returns the exact value of a finite number.
template <class F> Exact exact(F v) {
  using Format = FloatFormat<F>;
  using Bits = typename Format::Bits;
  const auto bits = __builtin_bit_cast(Bits, v);
  const Bits fraction = bits & ((Bits(1) << (Format::kDigits - 1)) - 1);
  const int biased = int((bits << 1) >> Format::kDigits);
  const bool negative = bits >> (8 * sizeof(F) - 1) != 0;
  if (biased == 0) return {negative, Format::kLowest, fraction};
  return {negative, Format::kLowest + biased - 1, fraction | Bits(1) << (Format::kDigits - 1)};
}

// Shifts right; lost bits set the lowest bit.
inline Wide shift_right(Wide digits, int by) {
  if (by == 0) return digits;
  if (by > 127) return digits != 0;
  return digits >> by | Wide((digits & ((Wide(1) << by) - 1)) != 0);
}

// True if the magnitude grows by one unit in the last place when `rest` is cut off; one unit is 2^cut.
inline bool rounds_away(const Exact& v, Wide kept, Wide rest, int cut, Rounding mode) {
  if (rest == 0 || mode == Rounding::zero) return false;
  if (mode != Rounding::nearest) return (mode == Rounding::down) == v.negative;
  if (cut > 128) return false;  // less than half a unit
  const Wide half = Wide(1) << (cut - 1);
  return rest > half || (rest == half && (kept & 1) != 0);
}

template <class F> F rounded(const Exact& v, Rounding mode) {
  using Format = FloatFormat<F>;
  using Bits = typename Format::Bits;
  constexpr int kFraction = Format::kDigits - 1;
  constexpr Bits kInfinity = ((Bits(1) << (8 * sizeof(F) - Format::kDigits)) - 1) << kFraction;
  const Bits sign = Bits(v.negative) << (8 * sizeof(F) - 1);
  if (v.digits == 0) return __builtin_bit_cast(F, sign);
  int place = v.exponent + width_of(v.digits) - Format::kDigits;  // exponent of the last place of the result
  if (place < Format::kLowest) place = Format::kLowest;
  const int cut = place - v.exponent;
  Wide kept = cut > 127 ? 0 : cut >= 0 ? v.digits >> cut : v.digits << -cut;
  const Wide rest = cut > 127 ? v.digits : cut > 0 ? v.digits & ((Wide(1) << cut) - 1) : 0;
  kept += rounds_away(v, kept, rest, cut, mode);
  // The leading digit of a normal number adds 1 to the exponent field, and so does a carry out of the significand.
  const Wide bits = (Wide(unsigned(place - Format::kLowest)) << kFraction) + kept;
  if (bits < kInfinity) return __builtin_bit_cast(F, Bits(sign | Bits(bits)));
  const bool to_infinity =
      mode == Rounding::nearest || (mode != Rounding::zero && (mode == Rounding::down) == v.negative);
  return __builtin_bit_cast(F, Bits(sign | (to_infinity ? kInfinity : kInfinity - 1)));
}

// Shifts the digits up as far as possible with space for a carry; factors and products have at most 106 digits.
inline void widen(Exact& v) {
  const int up = 125 - width_of(v.digits);
  v.digits <<= up;
  v.exponent -= up;
}

inline Exact sum_of(Exact x, Exact y, Rounding mode) {
  if (x.digits == 0 && y.digits == 0) {
    x.negative = x.negative == y.negative ? x.negative : mode == Rounding::down;
    return x;
  }
  if (x.digits == 0) return y;
  if (y.digits == 0) return x;
  widen(x);
  widen(y);
  if (x.exponent < y.exponent) {
    const Exact other = x;
    x = y;
    y = other;
  }
  y.digits = shift_right(y.digits, x.exponent - y.exponent);
  if (x.negative == y.negative) return {x.negative, x.exponent, x.digits + y.digits};
  if (x.digits == y.digits) return {mode == Rounding::down, x.exponent, 0};
  if (x.digits < y.digits) return {y.negative, x.exponent, y.digits - x.digits};
  return {x.negative, x.exponent, x.digits - y.digits};
}

inline Exact product_of(const Exact& x, const Exact& y) {
  return {x.negative != y.negative, x.exponent + y.exponent, x.digits * y.digits};
}

template <class F> bool all_finite(F a) { return __builtin_isfinite(a); }
template <class F, class... R> bool all_finite(F a, R... rest) { return __builtin_isfinite(a) && all_finite(rest...); }

// If an operand is not finite, or a division by zero is exact, the processor's result is right for every rounding mode.
template <class F> F add(F a, F b, Rounding mode) {
  if (!all_finite(a, b)) return a + b;
  return rounded<F>(sum_of(exact(a), exact(b), mode), mode);
}
template <class F> F multiply(F a, F b, Rounding mode) {
  if (!all_finite(a, b)) return a * b;
  return rounded<F>(product_of(exact(a), exact(b)), mode);
}
template <class F> F multiply_add(F a, F b, F c, Rounding mode) {
  if (!all_finite(a, b)) return a * b + c;
  if (!all_finite(c)) return c;
  return rounded<F>(sum_of(product_of(exact(a), exact(b)), exact(c), mode), mode);
}
template <class F> F divide(F a, F b, Rounding mode) {
  if (!all_finite(a, b) || b == 0 || a == 0) return a / b;
  const Exact x = exact(a), y = exact(b);
  const int up = 128 - width_of(x.digits);
  const Wide dividend = x.digits << up, quotient = dividend / y.digits;  // at least 75 digits
  const bool inexact = quotient * y.digits != dividend;
  return rounded<F>({x.negative != y.negative, x.exponent - up - y.exponent, quotient | Wide(inexact)}, mode);
}

// Returns the largest integer whose square is at most v.
inline uint64_t integer_root(Wide v) {
  Wide root = 0, bit = Wide(1) << 126;
  for (; bit != 0; bit >>= 2) {
    if (v >= root + bit) {
      v -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return uint64_t(root);
}

template <class F> F square_root(F a, Rounding mode) {
  if (!all_finite(a) || !(a > 0)) return F(__builtin_sqrt(a));
  const Exact x = exact(a);
  int up = 127 - width_of(x.digits);
  if ((x.exponent - up) % 2 != 0) --up;
  const Wide square = x.digits << up, root = integer_root(square);  // 63 digits or 64
  return rounded<F>({false, (x.exponent - up) / 2, root | Wide(root * root != square)}, mode);
}

// ---- conversions --------------------------------------------------------------------------------
template <class F, class I> F from_integer(I v, Rounding mode) {
  const bool negative = v < I(0);
  const auto bits = static_cast<unsigned long long>(v);
  return rounded<F>({negative, 0, negative ? 0 - bits : bits}, mode);
}

inline float narrowed(double v, Rounding mode) { return all_finite(v) ? rounded<float>(exact(v), mode) : float(v); }

// Values out of range give the nearest integer of the type; NaN gives 0 if both types have 32 bits, else the integer
// with only the highest bit set, as the conversions of the PTX instruction set do.
template <class I, class F> I to_integer(F v, Rounding mode) {
  constexpr bool kSigned = I(-1) < I(0);
  constexpr int kBits = 8 * int(sizeof(I));
  constexpr auto kHighest = I(1ull << (kBits - 1));
  constexpr F kEnd = F(1ull << (kBits - 1)) * (kSigned ? 1 : 2);  // the first power of two that is out of range
  if (v != v) return sizeof(F) == 4 && sizeof(I) == 4 ? I(0) : kHighest;
  const F whole = mode == Rounding::nearest ? F(__builtin_rint(v))
                  : mode == Rounding::zero  ? F(__builtin_trunc(v))
                  : mode == Rounding::up    ? F(__builtin_ceil(v))
                                            : F(__builtin_floor(v));
  if (whole >= kEnd) return kSigned ? I(~kHighest) : I(~0ull);
  if (kSigned ? whole < -kEnd : whole < 0) return kSigned ? kHighest : I(0);
  return I(whole);
}

}  // namespace catena::user

#endif
