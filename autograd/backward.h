// The backward engine behind Variable::backward and grad.
//
// Functions are processed in the order of decreasing rank, functions of equal rank in the order in which they were
// enqueued, each once. The function that made a variable has a lower rank than all functions that read it, so a
// gradient is complete when its function is processed.
#pragma once

#include <catena/autograd/flag.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>

namespace autograd::internal {

// Is called with each parameter of a link that gets a gradient, and the function that the gradient comes from.
using OnParameter = catena::Function<void(VariableNode&, FunctionNode&)>;
// Variable::backward.
CATENA_EXPORT void run_backward(const Variable& start, const BackwardOptions& options,
                                const OnParameter* on_parameter = nullptr);

// The function that the backward pass which calls a rule of this thread reports parameters to; null: to none.
CATENA_EXPORT const OnParameter* current_on_parameter() noexcept;

// A parameter that got a gradient in a call of Variable::backward on this thread, along with parameters that optimizers
// update, although none updates it, and the function that used it. Null when there was none since the last call.
struct Untrained {
  Variable parameter;
  std::string user;
};
CATENA_EXPORT Untrained take_untrained();

// grad(), as a step of a backward pass. `ends`: variables whose creators do not take part, even where an input lies
// behind them.
CATENA_EXPORT Variables gradients(const Variables& outputs, const Variables& inputs, const Variables& grad_outputs,
                                  bool enable_double_backprop, const Variables& ends = {});
// Whether a call of grad() that runs on this thread computes the gradient of this variable.
CATENA_EXPORT bool is_grad_input(const GradInputs* inputs, const VariableNode* n) noexcept;

}  // namespace autograd::internal
