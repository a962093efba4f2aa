// The classes of operators, mathematical functions, reductions and linear algebra (autograd/functions).
#pragma once

#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/objects/function_object.h>

namespace nn::functions {

// -x.
struct Neg : UnaryObject<"__neg__", autograd::internal::negate> {};
struct Absolute : UnaryObject<"|_|", absolute> {};
// x + y.
struct Add : BinaryObject<"_ + _", autograd::internal::add> {};
// x + value.
using AddConstant = ConstantObject<"_ + ", autograd::internal::add>;
// x - y.
struct Sub : BinaryObject<"_ - _", autograd::internal::subtract> {};
// value - x.
using SubFromConstant = FromConstantObject<"", " - _", autograd::internal::subtract>;
// x * y.
struct Mul : BinaryObject<"_ * _", autograd::internal::multiply> {};
// x * value.
using MulConstant = ConstantObject<"_ * ", autograd::internal::multiply>;
// x / y.
struct Div : BinaryObject<"_ / _", autograd::internal::divide> {};
// value / x.
using DivFromConstant = FromConstantObject<"_ / ", "", autograd::internal::divide>;  // the label is Chainer's
// x to the power of y.
struct PowVarVar : BinaryObject<"_ ** _", autograd::internal::power> {};
// x to the power of value.
using PowVarConst = ConstantObject<"_ ** ", autograd::internal::power>;
// value to the power of x.
using PowConstVar = FromConstantObject<"", " ** _", autograd::internal::power>;
// The matrix product of x and y.
struct MatMulVarVar : BinaryObject<"_ @ _", autograd::internal::matrix_multiply> {};
// The matrix product of x and value.
using MatMulVarConst = ConstantObject<"_ @ ", autograd::internal::matrix_multiply, FunctionObject::composed>;
// The matrix product of value and x.
using MatMulConstVar = FromConstantObject<"", " @ _", autograd::internal::matrix_multiply, FunctionObject::composed>;

struct BatchL2NormSquared : UnaryObject<"BatchL2NormSquared", batch_l2_norm_squared> {};
struct Ceil : UnaryObject<"ceil", ceil> {};
struct CATENA_EXPORT Clip : FunctionObjectOf<Variable> {
  explicit Clip(double x_min, double x_max);
};
struct BatchDet : UnaryObject<"det", batch_det> {};
struct Exp : UnaryObject<"exp", exp> {};
struct Log : UnaryObject<"log", log> {};
struct Log2 : UnaryObject<"log2", log2> {};
struct Log10 : UnaryObject<"log10", log10> {};
struct Expm1 : UnaryObject<"expm1", expm1> {};
struct Floor : UnaryObject<"floor", floor> {};
struct Fmod : BinaryObject<"fmod", fmod> {};
struct Cosh : UnaryObject<"cosh", cosh> {};
struct Sinh : UnaryObject<"sinh", sinh> {};
struct CATENA_EXPORT Identity : FunctionObjectOf<Outputs> {
  explicit Identity();
};
struct Inv : UnaryObject<"Inv", inv> {};
struct BatchInv : UnaryObject<"BatchInv", batch_inv> {};
struct CATENA_EXPORT LinearInterpolate : FunctionObjectOf<Variable> {
  explicit LinearInterpolate();
};
struct Log1p : UnaryObject<"log1p", log1p> {};
struct CATENA_EXPORT LogSumExp : FunctionObjectOf<Variable> {
  explicit LogSumExp(const Axes& axis = Axes());
  LogSumExp(LogSumExp&) = default;
  template <std::same_as<LogSumExp> T> LogSumExp(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT MatMul : FunctionObjectOf<Variable> {
  explicit MatMul(bool transa = false, bool transb = false);
};
struct CATENA_EXPORT BatchMatMul : FunctionObjectOf<Variable> {
  explicit BatchMatMul(bool transa = false, bool transb = false);
};
struct Maximum : BinaryObject<"Maximum", maximum> {};
struct Minimum : BinaryObject<"Minimum", minimum> {};
struct CATENA_EXPORT Max : FunctionObjectOf<Variable> {
  explicit Max(const Axes& axis = Axes(), bool keepdims = false);
  Max(Max&) = default;
  template <std::same_as<Max> T> Max(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT Min : FunctionObjectOf<Variable> {
  explicit Min(const Axes& axis = Axes(), bool keepdims = false);
  Min(Min&) = default;
  template <std::same_as<Min> T> Min(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT ArgMax : FunctionObjectOf<Variable> {
  explicit ArgMax(std::optional<int> axis = std::nullopt);
  ArgMax(ArgMax&) = default;
  template <std::same_as<ArgMax> T> ArgMax(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT ArgMin : FunctionObjectOf<Variable> {
  explicit ArgMin(std::optional<int> axis = std::nullopt);
  ArgMin(ArgMin&) = default;
  template <std::same_as<ArgMin> T> ArgMin(const T& other) : FunctionObjectOf(other) {}
};
struct Sqrt : UnaryObject<"sqrt", sqrt> {};
struct Square : UnaryObject<"square", square> {};
struct SquaredDifference : BinaryObject<"SquaredDifference", squared_difference> {};
struct CATENA_EXPORT Sum : FunctionObjectOf<Variable> {
  explicit Sum(const Axes& axis = Axes(), bool keepdims = false);
  Sum(Sum&) = default;
  template <std::same_as<Sum> T> Sum(const T& other) : FunctionObjectOf(other) {}
};
struct Sin : UnaryObject<"sin", sin> {};
struct Cos : UnaryObject<"cos", cos> {};
struct Tan : UnaryObject<"tan", tan> {};
struct Arcsin : UnaryObject<"arcsin", arcsin> {};
struct Arccos : UnaryObject<"arccos", arccos> {};
struct Arctan : UnaryObject<"arctan", arctan> {};

}  // namespace nn::functions
