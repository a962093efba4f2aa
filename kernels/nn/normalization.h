// Batch normalisation. As row kernels the reduced axes are all but the channel's; gamma, beta and the statistics are per row.
#pragma once

#include "kernels/numeric.h"

namespace catena::k {

// y = gamma (x - mean) / sqrt(var + eps) + beta, with the biased variance of the row. Per-row outputs: mean, var, 1 / sqrt(var + eps).
struct batch_norm_fwd {
  static constexpr int phases = 2;
  template <class A> ND_FN static A identity0() { return A(0); }
  template <class A> ND_FN static A map0(A x, A, A, A) { return x; }
  template <class A> ND_FN static A combine0(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish0(A& mean, int64_t count, A, A, A, A) { mean /= A(count); }
  template <class A> ND_FN static A identity1() { return A(0); }
  template <class A> ND_FN static A map1(A x, A, A, A, A mean) { return (x - mean) * (x - mean); }
  template <class A> ND_FN static A combine1(A a, A b) { return a + b; }
  template <class A>
  ND_FN static void finish1(A& mean, A& inv_std, int64_t count, A, A, A, A eps, A& row_mean, A& row_var, A& row_inv_std) {
    row_mean = mean;
    row_var = inv_std / A(count);
    row_inv_std = inv_std = A(1) / m::sqrt(row_var + eps);
  }
  template <class A> ND_FN static void write(A x, A gamma, A beta, A, A mean, A inv_std, A& y) {
    y = gamma * ((x - mean) * inv_std) + beta;
  }
};

// gx = gamma inv_std (gy - (xhat ggamma + gbeta) / count). Per-row outputs: ggamma = sum(gy xhat), gbeta = sum(gy).
struct batch_norm_bwd {
  static constexpr int phases = 2;
  template <class A> ND_FN static A identity0() { return A(0); }
  template <class A> ND_FN static A map0(A, A gy, A, A, A) { return gy; }
  template <class A> ND_FN static A combine0(A a, A b) { return a + b; }
  template <class A> ND_FN static void finish0(A&, int64_t, A, A, A, A, A) {}
  template <class A> ND_FN static A identity1() { return A(0); }
  template <class A> ND_FN static A map1(A x, A gy, A, A mean, A inv_std, A) { return gy * ((x - mean) * inv_std); }
  template <class A> ND_FN static A combine1(A a, A b) { return a + b; }
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

// The same with given statistics.
struct fixed_batch_norm {
  template <class T> ND_FN static void run(T x, T gamma, T beta, T mean, T var, T eps, T& y) {
    y = gamma * ((x - mean) / m::sqrt(var + eps)) + beta;
  }
};

}  // namespace catena::k
