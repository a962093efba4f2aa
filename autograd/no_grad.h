// no_backprop_mode() under PyTorch's names.
//
//   { const auto scope = autograd::no_grad(); y = model(x); }
//   { autograd::NoGradGuard guard; y = model(x); }
#pragma once

#include <catena/autograd/flag.h>

namespace autograd {

[[nodiscard]] inline ModeScope no_grad() { return no_backprop_mode(); }

// A scope without a graph, as an object.
class NoGradGuard {
 public:
  NoGradGuard() : scope_(no_backprop_mode()) {}

 private:
  ModeScope scope_;
};

}  // namespace autograd
