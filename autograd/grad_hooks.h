// The list of hooks of one variable. Internal to autograd.
#pragma once

#include <vector>

#include <catena/autograd/grad_hook.h>

namespace autograd::internal {

class GradHooks {
 public:
  GradHook add(GradHook::Function hook);
  // Returns the gradient after all hooks. TypeError or ValueError if a hook returns a gradient that does not fit.
  Variable call(Variable g);

 private:
  std::vector<GradHook> hooks_;
};

}  // namespace autograd::internal
