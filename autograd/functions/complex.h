// Functions of complex variables that the operators and functions of real ones call. Gradients are the derivatives by
// the real parts plus i times those by the imaginary parts, as in PyTorch. Internal to this folder and to
// ndarray_backend.
#pragma once

#include <catena/autograd/variable.h>

namespace autograd::internal {

// |x|, real; the gradient at 0 is 0. NotImplementedError for the second derivative.
Variable complex_absolute(const Variable& x);
// x y of variables of one complex dtype, which broadcast.
Variable complex_product(const Variable& x, const Variable& y);
CATENA_EXPORT Variable conjugated(const Variable& z);

}  // namespace autograd::internal
