// Folder autograd/linalg_extension: interface, checks and portable implementation of a backend's dense linear algebra.
// The implementation for ndarray, with LAPACK on the CPU and cuSOLVER on CUDA, is in autograd/ndarray_backend;
// differentiable functions are in autograd/functions. This folder may use autograd, autograd/backend and kernels.
//
// LinalgExtension: matrix operations of a backend other than products. The class itself is the portable implementation,
// Gauss-Jordan elimination in float64 in host memory, so it works with every backend. A backend with a faster
// implementation derives from it (Backend::find_extension).
//
//   Array y = linalg_extension(a).inv(a);
//
// Arguments are stacks of matrices (..., n, n) of floating dtype and any memory layout; results are new arrays of the
// same dtype. 16-bit floats are computed in float32.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string_view>

#include <catena/autograd/backend/backend.h>

namespace autograd {

class CATENA_EXPORT LinalgExtension {
 public:
  static constexpr std::string_view kName = "linalg";
  LinalgExtension() = default;
  LinalgExtension(const LinalgExtension&) = delete;
  LinalgExtension& operator=(const LinalgExtension&) = delete;
  virtual ~LinalgExtension();

  // Returns the inverses (..., n, n). For a singular matrix, throws a LinAlgError that names it, or gives NaN if
  // `check` is false. ValueError for a null array and for matrices that are not square, TypeError for a dtype that is
  // not floating.
  Array inv(const Array& a, bool check = true);
  // Returns the determinants (...): 0 for a singular matrix, 1 for a matrix without elements.
  Array det(const Array& a);

 protected:
  // Operands are float32 or float64.
  virtual Array do_inv(const Array& a, bool check);
  virtual Array do_det(const Array& a);
};

// Returns the implementation for the backend and device of `a`, or the portable one.
CATENA_EXPORT LinalgExtension& linalg_extension(const Array& a);
CATENA_EXPORT LinalgExtension& portable_linalg_extension();

}  // namespace autograd
