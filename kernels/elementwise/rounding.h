// Rounding to integral values. All functions but rint leave integers unchanged.
#pragma once

#include <catena/kernels/complex.h>
#include <catena/kernels/math.h>
#include <catena/kernels/traits.h>

namespace catena::k {

struct rint {
  template <class T> ND_FN static void run(T x, T& y) {
    if constexpr (is_complex<T>) y = {m::rint(x.re), m::rint(x.im)};
    else y = m::rint(x);
  }
};  // ties to even
struct floor {
  template <class T> ND_FN static void run(T x, T& y) {
    if constexpr (is_float<T>) y = m::floor(x);
    else y = x;
  }
};
struct ceil {
  template <class T> ND_FN static void run(T x, T& y) {
    if constexpr (is_float<T>) y = m::ceil(x);
    else y = x;
  }
};
struct trunc {
  template <class T> ND_FN static void run(T x, T& y) {
    if constexpr (is_float<T>) y = m::trunc(x);
    else y = x;
  }
};
struct fix {
  template <class T> ND_FN static void run(T x, T& y) { trunc::run(x, y); }
};

}  // namespace catena::k
