// Search in sorted elements. NaN sorts after all numbers.
#pragma once

#include <catena/kernels/index.h>

namespace catena::k {

// at = the insertion position of v in `sorted`: the number of elements that are less than v, or, with `right`, not
// greater than v.
struct searchsorted {
  template <class T> ND_FN static bool less(T a, T b) { return a < b || (is_nan(b) && !is_nan(a)); }
  // Of numbers with NaN, those with a real part come first.
  template <class T> ND_FN static bool less(complex<T> a, complex<T> b) {
    if (is_nan(a.re) != is_nan(b.re)) return is_nan(b.re);
    if (is_nan(a.im) != is_nan(b.im)) return is_nan(b.im);
    return is_nan(a.re) || a.re == b.re ? a.im < b.im : a.re < b.re;
  }
  template <class I, class X, class T> ND_FN static void run(const I&, const X& sorted, T v, bool right, int64_t& at) {
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
