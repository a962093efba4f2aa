// Dense linear algebra by cuSOLVER: its functions, one by one, over arrays. They are the ground under the
// decompositions of linalg.
//
// Matrices are 2-D, float32 or float64, all of one dtype on one CUDA device, in column-major order (Fortran-contiguous:
// the transpose of a C-contiguous array is), and are overwritten. Work is enqueued on the current stream; the functions
// wait for it, because its outcome decides whether they throw. TypeError for another dtype, ValueError for shapes and
// layouts that do not fit, LinAlgError for matrices that cannot be decomposed, RuntimeError when cuSOLVER is not there.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <string>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/cuda/api/cusolver.h>
#include <catena/ndarray/cuda/runtime/library.h>

namespace nd::cuda {

namespace api {
struct CusolverFunctions {
  CATENA_CUSOLVER_FUNCTIONS(CATENA_FIELD)
};
struct CusolverNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_CUSOLVER_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};
}  // namespace api

struct Cusolver : api::CusolverFunctions {
  std::string path;
};
// RuntimeError "cuSOLVER is unavailable: libcusolver.so.12 not found (tried: ...)", always with the same text.
CATENA_EXPORT const Cusolver& cusolver();

namespace solver {

// Which half of a symmetric matrix is read; the other one is left as it was.
enum class Triangle : std::uint8_t { lower, upper };

// a (n, n), symmetric: its Cholesky factor L or L^T. LinAlgError when it is not positive definite.
CATENA_EXPORT void potrf(const Array& a, Triangle triangle = Triangle::lower);
// b (n, columns): the solution x of a x = b; `factor` as potrf left it.
CATENA_EXPORT void potrs(const Array& factor, const Array& b, Triangle triangle = Triangle::lower);

// a (m, n): L below the diagonal (which is 1) and U, a = P L U. pivots (min(m, n)), int32: row i was swapped with row
// pivots[i] - 1. Returns 0, or the first k for which U's element (k - 1, k - 1) is exactly 0: the factors are right,
// but they solve nothing.
CATENA_EXPORT int getrf(const Array& a, const Array& pivots);
// b (n, columns): the solution x of a x = b, or of a^T x = b; `lu` and `pivots` as getrf left them.
CATENA_EXPORT void getrs(const Array& lu, const Array& pivots, const Array& b, bool transpose = false);

// a (m, n): R above and on the diagonal, below it the reflectors of Q, whose factors go to tau (min(m, n)).
CATENA_EXPORT void geqrf(const Array& a, const Array& tau);
// a (m, n), m >= n: the first n columns of Q out of what geqrf left in a and tau; tau may be shorter than n.
CATENA_EXPORT void orgqr(const Array& a, const Array& tau);

// a (m, n), m >= n: u (m, n) or (m, m), s (n) in descending order, vt (n, n), a = u diag(s) vt. Null u and vt (both): s
// alone. LinAlgError when the iteration does not converge.
CATENA_EXPORT void gesvd(const Array& a, const Array& s, const Array& u = {}, const Array& vt = {});

// a (n, n), symmetric: the eigenvalues go to w (n) in ascending order, their vectors, if wanted, to the columns of a.
// LinAlgError when the iteration does not converge.
CATENA_EXPORT void syevd(const Array& a, const Array& w, bool vectors = true, Triangle triangle = Triangle::lower);

}  // namespace solver
}  // namespace nd::cuda
