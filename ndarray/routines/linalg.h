// Linear algebra: products of arrays here, decompositions and functions based on them in nd::linalg below.
//
// The result dtype of a product is the promotion of the operand dtypes. float16 and bfloat16 accumulate in
// float32 and round once; integers are exact modulo 2^n; for bools a product is "and" and a sum is "or". An empty sum
// is 0. ValueError if the lengths that are summed over differ (the message names both shapes), and for arrays on
// different devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <catena/kernels/base/norm_order.h>
#include <catena/ndarray/core/array.h>

namespace nd {

struct DotOptions {
  Array out = {};  // C-contiguous, with the dtype and the number of elements of the result (ValueError otherwise); also
                   // returned
};
// The sum over the last axis of a and the second-to-last axis of b (the only axis of a 1-D b). Result axes: the other
// axes of a, then the other axes of b. With a 0-d operand: the product with every element.
CATENA_EXPORT Array dot(const Array& a, const Array& b, const DotOptions& options = {});
// The sum of products of corresponding elements in C order, with the elements of a conjugated, 0-d; ValueError if the
// sizes differ.
CATENA_EXPORT Array vdot(const Array& a, const Array& b);
// The sum over the last axes of both. Result axes: the other axes of a, then the other axes of b. With a 0-d operand:
// the product with every element.
CATENA_EXPORT Array inner(const Array& a, const Array& b);

struct OuterOptions {
  Array out = {};  // a.size() * b.size() elements (ValueError), any strides; written in C order
};
// The products of every element of a with every element of b, both flattened: shape (a.size(), b.size()).
CATENA_EXPORT Array outer(const Array& a, const Array& b, const OuterOptions& options = {});

// The axes that tensordot sums over: the last n of a with the first n of b, or pairs of axes of a and b.
class TensordotAxes {
 public:
  TensordotAxes(int n) : n_(n) {}
  TensordotAxes(const Dims& a, const Dims& b) : a_(a), b_(b) {}
  TensordotAxes(int a, int b) : a_{a}, b_{b} {}

  const std::optional<int>& count() const noexcept { return n_; }
  const Dims& of_a() const noexcept { return a_; }
  const Dims& of_b() const noexcept { return b_; }

 private:
  std::optional<int> n_;
  Dims a_, b_;
};
// Result axes: the axes of a that are not summed over, then those of b. tensordot(a, b, 2), tensordot(a, b, {{0, 2},
// {1, 0}}), tensordot(a, b, {1, 0}). ValueError for axes out of range or repeated, and for lists of different lengths.
CATENA_EXPORT Array tensordot(const Array& a, const Array& b, const TensordotAxes& axes = 2);

// The matrix product over the last two axes; leading axes are broadcast. A 1-D operand is a row on the left and a
// column on the right, and the result lacks that axis. ValueError for a 0-d operand.
CATENA_EXPORT Array matmul(const Array& a, const Array& b);
struct MatmulOptions {
  Array out = {};                        // with the shape of the product (ValueError); also returned
  std::optional<Dtype> dtype = {};       // both operands are converted to it, and the product has it
  Casting casting = Casting::same_kind;  // rule for the casts of the operands, and of the product to `out` (TypeError)
};
CATENA_EXPORT Array matmul(const Array& a, const Array& b, const MatmulOptions& options);

struct TraceOptions {
  std::optional<Dtype> dtype = {};  // as for sum
  Array out = {};
};
// The sum of diagonal(a, offset, axis1, axis2); dtype and errors as for sum and diagonal.
CATENA_EXPORT Array trace(const Array& a, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1,
                          const TraceOptions& options = {});

// ---- decompositions -----------------------------------------------------------------------------
// Functions on matrices, that is, on the last two axes of an array. Leading axes are a stack of matrices, each of which
// is processed alone. The functions never write to their arguments, and their results are C-contiguous.
//
// dtypes: float32, float64, complex64 and complex128 are kept; bool, 8- and 16-bit integers and 16-bit floats count as
// float32, wider integers as float64; two arguments as their promotion. Singular values, eigenvalues of Hermitian
// matrices and norms are real.
//
// Errors: TypeError for a null array; LinAlgError for a rank below 2, for matrices that should be square and are not,
// for a matrix that is singular or not positive definite, and for an iteration that does not converge. The message has
// the indices of the first such matrix in a stack. Matrices without elements give factors without elements (or
// identities if a factor is square). The functions throw before they return, so all but norm, and matrix_power with n
// >= 0, wait for the device.
//
// On the CPU LAPACK computes, on one thread per matrix: a result depends neither on the number of threads nor on the
// other matrices of the stack. RuntimeError if Catena was built without it. On CUDA cuSOLVER computes.
//
// Thread safety: all functions may be called from any thread.
namespace linalg {

using catena::LinAlgError;

struct CholeskyOptions {
  bool upper = false;  // the upper triangular U with a = U^H U, from the upper triangle of a
};
// The lower triangular L with a = L L^H, 0 above the diagonal; only the lower triangle of a is read. If a is not
// positive definite, LinAlgError with the order of the first leading minor that is not positive.
CATENA_EXPORT Array cholesky(const Array& a, const CholeskyOptions& options = {});

namespace internal {
[[noreturn]] CATENA_EXPORT void fail_several(const char* op);
}

// Converts to the array R if there is no Q.
struct QRResult {
  Array Q, R;

