// Elementwise functions with PyTorch's names and options. Two operands broadcast; one of them may be a number or an
// array, which is converted to the dtype of the other and gets no gradient, as in the operators (operators.h).
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/special.h>

namespace autograd {

using catena::AlphaOption;
using catena::RoundingOption;
using catena::ValueOption;

namespace internal {
// A variable, and a number or an array beside it as a leaf without a gradient, both of the dtype of the result: that of
// the variable, unless a floating number stands beside integers.
struct VariableAndConstant {
  Variable x, constant;
};
CATENA_EXPORT VariableAndConstant as_variables(const Variable& x, const Constant& c);
// The quotient rounded: "trunc" or "floor" (ValueError for other modes); of integers, an integer. Its gradient is 0.
CATENA_EXPORT Variable rounded_quotient(const Variable& x, const Variable& y, std::string_view mode);
CATENA_EXPORT Variable rounded_quotient(const Variable& x, const Constant& c, std::string_view mode);
CATENA_EXPORT Variable rounded_quotient(const Constant& c, const Variable& x, std::string_view mode);
}  // namespace internal

// ---- arithmetic: x + alpha y, x - alpha y, x y, x / y ----
// The quotient may be rounded: div(x, y, {.rounding_mode = "floor"}); ValueError for other modes. Dtypes as for the
// operators.
template <class A, class B>
concept SumOperands = VariableOperands<A, B> && !(VariableLike<A> && VariableLike<B>);
template <class A, class B> Variable add(const A& x, const B& y) requires SumOperands<A, B> { return x + y; }
template <class A, class B> Variable add(const A& x, const B& y, const AlphaOption& o) requires VariableOperands<A, B> {
  return x + y * o.alpha;
}
template <class A, class B>
Variable sub(const A& x, const B& y, const AlphaOption& o = {}) requires VariableOperands<A, B> {
  if (o.alpha == Scalar(1)) return x - y;
  return x - y * o.alpha;
}
template <class A, class B>
Variable subtract(const A& x, const B& y, const AlphaOption& o = {}) requires VariableOperands<A, B> {
  return sub(x, y, o);
}
template <class A, class B> Variable rsub(const A& x, const B& y) requires VariableOperands<A, B> { return y - x; }
template <class A, class B> Variable mul(const A& x, const B& y) requires VariableOperands<A, B> { return x * y; }
template <class A, class B> Variable multiply(const A& x, const B& y) requires VariableOperands<A, B> { return x * y; }
template <class A, class B>
Variable div(const A& x, const B& y, const RoundingOption& o = {}) requires VariableOperands<A, B> {
  if (o.rounding_mode.empty()) return x / y;
  return internal::rounded_quotient(internal::operand(x), internal::operand(y), o.rounding_mode);
}
// div, under a name that is no member of Variable.
template <class B> Variable rounded_division(const Variable& x, const B& y, const RoundingOption& o) {
  return div(x, y, o);
}
template <class A, class B>
Variable divide(const A& x, const B& y, const RoundingOption& o = {}) requires VariableOperands<A, B> {
  return div(x, y, o);
}
template <class A, class B> Variable true_divide(const A& x, const B& y) requires VariableOperands<A, B> {
  return x / y;
}

#include <catena/autograd/functions/number_operands.inc>
#define CATENA_TENSOR_BINARY(name)                                   \
  CATENA_EXPORT Variable name(const Variable& x, const Variable& y); \
  CATENA_NUMBER_OPERANDS(name)
// Of any dtype, integers too, and then without a gradient: the remainder with the sign of the divisor, and the quotient
// rounded toward -inf, whose derivative is 0.
CATENA_TENSOR_BINARY(remainder)
CATENA_TENSOR_BINARY(floor_divide)
// The greater and the smaller element; NaN only if both are NaN. Of equal elements the first has the gradient.
CATENA_TENSOR_BINARY(fmax)
CATENA_TENSOR_BINARY(fmin)
// The magnitude of x with the sign of y.
CATENA_TENSOR_BINARY(copysign)
// x times 2 to the power of y. Integers count as float32, and exponents that are integers get no gradient.
CATENA_TENSOR_BINARY(ldexp)
#undef CATENA_TENSOR_BINARY
template <class E>
requires(std::is_arithmetic_v<E>) Variable fmod(const Variable& x, E y) {
  const auto of = internal::as_variables(x, y);
  return fmod(of.x, broadcast_to(of.constant, x.shape()));
}
// The other name of arctan2.
inline Variable atan2(const Variable& y, const Variable& x) { return arctan2(y, x); }
// pow in float64
template <class B> Variable float_power(const Variable& x, const B& exponent) {
  const Variable wide = cast(x, Dtype::float64);
  if constexpr (std::derived_from<B, Variable>) return pow(wide, cast(exponent, Dtype::float64));
  else return pow(wide, exponent);
}

// start + weight (end - start); the weight is a number or a Variable.
CATENA_EXPORT Variable lerp(const Variable& start, const Variable& end, const Variable& weight);
CATENA_EXPORT Variable lerp(const Variable& start, const Variable& end, double weight);
// x + value a b and x + value a / b
CATENA_EXPORT Variable addcmul(const Variable& x, const Variable& a, const Variable& b, const ValueOption& o = {});
CATENA_EXPORT Variable addcdiv(const Variable& x, const Variable& a, const Variable& b, const ValueOption& o = {});

// ---- functions of one argument: other names of functions of math.h ----
inline Variable neg(const Variable& x) { return -x; }
inline Variable negative(const Variable& x) { return -x; }
inline Variable positive(const Variable& x) { return x; }
CATENA_EXPORT Variable reciprocal(const Variable& x);  // 1 / x
inline Variable sgn(const Variable& x) { return sign(x); }
inline Variable trunc(const Variable& x) { return fix(x); }
CATENA_EXPORT Variable frac(const Variable& x);  // x - trunc(x)
inline Variable acos(const Variable& x) { return arccos(x); }
inline Variable asin(const Variable& x) { return arcsin(x); }
inline Variable atan(const Variable& x) { return arctan(x); }
inline Variable acosh(const Variable& x) { return arccosh(x); }
inline Variable asinh(const Variable& x) { return arcsinh(x); }
inline Variable atanh(const Variable& x) { return arctanh(x); }
CATENA_EXPORT Variable deg2rad(const Variable& x);  // degrees to radians
CATENA_EXPORT Variable rad2deg(const Variable& x);
// Rounded to a number of decimals after the point, ties to even; derivative 0.
struct RoundOption {
  int decimals = 0;
};
CATENA_EXPORT Variable round(const Variable& x, const RoundOption& o);
// log(x / (1 - x)) of x clamped to [eps, 1 - eps].
CATENA_EXPORT Variable logit(const Variable& x, double eps);

// clamp(x, 0, 1), clamp(x, {.min = 0}): clip of functions/math.h.
template <class B = Bound>
Variable clamp(const Variable& x, const std::type_identity_t<B>& min, const std::type_identity_t<B>& max = {}) {
  return clip(x, min, max);
}
inline Variable clamp(const Variable& x, const ClampOptions& o) { return clip(x, o.min, o.max); }
inline Variable clip(const Variable& x, const ClampOptions& o) { return clip(x, o.min, o.max); }
inline Variable clamp_min(const Variable& x, const Bound& min) { return clip(x, min, {}); }
inline Variable clamp_max(const Variable& x, const Bound& max) { return clip(x, {}, max); }

struct NanToNumOptions {
  std::optional<double> nan = {};     // default: 0
  std::optional<double> posinf = {};  // default: the greatest finite number of the dtype
  std::optional<double> neginf = {};  // default: the least one
};
// x with other numbers in the places of NaN and infinities, which get no gradient. Floating (InvalidType).
CATENA_EXPORT Variable nan_to_num(const Variable& x, const NanToNumOptions& o = {});
// PyTorch's max and min of two tensors, which broadcast: maximum and minimum.
template <PlainVariable V> Variable max(const Variable& x, const V& y) { return maximum(broadcast({x, y})); }
template <PlainVariable V> Variable min(const Variable& x, const V& y) { return minimum(broadcast({x, y})); }
inline Variable nan_to_num(const Variable& x, double nan) { return nan_to_num(x, NanToNumOptions{.nan = nan}); }
#undef CATENA_NUMBER_OPERANDS

}  // namespace autograd
