// Differentiable linear algebra. Operands are floating and of one dtype (InvalidType); 16-bit floats are computed in
// float32 and rounded once.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/norm_order.h>

namespace autograd {

struct MatmulOptions {
  bool transa = false, transb = false;
};
// If both operands have rank 1 or 2: the matrix product, always of rank 2. A vector (N) is a column (N, 1) before it is
// transposed.
// If an operand has a higher rank: NumPy's product of stacks of matrices, whose leading axes broadcast. A vector is
// then a row on the left and a column on the right, also if transposed, and the result does not have its axis.
// InvalidType unless the inner lengths are equal.
CATENA_EXPORT Variable matmul(const Variable& a, const Variable& b, const MatmulOptions& options = {});
inline Variable matmul(const Variable& a, const Variable& b, bool transa, bool transb = false) {
  return matmul(a, b, MatmulOptions{transa, transb});
}
template <ForeignArray A, ForeignArray B> Variable matmul(const A& a, const B& b, bool transa, bool transb = false) {
  return matmul(Variable(a), Variable(b), MatmulOptions{transa, transb});
}
template <ForeignArray A, ForeignArray B> Variable matmul(const A& a, const B& b) {
  return matmul(Variable(a), Variable(b), MatmulOptions());
}
// Returns the products (B, M, P) of two stacks of B matrices, (B, M, N) and (B, N, P). An operand (B, N) is a stack of
// columns (B, N, 1) before it is transposed. InvalidType unless the numbers of matrices and the inner lengths are
// equal.
CATENA_EXPORT Variable batch_matmul(const Variable& a, const Variable& b, const MatmulOptions& options = {});
inline Variable batch_matmul(const Variable& a, const Variable& b, bool transa, bool transb = false) {
  return batch_matmul(a, b, MatmulOptions{transa, transb});
}

// ---- functions of stacks of matrices ----
// Functions of matrices over the last two axes (..., M, N); leading axes are a stack of matrices, each of which is
// processed alone. Matrices without elements are allowed. InvalidType for a rank below 2 and, where it is said, for
// matrices that are not square (..., M, M). For a singular matrix or one that is not positive definite: a LinAlgError
// with its place in the stack.
//
// Gradients are the adjoints of Giles (2008), of Murray (2016) for cholesky, and of Seeger et al. (2017) for qr; they
// can be differentiated again.

// Returns the inverses (..., M, M). A singular matrix is a ValueError; on CUDA only in debug mode, otherwise its
// inverse is NaN. batch_inv takes (B, M, M) only (InvalidType).
CATENA_EXPORT Variable inv(const Variable& a);
CATENA_EXPORT Variable batch_inv(const Variable& a);
// Returns the determinants (...). A singular matrix has the determinant 0; computing its gradient is a ValueError.
// batch_det takes (B, M, M) only (InvalidType).
CATENA_EXPORT Variable det(const Variable& a);
CATENA_EXPORT Variable batch_det(const Variable& a);

// det(a) = sign exp(logabsdet), without overflow; (0, -inf) for a singular matrix. The sign has no gradient.
struct SlogdetResult {
  Variable sign, logabsdet;
};
CATENA_EXPORT SlogdetResult slogdet(const Variable& a);
CATENA_EXPORT Variable logdet(const Variable& a);  // NaN for a negative determinant

struct CholeskyOptions {
  bool upper = false;  // U with a = U^T U, from the upper triangle
};
// The lower triangular L with a = L L^T for positive definite matrices, of which the lower triangle is read. The
// gradient is symmetric: that of cholesky((a + a^T) / 2).
CATENA_EXPORT Variable cholesky(const Variable& a, const CholeskyOptions& options = {});

// The x of a x = b for square a. b is a vector (M) if it has one axis, else matrices (..., M, K), whose leading axes
// broadcast with those of a (NumPy 2). InvalidType if the dtypes or lengths differ.
CATENA_EXPORT Variable solve(const Variable& a, const Variable& b);
struct TriangularOptions {
  bool lower = false;          // the triangle of a that is read
  bool trans = false;          // solve a^T x = b
  bool unit_diagonal = false;  // the diagonal counts as 1 and is not read
};
// The x of a x = b for triangular a; b as for solve. Elements that are not read have the gradient 0.
CATENA_EXPORT Variable solve_triangular(const Variable& a, const Variable& b, const TriangularOptions& options = {});
// The x of least norm that minimises |b - a x| for a (..., M, N), by pinv(a, rcond); b as for solve.
CATENA_EXPORT Variable lstsq(const Variable& a, const Variable& b, std::optional<double> rcond = {});

// Gradients that pass through eigenvectors or singular vectors divide by differences of the values. If two values are
// exactly equal, the quotient counts as 0, which is right for functions of the values alone and of projections on all
// vectors of one value, and wrong for others, V diag(f(w)) V^T among them. Nearly equal values give large gradients.
struct EighResult {
  Variable eigenvalues, eigenvectors;
};
// The eigenvalues (..., M), ascending, and the orthonormal eigenvectors, as columns, of symmetric matrices, of which
// the lower triangle is read. The gradient is symmetric: that of eigh((a + a^T) / 2).
CATENA_EXPORT EighResult eigh(const Variable& a);
CATENA_EXPORT Variable eigvalsh(const Variable& a);
struct SVDResult {
  Variable U, S, Vh;
};
// a = U diag(S) Vh for a (..., M, N) with K = min(M, N): U (..., M, K), S (..., K), descending, and Vh (..., K, N).
// 1 / S counts as 0 where S is 0 in gradients through U and Vh.
CATENA_EXPORT SVDResult svd(const Variable& a);
CATENA_EXPORT Variable svdvals(const Variable& a);
struct QRResult {
  Variable Q, R;
};
// a = Q R for a (..., M, N) with K = min(M, N): Q (..., M, K) with orthonormal columns, and R (..., K, N), upper
// triangular. The gradient needs a first K columns that are linearly independent.
CATENA_EXPORT QRResult qr(const Variable& a);
// The pseudo-inverse (..., N, M) without the singular values that are at most rcond times the largest one; by default
// max(M, N) times the machine precision of the dtype.
CATENA_EXPORT Variable pinv(const Variable& a, std::optional<double> rcond = {});

CATENA_EXPORT Variable matrix_exp(const Variable& a);  // the matrix exponential of square matrices
inline Variable expm(const Variable& a) { return matrix_exp(a); }
// a to the n-th power, by repeated squaring; a negative n is a power of the inverse.
CATENA_EXPORT Variable matrix_power(const Variable& a, std::int64_t n);
// The product of matrices, in the order of einsum: the one with the fewest multiplications for up to 6 of them. The
// first and the last operand may be vectors, whose axis the result lacks. ValueError for other ranks and unless there
// are 2 to 50 operands.
CATENA_EXPORT Variable multi_dot(const Variables& matrices);

using catena::NormOrder;
// Norms over one axis (of vectors), over two axes (of matrices; the first one counts the rows), or over all axes.
//   absent     the square root of the sum of |x|^2, over any number of axes if none are given
//   vectors    inf, -inf: the largest, the least |x|; 0: how many are not 0; another number p: (sum of |x|^p)^(1/p)
//   matrices   1, -1: the largest, the least sum of |x| of a column; inf, -inf: of a row; "fro", "f": as if absent;
//              2, -2: the largest, the least singular value; "nuc": their sum
//   norm(x)  norm(x, 2)  norm(x, "fro")  norm(x, nd::inf, 1)  norm(x, 1, {0, 1}, true)  norm(x, {.axis = 0})
// Where a root is 0 its gradient is 0; equal extrema get the whole gradient each, as with max. ValueError for another
// order, more than two axes with an order, equal axes or axes out of range.
CATENA_EXPORT Variable norm(const Variable& x, const NormOptions& options = {});
template <class A = Axes>
Variable norm(const Variable& x, const NormOrder& ord, const std::type_identity_t<A>& axis = {},
              bool keepdims = false) {
  return norm(x, NormOptions{.ord = ord, .axis = axis, .keepdims = keepdims});
}
inline Variable norm(const Variable& x, const NormOrder& p, const NormOptions& o) { return norm(x, o.with_order(p)); }
// The norm of all elements as one vector, or of the vectors along any number of axes. The orders are those of vectors
// above; "fro" and an absent order are 2. The member x.norm() calls this function. ValueError for other texts.
CATENA_EXPORT Variable vector_norm(const Variable& x, const NormOptions& options = {});

// The distances (..., P, R) of points x (..., P, M) from points y (..., R, M) in the norm of order p, whose leading
// axes broadcast, with P R M numbers of memory. The gradient of equal points is 0. InvalidType if the last lengths
// differ.
CATENA_EXPORT Variable cdist(const Variable& x, const Variable& y, double p = 2);

// ---- products of arrays of any rank ----
// The sum of the diagonal of two axes, starting `offset` columns to the right.
CATENA_EXPORT Variable trace(const Variable& x, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);
// NumPy's dot: the sum over the last axis of a and the last axis but one of b (the only one of a vector). inner: over
// the last axes of both. vdot: over all elements in C order. outer: products of all elements of both, (a.size(),
// b.size()). InvalidType for lengths that differ.
CATENA_EXPORT Variable dot(const Variable& a, const Variable& b);
CATENA_EXPORT Variable inner(const Variable& a, const Variable& b);
CATENA_EXPORT Variable vdot(const Variable& a, const Variable& b);
CATENA_EXPORT Variable outer(const Variable& a, const Variable& b);
// The Kronecker product: every element of a times b. The shorter shape is extended in front with 1.
CATENA_EXPORT Variable kron(const Variable& a, const Variable& b);
// NumPy's matmul: stacks of matrices, whose leading axes broadcast. A vector is a row on the left and a column on the
// right, and the result lacks its axis, so the product of two vectors is a number. (matmul, as in Chainer, makes a
// vector a column and keeps rank 2.)
CATENA_EXPORT Variable linalg_matmul(const Variable& a, const Variable& b);

namespace internal {
// matmul for operands of rank 2 and above, whose leading axes broadcast.
CATENA_EXPORT Variable stack_product(const Variable& a, const Variable& b, bool transa, bool transb);
}  // namespace internal

}  // namespace autograd