  Array single_output() const {
    if (!Q.is_null()) internal::fail_several("qr");
    return R;
  }
};
// a = Q R for a (..., M, N), with K = min(M, N):
//   reduced   Q (..., M, K) with orthonormal columns, R (..., K, N), exactly 0 below its diagonal
//   complete  Q (..., M, M), R (..., M, N)
//   r         R (..., K, N) alone:  nd::Array r = nd::linalg::qr(a, "r");
//   raw       Q is h (..., N, M), whose transpose has R on and above the diagonal and the Householder vectors below it,
//             and R is tau (..., K), their factors
// ValueError for another mode, also for NumPy's deprecated ones (full, economic, f, e).
CATENA_EXPORT QRResult qr(const Array& a, std::string_view mode = "reduced");

// Converts to the array S if there are no vectors.
struct SVDResult {
  Array U, S, Vh;

  Array single_output() const {
    if (!U.is_null()) internal::fail_several("svd");
    return S;
  }
};
struct SvdOptions {
  bool full_matrices = true;
  bool compute_uv = true;  // false: S alone
};
// a = U diag(S) Vh for a (..., M, N) with K = min(M, N): S (..., K) in descending order, U (..., M, M) and Vh (..., N,
// N), or, unless full_matrices, U (..., M, K) and Vh (..., K, N).
CATENA_EXPORT SVDResult svd(const Array& a, const SvdOptions& options = {});
inline SVDResult svd(const Array& a, bool full_matrices, bool compute_uv = true) {
  return svd(a, SvdOptions{full_matrices, compute_uv});
}

// The eigenvalues in ascending order, and the eigenvectors as columns.
struct EighResult {
  Array eigenvalues, eigenvectors;
};
// The eigenvalues (..., M) in ascending order and the orthonormal eigenvectors (..., M, M), as columns, of symmetric or
// Hermitian matrices. Only the triangle UPLO ("L" or "U", ValueError for others) of a matrix is read.
CATENA_EXPORT EighResult eigh(const Array& a, std::string_view UPLO = "L");
CATENA_EXPORT Array eigvalsh(const Array& a, std::string_view UPLO = "L");

// ---- equations ----
struct SolveOptions {
  bool check = true;  // false: the solution for a singular matrix is NaN, instead of a LinAlgError
};
// Returns the x of a x = b for a (..., M, M). b is a vector (M,) if it has one axis, else matrices (..., M, K), whose
// leading axes broadcast with those of a. x has the shape of b, broadcast. (As in NumPy 2: a stack of vectors is b(...,
// newaxis).) LinAlgError if a is singular, ValueError if the shape of b does not match.
CATENA_EXPORT Array solve(const Array& a, const Array& b, const SolveOptions& options = {});
CATENA_EXPORT Array inv(const Array& a, const SolveOptions& options = {});
// The pseudo-inverse (..., N, M) of a (..., M, N), without the singular values that are at most rcond times the largest
// one of their matrix; rcond is a number or broadcasts to the leading axes.
CATENA_EXPORT Array pinv(const Array& a, const UnbracedOperand& rcond = 1e-15);
struct PinvOptions {
  std::optional<Operand> rcond = {};
  std::optional<Operand> rtol = {};  // the same; ValueError for both
  bool hermitian = false;            // by the eigenvalues of Hermitian matrices, whose lower triangles are read
};
CATENA_EXPORT Array pinv(const Array& a, const PinvOptions& options);

// The solution x, the sums of squared residuals, the rank and the singular values of the matrix.
struct LstsqResult {
  Array x, residuals;
  std::int64_t rank = 0;
  Array s;
};
// The x of least norm that minimises |b - a x| for a (M, N) and b (M,) or (M, K). Singular values s (min(M, N)) that
// are at most rcond times the largest one count as 0; `rank` is the number of the others. rcond: by default the machine
// precision times max(M, N), a negative number is the machine precision. residuals: the sums of squares of b - a x (K),
// or (1) for a vector, and empty unless rank = N < M.
CATENA_EXPORT LstsqResult lstsq(const Array& a, const Array& b, std::optional<double> rcond = {});

// M to the n-th power by repeated squaring; a negative n is a power of the inverse. Integers stay integers for n >= 0.
CATENA_EXPORT Array matrix_power(const Array& M, std::int64_t n);

// ---- numbers ----
// 1 for a 0 x 0 matrix, 0 for a singular one.
CATENA_EXPORT Array det(const Array& a);
struct SlogdetResult {
  Array sign, logabsdet;
};
// det = sign exp(logabsdet); (0, -inf) for a singular matrix.
CATENA_EXPORT SlogdetResult slogdet(const Array& a);
// The number of singular values above tol, as int64; tol is a number or broadcasts to the leading axes, by default the
// largest singular value times max(M, N) times the machine precision. For an array with fewer than 2 axes: 1 if an
// element is not 0, else 0.
CATENA_EXPORT Array matrix_rank(const Array& M);
CATENA_EXPORT Array matrix_rank(const Array& M, const UnbracedOperand& tol);
struct MatrixRankOptions {
  std::optional<Operand> tol = {};
  bool hermitian = false;            // by the eigenvalues of Hermitian matrices, whose lower triangles are read
  std::optional<Operand> rtol = {};  // relative to the largest singular value; ValueError with tol
};
CATENA_EXPORT Array matrix_rank(const Array& M, const MatrixRankOptions& options);

using catena::NormOrder;

// The condition number in the order p: by default or for 2 the largest singular value over the smallest, for -2 the
// reverse, for 1, -1, inf, -inf and "fro" the product of the norms of a matrix and its inverse. Infinite for singular
// matrices. LinAlgError for matrices without elements.
CATENA_EXPORT Array cond(const Array& x, const NormOrder& p = {});

struct NormOptions {
  [[no_unique_address]] Named named = Named();
  NormOrder ord = {};
  Axes axis = {};
  bool keepdims = false;  // keep the axes of the norm with length 1
};
// Norms over one axis (of vectors), over two axes (of matrices; the first one counts the rows), or over all axes.
//   absent     the square root of the sum of |x|^2, over any number of axes if none are given
//   vectors    inf, -inf: the largest, the least |x|; 0: how many are not 0; another number p: (sum of |x|^p)^(1/p)
//   matrices   1, -1: the largest, the least sum of |x| of a column; inf, -inf: of a row; "fro", "f": as if absent;
//              2, -2: the largest, the least singular value; "nuc": their sum
//   norm(x)  norm(x, 2)  norm(x, "fro")  norm(x, nd::inf, 1)  norm(x, 1, {0, 1}, true)  norm(x, {.axis = 0})
// The dtype is the real dtype of x, or float64 for integers; counts and the orders p other than 1 and 2 give float64.
// ValueError for another order, more than two axes with an order, equal axes or axes out of range, and for the least of
// no values.
CATENA_EXPORT Array norm(const Array& x, const NormOptions& options = {});
inline Array norm(const Array& x, const NormOrder& ord, const Axes& axis = {}, bool keepdims = false) {
  return norm(x, {.ord = ord, .axis = axis, .keepdims = keepdims});
}
inline Array norm(const Array& x, const NormOrder& ord, const Axes& axis, const NormOptions& more) {
  return norm(x, {.ord = ord, .axis = axis, .keepdims = more.keepdims});
}

}  // namespace linalg
}  // namespace nd
