// Batch normalisation: as row kernels the reduced axes are all but the channel's; gamma, beta and the statistics are
// per row. Layer normalisation: the reduced axes are those of gamma and beta, which lie along the row. The bits of
// per_row name the inputs that have one element per row.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

// y = gamma (x - mean) / sqrt(var + eps) + beta, with the biased variance of the row. Per-row outputs: mean, var, 1 /
// sqrt(var + eps).
struct batch_norm_fwd {
  static constexpr int phases = 2;
  static constexpr unsigned per_row = 0b1110;
  template <class A>
  ND_FN static A identity0() {
    return A(0);
  }
  template <class A>
  ND_FN static A map0(A x, A, A, A) {
    return x;
  }
  template <class A>
  ND_FN static A combine0(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish0(A& mean, int64_t count, A, A, A, A) {
    mean /= A(count);
  }
  template <class A>
  ND_FN static A identity1() {
    return A(0);
  }
  template <class A>
  ND_FN static A map1(A x, A, A, A, A mean) {
    return (x - mean) * (x - mean);
  }
  template <class A>
  ND_FN static A combine1(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish1(A& mean, A& inv_std, int64_t count, A, A, A, A eps, A& row_mean, A& row_var,
                            A& row_inv_std) {
    row_mean = mean;
    row_var = inv_std / A(count);
    row_inv_std = inv_std = A(1) / m::sqrt(row_var + eps);
  }
  template <class A>
  ND_FN static void write(A x, A gamma, A beta, A, A mean, A inv_std, A& y) {
    y = gamma * ((x - mean) * inv_std) + beta;
  }
};

// gx = gamma inv_std (gy - (xhat ggamma + gbeta) / count). Per-row outputs: ggamma = sum(gy xhat), gbeta = sum(gy).
struct batch_norm_bwd {
  static constexpr int phases = 2;
  static constexpr unsigned per_row = 0b11100;
  template <class A>
  ND_FN static A identity0() {
    return A(0);
  }
  template <class A>
  ND_FN static A map0(A, A gy, A, A, A) {
    return gy;
  }
  template <class A>
  ND_FN static A combine0(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish0(A&, int64_t, A, A, A, A, A) {}
  template <class A>
  ND_FN static A identity1() {
    return A(0);
  }
  template <class A>
  ND_FN static A map1(A x, A gy, A, A mean, A inv_std, A) {
    return gy * ((x - mean) * inv_std);
  }
  template <class A>
  ND_FN static A combine1(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish1(A& gbeta, A& ggamma, int64_t count, A, A, A, A, A, A& row_ggamma, A& row_gbeta) {
    row_gbeta = gbeta;
    row_ggamma = ggamma;
    gbeta /= A(count);
    ggamma /= A(count);
  }
  template <class A>
  ND_FN static void write(A x, A gy, A gamma, A mean, A inv_std, A gbeta_share, A ggamma_share, A& gx) {
    gx = gamma * inv_std * (gy - ((x - mean) * inv_std * ggamma_share + gbeta_share));
  }
};

// The two as elementwise kernels, for layouts in which whole-array passes are faster than rows: what is summed, and
// what is written.
struct squared_difference {
  template <class T>
  ND_FN static void run(T a, T b, T& y) {
    y = (a - b) * (a - b);
  }
};
struct batch_norm_write {
  template <class T>
  ND_FN static void run(T x, T gamma, T beta, T mean, T inv_std, T& y) {
    batch_norm_fwd::write(x, gamma, beta, T(0), mean, inv_std, y);
  }
};
struct batch_norm_ggamma {
  template <class T>
  ND_FN static void run(T x, T gy, T mean, T inv_std, T& share) {
    share = batch_norm_bwd::map1(x, gy, T(0), mean, inv_std, T(0));
  }
};
struct batch_norm_gx {
  template <class T>
  ND_FN static void run(T x, T gy, T gamma, T mean, T inv_std, T gbeta_share, T ggamma_share, T& gx) {
    batch_norm_bwd::write(x, gy, gamma, mean, inv_std, gbeta_share, ggamma_share, gx);
  }
};

// The same with given statistics.
struct fixed_batch_norm {
  template <class T>
  ND_FN static void run(T x, T gamma, T beta, T mean, T var, T eps, T& y) {
    y = gamma * ((x - mean) / m::sqrt(var + eps)) + beta;
  }
};

// y = gamma (x - mean) / (sqrt(var + inside) + outside) + beta with the biased variance of the row. `origin` is any
// element of the row: everything is computed from x - origin, because the sum of numbers that are far from 0 and close
// together would lose their differences. Per-row outputs: center = mean - origin, scale = 1 / (sqrt(var + inside) +
// outside).
struct layer_norm_fwd {
  static constexpr int phases = 2;
  static constexpr unsigned per_row = 0b110010;
  template <class A>
  ND_FN static A identity0() {
    return A(0);
  }
  template <class A>
  ND_FN static A map0(A x, A origin, A, A, A, A) {
    return x - origin;
  }
  template <class A>
  ND_FN static A combine0(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish0(A& center, int64_t count, A, A, A, A, A, A) {
    center /= A(count);
  }
  template <class A>
  ND_FN static A identity1() {
    return A(0);
  }
  template <class A>
  ND_FN static A map1(A x, A origin, A, A, A, A, A center) {
    const A d = x - origin - center;
    return d * d;
  }
  template <class A>
  ND_FN static A combine1(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish1(A& center, A& scale, int64_t count, A, A, A, A, A inside, A outside, A& row_center,
                            A& row_scale) {
    row_center = center;
    row_scale = scale = A(1) / (m::sqrt(scale / A(count) + inside) + outside);
  }
  template <class A>
  ND_FN static void write(A x, A origin, A gamma, A beta, A, A, A center, A scale, A& y) {
    y = gamma * ((x - origin - center) * scale) + beta;
  }
};

// With h = gamma gy, xhat = (x - mean) scale and sigma = sqrt(var + inside) = 1 / scale - outside:
// gx = scale (h - mean(h) - xhat mean(h xhat) (1 + outside / sigma)).
struct layer_norm_bwd {
  static constexpr int phases = 2;
  static constexpr unsigned per_row = 0b1110100;
  template <class A>
  ND_FN static A identity0() {
    return A(0);
  }
  template <class A>
  ND_FN static A map0(A, A gy, A, A gamma, A, A, A) {
    return gamma * gy;
  }
  template <class A>
  ND_FN static A combine0(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish0(A& mean_h, int64_t count, A, A, A, A, A, A, A) {
    mean_h /= A(count);
  }
  template <class A>
  ND_FN static A identity1() {
    return A(0);
  }
  template <class A>
  ND_FN static A map1(A x, A gy, A origin, A gamma, A center, A scale, A, A) {
    return gamma * gy * ((x - origin - center) * scale);
  }
  template <class A>
  ND_FN static A combine1(A a, A b) {
    return a + b;
  }
  template <class A>
  ND_FN static void finish1(A&, A& slope, int64_t count, A, A, A, A, A, A scale, A outside) {
    // A constant row has sigma = 0, perhaps not exactly; then xhat is 0, and so is all that follows from it.
    const A sigma = A(1) / scale - outside;
    slope *= sigma > A(0) ? (A(1) + outside / sigma) / A(count) : A(0);
  }
  template <class A>
  ND_FN static void write(A x, A gy, A origin, A gamma, A center, A scale, A, A mean_h, A slope, A& gx) {
    gx = scale * (gamma * gy - mean_h - (x - origin - center) * scale * slope);
  }
};

// gy xhat, whose sum over the rows is gamma's gradient.
struct layer_norm_ggamma {
  template <class X, class A>
  ND_FN static void run(X x, X gy, X origin, A center, A scale, A& share) {
    share = A(gy) * ((A(x) - A(origin) - center) * scale);
  }
};

}  // namespace catena::k
