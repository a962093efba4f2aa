// Softmax and log-softmax over the reduced axes, shifted by the maximum so that no exponential overflows, and their
// gradients.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

struct softmax {
  static constexpr int phases = 2;
  template <class A>
  ND_FN static A identity0() {
    return limits<A>::min();
  }
  template <class A>
  ND_FN static A map0(A x) {
    return x;
  }
  template <class A>
  ND_FN static A combine0(A a, A b) {
    return nan_max(a, b);
  }
  template <class A>
  ND_FN static void finish0(A&, int64_t, A) {}
  template <class A>
  ND_FN static A identity1() {
    return A(0);
  }
  template <class A>
  ND_FN static A map1(A x, A max) {
    return m::exp(x - max);
  }
  template <class A>
  ND_FN static A combine1(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish1(A&, A& sum, int64_t, A) {
    sum = A(1) / sum;
  }
  template <class A>
  ND_FN static void write(A x, A max, A scale, A& y) {
    y = m::exp(x - max) * scale;
  }
  // The same when y holds the exponential that map1 has made.
  template <class A>
  ND_FN static void write_kept(A, A scale, A& y) {
    y *= scale;
  }
};

struct log_softmax {
  static constexpr int phases = 2;
  template <class A>
  ND_FN static A identity0() {
    return limits<A>::min();
  }
  template <class A>
  ND_FN static A map0(A x) {
    return x;
  }
  template <class A>
  ND_FN static A combine0(A a, A b) {
    return nan_max(a, b);
  }
  template <class A>
  ND_FN static void finish0(A&, int64_t, A) {}
  template <class A>
  ND_FN static A identity1() {
    return A(0);
  }
  template <class A>
  ND_FN static A map1(A x, A max) {
    return m::exp(x - max);
  }
  template <class A>
  ND_FN static A combine1(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish1(A&, A& sum, int64_t, A) {
    sum = m::log(sum);
  }
  template <class A>
  ND_FN static void write(A x, A max, A log_sum, A& y) {
    y = (x - max) - log_sum;
  }
};

// gx = y (gy - sum(y gy))
struct softmax_bwd {
  static constexpr int phases = 1;
  template <class A>
  ND_FN static A identity0() {
    return A(0);
  }
  template <class A>
  ND_FN static A map0(A y, A gy) {
    return y * gy;
  }
  template <class A>
  ND_FN static A combine0(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish0(A&, int64_t, A, A) {}
  template <class A>
  ND_FN static void finish1(A&, A&, int64_t, A, A) {}
  template <class A>
  ND_FN static void write(A y, A gy, A sum, A, A& gx) {
    gx = y * (gy - sum);
  }
};

// gx = gy - exp(y) sum(gy)
struct log_softmax_bwd {
  static constexpr int phases = 1;
  template <class A>
  ND_FN static A identity0() {
    return A(0);
  }
  template <class A>
  ND_FN static A map0(A, A gy) {
    return gy;
  }
  template <class A>
  ND_FN static A combine0(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish0(A&, int64_t, A, A) {}
  template <class A>
  ND_FN static void finish1(A&, A&, int64_t, A, A) {}
  template <class A>
  ND_FN static void write(A y, A gy, A sum, A, A& gx) {
    gx = gy - m::exp(y) * sum;
  }
};

}  // namespace catena::k
