// Variance in one pass. The accumulator holds the mean of what it has seen and the sum of squared distances from that
// mean, and two are joined by the formula of Chan, Golub and LeVeque: no difference of large sums, so no cancellation.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

template <class T> struct moments {
  using value_type = T;
  T n, mean, m2;
};

// The population variance: a caller that wants the divisor n - ddof multiplies by n / (n - ddof).
struct var {
  template <class T, class R> using accumulator = moments<R>;
  template <class A> ND_FN static A identity() { return {0, 0, 0}; }
  template <class A, class T> ND_FN static A map(T x, int64_t) {
    using F = typename A::value_type;
    return {F(1), F(x), F(0)};
  }
  template <class A> ND_FN static A combine(A a, A b) {
    using F = typename A::value_type;
    const F n = a.n + b.n, distance = b.mean - a.mean;
    const F share = b.n / (n > F(0) ? n : F(1));
    const A both = {n, a.mean + distance * share, a.m2 + b.m2 + distance * (a.n * share) * distance};
    // An empty side must not take part: its mean is no element, and the distance to it may overflow.
    const bool a_empty = a.n == F(0), b_empty = b.n == F(0);
    return a_empty ? b : (b_empty ? a : both);
  }
  template <class R, class A> ND_FN static R finish(A a, int64_t count) { return a.m2 / R(count); }
};

}  // namespace catena::k
