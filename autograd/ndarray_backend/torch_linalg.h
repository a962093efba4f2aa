// Functions of torch.linalg, and of torch, on top of those of functions/linalg.h and functions/torch_products.h: LU
// factors, functions that report singular matrices instead of throwing, ranks, eigenvalues of general matrices,
// equations of tensors, products of reflections, factors of low rank.
//
// Matrices are the last two axes (..., M, N) of floating operands (TypeError); leading axes are a stack. ValueError for
// other shapes, errors of the functions below otherwise. Differentiable, but where it is said; a gradient that is
// missing is a NotImplementedError of backward.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/norm_order.h>

namespace autograd {

// ---- LU factors of PyTorch ----
// A = P L U. LU has both factors in one matrix, L without its diagonal of ones below U; row i was swapped with row
// pivots[i] - 1 (int32, from 1 on). Singular matrices have factors, too. The gradient needs square matrices.
struct LUFactorResult {
  Variable LU, pivots;
};
struct LUResult {
  Variable P, L, U;
};
CATENA_EXPORT LUFactorResult lu(const Variable& a);
CATENA_EXPORT LUResult lu_unpack(const Variable& lu, const Variable& pivots);
// The X of A X = b (..., M, K) by the factors of A.
CATENA_EXPORT Variable lu_solve(const Variable& b, const Variable& lu, const Variable& pivots);
// Householder reflections: below the diagonal of `a` their vectors, on and above it the factor R; tau has their
// factors. Without a gradient.
struct GeqrfResult {
  Variable a, tau;
};
CATENA_EXPORT GeqrfResult geqrf(const Variable& a);
// The first N columns of the product of the reflections of geqrf.
CATENA_EXPORT Variable orgqr(const Variable& a, const Variable& tau);

// ---- norms and factors of low rank ----
// The sum of the singular values, and the square root of the sum of squares, over the last two axes or those of dim.
CATENA_EXPORT Variable nuclear_norm(const Variable& x, bool keepdim = false);
CATENA_EXPORT Variable frobenius_norm(const Variable& x, const Axes& dim = {}, bool keepdim = false);
// U (..., M, q), S (..., q) and V (..., N, q) with A - M approximately U diag(S) V^T, by a random basis that niter
// products with A and its transpose improve. pca_lowrank: of A without the means of its columns, unless center is
// false; q is min(6, M, N) by default. ValueError for q outside of [0, min(M, N)] and a negative niter.
struct LowRankFactors {
  Variable U, S, V;
};
struct SVDLowRankOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::int64_t q = 6;
  int niter = 2;
  Variable M = {};
};
struct PCALowRankOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<std::int64_t> q = {};
  bool center = true;
  int niter = 2;
};
CATENA_EXPORT LowRankFactors svd_lowrank(const Variable& a, const SVDLowRankOptions& o = {});
inline LowRankFactors svd_lowrank(const Variable& a, std::int64_t q, int niter = 2, const Variable& M = {}) {
  return svd_lowrank(a, SVDLowRankOptions{.q = q, .niter = niter, .M = M});
}
CATENA_EXPORT LowRankFactors pca_lowrank(const Variable& a, const PCALowRankOptions& o = {});
inline LowRankFactors pca_lowrank(const Variable& a, std::int64_t q, bool center = true, int niter = 2) {
  return pca_lowrank(a, PCALowRankOptions{.q = q, .center = center, .niter = niter});
}

namespace linalg {

using catena::LinAlgError;

// ---- LU ----
// lu_factor: autograd::lu. lu: its result taken apart by lu_unpack.
inline LUFactorResult lu_factor(const Variable& a) { return autograd::lu(a); }
inline LUResult lu(const Variable& a) {
  const LUFactorResult f = autograd::lu(a);
  return lu_unpack(f.LU, f.pivots);
}
// The X of A X = B, of X A = B unless `left`, and with A^T for A with `adjoint`.
struct LUSolveOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool left = true, adjoint = false;
};
CATENA_EXPORT Variable lu_solve(const Variable& lu, const Variable& pivots, const Variable& b,
                                const LUSolveOptions& o = {});

