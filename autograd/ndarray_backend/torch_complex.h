// Parts of complex variables and linear functions of them, with gradients. The gradient of a complex variable z is the
// derivative by its real part plus i times that by its imaginary part, as in PyTorch. Internal to this folder.
#pragma once

#include <catena/autograd/functions/complex.h>
#include <catena/autograd/promotion.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>
#include <catena/ndarray/core/array.h>

namespace autograd::internal {

// A linear function of one variable: its values, and its adjoint on variables, which gives the gradient.
using LinearValues = catena::Function<nd::Array(const nd::Array&)>;
using LinearAdjoint = catena::Function<Variable(const Variable&)>;
Variable linear(const char* label, const Variable& x, LinearValues values, LinearAdjoint adjoint);
// A function whose gradient is a NotImplementedError.
Variables without_gradient(const char* label, const Variables& xs, catena::Function<Arrays(const Arrays&)> values);

Variable to_complex(const Variable& x);      // x + 0 i
Variable from_imaginary(const Variable& x);  // i x
Variable real_part(const Variable& z);
Variable imaginary_part(const Variable& z);

// The array of a variable; null for a null one.
nd::Array array_of(const Variable& x);

}  // namespace autograd::internal
