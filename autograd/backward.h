// The backward engine behind Variable::backward and grad.
//
// Functions are processed in the order of decreasing rank, functions of equal rank in the order in which they were
// enqueued, each once. The function that made a variable has a lower rank than all functions that read it, so a
// gradient is complete when its function is processed.
#pragma once

#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>

namespace autograd::internal {

void run_backward(const Variable& start, const BackwardOptions& options);

// Variable::unchain_backward. `before` is called with each function before its inputs are dropped; a function that
// several paths lead to comes again, without inputs.
CATENA_EXPORT void unchain_behind(Variable& v, const catena::Function<void(FunctionNode&)>& before);

}  // namespace autograd::internal
