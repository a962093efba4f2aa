// PyTorch's functions whose results have no gradient: tests of elements, logic, bits, sorted and distinct elements,
// counts; exits to C++; parts of complex numbers; and switches of modes.
//
// Operands are variables, arrays and numbers. Results of bools are a Mask, an array that a condition reads if it has
// one element; other results are variables that require no gradient.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <catena/autograd/flag.h>
#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/autograd/ndarray_backend/torch_creation.h>
#include <catena/autograd/no_grad.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/base/array_text.h>
#include <catena/ndarray/core/dtype.h>
#include <catena/ndarray/routines/datatype.h>
#include <catena/ndarray/routines/list.h>

namespace autograd {

// A variable, an array or a number as an operand of the array library.
class CATENA_EXPORT TensorArgument {
 public:
  TensorArgument(const Variable& x) : array_(x.data()), is_array_(true) {}
  template <ArrayLike A> TensorArgument(const A& a) : array_(Array(a)), is_array_(true) {}
  template <class E>
  requires(std::is_arithmetic_v<E>) TensorArgument(E number) : number_(number) {}
  bool is_array() const noexcept { return is_array_; }
  const nd::Array& array() const noexcept { return array_; }
  operator nd::Operand() const { return is_array_ ? nd::Operand(array_) : nd::Operand(number_); }

 private:
  nd::Array array_;
  Scalar number_;
  bool is_array_ = false;
};

// ---- comparisons: elementwise, of operands that broadcast ----
template <class T>
concept TensorOperand = VariableLike<T> || ArrayLike<T> || std::is_arithmetic_v<T>;
namespace internal {
template <class T> decltype(auto) compared_operand(const T& x) {
  if constexpr (VariableLike<T>) return operand(x);
  else if constexpr (ArrayLike<T>) return as_variable(x);
  else return x;
}
}  // namespace internal
#define CATENA_COMPARISON(op, name)                                               \
  template <TensorOperand A, TensorOperand B> Mask name(const A& x, const B& y) { \
    return internal::compared_operand(x) op internal::compared_operand(y);        \
  }
CATENA_COMPARISON(==, eq)
CATENA_COMPARISON(!=, ne)
CATENA_COMPARISON(!=, not_equal)
CATENA_COMPARISON(<, lt)
CATENA_COMPARISON(<, less)
CATENA_COMPARISON(<=, le)
CATENA_COMPARISON(<=, less_equal)
CATENA_COMPARISON(>, gt)
CATENA_COMPARISON(>, greater)
CATENA_COMPARISON(>=, ge)
CATENA_COMPARISON(>=, greater_equal)
#undef CATENA_COMPARISON

// ---- tests, logic and bits: elementwise ----
#define CATENA_TEST(name) CATENA_EXPORT Mask name(const TensorArgument& x);
CATENA_TEST(isnan)
CATENA_TEST(isinf)
CATENA_TEST(isfinite)
CATENA_TEST(isneginf)
CATENA_TEST(isposinf)
CATENA_TEST(isreal)
CATENA_TEST(signbit)
CATENA_TEST(logical_not)
#undef CATENA_TEST
#define CATENA_TEST(name) CATENA_EXPORT Mask name(const TensorArgument& x, const TensorArgument& y);
CATENA_TEST(logical_and)
CATENA_TEST(logical_or)
CATENA_TEST(logical_xor)
#undef CATENA_TEST
#define CATENA_BITS(name) CATENA_EXPORT Variable name(const TensorArgument& x, const TensorArgument& y);
// Of integers and bools (TypeError). Shifts by a number of bits outside of the dtype give 0.
CATENA_BITS(bitwise_and)
CATENA_BITS(bitwise_or)
CATENA_BITS(bitwise_xor)
CATENA_BITS(bitwise_left_shift)
CATENA_BITS(bitwise_right_shift)
// Greatest common divisors and least common multiples, of integers (TypeError).
CATENA_BITS(gcd)
CATENA_BITS(lcm)
// 0 where x < 0, y where x is 0, and 1 where x > 0.
CATENA_BITS(heaviside)
// The number of the dtype that is next to x in the direction of y.
CATENA_BITS(nextafter)
#undef CATENA_BITS
CATENA_EXPORT Variable bitwise_not(const TensorArgument& x);
// The operators of these functions, with a variable as one operand: v & 1, ~v. v <<= 2 and its relatives assign to v,
// as v += 2 does.
#define CATENA_BITS(op, name)                                                                                   \
  template <class A, class B> Variable operator op(const A& x, const B& y) requires VariableOperands<A, B> {    \
    return autograd::name(x, y);                                                                                \
  }                                                                                                             \
  template <class B> Variable& operator op##=(Variable& x, const B& y) requires VariableOperands<Variable, B> { \
    return internal::updated(x, autograd::name(x, y));                                                          \
  }
