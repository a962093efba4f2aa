// Losses that select by label. Scores have the shape (N, C, D): the class on axis 1, all further axes joined to one. A
// label that is neither a class nor `ignore` gives NaN and is never used as a position.
#pragma once

#include <catena/kernels/exp_log.h>
#include <catena/kernels/index.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/row_wise_operands.h>

namespace catena::k {

// loss[n, d] = -weight[t] log_y[n, t, d] with t = label[n, d], or 0 where t is ignored. Loop: (N, D).
struct cross_entropy_pick {
  template <class I, class X, class W, class L, class T>
  ND_FN static void run(const I& i, const X& log_y, const W& weight, L label, L ignore, T& loss) {
    const bool known = label >= L(0) && int64_t(label) < log_y.shape(1);
    loss = label == ignore ? T(0) : (known ? T(-weight(label) * log_y(i[0], label, i[1])) : not_a_number<T>());
  }
};

// The cross entropy of softmax(x) and labels t = label[n, d]. With the maximum of the row x[n, :, d] and the logarithm
// of the sum of exp(x - maximum): log softmax(x) = (x - max) - log_sum. All arrays except x and the weights have one
// element per row, with the length 1 on the axis of the classes.
//
// loss[n, d] = -weight[t] log softmax(x)[n, t, d], or 0 where t is ignored. Loop: (N, 1, D).
struct cross_entropy {
  template <class I, class X, class W, class L, class T>
  ND_FN static void run(const I& i, const X& x, const W& weight, T max, T log_sum, L label, L ignore, T& loss) {
    const bool known = label >= L(0) && int64_t(label) < x.shape(1);
    const T value = known ? T(weight(label) * ((max - x(i[0], label, i[2])) + log_sum)) : not_a_number<T>();
    loss = label == ignore ? T(0) : value;
  }
};

// The gradient is scale (softmax(x)[n, c, d] - (c == t ? on : off)) with scale = g weight[t] / norm, or 0 where t is
// ignored; `on` and `off` are the probabilities of the label and of every other class, 1 and 0 without smoothing. The
// normaliser may be an array, so that a count computed on the device need not be copied to the host.
//
// The scale and the probability of every other class, which is -1 in rows whose label is ignored. Loop: (N, 1, D).
struct cross_entropy_scale {
  template <class I, class W, class L, class T>
  ND_FN static void run(const I&, const W& weight, L label, L ignore, T g, T norm, T off, T& scale, T& row_off) {
    const bool known = label >= L(0) && int64_t(label) < weight.shape(0);
    scale = known ? T(g / norm) * weight(label) : not_a_number<T>();
    row_off = label == ignore ? T(-1) : off;
  }
};

// The gradient as if no class were the label. Row-wise over the classes; its phase computes nothing.
struct cross_entropy_bwd {
  enum : int { phases = 1 };
  template <class T> struct In {
    T x;
    PerRow<T> max, log_sum, scale, off;
  };
  template <class T> struct Stats { T nothing; };
  template <class T> struct Out { T gx; };
  template <class A> ND_FN static A identity0() { return A(0); }
  template <class A> ND_FN static A map0(const In<A>&) { return A(0); }
  template <class A> ND_FN static A combine0(A a, A) { return a; }
  template <class A> ND_FN static void finish0(Stats<A>&, int64_t, const In<A>&) {}
  template <class A> ND_FN static void finish1(Stats<A>&, int64_t, const In<A>&) {}
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>&, Out<A&> out) {
    const A gradient = in.scale * (m::exp((in.x - in.max) - in.log_sum) - in.off);
    out.gx = in.off < A(0) ? A(0) : gradient;
  }
};

// Replaces the gradient of each label that is a class. Loop: (N, 1, D).
struct cross_entropy_label_bwd {
  template <class I, class X, class T, class L, class Y>
  ND_FN static void run(const I& i, const X& x, T max, T log_sum, T scale, T off, L label, T on, const Y& gx) {
    if (off < T(0) || label < L(0) || int64_t(label) >= x.shape(1)) return;
    gx.set(scale * (m::exp((x(i[0], label, i[2]) - max) - log_sum) - on), i[0], label, i[2]);
  }
};

// The cross entropy of a probability t and the logistic function of x, in which the part of t is multiplied by a
// weight: (1 - t) log(1 + e^x) + weight t log(1 + e^-x). No difference loses the digits of a small loss or gradient.
struct logistic_cross_entropy {
  template <class T> ND_FN static void run(T x, T t, T weight, T& y) {
    const T rest = m::log1p(m::exp(-m::fabs(x)));
    y = (T(1) - t) * ((x < T(0) ? T(0) : x) + rest) + weight * t * ((x < T(0) ? -x : T(0)) + rest);
  }
};
struct logistic_cross_entropy_bwd {
  template <class T> ND_FN static void run(T x, T t, T weight, T gy, T& gx) {
    const T e = m::exp(-m::fabs(x)), large = T(1) / (T(1) + e), small = e * large;
    gx = gy * ((T(1) - t) * (x < T(0) ? small : large) - weight * t * (x < T(0) ? large : small));
  }
};

// y[n, c, d] = c == label ? on : off, where the labels have been broadcast to the loop (N, C, D).
struct one_hot {
  template <class I, class L, class T> ND_FN static void run(const I& i, L label, T off, T on, T& y) {
    y = i[1] == int64_t(label) ? on : off;
  }
};

// One step of the probabilities of alignments, as logarithms: a state is reached from itself, from the state before it
// and, for a penalty of 0, from the one before that. Most differences in a long sequence are far outside the range in
// which libraries compute exp quickly; sums and products alone take the same time for all of them. exp(-80) is
// negligible in float64 beside the largest term, which is 1, and is a normal number in float32.
struct ctc_step {
  template <class T> ND_FN static T term(T x) { return exp_of_negative(x > T(-80) ? x : T(-80)); }
  template <class T> ND_FN static void run(T stay, T next, T skip, T penalty, T emission, T& y) {
    constexpr T ln2 = T(0.693147180559945309417232121458);
    const T over = skip + penalty, nearer = stay > next ? stay : next, most = nearer > over ? nearer : over;
    const T sum = term(stay - most) + term(next - most) + term(over - most);
    const T half = sum > T(2) ? T(0.5) : T(1);
    const log1p_terms<T> log1p(sum * half - T(1));
    const T twos = (half < T(1) ? T(1) : T(0)) + (log1p.halved ? T(1) : T(0));
    const T all = stay + next + over;  // NaN if one of them is
    y = emission + (all == all ? most + (log1p.rest + twos * ln2) : all);
  }
};

// The share of all alignments that are in a state at a time: exp(alpha + beta - emission - log_p), at most 1, and 0
// where it would be less than a normal number. It is also 0 if there is no alignment: log_p is then the replacement for
// the logarithm of 0, whose sums with other numbers have rounding errors far above 1. Differences that rounding alone
// cannot explain also give 0.
struct ctc_share {
  template <class T> ND_FN static void run(T alpha, T beta, T emission, T log_p, T& share) {
    constexpr T slack = 1;  // the rounding errors of d grow with the number of times
    constexpr T least = sizeof(T) == 4 ? -87 : -700, never = -1e9;
    const T d = alpha + beta - emission - log_p;
    const bool possible = log_p > never && d <= slack && d >= least;
    share = possible ? exp_of_negative(d < T(0) ? d : T(0)) : T(0);
  }
};

}  // namespace catena::k
