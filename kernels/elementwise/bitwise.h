// Bit operations on integers and bools. Shift counts that are negative or at least the width shift out all bits.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

struct bitwise_and {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = T(a & b); }
};
struct bitwise_or {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = T(a | b); }
};
struct bitwise_xor {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = T(a ^ b); }
};
struct invert {
  template <class T> ND_FN static void run(T x, T& y) {
    if constexpr (is_same<T, bool>) y = !x;
    else y = T(~x);
  }
};
// The number of bits of |x| that are set.
struct bitwise_count {
  template <class T> ND_FN static void run(T x, uint8_t& y) {
    uint64_t bits = uint64_t(unsigned_of<T>(catena::absolute(x)));
    bits -= (bits >> 1) & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    y = uint8_t((bits * 0x0101010101010101u) >> 56);
  }
};
struct left_shift {
  template <class T> ND_FN static void run(T a, T count, T& y) {
    using U = unsigned_of<T>;
    constexpr U width = U(8 * sizeof(T));
    const bool fits = U(count) < width;
    const U shifted = U(U(a) << (fits ? U(count) : U(0)));
    y = fits ? T(shifted) : T(0);
  }
};
struct right_shift {
  template <class T> ND_FN static void run(T a, T count, T& y) {
    using U = unsigned_of<T>;
    constexpr U width = U(8 * sizeof(T));
    const bool fits = U(count) < width;
    const T shifted = T(a >> (fits ? U(count) : U(width - 1)));
    y = fits | is_signed_int<T> ? shifted : T(0);
  }
};

}  // namespace catena::k