CATENA_BITS(&, bitwise_and)
CATENA_BITS(|, bitwise_or)
CATENA_BITS(^, bitwise_xor)
CATENA_BITS(<<, bitwise_left_shift)
CATENA_BITS(>>, bitwise_right_shift)
#undef CATENA_BITS
template <VariableLike A> Variable operator~(const A& x) { return bitwise_not(internal::operand(x)); }

struct CloseOptions {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
};
// |x - y| <= atol + rtol |y|, elementwise and for all elements. equal: the same shape and equal elements.
CATENA_EXPORT Mask isclose(const TensorArgument& x, const TensorArgument& y, const CloseOptions& o = {});
CATENA_EXPORT bool allclose(const TensorArgument& x, const TensorArgument& y, const CloseOptions& o = {});
inline Mask isclose(const TensorArgument& x, const TensorArgument& y, double rtol, double atol = 1e-8,
                    bool equal_nan = false) {
  return isclose(x, y, CloseOptions{rtol, atol, equal_nan});
}
inline bool allclose(const TensorArgument& x, const TensorArgument& y, double rtol, double atol = 1e-8,
                     bool equal_nan = false) {
  return allclose(x, y, CloseOptions{rtol, atol, equal_nan});
}
CATENA_EXPORT bool equal(const TensorArgument& x, const TensorArgument& y);
struct IsinOptions {
  bool invert = false;
};
// True for the elements that are among the second ones.
CATENA_EXPORT Mask isin(const TensorArgument& elements, const TensorArgument& among, const IsinOptions& o = {});

// ---- reductions of truth values and counts ----
// any(x), any(x, 1), any(x, {.dim = 1, .keepdim = true}); count_nonzero gives int64.
CATENA_EXPORT Mask any(const Variable& x, const ExtremumOptions& o);
CATENA_EXPORT Mask all(const Variable& x, const ExtremumOptions& o);
CATENA_EXPORT Variable count_nonzero(const Variable& x, const ExtremumOptions& o);
#define CATENA_COUNT(Result, name)                                                             \
  inline Result name(const Variable& x) { return name(x, ExtremumOptions{}); }                 \
  template <std::same_as<int> I> Result name(const Variable& x, I dim, bool keepdim = false) { \
    return name(x, ExtremumOptions{.dim = dim, .keepdim = keepdim});                           \
  }
CATENA_COUNT(Mask, any)
CATENA_COUNT(Mask, all)
CATENA_COUNT(Variable, count_nonzero)
#undef CATENA_COUNT

// ---- positions and sorted elements: int64 ----
// The positions of the elements that are not 0, one row for each: (number, rank). where(condition), and nonzero with
// {.as_tuple = true}: one vector for each axis.
struct NonzeroOptions {
  bool as_tuple = false;
};
CATENA_EXPORT Variable nonzero(const Variable& x);
CATENA_EXPORT Variables nonzero(const Variable& x, const NonzeroOptions& o);  // always a list
inline Variable argwhere(const Variable& x) { return nonzero(x); }
inline Variables where(const Variable& condition) { return nonzero(condition, NonzeroOptions{true}); }
// where(x > 0, 1.0, 0.0): numbers alone; float32, or int64 for two integers.
template <class C, class X, class Y>
requires((VariableLike<C> || ArrayLike<C>)&&std::is_arithmetic_v<X>&& std::is_arithmetic_v<Y>) Variable
    where(const C& condition, X x, Y y);
struct SearchOptions {
  bool right = false;  // behind equal elements
};
// The places of values in sorted numbers, which have rank 1 or, for searchsorted, the shape of the values but for the
// last axis. ValueError for other shapes.
CATENA_EXPORT Variable searchsorted(const Variable& sorted, const TensorArgument& values, const SearchOptions& o = {});
CATENA_EXPORT Variable bucketize(const TensorArgument& values, const Variable& boundaries, const SearchOptions& o = {});
// The coordinates, one vector for each axis, of positions in a flattened array of a shape.
CATENA_EXPORT Variables unravel_index(const Variable& indices, const Shape& shape);

