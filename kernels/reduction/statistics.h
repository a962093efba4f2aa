// Variance in one pass. The accumulator holds sums of the distances from a pivot, which is one of the elements, and of
// their squares, in double. The sum of squared distances from any element is at most n + 1 times the sum for the mean,
// so for the few thousand elements with an arbitrary pivot no digit of a result is lost, however far they are from 0.
// Joined accumulators, of any number of elements, have their mean as the pivot. Infinities and NaN make the sum of the
// distances infinite or NaN.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

// `sum` and `squares` of the n distances from the pivot.
struct moments {
  double n, pivot, sum, squares;
};

// The mean square of the distances from the mean. `count` is the divisor: the number of elements, or a smaller number.
struct var {
  template <class T, class R> using accumulator = moments;
  template <class A> ND_FN static A identity() { return {0, 0, 0, 0}; }
  template <class A, class T> ND_FN static A map(T x, int64_t) {
    const double v = double(x);
    return {1, v, v - v, v - v};
  }
  // Adds one more element. Equal to combine(a, map(x)), except for the rounding.
  template <class A, class T> ND_FN static A add(A a, T x) {
    const double v = double(x), pivot = a.n == 0 ? v : a.pivot, distance = v - pivot;
    return {a.n + 1, pivot, a.sum + distance, a.squares + distance * distance};
  }
  // Shifts the distances of b to the pivot of a. An empty accumulator takes the pivot of the other one.
  template <class A> ND_FN static A combine(A a, A b) {
    const double pivot = a.n == 0 ? b.pivot : a.pivot, shift = b.pivot - pivot, moved = b.n * shift;
    return {a.n + b.n, pivot, a.sum + (b.sum + moved), a.squares + (b.squares + shift * (2 * b.sum + moved))};
  }
  // As combine, for accumulators of many elements.
  template <class A> ND_FN static A join(A a, A b) { return combine(about_mean(a), about_mean(b)); }
  // Four accumulators of the elements of one thread. Their common pivot is the first element.
  struct four_sums {
    double pivot = 0, sum[4] = {}, squares[4] = {};
    int n = 0;
    // The first call of four has j = 0.
    template <class T> ND_FN void take(int j, T x, int64_t) {
      const double v = double(x);
      if (j == 0 && n == 0) pivot = v;
      const double distance = v - pivot;
      sum[j] += distance;
      squares[j] += distance * distance;
      ++n;
    }
    ND_FN moments total() const {
      return {double(n), pivot, (sum[0] + sum[1]) + (sum[2] + sum[3]),
              (squares[0] + squares[1]) + (squares[2] + squares[3])};
    }
  };
  template <class R, class A> ND_FN static R finish(A a, int64_t count) {
    const double m2 = a.squares - a.sum * (a.sum / a.n);
    if (m2 == m2) return R((m2 < 0 ? 0 : m2) / double(count));
    // Squares of finite distances may overflow double.
    return a.sum - a.sum == 0 ? R(limits<double>::max()) : not_a_number<R>();
  }

 private:
  template <class A> static ND_FN A about_mean(A a) {
    const double pivot = a.pivot + a.sum / (a.n > 0 ? a.n : 1), shift = pivot - a.pivot, moved = a.n * shift;
    return {a.n, pivot, a.sum - moved, a.squares - shift * (2 * a.sum - moved)};
  }
};

}  // namespace catena::k