// ---- without an error for singular matrices ----
// info (...), int32, is 0 for a matrix that has a result. Otherwise it is the number of the first pivot that is 0, or
// the order of the first leading minor that is not positive, and the result of that matrix is NaN without a gradient.
// With check_errors such a matrix is a LinAlgError.
struct SolveExResult {
  Variable result, info;
};
struct InvExResult {
  Variable inverse, info;
};
struct CholeskyExResult {
  Variable L, info;
};
struct LUFactorExResult {
  Variable LU, pivots, info;
};
CATENA_EXPORT SolveExResult solve_ex(const Variable& a, const Variable& b, bool check_errors = false);
CATENA_EXPORT InvExResult inv_ex(const Variable& a, bool check_errors = false);
CATENA_EXPORT CholeskyExResult cholesky_ex(const Variable& a, bool upper = false, bool check_errors = false);
CATENA_EXPORT LUFactorExResult lu_factor_ex(const Variable& a);

// ---- ranks and condition numbers ----
// The number of singular values (with `hermitian`: of absolute eigenvalues) above max(atol, rtol times the greatest
// one), int64. rtol is by default max(M, N) times the precision of the dtype, and 0 if atol is given.
struct MatrixRankOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<double> atol = {}, rtol = {};
  bool hermitian = false;
};
CATENA_EXPORT Variable matrix_rank(const Variable& a, const MatrixRankOptions& o = {});
inline Variable matrix_rank(const Variable& a, double tol, bool hermitian = false) {
  return matrix_rank(a, MatrixRankOptions{.atol = tol, .rtol = 0, .hermitian = hermitian});
}
// The greatest singular value divided by the least one, or the reverse for -2; for the other orders of matrix_norm the
// norm times that of the inverse, and inf for a singular matrix.
CATENA_EXPORT Variable cond(const Variable& a, const catena::NormOrder& p = {});
struct CondOption {
  [[no_unique_address]] catena::Named named = catena::Named();
  catena::NormOrder p = {};
};
template <std::same_as<CondOption> O = CondOption> Variable cond(const Variable& a, const O& o) { return cond(a, o.p); }
// matrix_rank(a, {.tol = 1e-3}): above this bound.
struct TolOption {
  [[no_unique_address]] catena::Named named = catena::Named();
  double tol = 0;
  bool hermitian = false;
};
template <std::same_as<TolOption> O = TolOption> Variable matrix_rank(const Variable& a, const O& o) {
  return matrix_rank(a, o.tol, o.hermitian);
}

// ---- eigenvalues of general matrices ----
// Complex eigenvalues (..., M), in no order, and eigenvectors of length 1 as columns. Without a gradient.
struct EigResult {
  Variable eigenvalues, eigenvectors;
};
CATENA_EXPORT EigResult eig(const Variable& a);
CATENA_EXPORT Variable eigvals(const Variable& a);

// ---- equations of tensors ----
// The inverse of tensordot(a, x, ind), and the x of tensordot(a, x, x.ndim()) = b, with the axes `dims` of a moved to
// its end first. ValueError unless both parts of the shape have equally many elements.
CATENA_EXPORT Variable tensorinv(const Variable& a, int ind = 2);
struct IndOption {
  [[no_unique_address]] catena::Named named = catena::Named();
  int ind = 2;
};
template <std::same_as<IndOption> O = IndOption> Variable tensorinv(const Variable& a, const O& o) {
  return tensorinv(a, o.ind);
}
CATENA_EXPORT Variable tensorsolve(const Variable& a, const Variable& b, const Axes& dims = {});

// ---- further factors ----
// The same as orgqr.
inline Variable householder_product(const Variable& a, const Variable& tau) { return orgqr(a, tau); }
// a = U H with orthonormal columns U and a symmetric positive semidefinite H, for M >= N (ValueError).
struct PolarResult {
  Variable U, H;
};
CATENA_EXPORT PolarResult polar(const Variable& a);
// The symmetric positive definite X with X X = a for such matrices, of which the lower triangle is read.
CATENA_EXPORT Variable matrix_sqrth(const Variable& a);

}  // namespace linalg

}  // namespace autograd
