// A link with one parameter.
#pragma once

#include <catena/autograd/flag.h>
#include <catena/nn/link.h>

namespace nn::links {

// Holds the array W and returns it as a variable. Deprecated, as in Chainer, which used it before it had parameters:
// list an nn::Parameter among the members of a link instead.
class CATENA_EXPORT Parameter : public Link {
 public:
  explicit Parameter(const Array& array) : W(array) { name_params(); }

  NN_MEMBERS(W)
  // Returns W as a variable with this volatile flag. Gradients reach W unless the flag is ON.
  Variable operator()(autograd::Flag volatile_ = autograd::OFF);

  nn::Parameter W;
};

}  // namespace nn::links
namespace nn::functions {
using links::Parameter;
}
