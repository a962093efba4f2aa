#include "nn/links/linear.h"

namespace nn {

Linear::Linear(std::optional<int> in_size, int out, const Options& o) : W(scaled_initializer(o.initialW, o.wscale)), out_size(out) {
  if (!o.nobias) b.emplace(o.initial_bias, Shape{out});
  if (in_size) W.initialize({out, *in_size});
}

Variable Linear::operator()(const Variable& x) {
  if (!W.is_initialized()) W.initialize({out_size, x.size() / x.shape(0)});
  return linear(x, W, b ? static_cast<const Variable&>(*b) : Variable());
}

}  // namespace nn
