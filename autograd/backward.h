// The backward engine behind Variable::backward and grad.
//
// Functions are processed from the highest rank down, ties in the order in which they were met; every function once.
// Whoever consumes a variable has a higher rank than whoever made it, so a gradient is complete when its function comes
// up.
#pragma once

#include <catena/autograd/variable.h>

namespace autograd::internal {

void run_backward(const Variable& start, const BackwardOptions& options);

}  // namespace autograd::internal
