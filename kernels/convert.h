// Conversions between element types, and the types in which elements are computed; the same rules for both backends.
#pragma once

#include <catena/kernels/bfloat16.h>
#include <catena/kernels/complex.h>
#include <catena/kernels/float16.h>
#include <catena/kernels/traits.h>

namespace catena {

// The type in which a stored type is computed: float for the 16-bit floats, otherwise the type itself.
template <class T> struct compute { using type = T; };
template <> struct compute<float16> { using type = float; };
template <> struct compute<bfloat16> { using type = float; };
template <class T> using compute_t = typename compute<T>::type;

// Conversion between element types. A number is rounded to the nearest number of a narrower floating type, ties to
// even; float to integer truncates and saturates, NaN gives 0; integers wrap; the conversion to bool is x != 0.
// Conversion of a complex number to a real one drops the imaginary part.
template <class To, class From> ND_FN To convert(From v) {
  if constexpr (is_same<To, From>) {
    return v;
  } else if constexpr (is_complex<From> && is_complex<To>) {
    return To(v);
  } else if constexpr (is_complex<From>) {
    if constexpr (is_same<To, bool>) return v != From(0);
    else return convert<To>(v.re);
  } else if constexpr (is_complex<To>) {
    return To(convert<real_of_t<To>>(v));
  } else if constexpr (is_same<From, float16> || is_same<From, bfloat16>) {
    return convert<To>(static_cast<float>(v));
  } else if constexpr (is_same<To, float16> || is_same<To, bfloat16>) {
    return To(rounded_to_odd(v));
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
template <class T> ND_FN compute_t<T> load(const T& v) { return static_cast<compute_t<T>>(v); }
template <class T> ND_FN void store(T& to, compute_t<T> v) { to = static_cast<T>(v); }

}  // namespace catena
