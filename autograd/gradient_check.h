// Compares backward with numerical differentiation.
//
// A function takes Variables, one by one or as a list, and returns one Variable, a list or a tuple: a link, a function
// object, a function, a lambda. It is called many times, each time with the same random numbers, so that a dropout mask
// stays the same.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <vector>

#include <catena/autograd/call_variables.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/named.h>

namespace autograd::gradient_check {

// Thrown where a function has no derivative: a test draws other inputs.
class CATENA_EXPORT NondifferentiableError : public catena::RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

// How numerical_grad looks for points without a derivative. An output is taken for smooth if its values at -eps,
// -eps / 2, 0, eps / 2 and eps are those of a parabola up to diff_atol + diff_rtol * (largest - smallest of them), and
// the rounding of its dtype.
struct Detection {
  bool detect_nondifferentiable = false;
  double diff_atol = 0, diff_rtol = 1e-2;
};

namespace internal {

CATENA_EXPORT Arrays numerical_grad(const catena::Function<Arrays()>& f, const Arrays& inputs,
                                    const Arrays& grad_outputs, double eps, const Detection& detection = {});

// Returns the result of f as arrays; f may return arrays, Variables or numbers.
template <class R> Arrays arrays_of(const R& result) {
  if constexpr (std::is_base_of_v<Arrays, R>) {
    return result;
  } else if constexpr (std::is_arithmetic_v<R>) {
    return {array<double>({static_cast<double>(result)}, {})};
  } else if constexpr (std::is_convertible_v<const R&, Array>) {
    return {Array(result)};
  } else if constexpr (autograd::internal::SingleVariable<R> || autograd::internal::RangeOfVariables<R>) {
    Arrays list;
    for (const Variable& v : autograd::internal::outputs_of(result)) list.push_back(v.data());
    return list;
  } else if constexpr (autograd::internal::TupleLike<R>) {
    Arrays list;
    std::apply(
        [&](const auto&... part) {
          (..., [&] {
            for (const Array& a : arrays_of(part)) list.push_back(a);
          }());
        },
        result);
    return list;
  } else {
    Arrays list;
    for (const auto& part : result) list.push_back(arrays_of(part)[0]);
    return list;
  }
}

}  // namespace internal

// Returns central differences of f() at the current values of `inputs`, which f reads: for every input the gradient of
// sum_k(outputs[k] * grad_outputs[k]), in the dtype of the input; null grad_outputs are ignored. f returns an array, a
// Variable, a number, or several. Inputs are perturbed in place and restored, also if f throws. Type checks are off
// during the call. AssertionError unless eps > 0; RuntimeError if host and device arrays are mixed;
// NondifferentiableError, if `detection` asks for it, at a kink or a step.
template <std::invocable F>
Arrays numerical_grad(F&& f, const Arrays& inputs, const Arrays& grad_outputs, double eps = 1e-3,
                      const Detection& detection = {}) {
  return internal::numerical_grad([&f] { return internal::arrays_of(f()); }, inputs, grad_outputs, eps, detection);
}

// Tolerances and the step of the check.
struct Options {
  double eps = 1e-3, atol = 1e-5, rtol = 1e-4;
  std::vector<bool> no_grads = {};  // inputs that must have no gradient; default: the inputs of non-floating dtypes
  std::optional<Dtype> dtype = {};  // floating dtype of the numerical side
  Variables params = {};            // parameters whose gradients are compared as well
  // check_double_backward: weights of the first gradients of the parameters, which then are among the first gradients;
  // empty, or one per parameter (null for none).
  Arrays params_grad_grad = {};
  // Compares one derivative, in a random direction over all inputs and parameters, for two calls of func in place of
  // two per element. The error then cannot name the input.
  bool directional = false;
  Detection detection = {};
};

// The function whose gradients are checked.
using Call = catena::Function<Variables(const Variables&)>;

namespace internal {
CATENA_EXPORT void check_backward(const Call& f, const Arrays& x, const Arrays& gy, const Options& options,
                                  bool absent_is_zero = false);
CATENA_EXPORT void check_double_backward(const Call& f, const Arrays& x, const Arrays& gy, const Arrays& ggx,
                                         const Options& options);
template <class F> Call as_call(F& f) {
  return [&f](const Variables& x) { return autograd::internal::call_variables(f, x); };
}
}  // namespace internal

// Compares the gradients by backward for func's outputs and y_grad with numerical_grad. A null y_grad is absent; an
// empty list stands for one output of one element. The AssertionError names the input that differs. TypeError if func
// does not take as many Variables as there are x_data.
template <class F>
void check_backward(F&& func, const Arrays& x_data, const Arrays& y_grad = {}, const Options& options = {}) {
  internal::check_backward(internal::as_call(func), x_data, y_grad, options);
}
// The same for a function of one Variable, whose arrays need no braces.
template <class F, std::convertible_to<Array> X>
void check_backward(F&& func, const X& x_data, const Array& y_grad, const Options& options = {}) {
  internal::check_backward(internal::as_call(func), Arrays{Array(x_data)}, Arrays{y_grad}, options);
}

// Does the same for the gradients of the gradients, as functions of x and y_grad. x_grad_grad: weights of the first
// gradients, one per input (null for inputs without a gradient).
template <class F>
void check_double_backward(F&& func, const Arrays& x_data, const Arrays& y_grad, const Arrays& x_grad_grad,
                           const Options& options = {}) {
  internal::check_double_backward(internal::as_call(func), x_data, y_grad, x_grad_grad, options);
}

// Deprecated: use testing::assert_allclose.
CATENA_EXPORT void assert_allclose(const Array& x, const Array& y, double atol = 1e-5, double rtol = 1e-4,
                                   bool verbose = true);

}  // namespace autograd::gradient_check

namespace autograd {

// PyTorch's options of gradcheck and gradgradcheck.
struct GradcheckOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double eps = 1e-6, atol = 1e-5, rtol = 1e-3;
  bool raise_exception = true;  // false: a difference is the result false
  // Without effect: computations are deterministic, and one mode of differentiation is there.
  double nondet_tol = 0;
  bool check_undefined_grad = true, check_grad_dtypes = false, check_batched_grad = false,
       check_batched_forward_grad = false, check_forward_ad = false, check_backward_ad = true;
  bool fast_mode = false;  // compares the derivative in one direction
};
namespace internal {
CATENA_EXPORT bool gradcheck(const gradient_check::Call& f, const Variables& inputs, const GradcheckOptions& o,
                             bool second);
}  // namespace internal

// Compares the gradients of f with respect to the inputs that require one, which should be float64, with central
// differences, for one random weight of each element of the results; gradgradcheck: the gradients of these gradients.
// Returns true. An AssertionError names the input that differs. ValueError if no input requires a gradient.
//   autograd::gradcheck(f, {x, w}, {.eps = 1e-5})
template <class F> bool gradcheck(F&& f, const Variables& inputs, const GradcheckOptions& o = {}) {
  return internal::gradcheck(gradient_check::internal::as_call(f), inputs, o, false);
}
template <class F> bool gradgradcheck(F&& f, const Variables& inputs, const GradcheckOptions& o = {}) {
  return internal::gradcheck(gradient_check::internal::as_call(f), inputs, o, true);
}
template <class F> bool gradcheck(F&& f, const Variable& input, const GradcheckOptions& o = {}) {
  return gradcheck(f, Variables{input}, o);
}
template <class F> bool gradgradcheck(F&& f, const Variable& input, const GradcheckOptions& o = {}) {
  return gradgradcheck(f, Variables{input}, o);
}

}  // namespace autograd
