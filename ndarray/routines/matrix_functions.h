// Functions of matrices besides those of linalg.h, whose rules for stacks, dtypes and errors hold here, too:
// eigenvalues of general matrices, LU, triangular equations, the exponential, equations of tensors, norms.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/linalg.h>

namespace nd::linalg {

// ---- eigenvalues ----
// The eigenvalues, in no order, and the eigenvectors of length 1 as columns.
struct EigResult {
  Array eigenvalues, eigenvectors;
};
// The eigenvalues (..., M) and right eigenvectors (..., M, M) of square matrices. Complex, but real for real matrices
// all of whose eigenvalues are real. LinAlgError for infinities and NaNs. On CUDA the host computes, and in any case
// the call waits for the device.
CATENA_EXPORT EigResult eig(const Array& a);
CATENA_EXPORT Array eigvals(const Array& a);
// The singular values (..., K) in descending order, those of svd.
CATENA_EXPORT Array svdvals(const Array& x);

// ---- LU ----
// a = P L U. Without P, L is P L; a P of rank one less has numbers of rows: a = L[P] U.
struct LUResult {
  Array P, L, U;
};
struct LUOptions {
  bool permute_l = false;  // L is P L, P is null
  bool p_indices = false;  // P is int32 (..., M)
};
// a = P L U for a (..., M, N) with K = min(M, N): P (..., M, M) permutes rows, L (..., M, K) has ones on its diagonal
// and 0 above it, U (..., K, N) has 0 below it. (scipy.linalg.lu)
CATENA_EXPORT LUResult lu(const Array& a, const LUOptions& options = {});
inline LUResult lu(const Array& a, bool permute_l) { return lu(a, LUOptions{.permute_l = permute_l}); }
// The factors in one matrix, L without its diagonal below U, and int32 (..., K): row i was swapped with row piv[i].
struct LUFactor {
  Array lu, piv;
};
// Singular matrices, too, have factors. `lu` is in Fortran order, as lu_solve needs it. (scipy.linalg.lu_factor)
CATENA_EXPORT LUFactor lu_factor(const Array& a);
// The x of a x = b, of a^T x = b for trans = 1, of a^H x = b for 2, given the factors of square matrices. b as for
// solve. A singular matrix gives infinities or NaN. ValueError for another trans and for shapes that do not fit.
CATENA_EXPORT Array lu_solve(const LUFactor& factors, const Array& b, int trans = 0);

// ---- triangular equations ----
// 0 or "N": a x = b; 1 or "T": a^T x = b; 2 or "C": a^H x = b.
class Transposition {
 public:
  Transposition(int number) noexcept : number_(number) {}
  Transposition(const char* name) noexcept
      : number_(std::string_view(name) == "N"   ? 0
                : std::string_view(name) == "T" ? 1
                : std::string_view(name) == "C" ? 2
                                                : -1) {}
  int number() const noexcept { return number_; }

 private:
  int number_;
};
struct TriangularOptions {
  Transposition trans = 0;
  bool lower = false;          // the triangle of a that is read
  bool unit_diagonal = false;  // the diagonal counts as 1 and is not read
};
// The x of a x = b for triangular matrices a (..., M, M); b as for solve. LinAlgError for a 0 on the diagonal,
// ValueError for another trans and for shapes that do not fit. (scipy.linalg.solve_triangular)
CATENA_EXPORT Array solve_triangular(const Array& a, const Array& b, const TriangularOptions& options = {});
inline Array solve_triangular(const Array& a, const Array& b, const Transposition& trans, bool lower = false,
                              bool unit_diagonal = false) {
  return solve_triangular(a, b, {.trans = trans, .lower = lower, .unit_diagonal = unit_diagonal});
}

// ---- exponential ----
// The exponential of square matrices, by Pade's approximation with scaling and squaring (Higham 2005). Infinities and
// NaNs in a matrix give NaN. Waits for the device, because the norms decide on the number of squarings.
CATENA_EXPORT Array expm(const Array& A);

// ---- equations of tensors ----
struct TensorsolveOptions {
  std::optional<Dims> axes = {};  // axes of a that are moved to its end first
};
// The x of tensordot(a, x, x.ndim()) = b: a has the shape b.shape() + x.shape(). LinAlgError unless both parts of that
// shape have equally many elements, and for singular equations.
CATENA_EXPORT Array tensorsolve(const Array& a, const Array& b, const TensorsolveOptions& options = {});
// The inverse of tensordot(a, x, ind), of shape a.shape()[ind:] + a.shape()[:ind]. ValueError for ind <= 0, LinAlgError
// unless both parts have equally many elements, and for singular equations.
CATENA_EXPORT Array tensorinv(const Array& a, int ind = 2);

// ---- norms ----
struct VectorNormOptions {
  Axes axis = {};         // the elements along these axes are one vector; by default all of them
  bool keepdims = false;  // keep the axes with length 1
  NormOrder ord = 2;
};
// The norm of vectors; ValueError for an unknown order.
CATENA_EXPORT Array vector_norm(const Array& x, const VectorNormOptions& options = {});
struct MatrixNormOptions {
  bool keepdims = false;
  NormOrder ord = "fro";
};
// Of the matrices over the last two axes. Orders, dtypes and errors of both: as for norm.
CATENA_EXPORT Array matrix_norm(const Array& x, const MatrixNormOptions& options = {});

}  // namespace nd::linalg
