// Division with a remainder, and powers. An integer divided by 0 gives 0.
#pragma once

#include <catena/kernels/complex_functions.h>
#include <catena/kernels/numeric.h>

namespace catena::k {

struct floor_divide {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = catena::floor_divide(a, b); }
};
struct remainder {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = floor_mod(a, b); }
};
struct fmod {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = c_mod(a, b); }
};
struct divmod {
  template <class T> ND_FN static void run(T a, T b, T& quotient, T& rest) {
    const T q = catena::floor_divide(a, b), r = floor_mod(a, b);
    quotient = q;
    rest = r;
  }
};
// Greatest common divisor and least common multiple of |a| and |b|, by Euclid's algorithm.
struct gcd {
  template <class T> ND_FN static unsigned_of<T> of(T a, T b) {
    using U = unsigned_of<T>;
    U x = U(catena::absolute(a)), y = U(catena::absolute(b));
    while (y != 0) {
      const U rest = U(x % y);
      x = y;
      y = rest;
    }
    return x;
  }
  template <class T> ND_FN static void run(T a, T b, T& y) { y = T(of(a, b)); }
};
struct lcm {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    using U = unsigned_of<T>;
    const U divisor = gcd::of(a, b);
    y = divisor == 0 ? T(0) : T(wrap_mul(U(U(catena::absolute(a)) / divisor), U(catena::absolute(b))));
  }
};
// a^0 and 1^b are 1 for every number and every NaN; compilers' functions differ for signalling NaNs.
struct power {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    if constexpr (is_float<T>) {
      const T p = m::pow(a, b);
      y = (b == T(0)) | (a == T(1)) ? T(1) : p;
    } else if constexpr (is_complex<T>) {
      y = m::pow(a, b);
    } else {
      y = int_power(a, b);
    }
  }
};

}  // namespace catena::k
