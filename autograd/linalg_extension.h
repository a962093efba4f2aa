// Folder autograd/linalg_extension: interface, checks and portable implementation of a backend's dense linear algebra.
// The implementation for ndarray, with LAPACK on the CPU and cuSOLVER on CUDA, is in autograd/ndarray_backend;
// differentiable functions are in autograd/functions. This folder may use autograd, autograd/backend and kernels.
//
// LinalgExtension: matrix operations of a backend other than products, and Fourier transforms. The class itself is the
// portable implementation, textbook algorithms in float64 in host memory, so it works with every backend. A backend
// with a faster implementation derives from it (Backend::find_extension).
//
//   Array y = linalg_extension(a).inv(a);
//
// Arguments are stacks of matrices of floating dtype and any memory layout; results are new arrays of the same dtype.
// 16-bit floats are computed in float32. ValueError for a null array, for a rank below 2, and for matrices that should
// be square and are not; TypeError for a dtype that is not floating. LinAlgError, with the place of the first such
// matrix, for a matrix that is singular or not positive definite.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string_view>

#include <catena/autograd/backend/backend.h>

namespace autograd {

// The factors of P a = L U in one matrix, L without its diagonal of ones below U, and int32 (..., n): row i was swapped
// with row pivots[i].
struct LUFactors {
  Array lu, pivots;
};
// A triangular matrix: the triangle that is read, and whether its diagonal counts as 1 and is not read.
struct Triangle {
  bool lower = false, unit = false;
};

class CATENA_EXPORT LinalgExtension {
 public:
  static constexpr std::string_view kName = "linalg";
  LinalgExtension() = default;
  LinalgExtension(const LinalgExtension&) = delete;
  LinalgExtension& operator=(const LinalgExtension&) = delete;
  virtual ~LinalgExtension();

  // Returns the inverses (..., n, n). With check = false a singular matrix gives NaN.
  Array inv(const Array& a, bool check = true);
  // Returns the determinants (...): 0 for a singular matrix, 1 for a matrix without elements.
  Array det(const Array& a);
  // The lower triangular L with a = L L^T; only the lower triangle of a is read.
  Array cholesky(const Array& a);
  // Singular matrices have factors, too; with check = true they are an error of `op`.
  LUFactors lu(const Array& a, std::string_view op, bool check = true);
  // The sign and the logarithm of the absolute value of the determinants: 0 and -inf for singular matrices.
  Arrays slogdet(const LUFactors& factors);
  // The x (..., n, k) of a x = b, or of a^T x = b. Leading axes broadcast here and in solve_triangular.
  Array lu_solve(const LUFactors& factors, const Array& b, bool transposed);
  Array solve_triangular(const Array& a, const Array& b, const Triangle& triangle, bool transposed);
  // The eigenvalues (..., n), ascending, and orthonormal eigenvectors as columns of symmetric matrices, of which the
  // lower triangles are read.
  Arrays eigh(const Array& a);
  // U (..., m, k), S (..., k), descending, and Vh (..., k, n) with k = min(m, n).
  Arrays svd(const Array& a);
  // Q (..., m, k) and R (..., k, n).
  Arrays qr(const Array& a);
  Array expm(const Array& a);  // the matrix exponential
  // The sums of x[j] exp(-2 pi i j k / n) along the last axis, or with the other sign, of complex numbers that are
  // given and returned by their real and imaginary parts, which have one shape.
  Arrays fourier(const Array& real, const Array& imag, bool inverse);

 protected:
  // Operands are float32 or float64 and checked.
  virtual Array do_inv(const Array& a, bool check);
  virtual Array do_det(const Array& a);
  virtual Array do_cholesky(const Array& a);
  virtual LUFactors do_lu(const Array& a);
  virtual Array do_lu_solve(const LUFactors& factors, const Array& b, bool transposed);
  virtual Array do_solve_triangular(const Array& a, const Array& b, const Triangle& triangle, bool transposed);
  virtual Arrays do_eigh(const Array& a);
  virtual Arrays do_svd(const Array& a);
  virtual Arrays do_qr(const Array& a);
  virtual Array do_expm(const Array& a);
  virtual Arrays do_fourier(const Array& real, const Array& imag, bool inverse);
};

// Returns the implementation for the backend and device of `a`, or the portable one.
CATENA_EXPORT LinalgExtension& linalg_extension(const Array& a);
CATENA_EXPORT LinalgExtension& portable_linalg_extension();

}  // namespace autograd
