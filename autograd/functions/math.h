// Folder autograd/functions: differentiable functions of arrays that NumPy has as well: arithmetic, mathematics,
// reductions, indexing, joining, linear algebra. Functions of neural networks are in nn/functions. This folder may use
// autograd and kernels.
//
// This file: elementwise mathematical functions of one and of several arguments. Inputs are floating; the result has
// the dtype of x. Several arguments must have equal shapes.
#pragma once

#include <concepts>

#include <catena/autograd/cudnn_options.h>
#include <catena/autograd/operators.h>

namespace autograd {

// A unary function is one line: its name (also its kernel's name and its label), the value that its rule reads (x, y or
// nothing), its rule (the gradient of x from gy), and what distinguishes an activation: activation(<kernel>, <label>)
// has a fused rule on arrays, with that value and gy as inputs, and Chainer's class as its label.
// clang-format off
#define CATENA_UNARY_MATH(X)  \
  X(exp,     y,       gy * y,                              none) \
  X(expm1,   y,       gy * (y + 1),                        none) \
  X(log,     x,       gy / x,                              none) \
  X(log2,    x,       gy / (x * 0.693147180559945309417),  none) \
  X(log10,   x,       gy / (x * 2.30258509299404568402),   none) \
  X(log1p,   x,       gy / (x + 1),                        none) \
  X(sqrt,    y,       gy / (y * 2),                        none) \
  X(square,  x,       gy * (x * 2),                        none) \
  X(sin,     x,       gy * cos(x),                         none) \
  X(cos,     x,       -(gy * sin(x)),                      none) \
  X(tan,     x,       gy / square(cos(x)),                 none) \
  X(arcsin,  x,       gy * rsqrt(1 - square(x)),           none) \
  X(arccos,  x,       -(gy * rsqrt(1 - square(x))),        none) \
  X(arctan,  x,       gy / (square(x) + 1),                none) \
  X(sinh,    x,       gy * cosh(x),                        none) \
  X(cosh,    x,       gy * sinh(x),                        none) \
  X(tanh,    y,       gy * (1 - square(y)),                activation(tanh_bwd, Tanh)) \
  X(arcsinh, x,       gy * rsqrt(square(x) + 1),           none) \
  X(sigmoid, y,       gy * y * (1 - y),                    activation(sigmoid_bwd, Sigmoid)) \
  X(floor,   nothing, zeros_of(gy),                        none) \
  X(ceil,    nothing, zeros_of(gy),                        none) \
  X(sign,    nothing, zeros_of(gy),                        none)
// clang-format on

#define CATENA_DECLARE(name, ...) CATENA_EXPORT Variable name(const Variable& x);
CATENA_UNARY_MATH(CATENA_DECLARE)
#undef CATENA_DECLARE

// tanh(x, false), tanh(x, {.use_cudnn = false}); cuDNN computes neither of the two in any case. They are functions and
// no objects like nn::relu: beside C's own tanh an object of that name would be ambiguous.
inline Variable sigmoid(const Variable& x, const CudnnOptions&) { return sigmoid(x); }
template <std::same_as<bool> B> Variable sigmoid(const Variable& x, B) { return sigmoid(x); }
inline Variable tanh(const Variable& x, const CudnnOptions&) { return tanh(x); }
template <std::same_as<bool> B> Variable tanh(const Variable& x, B) { return tanh(x); }

namespace internal {
CATENA_EXPORT Variable select(const Variable& condition, const Variable& x, const Variable& y);
// Converts a constant to an operand of select: in the dtype of `other`, without a gradient.
CATENA_EXPORT Variable branch(const Constant& c, const Variable& other);
}  // namespace internal

CATENA_EXPORT Variable rsqrt(const Variable& x);

// For equal elements the whole gradient goes to x1.
CATENA_EXPORT Variable maximum(const Variable& x1, const Variable& x2);
CATENA_EXPORT Variable minimum(const Variable& x1, const Variable& x2);
// The remainder has the sign of x, as in C.
CATENA_EXPORT Variable fmod(const Variable& x, const Variable& divisor);
CATENA_EXPORT Variable squared_difference(const Variable& x1, const Variable& x2);
// p x + (1 - p) y
CATENA_EXPORT Variable linear_interpolate(const Variable& p, const Variable& x, const Variable& y);
// The gradient is 0 at and outside the bounds. AssertionError unless x_min < x_max.
CATENA_EXPORT Variable clip(const Variable& x, double x_min, double x_max);
// Returns x where the condition is true, y elsewhere; the three shapes broadcast. x or y may be a constant, a number or
// an array, which is converted to the other's dtype and gets no gradient. InvalidType unless the condition is bool (a
// Variable or an array), x and y have one dtype, and the shapes broadcast.
template <class C, class X, class Y>
requires(VariableLike<C> || ArrayLike<C>) && VariableOperands<X, Y> Variable
    where(const C& condition, const X& x, const Y& y) {
  if constexpr (!VariableLike<X>) return internal::select(condition, internal::branch(internal::operand(x), y), y);
  else if constexpr (!VariableLike<Y>) return internal::select(condition, x, internal::branch(internal::operand(y), x));
  else return internal::select(condition, x, y);
}
// Returns x + y and x * y. The axes of y correspond to those of x from `axis` on; y is broadcast over the others.
// InvalidType for an axis out of range and lengths that do not fit (in debug mode an AssertionError if they differ).
CATENA_EXPORT Variable bias(const Variable& x, const Variable& y, int axis = 1);
CATENA_EXPORT Variable scale(const Variable& x, const Variable& y, int axis = 1);
// Returns the same arrays; all gradients pass through one function node.
CATENA_EXPORT Variables identity(const Variables& xs);
CATENA_EXPORT Variable identity(const Variable& x);

}  // namespace autograd
