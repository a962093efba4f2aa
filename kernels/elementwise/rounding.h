// Rounding to integral values.
#pragma once

#include <catena/kernels/math.h>

namespace catena::k {

struct rint {
  template <class T> ND_FN static void run(T x, T& y) { y = m::rint(x); }
};  // ties to even
struct floor {
  template <class T> ND_FN static void run(T x, T& y) { y = m::floor(x); }
};
struct ceil {
  template <class T> ND_FN static void run(T x, T& y) { y = m::ceil(x); }
};
struct trunc {
  template <class T> ND_FN static void run(T x, T& y) { y = m::trunc(x); }
};
struct fix {
  template <class T> ND_FN static void run(T x, T& y) { y = m::trunc(x); }
};

}  // namespace catena::k
