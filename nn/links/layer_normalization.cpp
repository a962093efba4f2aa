#include <catena/nn/links/layer_normalization.h>

#include <string>

#include <catena/autograd/debug.h>

namespace nn {

LayerNormalization::LayerNormalization(std::optional<int> size, const Options& o)
    : gamma(o.initial_gamma, {-1}), beta(o.initial_beta, {-1}), eps(o.eps) {
  autograd::experimental("LayerNormalization");
  name_params();
  if (!size) return;
  gamma.initialize({*size});
  beta.initialize({*size});
}

Variable LayerNormalization::operator()(const Variable& x) {
  try {
    if (x.ndim() != 2) throw catena::InvalidType("x.ndim == 2", std::to_string(x.ndim()) + " != 2");
    if (!gamma.is_initialized()) gamma.initialize({x.shape(1)});
    if (!beta.is_initialized()) beta.initialize({x.shape(1)});
    return layer_normalization(x, gamma, beta, eps);
  } catch (...) {
    internal::rethrow_at(*this, "LayerNormalization", x ? internal::dtype_detail(x, gamma) : std::string());
  }
}

}  // namespace nn
