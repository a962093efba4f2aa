// Link that holds one parameter.
#pragma once

#include <catena/autograd/flag.h>
#include <catena/nn/link.h>

namespace nn::links {

// Holds the array W and gives it as a variable. Deprecated in the reference, where it stood in for parameters: list an
// nn::Parameter among the members of a link.
class CATENA_EXPORT Parameter : public Link {
 public:
  explicit Parameter(const Array& array) : W(array) { name_params(); }

  NN_MEMBERS(W)
  // W as a variable of this volatility. Gradients reach W, unless it is ON.
  Variable operator()(autograd::Flag volatile_ = autograd::OFF);

  nn::Parameter W;
};

}  // namespace nn::links
namespace nn::functions {
using links::Parameter;
}
