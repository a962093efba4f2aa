// The backward engine behind Variable::backward and grad.
//
// Functions are processed in the order of decreasing rank, functions of equal rank in the order in which they were
// enqueued, each once. The function that made a variable has a lower rank than all functions that read it, so a
// gradient is complete when its function is processed.
#pragma once

#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>

namespace autograd::internal {

// Is called with each parameter of a link that gets a gradient, and the function that the gradient comes from.
using OnParameter = catena::Function<void(VariableNode&, FunctionNode&)>;
// Variable::backward.
CATENA_EXPORT void run_backward(const Variable& start, const BackwardOptions& options,
                                const OnParameter* on_parameter = nullptr);

}  // namespace autograd::internal
