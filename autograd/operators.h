// The operators of Variable. Two Variables broadcast against each other. Two floating dtypes must be equal
// (InvalidType); integers and bools beside floating numbers are converted to their dtype, and two integer dtypes to
// their common one.
//
// The other operand may be a constant: a host number or an array. It is converted to the dtype of a floating variable,
// so it never changes the dtype of the result, and gets no gradient. Beside a floating constant, and in a division, an
// integer variable becomes floating, as in PyTorch: of the dtype of an array, else of the configuration. Beside an
// array of integers it takes their common dtype, and a bool variable beside an integer becomes int64. An array constant
// and the variable broadcast against each other (ValueError if their shapes do not fit) and are on one device. Python's
// `x ** y` and `x @ y` are pow(x, y) and matmul of functions/linalg.h; operator_matmul is the two-operand form whose
// label in graphs is Chainer's.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include <catena/autograd/variable.h>

namespace autograd {

// A host number or an array that is an operand of a differentiable function but gets no gradient. TypeError for a null
// array.
class Constant {
 public:
  Constant() = default;  // 0
  Constant(const Array& a) : array_(a) {
    if (!a) [[unlikely]]
      refuse_null();
  }
  Constant(const Scalar& s) : scalar_(s) {}
  template <ForeignArray T> Constant(const T& a) : Constant(Array(a)) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Constant(T v) : scalar_(v) {}
  bool is_array() const noexcept { return bool(array_); }
  const Array& array() const noexcept { return array_; }
  const Scalar& scalar() const noexcept { return scalar_; }
  // Returns the text for graph labels: 1.5, (-2), constant array.
  CATENA_EXPORT std::string label() const;

 private:
  [[noreturn]] CATENA_EXPORT static void refuse_null();

  Array array_;
  Scalar scalar_;
};

// The second operand of an operator on variables: a number or an array.
template <class T>
concept ConstantLike = ArrayLike<T> || std::is_arithmetic_v<T> || std::same_as<T, Scalar> ||
    std::same_as<T, Constant> || std::same_as<T, catena::float16> || std::same_as<T, catena::bfloat16>;
class Outputs;  // defined in function.h: the result of a function object
// A variable, or the only output of a function.
template <class T>
concept VariableLike = std::derived_from<T, Variable> || std::same_as<T, Outputs>;
// Two operands of which one is a variable.
template <class A, class B>
concept VariableOperands = (VariableLike<A> && (VariableLike<B> || ConstantLike<B>)) ||
                           (ConstantLike<A> && VariableLike<B>);

namespace internal {

#define CATENA_BINARY_OPERATOR(name)                                 \
  CATENA_EXPORT Variable name(const Variable& x, const Variable& y); \
  CATENA_EXPORT Variable name(const Variable& x, const Constant& c); \
  CATENA_EXPORT Variable name(const Constant& c, const Variable& x)
CATENA_BINARY_OPERATOR(add);
CATENA_BINARY_OPERATOR(subtract);
CATENA_BINARY_OPERATOR(multiply);
CATENA_BINARY_OPERATOR(divide);
CATENA_BINARY_OPERATOR(power);
CATENA_BINARY_OPERATOR(matrix_multiply);
#undef CATENA_BINARY_OPERATOR
CATENA_EXPORT Variable negate(const Variable& x);

template <class T> decltype(auto) operand(const T& v) {
  if constexpr (std::same_as<T, Outputs>) return Variable(v);
  else if constexpr (VariableLike<T>) return static_cast<const Variable&>(v);
  else if constexpr (std::same_as<T, catena::float16> || std::same_as<T, catena::bfloat16>) return Constant(Scalar(v));
  else return Constant(v);
}

}  // namespace internal

// Arithmetic of variables, and of variables and constants, with the dtypes above.
// InvalidType for variables of two floating dtypes and for shapes that do not broadcast.
inline Variable operator-(const Variable& x) { return internal::negate(x); }
template <class A, class B> Variable operator+(const A& a, const B& b) requires VariableOperands<A, B> {
  return internal::add(internal::operand(a), internal::operand(b));
}
template <class A, class B> Variable operator-(const A& a, const B& b) requires VariableOperands<A, B> {
  return internal::subtract(internal::operand(a), internal::operand(b));
}
template <class A, class B> Variable operator*(const A& a, const B& b) requires VariableOperands<A, B> {
  return internal::multiply(internal::operand(a), internal::operand(b));
}
template <class A, class B> Variable operator/(const A& a, const B& b) requires VariableOperands<A, B> {
  return internal::divide(internal::operand(a), internal::operand(b));
}
template <class A, class B> Variable pow(const A& a, const B& b) requires VariableOperands<A, B> {
  return internal::power(internal::operand(a), internal::operand(b));
}
template <class E>
requires(std::is_arithmetic_v<E>) Variable pow(const Array& x, E exponent) { return pow(Variable(x), exponent); }
template <class A, class B> Variable operator_matmul(const A& a, const B& b) requires VariableOperands<A, B> {
  return internal::matrix_multiply(internal::operand(a), internal::operand(b));
}

// The remainder with the sign of b. An integer keeps the dtype of a.
template <VariableLike A, class B> Variable operator%(const A& x, const B& b) requires VariableOperands<A, B> {
  const Variable& a = internal::operand(x);
  if constexpr (std::integral<B>)
    return a.remainder(Variable(arrays::full({}, Scalar(b), a.dtype(), a.device()), {.requires_grad = false}));
  else return a.remainder(b);
}

namespace internal {
// Where no graph is recorded, writes `result` into the array of a parameter or of another leaf with a gradient, if it
// has the same shape and dtype; else assigns it.
CATENA_EXPORT Variable& updated(Variable& a, const Variable& result);
}  // namespace internal

// Assigns a new variable, as in Python: other handles keep the old one. Within autograd::no_grad, a parameter, and any
// other leaf that has a gradient, is written in place as in PyTorch: w -= rate * w.grad() updates w for all handles.
template <class B> Variable& operator+=(Variable& a, const B& b) requires VariableOperands<Variable, B> {
  return internal::updated(a, a + b);
}
template <class B> Variable& operator-=(Variable& a, const B& b) requires VariableOperands<Variable, B> {
  return internal::updated(a, a - b);
}
template <class B> Variable& operator*=(Variable& a, const B& b) requires VariableOperands<Variable, B> {
  return internal::updated(a, a * b);
}
template <class B> Variable& operator/=(Variable& a, const B& b) requires VariableOperands<Variable, B> {
  return internal::updated(a, a / b);
}
template <class B> Variable& operator%=(Variable& a, const B& b) requires VariableOperands<Variable, B> {
  return internal::updated(a, a % b);
}

}  // namespace autograd
