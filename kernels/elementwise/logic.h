// Logic on any type, and selection by a condition. Every value except 0 counts as true, including NaN.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

struct logical_and {
  template <class T> ND_FN static void run(T a, T b, bool& y) { y = (a != T(0)) & (b != T(0)); }
};
struct logical_or {
  template <class T> ND_FN static void run(T a, T b, bool& y) { y = (a != T(0)) | (b != T(0)); }
};
struct logical_xor {
  template <class T> ND_FN static void run(T a, T b, bool& y) { y = (a != T(0)) != (b != T(0)); }
};
struct logical_not {
  template <class T> ND_FN static void run(T x, bool& y) { y = x == T(0); }
};
struct where {
  template <class T> ND_FN static void run(bool condition, T a, T b, T& y) {
    if constexpr (is_same<T, bool>) y = (condition & a) | (!condition & b);
    else y = condition ? a : b;
  }
};

}  // namespace catena::k
