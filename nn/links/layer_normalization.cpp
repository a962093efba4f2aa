#include <catena/nn/links/layer_normalization.h>

#include <string>

#include <catena/autograd/debug.h>

namespace nn {

LayerNormalization::LayerNormalization(std::optional<int> size, const Options& o)
    : gamma(o.initial_gamma), beta(o.initial_beta), eps(o.eps) {
  autograd::experimental("LayerNormalization");
  if (!size) return;
  gamma.initialize({*size});
  beta.initialize({*size});
}

Variable LayerNormalization::operator()(const Variable& x) {
  if (x.ndim() != 2)
    throw catena::InvalidType("x.ndim == 2", std::to_string(x.ndim()) + " != 2", "LayerNormalization: ");
  if (!gamma.is_initialized()) gamma.initialize({x.shape(1)});
  if (!beta.is_initialized()) beta.initialize({x.shape(1)});
  return layer_normalization(x, gamma, beta, eps, EpsAddedTo::deviation);
}

}  // namespace nn
