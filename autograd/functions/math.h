// Folder autograd/functions: differentiable functions of arrays that NumPy has as well: arithmetic, mathematics,
// reductions, indexing, joining, linear algebra. Functions of neural networks are in nn/functions. This folder may use
// autograd and kernels.
//
// This file: elementwise mathematical functions of one and of several arguments. The result has the dtype of x.
// Integers and bools as the only argument are converted to the floating dtype of the configuration, as in PyTorch, but
// not those of square, sign, floor and ceil. Several arguments are floating and have equal shapes, unless they are said
// to broadcast.
#pragma once

#include <concepts>

#include <catena/autograd/cudnn_options.h>
#include <catena/autograd/operators.h>

namespace autograd {

// ---- functions of one argument ----
CATENA_EXPORT Variable exp(const Variable& x);     // e to the power of x
CATENA_EXPORT Variable expm1(const Variable& x);   // exp(x) - 1, accurate near 0
CATENA_EXPORT Variable log(const Variable& x);     // to base e
CATENA_EXPORT Variable log2(const Variable& x);    // to base 2
CATENA_EXPORT Variable log10(const Variable& x);   // to base 10
CATENA_EXPORT Variable log1p(const Variable& x);   // log(1 + x), accurate near 0
CATENA_EXPORT Variable sqrt(const Variable& x);    // derivative infinite at 0
CATENA_EXPORT Variable square(const Variable& x);  // x * x
CATENA_EXPORT Variable sin(const Variable& x);     // of x in radians
CATENA_EXPORT Variable cos(const Variable& x);     // of x in radians
CATENA_EXPORT Variable tan(const Variable& x);     // of x in radians
CATENA_EXPORT Variable arcsin(const Variable& x);  // in radians
CATENA_EXPORT Variable arccos(const Variable& x);  // in radians
CATENA_EXPORT Variable arctan(const Variable& x);  // in radians
CATENA_EXPORT Variable sinh(const Variable& x);    // (exp(x) - exp(-x)) / 2
CATENA_EXPORT Variable cosh(const Variable& x);    // (exp(x) + exp(-x)) / 2
CATENA_EXPORT Variable tanh(const Variable& x);
CATENA_EXPORT Variable arcsinh(const Variable& x);  // the number whose sinh is x
CATENA_EXPORT Variable arccosh(const Variable& x);  // the number whose cosh is x
CATENA_EXPORT Variable arctanh(const Variable& x);  // the number whose tanh is x
CATENA_EXPORT Variable exp2(const Variable& x);     // 2 to the power of x
CATENA_EXPORT Variable cbrt(const Variable& x);     // the cube root; derivative infinite at 0
CATENA_EXPORT Variable sigmoid(const Variable& x);
CATENA_EXPORT Variable floor(const Variable& x);  // derivative 0
CATENA_EXPORT Variable ceil(const Variable& x);   // derivative 0
CATENA_EXPORT Variable sign(const Variable& x);   // -1, 0 or 1; derivative 0
CATENA_EXPORT Variable rsqrt(const Variable& x);  // 1 / sqrt(x)

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

// ---- functions of several arguments ----
// For equal elements the whole gradient goes to x1.
CATENA_EXPORT Variable maximum(const Variable& x1, const Variable& x2);
CATENA_EXPORT Variable minimum(const Variable& x1, const Variable& x2);
// Of two arguments that broadcast: the angle of the point (x, y), and its distance from the origin; log(exp(x1) +
// exp(x2)) and the same to base 2, without overflow. At the origin the gradients of hypot are 0, those of arctan2 NaN.
CATENA_EXPORT Variable arctan2(const Variable& y, const Variable& x);
CATENA_EXPORT Variable hypot(const Variable& x1, const Variable& x2);
CATENA_EXPORT Variable logaddexp(const Variable& x1, const Variable& x2);
CATENA_EXPORT Variable logaddexp2(const Variable& x1, const Variable& x2);
// The remainder has the sign of x, as in C.
CATENA_EXPORT Variable fmod(const Variable& x, const Variable& divisor);
CATENA_EXPORT Variable squared_difference(const Variable& x1, const Variable& x2);
// p x + (1 - p) y
CATENA_EXPORT Variable linear_interpolate(const Variable& p, const Variable& x, const Variable& y);
// Bounds are numbers, Variables that broadcast to x, or {} for none. Between numbers the gradient is 0 at and outside
// the bounds; AssertionError unless x_min < x_max. With a Variable it goes to the bound where x is outside, else to x.
CATENA_EXPORT Variable clip(const Variable& x, const Bound& x_min, const Bound& x_max);
template <class T>
concept ConditionLike = VariableLike<T> || ArrayLike<T>;
// Returns x where the condition is true, y elsewhere; the three shapes broadcast. x or y may be a constant, a number or
// an array, which is converted to the other's dtype and gets no gradient. InvalidType unless the condition is bool (a
// Variable or an array), x and y have one dtype, and the shapes broadcast.
template <ConditionLike C, class X, class Y>
Variable where(const C& condition, const X& x, const Y& y) requires VariableOperands<X, Y> {
  if constexpr (!VariableLike<X>) return internal::select(condition, internal::branch(internal::operand(x), y), y);
  else if constexpr (!VariableLike<Y>) return internal::select(condition, x, internal::branch(internal::operand(y), x));
  else return internal::select(condition, x, y);
}
// Of arrays of an array library and numbers.
template <ConditionLike C, ForeignArray X, ConstantLike Y> Variable where(const C& condition, const X& x, const Y& y) {
  return where(condition, Variable(x), y);
}
template <ConditionLike C, class X, ForeignArray Y>
requires(std::is_arithmetic_v<X>) Variable where(const C& condition, X x, const Y& y) {
  return where(condition, x, Variable(y));
}
// Returns x + y and x * y. The axes of y correspond to those of x from `axis` on; y is broadcast over the others.
// InvalidType for an axis out of range and lengths that do not fit (in debug mode an AssertionError if they differ).
CATENA_EXPORT Variable bias(const Variable& x, const Variable& y, int axis = 1);
CATENA_EXPORT Variable scale(const Variable& x, const Variable& y, int axis = 1);
// Returns the same arrays; all gradients pass through one function node.
CATENA_EXPORT Variables identity(const Variables& xs);
CATENA_EXPORT Variable identity(const Variable& x);

}  // namespace autograd
