// The backward engine of Variable::backward and grad.
//
// Each function is processed once, in the order of decreasing rank; functions of equal rank in the order in which they
// were enqueued. The function that made a variable has a lower rank than all functions that read the variable, so a
// gradient is complete when its function is processed.
#pragma once

#include <catena/autograd/flag.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>

namespace autograd::internal {

// Called with each parameter of a link that gets a gradient and the function from which the gradient comes.
using OnParameter = catena::Function<void(VariableNode&, FunctionNode&)>;
// Called with each leaf that an optimizer updates, as soon as its gradient is final (final_gradients.h). Leaves that
// are final only at the end of the pass are not reported.
using OnFinal = catena::Function<void(VariableNode&)>;
// Implements Variable::backward and autograd::backward.
CATENA_EXPORT void run_backward(const Variables& outputs, const BackwardOptions& options,
                                const OnParameter* on_parameter = nullptr, const OnFinal* on_final = nullptr);

// Returns the callback to which the backward pass that now calls a rule on this thread reports parameters; null if
// none.
CATENA_EXPORT const OnParameter* current_on_parameter() noexcept;

// A parameter that no optimizer updates, although a call of Variable::backward on this thread gave it a gradient
// together with parameters that optimizers update; and the function that used it. Null if there was none since the last
// call.
struct Untrained {
  Variable parameter;
  std::string user;
};
CATENA_EXPORT Untrained take_untrained();

// Computes grad() within a backward pass. `ends`: variables at which the search stops: their creators are not
// processed, even if they depend on an input. retain_grad: stores the gradients of the variables in between.
CATENA_EXPORT Variables gradients(const Variables& outputs, const Variables& inputs, const Variables& grad_outputs,
                                  bool enable_double_backprop, const Variables& ends = {}, bool retain_grad = false);
// True if a call of grad() that runs on this thread computes the gradient of this variable.
CATENA_EXPORT bool is_grad_input(const GradInputs* inputs, const VariableNode* n) noexcept;

}  // namespace autograd::internal
