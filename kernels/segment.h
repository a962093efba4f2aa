// Sums of the elements with the same place, in a fixed order, on every device: the places of the elements are sorted
// (stable), so that elements with the same place are neighbours. A segment is all elements with one place.
#pragma once

#include <catena/kernels/index.h>

namespace catena::k {

// start = the position of the first element of `sorted` that is not less than i. Loop: (places + 1).
struct segment_starts {
  template <class I, class X> ND_FN static void run(const I& i, const X& sorted, int64_t& start) {
    int64_t first = 0, n = sorted.shape(0);
    while (n > 0) {
      const int64_t half = n / 2;
      const bool before = sorted(first + half) < i[0];
      first = before ? first + half + 1 : first;
      n = before ? n - half - 1 : half;
    }
    start = first;
  }
};

// sum = values[order[k], j] added up over the segment k = starts[i] ... starts[i + 1] - 1, in this order. Loop:
// (places, columns of the values).
struct segment_sum {
  template <class I, class X, class P, class T>
  ND_FN static void run(const I& i, const X& values, const P& order, const P& starts, T& sum) {
    T s = T(0);
    const int64_t end = starts(i[0] + 1);
    for (int64_t k = starts(i[0]); k < end; ++k) s += values(order(k), i[1]);
    sum = s;
  }
};

}  // namespace catena::k
