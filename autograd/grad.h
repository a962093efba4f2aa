// grad(): gradients of variables with respect to others, as results.
#pragma once

#include <concepts>

#include <catena/autograd/variable.h>

namespace autograd {

// Returns the gradients of `outputs` (weighted by grad_outputs, default ones) with respect to `inputs`; null for an
// input on which no output depends. Does not change any variable's .grad.
CATENA_EXPORT Variables grad(const Variables& outputs, const Variables& inputs, const Variables& grad_outputs,
                             bool enable_double_backprop);
inline Variables grad(const Variables& outputs, const Variables& inputs) { return grad(outputs, inputs, {}, false); }
// A template, so that {.create_graph = true} means the options.
template <std::convertible_to<Variables> List = Variables>
Variables grad(const Variables& outputs, const Variables& inputs, const List& grad_outputs) {
  return grad(outputs, inputs, grad_outputs, false);
}
// Variables, or one of them or an array.
struct GradOutputs : Variables {
  using Variables::Variables;
  GradOutputs() = default;
  GradOutputs(const Variables& list) : Variables(list) {}
  template <PlainVariable V> GradOutputs(const V& one) : Variables{one} {}
  template <ArrayLike A> GradOutputs(const A& one) : Variables{Variable(one)} {}
};
// The same with options of PyTorch and Chainer: grad({y}, {x}, {.create_graph = true}). grad_inputs, set_grad and
// retain_grad are described at the function below.
struct GradOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  GradOutputs grad_outputs = {}, grad_inputs = {};
  bool set_grad = false, retain_grad = false;
  bool retain_graph = true;   // the graph stays, with either value
  bool create_graph = false;  // as enable_double_backprop
  bool enable_double_backprop = create_graph;
  bool allow_unused = true;        // an input on which no output depends has a null gradient, with either value
  bool materialize_grads = false;  // such a gradient is zeros
};
CATENA_EXPORT Variables grad(const Variables& outputs, const Variables& inputs, const GradOptions& options);
// The same with PyTorch's arguments in their order: grad({y}, {x}, {gy}, true, true). A graph stays with either value
// of retain_graph, and the gradient of an input on which no output depends is null with either value of allow_unused.
template <std::same_as<bool> B>
Variables grad(const Variables& outputs, const Variables& inputs, const Variables& grad_outputs, B, B create_graph,
               bool = false) {
  return grad(outputs, inputs, grad_outputs, create_graph);
}
// The same with all arguments of later Chainer, in its order. grad_inputs (empty, or one per input, null for none) are
// added to the results; set_grad stores the results as the gradients of the inputs; retain_grad stores the gradients of
// the variables between outputs and inputs. ValueError for lists of other lengths.
CATENA_EXPORT Variables grad(const Variables& outputs, const Variables& inputs, const Variables& grad_outputs,
                             const Variables& grad_inputs, bool set_grad = false, bool retain_grad = false,
                             bool enable_double_backprop = false);

}  // namespace autograd
