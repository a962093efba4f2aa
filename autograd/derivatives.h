// Derivatives of functions as functions: products with Jacobians and Hessians, and these matrices themselves.
//
//   auto [y, gx] = autograd::vjp(f, x, v);                     // v^T J: one backward pass
//   auto [y, ty] = autograd::jvp(f, x, v);                     // J v
//   Variable J = autograd::jacobian(f, x), H = autograd::hessian(f, x);
//   auto [y, Hv] = autograd::hvp(f, x, v);                     // H v, without H
//
// f takes one Variable, several, or a list, and returns one or several, as in gradient_check.h. The functions with one
// Variable return Variables; those with a list {x0, x1} return lists. f is called once, with new variables of the
// values of the inputs, and nobody's .grad changes. A derivative that is 0 because nothing depends on the input is an
// array of zeros. Parameters that f reads are constants here.
//
// By default the results are leaves. With enable_double_backprop they are functions of the inputs, and of the other
// variables that f reads, and can be differentiated again: hvp is vjp of a gradient.
//
// Costs, in units of one call of f: vjp about 3; jvp about 5, because the forward mode is the derivative of the
// backward pass with respect to its weights; hvp about 7; jacobian 2 for each element of y, hessian 4 for each of x.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <catena/autograd/call_variables.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/named.h>

namespace autograd {

// The value of a function and a derivative.
struct VariableAndDerivative {
  Variable value, derivative;
};
struct VariablesAndDerivatives {
  Variables value, derivative;
};

namespace internal {

using ListFunction = catena::Function<Variables(const Variables&)>;
CATENA_EXPORT VariablesAndDerivatives vjp(const ListFunction& f, const Variables& xs, const Variables& v, bool graph);
CATENA_EXPORT VariablesAndDerivatives jvp(const ListFunction& f, const Variables& xs, const Variables& v, bool graph);
CATENA_EXPORT VariablesAndDerivatives hvp(const ListFunction& f, const Variables& xs, const Variables& v, bool graph);
CATENA_EXPORT Variable jacobian(const ListFunction& f, const Variable& x, bool graph);
CATENA_EXPORT Variable hessian(const ListFunction& f, const Variable& x, bool graph);

template <class F> ListFunction list_function(F& f) {
  return [&f](const Variables& x) { return call_variables(f, x); };
}
inline VariableAndDerivative single(const VariablesAndDerivatives& d) { return {d.value[0], d.derivative[0]}; }

}  // namespace internal

// Returns f(x) and, for every input, the sum over the outputs of v[k]^T J_k. Without v every output must have one
// element, with the weight 1 (ValueError).
template <class F>
VariablesAndDerivatives vjp(F&& f, const Variables& xs, const Variables& v = {}, bool enable_double_backprop = false) {
  return internal::vjp(internal::list_function(f), xs, v, enable_double_backprop);
}
template <class F>
VariableAndDerivative vjp(F&& f, const Variable& x, const Variable& v = {}, bool enable_double_backprop = false) {
  return internal::single(
      internal::vjp(internal::list_function(f), {x}, v ? Variables{v} : Variables(), enable_double_backprop));
}

// Returns f(x) and, for every output, the sum over the inputs of J_i v[i], the directional derivative. v[i] has the
// shape and dtype of x[i].
template <class F>
VariablesAndDerivatives jvp(F&& f, const Variables& xs, const Variables& v, bool enable_double_backprop = false) {
  return internal::jvp(internal::list_function(f), xs, v, enable_double_backprop);
}
template <class F>
VariableAndDerivative jvp(F&& f, const Variable& x, const Variable& v, bool enable_double_backprop = false) {
  return internal::single(internal::jvp(internal::list_function(f), {x}, {v}, enable_double_backprop));
}

// Returns f(x), of one element (ValueError), and the product of its Hessian with v, which has the shapes of the inputs.
template <class F>
VariablesAndDerivatives hvp(F&& f, const Variables& xs, const Variables& v, bool enable_double_backprop = false) {
  return internal::hvp(internal::list_function(f), xs, v, enable_double_backprop);
}
template <class F>
VariableAndDerivative hvp(F&& f, const Variable& x, const Variable& v, bool enable_double_backprop = false) {
  return internal::single(internal::hvp(internal::list_function(f), {x}, {v}, enable_double_backprop));
}

// Returns dy / dx of y = f(x), of shape y.shape + x.shape: one backward pass per element of y.
template <class F> Variable jacobian(F&& f, const Variable& x, bool enable_double_backprop = false) {
  return internal::jacobian(internal::list_function(f), x, enable_double_backprop);
}
// Returns the second derivatives of y = f(x), of one element (ValueError), of shape x.shape + x.shape.
template <class F> Variable hessian(F&& f, const Variable& x, bool enable_double_backprop = false) {
  return internal::hessian(internal::list_function(f), x, enable_double_backprop);
}

// The names of PyTorch's module: functional::jacobian(f, x).
namespace functional {
using autograd::hessian, autograd::hvp, autograd::jacobian, autograd::jvp, autograd::vjp;
// The product of v with the Hessian, which is symmetric: hvp.
template <class F, class X, class V> auto vhp(F&& f, const X& x, const V& v, bool enable_double_backprop = false) {
  return autograd::hvp(f, x, v, enable_double_backprop);
}
template <class F> auto vhp(F&& f, const Variables& xs, const Variables& v) { return autograd::hvp(f, xs, v); }
// PyTorch's options. A derivative by a variable on which nothing depends is zeros, also with `strict`; `vectorize` has
// no effect.
struct DerivativeOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool create_graph = false, strict = false, vectorize = false;
};
#define CATENA_DERIVATIVE(name)                                             \
  template <class F, std::same_as<DerivativeOptions> O = DerivativeOptions> \
  auto name(F&& f, const Variable& x, const O& o) {                         \
    return autograd::name(f, x, o.create_graph);                            \
  }
CATENA_DERIVATIVE(jacobian)
CATENA_DERIVATIVE(hessian)
#undef CATENA_DERIVATIVE
}  // namespace functional

}  // namespace autograd
