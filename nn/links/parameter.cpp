#include <catena/nn/functions/activation.h>
#include <catena/nn/links/parameter.h>

namespace nn::links {

Variable Parameter::operator()(autograd::Flag volatile_) {
  // The copies keep the flag of W itself as it is, and its gradient where there is no graph.
  Variable y = autograd::identity(W);
  y.set_volatile(volatile_);
  return autograd::identity(y);
}

}  // namespace nn::links