// ---- distinct elements and histograms ----
struct UniqueOptions {
  bool sorted = true;  // the elements are in ascending order with either value
  bool return_inverse = false, return_counts = false;
  std::optional<int> dim = {};
};
// The distinct elements, the position of each element among them, and their numbers (int64). Arrays that were not asked
// for are null. The result is the variable of the elements, and is taken apart by
// auto [values, inverse, counts] = unique(x, {.return_inverse = true, .return_counts = true}).
struct ValuesInverseAndCounts {
  Variable output = {}, inverse_indices = {}, counts = {};
  operator const Variable&() const noexcept { return output; }
};
CATENA_EXPORT Variable unique(const Variable& x);
CATENA_EXPORT ValuesInverseAndCounts unique(const Variable& x, const UniqueOptions& o);
// The same of neighbours; of the flattened array.
CATENA_EXPORT Variable unique_consecutive(const Variable& x);
CATENA_EXPORT ValuesInverseAndCounts unique_consecutive(const Variable& x, const UniqueOptions& o);
struct BincountOptions {
  Variable weights = {};
  std::int64_t minlength = 0;
};
// The number of times that each number from 0 on occurs in a vector of integers (TypeError, ValueError for another rank
// and negative numbers): int64, or the sums of the weights.
CATENA_EXPORT Variable bincount(const Variable& x, const BincountOptions& o = {});
template <std::convertible_to<Variable> W>
requires(!std::is_arithmetic_v<W>) Variable bincount(const Variable& x, const W& weights, std::int64_t minlength = 0) {
  return bincount(x, BincountOptions{weights, minlength});
}
struct HistcOptions {
  std::int64_t bins = 100;
  double min = 0, max = 0;  // equal: the least and the greatest element
};
// The numbers of elements in equal bins from min to max, in the dtype of x.
CATENA_EXPORT Variable histc(const Variable& x, const HistcOptions& o = {});
inline Variable histc(const Variable& x, std::int64_t bins, double min = 0, double max = 0) {
  return histc(x, HistcOptions{bins, min, max});
}

// ---- parts of numbers ----
// x = mantissa 2^exponent with a mantissa of a magnitude in [0.5, 1), and int32 exponents, which have no gradient:
// auto [mantissa, exponent] = frexp(x). Floating (TypeError).
struct Frexp {
  Variable mantissa, exponent;
};
CATENA_EXPORT Frexp frexp(const Variable& x);

// ---- complex numbers: differentiable ----
// The gradient of a complex variable is the derivative by its real part plus i times that by its imaginary part.
CATENA_EXPORT Variable complex(const Variable& real, const Variable& imag);
CATENA_EXPORT Variable polar(const Variable& abs, const Variable& angle);
CATENA_EXPORT Variable real(const Variable& x);
CATENA_EXPORT Variable imag(const Variable& x);
CATENA_EXPORT Variable conj(const Variable& x);
CATENA_EXPORT Variable angle(const Variable& x);
inline Variable conj_physical(const Variable& x) { return conj(x); }
// The conjugates of the matrices over the last two axes, transposed.
inline Variable adjoint(const Variable& x) { return conj(x.swapaxes(-2, -1)); }
inline Variable resolve_conj(const Variable& x) { return x; }
inline Variable resolve_neg(const Variable& x) { return x; }
// (..., 2) of float32 or float64, and back.
CATENA_EXPORT Variable view_as_complex(const Variable& x);
CATENA_EXPORT Variable view_as_real(const Variable& x);

