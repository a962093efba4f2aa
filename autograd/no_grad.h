// no_backprop_mode() under PyTorch's names.
//
//   { const auto scope = autograd::no_grad(); y = model(x); }
//   { autograd::NoGradGuard guard; y = model(x); }
#pragma once

#include <catena/autograd/flag.h>

namespace autograd {

// A scope without a graph, as an object.
class no_grad {
 public:
  [[nodiscard]] no_grad() {}

 private:
  no_backprop_mode scope_;
};
using NoGradGuard = no_grad;
using NoGrad = no_grad;
using NoBackpropMode = no_grad;

}  // namespace autograd
