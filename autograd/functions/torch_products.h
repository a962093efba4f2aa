// Products of matrices and vectors, distances and equations with PyTorch's names, and the names of torch.linalg.
// Operands are floating and of one dtype (InvalidType).
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include <catena/autograd/functions/einsum.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>

namespace autograd {

// ---- products ----
// bmm: (B, M, N) and (B, N, P), mm: (M, N) and (N, P), mv: (M, N) and (N). ValueError for other ranks, InvalidType for
// lengths that differ.
CATENA_EXPORT Variable bmm(const Variable& a, const Variable& b);
CATENA_EXPORT Variable mm(const Variable& a, const Variable& b);
CATENA_EXPORT Variable mv(const Variable& a, const Variable& vector);
inline Variable ger(const Variable& a, const Variable& b) { return outer(a, b); }
// beta x + alpha a b: of matrices, of a matrix and a vector, of stacks of matrices, of two vectors (addr: their outer
// product), and of stacks whose products are added (addbmm). x broadcasts. With beta = 0, x is not read.
CATENA_EXPORT Variable addmm(const Variable& x, const Variable& a, const Variable& b, const BetaAlphaOptions& o = {});
CATENA_EXPORT Variable addmv(const Variable& x, const Variable& a, const Variable& b, const BetaAlphaOptions& o = {});
CATENA_EXPORT Variable addr(const Variable& x, const Variable& a, const Variable& b, const BetaAlphaOptions& o = {});
CATENA_EXPORT Variable baddbmm(const Variable& x, const Variable& a, const Variable& b, const BetaAlphaOptions& o = {});
CATENA_EXPORT Variable addbmm(const Variable& x, const Variable& a, const Variable& b, const BetaAlphaOptions& o = {});
inline Variable chain_matmul(const Variables& matrices) { return multi_dot(matrices); }
// The vector products along an axis of length 3, by default the first such axis. ValueError if there is none.
CATENA_EXPORT Variable cross(const Variable& a, const Variable& b, std::optional<int> dim = {});

// ---- distances and norms ----
// The norm of order p of a - b, as a number.
CATENA_EXPORT Variable dist(const Variable& a, const Variable& b, double p = 2);
// x with the slices along `dim` whose norm of order p is above maxnorm scaled to that norm.
CATENA_EXPORT Variable renorm(const Variable& x, double p, int dim, double maxnorm);

// ---- matrices and equations ----
// inv and pinv of functions/linalg.h; singular values up to rcond times the greatest one count as 0.
inline Variable inverse(const Variable& a) { return inv(a); }
inline Variable pinverse(const Variable& a, double rcond = 1e-15) { return pinv(a, rcond); }
// The powers of the elements of a vector as columns, n of them (default: the length of x), from the highest power to 1,
// or from 1.
CATENA_EXPORT Variable vander(const Variable& x, std::optional<std::int64_t> n = {}, bool increasing = false);
// Of a factor that is the upper triangle.
struct UpperOption {
  bool upper = false;
};
// The X of A X = b for the triangular factor of A = L L^T, or U^T U with `upper`; and the inverse of A.
CATENA_EXPORT Variable cholesky_solve(const Variable& b, const Variable& factor, const UpperOption& o = {});
CATENA_EXPORT Variable cholesky_inverse(const Variable& factor, const UpperOption& o = {});
// The result of the member svd: a = U diag(S) V^T.
struct SVDFactors {
  Variable U, S, V;
};
struct TriangularSolveOptions {
  bool upper = true, transpose = false, unitriangular = false;
};
// The X of A X = b for a triangular A, and A: auto [x, copy] = triangular_solve(b, A).
struct TriangularSolution {
  Variable solution, cloned_coefficient;
};
CATENA_EXPORT TriangularSolution triangular_solve(const Variable& b, const Variable& a,
                                                  const TriangularSolveOptions& o = {});

// ---- torch.linalg ----
namespace linalg {
using autograd::cholesky;
using autograd::det;
using autograd::eigh;
using autograd::eigvalsh;
using autograd::inv;
using autograd::matrix_exp;
using autograd::matrix_power;
using autograd::multi_dot;
using autograd::norm;
using autograd::pinv;
using autograd::qr;
using autograd::slogdet;
using autograd::solve;
using autograd::svdvals;
using autograd::vector_norm;
// autograd::lstsq; the result is also the member `solution`.
struct LeastSquares : Variable {
  explicit LeastSquares(const Variable& x) : Variable(x), solution(x) {}
  Variable solution;
};
inline LeastSquares lstsq(const Variable& a, const Variable& b, std::optional<double> rcond = {}) {
  return LeastSquares(autograd::lstsq(a, b, rcond));
}
struct LstsqOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<double> rcond = {};
  std::string_view driver = {};  // without effect: the pseudo-inverse solves in any case
};
template <std::same_as<LstsqOptions> O = LstsqOptions>
LeastSquares lstsq(const Variable& a, const Variable& b, const O& o) {
  return linalg::lstsq(a, b, o.rcond);
}
// The relative bound by PyTorch's names: pinv(a, {.rtol = 1e-3}). `hermitian` has no effect.
struct PinvOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<double> rcond = {}, rtol = {};
  bool hermitian = false;
};
template <std::same_as<PinvOptions> O = PinvOptions> Variable pinv(const Variable& a, const O& o) {
  return autograd::pinv(a, o.rtol ? o.rtol : o.rcond);
}
// qr(a, "complete"): Q (..., M, M) and R (..., M, N), without a gradient where M > N. "r": R alone, Q has no elements.
// ValueError for other modes.
struct QROptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::string_view mode = "reduced";
};
CATENA_EXPORT QRResult qr(const Variable& a, std::string_view mode);
template <std::same_as<QROptions> O = QROptions> QRResult qr(const Variable& a, const O& o) {
  return linalg::qr(a, o.mode);
}
// The triangle that is read: eigh(a, "U"), eigh(a, {.UPLO = "U"}). ValueError for other texts than "L" and "U".
struct TriangleOption {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::string_view UPLO = "L";
};
CATENA_EXPORT EighResult eigh(const Variable& a, std::string_view uplo);
CATENA_EXPORT Variable eigvalsh(const Variable& a, std::string_view uplo);
template <std::same_as<TriangleOption> O = TriangleOption> EighResult eigh(const Variable& a, const O& o) {
  return linalg::eigh(a, o.UPLO);
}
template <std::same_as<TriangleOption> O = TriangleOption> Variable eigvalsh(const Variable& a, const O& o) {
  return linalg::eigvalsh(a, o.UPLO);
}
// solve(a, b, {.left = false}): the X of X A = B, of matrices.
struct SolveOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool left = true;
};
template <std::same_as<SolveOptions> O = SolveOptions>
Variable solve(const Variable& a, const Variable& b, const O& o) {
  return o.left ? autograd::solve(a, b) : autograd::solve(a.mT(), b.mT()).mT();
}
// vector_norm(x, 1, {.dim = 0})
inline Variable vector_norm(const Variable& x, const NormOrder& ord, const NormOptions& o) {
  return autograd::vector_norm(x, o.with_order(ord));
}
// svd(a, {.full_matrices = false}) is autograd::svd(a). NotImplementedError for full matrices, the default, of an a
// that is not square.
struct SVDOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool full_matrices = true;
};
CATENA_EXPORT SVDResult svd(const Variable& a, const SVDOptions& o = {});
template <std::same_as<bool> B> SVDResult svd(const Variable& a, B full_matrices) {
  return linalg::svd(a, SVDOptions{.full_matrices = full_matrices});
}
// autograd::cross along the last axis unless another one is given: cross(a, b, 0), cross(a, b, {.dim = 0}).
inline Variable cross(const Variable& a, const Variable& b, int dim = -1) { return autograd::cross(a, b, dim); }
inline Variable cross(const Variable& a, const Variable& b, const AxisOption& o) {
  return autograd::cross(a, b, o.value_or(-1));
}
// The powers 1, x, x^2, .. of the elements of vectors (..., n) as columns, N of them (default: n).
struct VanderOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<std::int64_t> N = {};
};
inline Variable vander(const Variable& x, const VanderOptions& o = {}) { return autograd::vander(x, o.N, true); }
// The product of NumPy: of matrices, stacks of them, and vectors.
inline Variable matmul(const Variable& a, const Variable& b) { return linalg_matmul(a, b); }
// The norm of matrices over the last two axes; orders as in norm of functions/linalg.h, "fro" by default.
CATENA_EXPORT Variable matrix_norm(const Variable& a, const NormOrder& ord = "fro", bool keepdim = false);
// matrix_norm(a, {.ord = "nuc", .dim = {0, 1}, .keepdim = true})
template <std::same_as<NormOptions> O = NormOptions> Variable matrix_norm(const Variable& a, const O& o) {
  return autograd::norm(a, NormOptions{.ord = o.order().absent() ? NormOrder("fro") : o.order(),
                                       .axis = o.axes().given() ? o.axes() : Axes{-2, -1},
                                       .keepdims = o.keeps()});
}
template <std::same_as<NormOptions> O = NormOptions>
Variable matrix_norm(const Variable& a, const NormOrder& ord, const O& o) {
  return matrix_norm(a, o.with_order(ord));
}
// The diagonals of matrices over the last two axes.
CATENA_EXPORT Variable diagonal(const Variable& a, std::int64_t offset = 0, int dim1 = -2, int dim2 = -1);
// The sum of x y along an axis.
CATENA_EXPORT Variable vecdot(const Variable& x, const Variable& y, int dim = -1);
template <std::same_as<AxisOption> O = AxisOption> Variable vecdot(const Variable& x, const Variable& y, const O& o) {
  return vecdot(x, y, o.value_or(-1));
}
// The X of A X = b for a triangular A; only its triangle is read.
struct SolveTriangularOptions {
  bool upper = false, unitriangular = false;
};
CATENA_EXPORT Variable solve_triangular(const Variable& a, const Variable& b, const SolveTriangularOptions& o);
}  // namespace linalg

}  // namespace autograd
