// The Swish activation with a trained factor (Ramachandran et al.: Searching for Activation Functions, 2017).
#pragma once

#include <optional>

#include <catena/nn/link.h>

namespace nn {

// x sigmoid(beta x) with a parameter beta: of the shape of x without axis 0, or a leading part of it; without a shape,
// the first call creates one of the shape of x without axis 0.
class CATENA_EXPORT Swish : public Link {
 public:
  explicit Swish(std::optional<Shape> beta_shape = {}, const Initializer& beta_init = 1.0);

  NN_MEMBERS(beta)
  Variable operator()(const Variable& x);

  Parameter beta;
};

}  // namespace nn
