// Comparison of backward with numerical differentiation.
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>

namespace autograd::gradient_check {

// Central differences of f at the current values of `inputs`, which f reads: for every input the gradient of
// sum_k(outputs[k] * grad_outputs[k]), in the input's dtype; null grad_outputs are skipped. Inputs are perturbed in
// place and restored, also when f throws. Type checks are off during the call. AssertionError unless eps > 0;
// RuntimeError when host and device arrays are mixed.
CATENA_EXPORT Arrays numerical_grad(const catena::Function<Arrays()>& f, const Arrays& inputs,
                                    const Arrays& grad_outputs, double eps = 1e-3);

struct Options {
  double eps = 1e-3, atol = 1e-5, rtol = 1e-4;
  std::vector<bool> no_grads = {};  // inputs that must have no gradient; default: the inputs of non-floating dtypes
  std::optional<Dtype> dtype = {};  // floating dtype of the numerical side
  Variables params = {};            // parameters whose gradients are compared, too
};

using Call = catena::Function<Variables(const Variables&)>;

namespace internal {
CATENA_EXPORT void check_backward(const Call& f, const Arrays& x, const Arrays& gy, const Options& options,
                                  bool absent_is_zero = false);
CATENA_EXPORT void check_double_backward(const Call& f, const Arrays& x, const Arrays& gy, const Arrays& ggx,
                                         const Options& options);
template <class F> Call as_call(const F& f) {
  if constexpr (!std::is_invocable_v<const F&, const Variables&>)
    return [f](const Variables& x) { return Variables{f(x[0])}; };
  else if constexpr (std::is_same_v<std::invoke_result_t<const F&, const Variables&>, Variables>) return f;
  else return [f](const Variables& x) { return Variables{f(x)}; };
}
}  // namespace internal

// Compares the gradients that backward gives for func's outputs and y_grad with numerical_grad. A null y_grad is
// absent; an empty list stands for one output of one element. func takes Variables, or one Variable, and returns
// Variables, or one; it is called many times and must be deterministic. AssertionError names the input that differs.
template <class F>
void check_backward(const F& func, const Arrays& x_data, const Arrays& y_grad = {}, const Options& options = {}) {
  internal::check_backward(internal::as_call(func), x_data, y_grad, options);
}

// The same for the gradients of the gradients, as functions of x and y_grad. x_grad_grad: weights of the first
// gradients, one per input (null for inputs without one).
template <class F>
void check_double_backward(const F& func, const Arrays& x_data, const Arrays& y_grad, const Arrays& x_grad_grad,
                           const Options& options = {}) {
  internal::check_double_backward(internal::as_call(func), x_data, y_grad, x_grad_grad, options);
}

// Deprecated: testing::assert_allclose.
CATENA_EXPORT void assert_allclose(const Array& x, const Array& y, double atol = 1e-5, double rtol = 1e-4,
                                   bool verbose = true);

}  // namespace autograd::gradient_check
