// The arguments of torch.Tensor.backward and torch.autograd.backward by name.
//
//   loss.backward({.inputs = {w}});   y.backward({.gradient = g, .retain_graph = true});
//   autograd::backward({a, b}, {.grad_tensors = {ga, gb}});
#pragma once

#include <concepts>
#include <initializer_list>

#include <catena/autograd/grad.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/named.h>

namespace autograd {

// Of one variable. `inputs`: only these variables get a gradient, which is added to theirs; default: all. A graph
// stays with either value of retain_graph. RuntimeError for a variable of several elements without a gradient.
struct BackwardArguments {
  [[no_unique_address]] catena::Named named = catena::Named();
  Variable gradient = {};
  bool retain_graph = true, create_graph = false;
  GradOutputs inputs = {};
};
// Of several variables, with one gradient for each, or none.
struct BackwardListArguments {
  [[no_unique_address]] catena::Named named = catena::Named();
  GradOutputs grad_tensors = {};
  bool retain_graph = true, create_graph = false;
  GradOutputs inputs = {};
};
namespace internal {
CATENA_EXPORT void backward_with(const Variables& outputs, const BackwardListArguments& arguments);
}
// A template, so that {.create_graph = true} is not ambiguous: it means BackwardOptions.
template <std::same_as<BackwardListArguments> L = BackwardListArguments>
void backward(const Variables& outputs, const L& arguments) {
  internal::backward_with(outputs, arguments);
}
// The gradients by position: backward({a, b}, {ga, gb}).
inline void backward(const Variables& outputs, std::initializer_list<Variable> grad_tensors) {
  internal::backward_with(outputs, {.grad_tensors = Variables(grad_tensors)});
}
template <std::same_as<Variables> L> void backward(const Variables& outputs, const L& grad_tensors) {
  internal::backward_with(outputs, {.grad_tensors = grad_tensors});
}
// One variable: backward(loss), backward(loss, {.retain_graph = true}).
template <std::derived_from<Variable> V> void backward(const V& output, const BackwardOptions& options = {}) {
  output.backward(options);
}
template <std::derived_from<Variable> V, std::derived_from<Variable> G>
void backward(const V& output, const G& gradient) {
  output.backward(gradient);
}

}  // namespace autograd
