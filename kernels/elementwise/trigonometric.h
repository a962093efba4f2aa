// Trigonometric functions, their inverses, and angles.
#pragma once

#include <catena/kernels/complex_functions.h>
#include <catena/kernels/numeric.h>

namespace catena::k {

struct sin {
  template <class T> ND_FN static void run(T x, T& y) { y = m::sin(x); }
};
struct cos {
  template <class T> ND_FN static void run(T x, T& y) { y = m::cos(x); }
};
struct tan {
  template <class T> ND_FN static void run(T x, T& y) { y = m::tan(x); }
};
struct arcsin {
  template <class T> ND_FN static void run(T x, T& y) { y = m::asin(x); }
};
struct arccos {
  template <class T> ND_FN static void run(T x, T& y) { y = m::acos(x); }
};
struct arctan {
  template <class T> ND_FN static void run(T x, T& y) { y = m::atan(x); }
};
struct arctan2 {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = m::atan2(a, b); }
};
// sqrt(a^2 + b^2): the same bits on every device, with an error of less than 1.5 units in the last place. Both operands
// are scaled by a power of two if their squares would overflow or lose digits. Infinite if an operand is infinite, even
// if the other one is NaN.
struct hypot {
  template <class T> ND_FN static void run(T a, T b, T& y) {
    constexpr bool single = sizeof(T) == 4;
    constexpr T large = single ? T(0x1p60) : T(0x1p500), shrink = single ? T(0x1p-80) : T(0x1p-600);
    constexpr T small = single ? T(0x1p-50) : T(0x1p-450), grow = single ? T(0x1p100) : T(0x1p600);
    const T p = m::fabs(a), q = m::fabs(b), infinity = limits<T>::max();
    const T longer = p > q ? p : q;
    const T scale = longer > large ? shrink : (longer < small ? grow : T(1));
    const T back = longer > large ? T(1) / shrink : (longer < small ? T(1) / grow : T(1));
    const T u = p * scale, v = q * scale;
    const T length = m::sqrt(u * u + v * v) * back;
    y = (p == infinity) | (q == infinity) ? infinity : length;
  }
};
struct deg2rad {
  template <class T> ND_FN static void run(T x, T& y) { y = x * T(0.0174532925199432957692369076849); }
};
struct rad2deg {
  template <class T> ND_FN static void run(T x, T& y) { y = x * T(57.2957795130823208767981548141); }
};

}  // namespace catena::k
