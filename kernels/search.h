// Places in sorted elements. Every NaN stands behind all numbers.
#pragma once

#include <catena/kernels/index.h>

namespace catena::k {

// at = number of elements of `sorted` that stand before v: those less than v, with `right` also those that are not
// greater.
struct searchsorted {
  template <class T>
  ND_FN static bool less(T a, T b) {
    return a < b || (is_nan(b) && !is_nan(a));
  }
  template <class I, class X, class T>
  ND_FN static void run(const I&, const X& sorted, T v, bool right, int64_t& at) {
    int64_t first = 0, n = sorted.shape(0);
    while (n > 0) {
      const int64_t half = n / 2;
      const T x = sorted(first + half);
      const bool before = right ? !less(v, x) : less(x, v);
      first = before ? first + half + 1 : first;
      n = before ? n - half - 1 : half;
    }
    at = first;
  }
};

}  // namespace catena::k
