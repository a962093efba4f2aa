// Dense linear algebra by cuSOLVER: wrappers of its functions for arrays. (Stacks of matrices: factorize.h.) Statements
// about symmetric matrices and transposes apply to Hermitian ones for complex dtypes; singular values and eigenvalues
// are real.
//
// Matrices are 2-D, float32, float64, complex64 or complex128, all of one dtype on one CUDA device, in column-major
// order (Fortran-contiguous, as is the transpose of a C-contiguous array), and are overwritten. Work is enqueued on the
// current stream; the functions wait for it, because its status decides whether they throw. TypeError for another
// dtype, ValueError for shapes and layouts that do not match, LinAlgError for matrices that cannot be decomposed,
// RuntimeError if cuSOLVER is not available.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <string>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/cuda/api/cusolver.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/cuda/vendor/low_level.h>

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
// RuntimeError "cuSOLVER is unavailable: libcusolver.so.12 not found (tried: ...)", with the same text at every call.
CATENA_EXPORT const Cusolver& cusolver();

namespace solver {

// The functions below use their own handles; these are for calls of the table's functions.
struct CATENA_EXPORT Library {
  static const api::CusolverFunctions& table();
  static void check(api::cusolver_status status, const char* call);
};
inline constexpr low_level::ValueCall<Library, &api::CusolverFunctions::create> create{"cusolverDnCreate"};
inline constexpr low_level::Call<Library, &api::CusolverFunctions::destroy> destroy{"cusolverDnDestroy"};
inline constexpr low_level::Call<Library, &api::CusolverFunctions::set_stream> set_stream{"cusolverDnSetStream"};
inline constexpr low_level::ValueCall<Library, &api::CusolverFunctions::get_stream> get_stream{"cusolverDnGetStream"};

// The triangle of a symmetric matrix that is read; the other one stays unchanged.
enum class Triangle : std::uint8_t { lower, upper };

// a (n, n), symmetric: replaced by its Cholesky factor L or L^T. LinAlgError if it is not positive definite.
CATENA_EXPORT void potrf(const Array& a, Triangle triangle = Triangle::lower);
// b (n, columns): replaced by the solution x of a x = b; `factor` is the result of potrf.
CATENA_EXPORT void potrs(const Array& factor, const Array& b, Triangle triangle = Triangle::lower);

// a (m, n): replaced by L (below the diagonal, with unit diagonal) and U, where a = P L U. pivots (min(m, n)), int32:
// row i was swapped with row pivots[i] - 1. Returns 0, or the first k for which U's element (k - 1, k - 1) is exactly
// 0: the factors are then valid but cannot be used to solve.
CATENA_EXPORT int getrf(const Array& a, const Array& pivots);
// b (n, columns): replaced by the solution x of a x = b or a^T x = b; `lu` and `pivots` are the results of getrf.
CATENA_EXPORT void getrs(const Array& lu, const Array& pivots, const Array& b, bool transpose = false);

// a (m, n): replaced by R on and above the diagonal and the reflectors of Q below it; the factors of the reflectors go
// to tau (min(m, n)).
CATENA_EXPORT void geqrf(const Array& a, const Array& tau);
// a (m, n), m >= n: replaced by the first n columns of Q, from the results of geqrf in a and tau; tau may be shorter
// than n.
CATENA_EXPORT void orgqr(const Array& a, const Array& tau);

// c (m, n): replaced by Q c, or c Q if `left` is false; with `transpose`, by Q^T c or c Q^T, where Q is the product of
// the reflectors of geqrf in a and tau. `a` has as many rows as Q (m, or n if `left` is false), and tau.size() columns.
CATENA_EXPORT void ormqr(const Array& a, const Array& tau, const Array& c, bool left = true, bool transpose = false);

// a (n, n), symmetric (not Hermitian): replaced by the factors of a = L D L^T or U D U^T with blocks of order 1 and 2
// on the diagonal of D (LAPACK's Bunch-Kaufman form); pivots (n), int32. Returns 0, or the first k for which D's
// element (k - 1, k - 1) is exactly 0.
CATENA_EXPORT int sytrf(const Array& a, const Array& pivots, Triangle triangle = Triangle::lower);

// a (m, n), m >= n: replaced by the bidiagonal matrix B = Q^T a P and the reflectors of Q and P, whose factors go to
// tau_q and tau_p (n). d (n), e (n - 1): the diagonal of B and the one above it, real.
CATENA_EXPORT void gebrd(const Array& a, const Array& d, const Array& e, const Array& tau_q, const Array& tau_p);

// a (m, n), m >= n: u (m, n) or (m, m), s (n) in descending order, vt (n, n) with a = u diag(s) vt. If u and vt are
// both null, computes only s. LinAlgError if the iteration does not converge.
CATENA_EXPORT void gesvd(const Array& a, const Array& s, const Array& u = {}, const Array& vt = {});

// a (n, n), symmetric: eigenvalues go to w (n) in ascending order, the eigenvectors, if requested, to the columns of a.
// LinAlgError if the iteration does not converge.
CATENA_EXPORT void syevd(const Array& a, const Array& w, bool vectors = true, Triangle triangle = Triangle::lower);

}  // namespace solver
}  // namespace nd::cuda
