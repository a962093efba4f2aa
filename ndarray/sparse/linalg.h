// Equations with sparse matrices, as in scipy.sparse.linalg and cupyx.scipy.sparse.linalg:
//
//   auto [x, info] = nd::sparse::linalg::cg(A, b, {.rtol = 1e-8});       A symmetric (Hermitian) and positive definite
//   auto [y, info] = nd::sparse::linalg::gmres(A, b, {.restart = 30});   any square matrix
//   nd::Array z = nd::sparse::linalg::spsolve(A, b);                     directly
//   nd::Array w = nd::sparse::linalg::lsqr(A, b).x;                      least squares
//
// The matrix is a LinearOperator: a csr_matrix, csc_matrix or coo_matrix, a dense matrix, or a function that computes
// its product with a vector. b is a vector (n) or a column (n, 1), and x has its shape. Calculations have the promotion
// of both dtypes, and at least float32 (integers: float64). The iterative functions wait for the device in each step,
// whose norms decide whether it was the last one.
//
// ValueError for shapes that do not fit, TypeError for a null array.
//
// Thread safety: may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/kernels/base/function.h>
#include <catena/ndarray/sparse/sparse.h>

namespace nd::sparse::linalg {

// A linear map of vectors (n) to vectors (m), of the shape (m, n).
class CATENA_EXPORT LinearOperator {
 public:
  using Map = catena::Function<Array(const Array& x)>;
  LinearOperator() = default;  // none
  LinearOperator(const csr_matrix& matrix);
  LinearOperator(const csc_matrix& matrix);
  LinearOperator(const coo_matrix& matrix) : LinearOperator(matrix.tocsr()) {}
  LinearOperator(const Array& dense);  // ValueError unless the rank is 2
  // matvec computes the product with a vector (n), rmatvec (for lsqr) that of the conjugate transposed matrix with a
  // vector (m).
  LinearOperator(const Shape& shape, Map matvec, Map rmatvec = nullptr, Dtype dtype = Dtype::float64);

  bool is_null() const noexcept { return !matvec_; }
  Shape shape() const { return {rows_, columns_}; }
  Dtype dtype() const noexcept { return dtype_; }
  // ValueError if x has another length, or if the function returns a vector of another length.
  Array matvec(const Array& x) const;
  Array rmatvec(const Array& x) const;  // TypeError without a function for it

 private:
  std::int64_t rows_ = 0, columns_ = 0;
  Dtype dtype_ = Dtype::float64;
  Map matvec_, rmatvec_;
};

// x, and 0 if it satisfies the tolerance; otherwise the number of iterations after which the function gave up.
struct Solution {
  Array x;
  std::int64_t info = 0;
};

// The iteration ends when |b - A x| <= max(rtol |b|, atol).
struct SolverOptions {
  [[no_unique_address]] Named named = Named();
  Array x0 = {};  // the first x; default: 0
  double rtol = 1e-5, atol = 0;
  std::optional<std::int64_t> maxiter = {};  // default: 10 n
  LinearOperator M = {};                     // an approximation of the inverse of A, by which the problem is easier
  catena::Function<void(const Array& x)> callback = {};  // called with x after each iteration
};
// The method of conjugate gradients (Hestenes and Stiefel, 1952).
CATENA_EXPORT Solution cg(const LinearOperator& A, const Array& b, const SolverOptions& options = {});

struct GmresOptions {
  [[no_unique_address]] Named named = Named();
  Array x0 = {};
  double rtol = 1e-5, atol = 0;
  std::optional<std::int64_t> restart = {};  // vectors that are kept before the method starts again; default: 20
  std::optional<std::int64_t> maxiter = {};  // such starts; default: 10 n
  LinearOperator M = {};
  catena::Function<void(const Array& x)> callback = {};  // called with x before each new start and at the end
};
// The generalized minimal residual method with restarts (Saad and Schultz, 1986).
CATENA_EXPORT Solution gmres(const LinearOperator& A, const Array& b, const GmresOptions& options = {});

struct LsqrOptions {
  [[no_unique_address]] Named named = Named();
  double damp = 0;                            // minimises |b - A x|^2 + damp^2 |x|^2
  double atol = 1e-6, btol = 1e-6;            // relative errors of A and b
  double conlim = 1e8;                        // gives up when the condition of A seems to be larger
  std::optional<std::int64_t> iter_lim = {};  // default: 2 n
  Array x0 = {};
};
// istop is the reason for the end of the iteration: 0: x = 0 is the solution, 1: A x = b within the errors, 2: the
// least-squares problem is solved within the errors, 3: conlim, 4 to 6: as 1 to 3 with the precision of float64, 7:
// iter_lim. r1norm is |b - A x|, r2norm the root of what is minimised, anorm and acond estimate the Frobenius norm and
// the condition of A (with damp below it), arnorm is |A^H r - damp^2 x|, xnorm is |x|.
struct LsqrResult {
  Array x;
  int istop = 0;
  std::int64_t itn = 0;
  double r1norm = 0, r2norm = 0, anorm = 0, acond = 0, arnorm = 0, xnorm = 0;
};
// The x that minimises |b - A x|, for A of any shape (Paige and Saunders, LSQR, 1982). TypeError for a function without
// rmatvec.
CATENA_EXPORT LsqrResult lsqr(const LinearOperator& A, const Array& b, const LsqrOptions& options = {});

// The solution of A x = b for a square matrix and a vector (n) or several (n, K), directly, by a dense LU
// decomposition: n^2 numbers of memory and n^3 operations, so for some thousand rows. LinAlgError for a singular
// matrix.
CATENA_EXPORT Array spsolve(const csr_matrix& A, const Array& b);

}  // namespace nd::sparse::linalg
