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

// The maximum of a row and the sum of the exponentials.
struct softmax_phases {
  enum : int { phases = 2 };
  template <class T> struct In { T x; };
  template <class T> struct Stats { T max, sum; };
  template <class A> ND_FN static A identity0() { return limits<A>::min(); }
  template <class A> ND_FN static A map0(const In<A>& in) { return in.x; }
  template <class A> ND_FN static A combine0(A a, A b) { return larger_of(a, b); }
  template <class A> ND_FN static void finish0(Stats<A>&, int64_t, const In<A>&) {}
  template <class A> ND_FN static A identity1() { return A(0); }
  template <class A> ND_FN static A map1(const In<A>& in, const Stats<A>& row) { return m::exp(in.x - row.max); }
  template <class A> ND_FN static A combine1(A a, A b) { return a + b; }
};

struct softmax : softmax_phases {
  template <class T> struct Out { T y; };
  // Replaces the sum by its reciprocal.
  template <class A> ND_FN static void finish1(Stats<A>& row, int64_t, const In<A>&) { row.sum = A(1) / row.sum; }
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.y = m::exp(in.x - row.max) * row.sum;
  }
  // As write, if y holds the exponential that map1 has computed.
  template <class A> ND_FN static void write_kept(const Stats<A>& row, Out<A&> out) { out.y *= row.sum; }
};

struct log_softmax : softmax_phases {
  using same_phases = softmax;
  template <class T> struct Out { T y; };
  // Replaces the sum by its logarithm.
  template <class A> ND_FN static void finish1(Stats<A>& row, int64_t, const In<A>&) { row.sum = m::log(row.sum); }
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.y = (in.x - row.max) - row.sum;
  }
};

// The two numbers from which log_softmax computes a row: y = (x - max) - log_sum. Their sum would lose the digits of
// log_sum, and with them those of a logarithm that is close to 0, if the maximum is large.
struct log_softmax_statistics : softmax_phases {
  template <class T> struct RowOut { T max, log_sum; };
  template <class T> struct Out {};
  template <class A> ND_FN static void finish1(Stats<A>& row, int64_t, const In<A>&, RowOut<A&> out) {
    out.max = row.max;
    out.log_sum = m::log(row.sum);
  }
  template <class A> ND_FN static void write(const In<A>&, const Stats<A>&, Out<A&>) {}
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
