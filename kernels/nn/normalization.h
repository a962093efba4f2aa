// Batch normalisation: as row-wise kernels, the reduced axes are all but the channel axis; gamma, beta and the
// statistics are per row. Layer normalisation: the reduced axes are the axes of gamma and beta, which extend along the
// row, and so does gamma in RMS normalisation.
#pragma once

#include <catena/kernels/numeric.h>
#include <catena/kernels/row_wise_operands.h>

namespace catena::k {

// y = gamma (x - mean) / sqrt(var + eps) + beta, with the biased variance of the row. Per-row outputs: mean, var, 1 /
// sqrt(var + eps).
struct batch_norm_fwd {
  enum : int { phases = 2 };
  template <class T> struct In {
    T x;
    PerRow<T> gamma, beta, eps;
  };
  template <class T> struct Stats { T mean, inv_std; };
  template <class T> struct RowOut { T mean, var, inv_std; };
  template <class T> struct Out { T y; };
  template <class A> ND_FN static A identity0() { return A(0); }
  template <class A> ND_FN static A map0(const In<A>& in) { return in.x; }
  template <class A> ND_FN static A combine0(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish0(Stats<A>& row, int64_t count, const In<A>&) { row.mean /= A(count); }
  template <class A> ND_FN static A identity1() { return A(0); }
  template <class A> ND_FN static A map1(const In<A>& in, const Stats<A>& row) {
    return (in.x - row.mean) * (in.x - row.mean);
  }
  template <class A> ND_FN static A combine1(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish1(Stats<A>& row, int64_t count, const In<A>& first, RowOut<A&> out) {
    out.mean = row.mean;
    out.var = row.inv_std / A(count);
    out.inv_std = row.inv_std = A(1) / m::sqrt(out.var + first.eps);
  }
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.y = in.gamma * ((in.x - row.mean) * row.inv_std) + in.beta;
  }
};

// gx = gamma inv_std (gy - (xhat ggamma + gbeta) / count). Per-row outputs: ggamma = sum(gy xhat), gbeta = sum(gy).
struct batch_norm_bwd {
  enum : int { phases = 2, at_once = 1 };
  template <class T> struct In {
    T x, gy;
    PerRow<T> gamma, mean, inv_std;
  };
  template <class T> struct Stats { T gbeta, ggamma; };
  template <class T> struct RowOut { T ggamma, gbeta; };
  template <class T> struct Out { T gx; };
  template <class A> ND_FN static A identity0() { return A(0); }
  template <class A> ND_FN static A map0(const In<A>& in) { return in.gy; }
  template <class A> ND_FN static A combine0(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish0(Stats<A>&, int64_t, const In<A>&) {}
  template <class A> ND_FN static A identity1() { return A(0); }
  template <class A> ND_FN static A map1(const In<A>& in, const Stats<A>&) {
    return in.gy * ((in.x - in.mean) * in.inv_std);
  }
  template <class A> ND_FN static A combine1(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish1(Stats<A>& row, int64_t count, const In<A>&, RowOut<A&> out) {
    out.gbeta = row.gbeta;
    out.ggamma = row.ggamma;
    // write() needs the means: from here on gbeta and ggamma of `row` are sums divided by `count`.
    row.gbeta /= A(count);
    row.ggamma /= A(count);
  }
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.gx = in.gamma * in.inv_std * (in.gy - ((in.x - in.mean) * in.inv_std * row.ggamma + row.gbeta));
  }
};

// Elementwise kernels for layouts in which passes over whole arrays are faster than row-wise kernels: one computes the
// terms of the sums, one the output.
struct squared_difference {
  template <class T> ND_FN static void run(T a, T b, T& y) { y = (a - b) * (a - b); }
};
struct batch_norm_write {
  template <class T> ND_FN static void run(T x, T gamma, T beta, T mean, T inv_std, T& y) {
    batch_norm_fwd::write<T>({x, {gamma}, {beta}, {T(0)}}, {mean, inv_std}, {y});
  }
};
struct batch_norm_ggamma {
  template <class T> ND_FN static void run(T x, T gy, T mean, T inv_std, T& share) {
    share = batch_norm_bwd::map1<T>({x, gy, {T(0)}, {mean}, {inv_std}}, {});
  }
};
struct batch_norm_gx {
  template <class T>
  ND_FN static void run(T x, T gy, T gamma, T mean, T inv_std, T gbeta_share, T ggamma_share, T& gx) {
    batch_norm_bwd::write<T>({x, gy, {gamma}, {mean}, {inv_std}}, {gbeta_share, ggamma_share}, {gx});
  }
};

// As above with given statistics.
struct fixed_batch_norm {
  template <class T> ND_FN static void run(T x, T gamma, T beta, T mean, T var, T eps, T& y) {
    y = gamma * ((x - mean) / m::sqrt(var + eps)) + beta;
  }
};

// y = gamma (x - mean) / (sqrt(var + inside) + outside) + beta with the biased variance of the row. `origin` is any
// element of the row: everything is computed from x - origin, because the sum of numbers that are far from 0 and close
// together would lose their differences. Per-row outputs: center = mean - origin, scale = 1 / (sqrt(var + inside) +
// outside).
struct layer_norm_fwd {
  enum : int { phases = 2, shared = 1 << 2 | 1 << 3 };
  template <class T> struct In {
    T x;
    PerRow<T> origin;
    T gamma, beta;
    PerRow<T> inside, outside;
  };
  template <class T> struct Stats { T center, scale; };
  template <class T> struct RowOut { T center, scale; };
  template <class T> struct Out { T y; };
  template <class A> ND_FN static A identity0() { return A(0); }
  template <class A> ND_FN static A map0(const In<A>& in) { return in.x - in.origin; }
  template <class A> ND_FN static A combine0(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish0(Stats<A>& row, int64_t count, const In<A>&) { row.center /= A(count); }
  template <class A> ND_FN static A identity1() { return A(0); }
  template <class A> ND_FN static A map1(const In<A>& in, const Stats<A>& row) {
    const A d = in.x - in.origin - row.center;
    return d * d;
  }
  template <class A> ND_FN static A combine1(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish1(Stats<A>& row, int64_t count, const In<A>& first, RowOut<A&> out) {
    out.center = row.center;
    out.scale = row.scale = A(1) / (m::sqrt(row.scale / A(count) + first.inside) + first.outside);
  }
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.y = in.gamma * ((in.x - in.origin - row.center) * row.scale) + in.beta;
  }
};

// gy xhat; its sum over the rows is the gradient of gamma.
struct layer_norm_ggamma {
  template <class X, class A> ND_FN static void run(X x, X gy, X origin, A center, A scale, A& share) {
    share = A(gy) * ((A(x) - A(origin) - center) * scale);
  }
};

// With h = gamma gy, xhat = (x - mean) scale and sigma = sqrt(var + inside) = 1 / scale - outside:
// gx = scale (h - mean(h) - xhat mean(h xhat) (1 + outside / sigma)).
struct layer_norm_bwd {
  enum : int { phases = 2, at_once = 1, sums = 2, shared = 1 << 3 };
  template <class T> struct In {
    T x, gy;
    PerRow<T> origin;
    T gamma;
    PerRow<T> center, scale, outside;
  };
  template <class T> struct Stats { T mean_h, slope; };
  template <class T> struct Out { T gx; };
  template <class T> struct Sums { T ggamma, gbeta; };
  template <class A> ND_FN static A identity0() { return A(0); }
  template <class A> ND_FN static A map0(const In<A>& in) { return in.gamma * in.gy; }
  template <class A> ND_FN static A combine0(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish0(Stats<A>& row, int64_t count, const In<A>&) { row.mean_h /= A(count); }
  template <class A> ND_FN static A identity1() { return A(0); }
  template <class A> ND_FN static A map1(const In<A>& in, const Stats<A>&) {
    return in.gamma * in.gy * ((in.x - in.origin - in.center) * in.scale);
  }
  template <class A> ND_FN static A combine1(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish1(Stats<A>& row, int64_t count, const In<A>& first) {
    // A constant row has sigma = 0, perhaps not exactly; then xhat and everything computed from it is 0.
    const A sigma = A(1) / first.scale - first.outside;
    row.slope *= sigma > A(0) ? (A(1) + first.outside / sigma) / A(count) : A(0);
  }
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.gx = in.scale * (in.gamma * in.gy - row.mean_h - (in.x - in.origin - in.center) * in.scale * row.slope);
  }
  template <class A> ND_FN static void share(const In<A>& in, Sums<A&> sums) {
    layer_norm_ggamma::run(in.x, in.gy, A(in.origin), A(in.center), A(in.scale), sums.ggamma);
    sums.gbeta = in.gy;
  }
};

// y = gamma x / sqrt(mean(x^2) + eps). Per-row output: scale = 1 / sqrt(mean(x^2) + eps).
struct rms_norm_fwd {
  enum : int { phases = 1, shared = 1 << 1 };
  template <class T> struct In {
    T x, gamma;
    PerRow<T> eps;
  };
  template <class T> struct Stats { T scale; };
  template <class T> struct RowOut { T scale; };
  template <class T> struct Out { T y; };
  template <class A> ND_FN static A identity0() { return A(0); }
  template <class A> ND_FN static A map0(const In<A>& in) { return in.x * in.x; }
  template <class A> ND_FN static A combine0(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish0(Stats<A>& row, int64_t count, const In<A>& first) {
    row.scale = A(1) / m::sqrt(row.scale / A(count) + first.eps);
  }
  template <class A> ND_FN static void finish1(Stats<A>& row, int64_t, const In<A>&, RowOut<A&> out) {
    out.scale = row.scale;
  }
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.y = in.gamma * (in.x * row.scale);
  }
};

// gy xhat; its sum over the rows is the gradient of gamma.
struct rms_norm_ggamma {
  template <class X, class A> ND_FN static void run(X x, X gy, A scale, A& share) { share = A(gy) * (A(x) * scale); }
};

// With h = gamma gy and xhat = x scale: gx = scale (h - xhat mean(h xhat)).
struct rms_norm_bwd {
  enum : int { phases = 1, sums = 1, shared = 1 << 2 };
  template <class T> struct In {
    T x, gy, gamma;
    PerRow<T> scale;
  };
  template <class T> struct Stats { T slope; };
  template <class T> struct Out { T gx; };
  template <class T> struct Sums { T ggamma; };
  template <class A> ND_FN static A identity0() { return A(0); }
  template <class A> ND_FN static A map0(const In<A>& in) { return in.gamma * in.gy * (in.x * in.scale); }
  template <class A> ND_FN static A combine0(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish0(Stats<A>& row, int64_t count, const In<A>&) { row.slope /= A(count); }
  template <class A> ND_FN static void finish1(Stats<A>&, int64_t, const In<A>&) {}
  template <class A> ND_FN static void write(const In<A>& in, const Stats<A>& row, Out<A&> out) {
    out.gx = in.scale * (in.gamma * in.gy - in.x * in.scale * row.slope);
  }
  template <class A> ND_FN static void share(const In<A>& in, Sums<A&> sums) {
    rms_norm_ggamma::run(in.x, in.gy, A(in.scale), sums.ggamma);
  }
};

}  // namespace catena::k
