#include <catena/nn/functions/activation.h>
#include <catena/nn/links/parameter.h>

namespace nn::links {

Variable Parameter::operator()(autograd::Flag volatile_) {
  // set_volatile is called on a copy, so that W keeps its flag and, where there is no graph, its gradient.
  Variable y = autograd::identity(W);
  y.set_volatile(volatile_);
  return autograd::identity(y);
}

}  // namespace nn::links
