// Softmax and log-softmax over the reduced axes, shifted by the maximum so that no exponential overflows, and their
// gradients.
#pragma once

#include <catena/kernels/numeric.h>
#include <catena/kernels/row_wise_operands.h>

namespace catena::k {

// The larger of two elements, or any of both if one is NaN: the sum of the exponentials is NaN then, whatever the
// maximum is. A GPU computes this in one instruction.
template <class A> ND_FN A larger_of(A a, A b) {
#if CATENA_DEVICE
  if constexpr (is_same<A, float>) return ::fmaxf(a, b);
  else return ::fmax(a, b);
#else
  return nan_max(a, b);
#endif
}

struct softmax {
  enum : int { phases = 2 };
  template <class T> struct In { T x; };
  template <class T> struct Stats { T max, scale; };
  template <class T> struct Out { T y; };
  template <class A> ND_FN static A identity0() { return limits<A>::min(); }
  template <class A> ND_FN static A map0(const In<A>& in) { return in.x; }
  template <class A> ND_FN static A combine0(A a, A b) { return larger_of(a, b); }
  template <class A> ND_FN static void finish0(Stats<A>&, int64_t, const In<A>&) {}
  template <class A> ND_FN static A identity1() { return A(0); }
  template <class A> ND_FN static A map1(const In<A>& in, const Stats<A>& row) { return m::exp(in.x - row.max); }
  template <class A> ND_FN static A combine1(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish1(Stats<A>& row, int64_t, const In<A>&) { row.scale = A(1) / row.scale; }
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.y = m::exp(in.x - row.max) * row.scale;
  }
  // As write, if y holds the exponential that map1 has computed.
  template <class A> ND_FN static void write_kept(const Stats<A>& row, Out<A&> out) { out.y *= row.scale; }
};

struct log_softmax {
  enum : int { phases = 2 };
  using same_phases = softmax;
  template <class T> struct In { T x; };
  template <class T> struct Stats { T max, log_sum; };
  template <class T> struct Out { T y; };
  template <class A> ND_FN static A identity0() { return limits<A>::min(); }
  template <class A> ND_FN static A map0(const In<A>& in) { return in.x; }
  template <class A> ND_FN static A combine0(A a, A b) { return larger_of(a, b); }
  template <class A> ND_FN static void finish0(Stats<A>&, int64_t, const In<A>&) {}
  template <class A> ND_FN static A identity1() { return A(0); }
  template <class A> ND_FN static A map1(const In<A>& in, const Stats<A>& row) { return m::exp(in.x - row.max); }
  template <class A> ND_FN static A combine1(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish1(Stats<A>& row, int64_t, const In<A>&) {
    row.log_sum = m::log(row.log_sum);
  }
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.y = (in.x - row.max) - row.log_sum;
  }
};

// gx = y (gy - sum(y gy))
struct softmax_bwd {
  enum : int { phases = 1 };
  template <class T> struct In { T y, gy; };
  template <class T> struct Stats { T sum; };
  template <class T> struct Out { T gx; };
  template <class A> ND_FN static A identity0() { return A(0); }
  template <class A> ND_FN static A map0(const In<A>& in) { return in.y * in.gy; }
  template <class A> ND_FN static A combine0(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish0(Stats<A>&, int64_t, const In<A>&) {}
  template <class A> ND_FN static void finish1(Stats<A>&, int64_t, const In<A>&) {}
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.gx = in.y * (in.gy - row.sum);
  }
};

// gx = gy - exp(y) sum(gy)
struct log_softmax_bwd {
  enum : int { phases = 1 };
  template <class T> struct In { T y, gy; };
  template <class T> struct Stats { T sum; };
  template <class T> struct Out { T gx; };
  template <class A> ND_FN static A identity0() { return A(0); }
  template <class A> ND_FN static A map0(const In<A>& in) { return in.gy; }
  template <class A> ND_FN static A combine0(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish0(Stats<A>&, int64_t, const In<A>&) {}
  template <class A> ND_FN static void finish1(Stats<A>&, int64_t, const In<A>&) {}
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.gx = in.gy - m::exp(in.y) * row.sum;
  }
};

}  // namespace catena::k
