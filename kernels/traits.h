// Type traits for kernel bodies, because NVRTC has no standard library.
#pragma once

#include <catena/kernels/prelude.h>

namespace catena {

template <bool C, class A, class B> struct conditional { using type = A; };
template <class A, class B> struct conditional<false, A, B> { using type = B; };
template <bool C, class A, class B> using conditional_t = typename conditional<C, A, B>::type;

// In all headers of kernels/, constants for the device are concepts and enumerators: NVRTC allocates memory in every
// module for each constexpr variable.
template <class A, class B> struct same_type {
  enum : bool { value = false };
};
template <class A> struct same_type<A, A> {
  enum : bool { value = true };
};
template <class A, class B>
concept is_same = bool(same_type<A, B>::value);

// The type of the real part of a number; float for float.
template <class T> struct real_of { using type = T; };
template <class T> using real_of_t = typename real_of<T>::type;

// Numeric limits and properties of the compute types: bool, the integers, float, double, and the complex numbers of
// complex.h.
template <class T>
concept is_float = is_same<T, float> || is_same<T, double>;
template <class T>
concept is_complex = !is_same<T, real_of_t<T>>;
template <class T>
concept is_int = !is_float<T> && !is_complex<T> && !is_same<T, bool>;
template <class T>
concept is_signed_int = is_int<T> && T(-1)
< T(0);
template <class T>
concept is_unsigned_int = is_int<T> && !is_signed_int<T>;

template <int Bytes> struct uint_of_size;
template <> struct uint_of_size<1> { using type = uint8_t; };
template <> struct uint_of_size<2> { using type = uint16_t; };
template <> struct uint_of_size<4> { using type = uint32_t; };
template <> struct uint_of_size<8> { using type = uint64_t; };
// The unsigned type of the same width. Integer bodies compute in it because signed overflow is undefined in C++ and
// wraps in NumPy.
template <class T> using unsigned_of = typename uint_of_size<sizeof(T)>::type;

template <class T> struct limits {
  static_assert(is_int<T>);
  static constexpr T min() { return is_signed_int<T> ? T(unsigned_of<T>(1) << (8 * sizeof(T) - 1)) : T(0); }
  static constexpr T max() {
    return is_signed_int<T> ? T(~(unsigned_of<T>(1) << (8 * sizeof(T) - 1))) : T(~unsigned_of<T>(0));
  }
};
template <> struct limits<bool> {
  static constexpr bool min() { return false; }
  static constexpr bool max() { return true; }
};
template <class To, class From> ND_FN constexpr To bit_cast(From v) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, v);
}

// The float32 from which a 16-bit float is rounded, such that rounding twice gives the same result as rounding once: v
// with 14 significant bits, the last of which is 1 if bits were cut off ("rounded to odd": Boldo and Melquiond,
// "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). A 16-bit float has at
// least two bits less, so the cut-off part never looks like a tie. float32 holds 14 bits of every number that is not 0
// as a 16-bit float. Infinities and NaN stay unchanged.
ND_FN float rounded_to_odd(double v) {
  enum : uint64_t { cut = (uint64_t(1) << 39) - 1 };
  const uint64_t bits = bit_cast<uint64_t>(v);
  return static_cast<float>(bit_cast<double>((bits | ((bits & cut) + cut)) & ~uint64_t(cut)));
}
template <class T> ND_FN float rounded_to_odd(T v) {
  if constexpr (is_same<T, float> || sizeof(T) < 4) {
    return static_cast<float>(v);
  } else if constexpr (sizeof(T) == 8) {
    // float64 cannot hold all of these numbers, so the part below the last 53 bits is first rounded to odd.
    const bool wide = v > T(1) << 53 || (is_signed_int<T> && v < T(-1) * (T(1) << 53));
    const T kept = (v & ~T(0x7ff)) | T(T(v & T(0x7ff)) != T(0)) << 11;
    return rounded_to_odd(static_cast<double>(wide ? kept : v));
  } else {
    return rounded_to_odd(static_cast<double>(v));
  }
}

// The infinities of the floating types: the identities of minimum and maximum.
template <> struct limits<float> {
  static constexpr float min() { return __builtin_bit_cast(float, 0xff800000u); }
  static constexpr float max() { return __builtin_bit_cast(float, 0x7f800000u); }
};
template <> struct limits<double> {
  static constexpr double min() { return __builtin_bit_cast(double, 0xfff0000000000000ul); }
  static constexpr double max() { return __builtin_bit_cast(double, 0x7ff0000000000000ul); }
};

}  // namespace catena