// ---- properties: of a dtype, of an element, of a type ----
inline bool is_floating_point(const Variable& x) { return x.is_floating_point(); }
inline bool is_complex(const Variable& x) { return x.is_complex(); }
inline bool is_conj(const Variable& x) { return x.is_conj(); }
inline bool is_neg(const Variable& x) { return x.is_neg(); }
inline bool is_inference(const Variable& x) { return x.is_inference(); }
inline bool is_nonzero(const Variable& x) { return x.item<double>() != 0; }
template <class T> constexpr bool is_tensor(const T&) { return VariableLike<T> || ArrayLike<T>; }
using catena::get_printoptions;
using catena::promote_types;
using catena::set_printoptions;
// Options of set_printoptions with those that NumPy lacks. Beside a profile or sci_mode, options that are not given
// keep their values, or take those of the profile. profile: "default", "short" (two digits) or "full" (no summary);
// ValueError for others. sci_mode = false: small numbers do not cause scientific notation.
struct PrintProfile {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> precision = {};
  std::optional<std::int64_t> threshold = {};
  std::optional<int> edgeitems = {}, linewidth = {};
  std::string_view profile = {};
  std::optional<bool> sci_mode = {};
};
namespace internal {
CATENA_EXPORT void set_print_profile(const PrintProfile& o);
}
template <std::same_as<PrintProfile> O = PrintProfile> void set_printoptions(const O& o) {
  internal::set_print_profile(o);
}
using nd::finfo;
using nd::iinfo;

// ---- modes of the thread ----
// { autograd::set_grad_enabled guard(false); ... }, enable_grad guard; inference_mode is no_grad. Each takes a function
// as a decorator does: enable_grad()(f).
class set_grad_enabled {
 public:
  [[nodiscard]] explicit set_grad_enabled(bool enabled)
      : enabled_(enabled), scope_(internal::modes().enable_backprop, enabled) {}
  template <class F> auto operator()(F f) const {
    return internal::in_scope(std::move(f), [mode = enabled_] { return set_grad_enabled(mode); });
  }

 private:
  bool enabled_;
  ModeScope scope_;
};
class enable_grad {
 public:
  [[nodiscard]] enable_grad() {}
  template <class F> auto operator()(F f) const {
    return internal::in_scope(std::move(f), [] { return enable_grad(); });
  }

 private:
  force_backprop_mode scope_;
};
using AutoGradMode = set_grad_enabled;
class inference_mode {
 public:
  [[nodiscard]] explicit inference_mode(bool mode = true)
      : mode_(mode), scope_(!mode && internal::modes().enable_backprop) {}
  template <class F> auto operator()(F f) const {
    return internal::in_scope(std::move(f), [mode = mode_] { return inference_mode(mode); });
  }

 private:
  bool mode_;
  set_grad_enabled scope_;
};
using InferenceMode = inference_mode;
inline bool is_grad_enabled() noexcept { return internal::modes().enable_backprop; }

// ---- members of Variable ----
namespace internal {
// adjoint of a matrix; ValueError for another rank than 2 and 0.
CATENA_EXPORT Variable matrix_adjoint(const Variable& x);
template <class... A> struct TensorFunctions {
#define CATENA_MEMBER(name)                                                          \
  template <class... B> static auto name(const Variable& x, const B&... arguments) { \
    return autograd::name(x, arguments...);                                          \
  }
  CATENA_TENSOR_FUNCTIONS(CATENA_MEMBER)
#undef CATENA_MEMBER
  static Variable mH(const Variable& x) { return autograd::adjoint(x); }
  static Variable H(const Variable& x) { return matrix_adjoint(x); }
  static auto tolist(const Variable& x) { return nd::Array(x.data()).tolist(); }
  // The array of the variable, with the same elements.
  static nd::Array numpy(const Variable& x) { return x.data(); }
  template <class B> static Variable new_tensor(const Variable& x, const B& values) {
    return tensor(values, TensorOptions{.dtype = x.dtype(), .device = x.device()});
  }
};
template <class X, class Y> Variable chosen_number(const Array& condition, X x, Y y) {
  constexpr Dtype dtype = std::is_integral_v<X> && std::is_integral_v<Y> ? Dtype::int64 : Dtype::float32;
  return Variable(astype(autograd::where(Operand(condition), Operand(x), Operand(y)), dtype), {.requires_grad = false});
}
}  // namespace internal
template <class C, class X, class Y>
requires((VariableLike<C> || ArrayLike<C>)&&std::is_arithmetic_v<X>&& std::is_arithmetic_v<Y>) Variable
    where(const C& condition, X x, Y y) {
  if constexpr (VariableLike<C>) return internal::chosen_number(internal::operand(condition).data(), x, y);
  else return internal::chosen_number(Array(condition), x, y);
}

}  // namespace autograd
