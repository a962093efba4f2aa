// Trigonometric functions, their inverses, and angles.
#pragma once

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
struct hypot {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = m::hypot(a, b); }
};
struct deg2rad {
  template <class T> ND_FN static void run(T x, T& y) { y = x * T(0.0174532925199432957692369076849); }
};
struct rad2deg {
  template <class T> ND_FN static void run(T x, T& y) { y = x * T(57.2957795130823208767981548141); }
};

}  // namespace catena::k
