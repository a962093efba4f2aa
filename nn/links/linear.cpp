#include <catena/nn/links/linear.h>

#include <cmath>

namespace nn {

Linear::Linear(std::optional<int> in_size, int out, const Options& o)
    : W(scaled_initializer(o.initialW, std::sqrt(o.wscale))), out_size(out) {
  if (!o.nobias) b.emplace(o.initial_bias, Shape{out});
  if (in_size) W.initialize({out, *in_size});
}

Variable Linear::operator()(const Variable& x) {
  if (!W.is_initialized()) {
    if (x.ndim() < 1) throw catena::InvalidType("x.ndim >= 1", "0 < 1", "Linear: ");
    std::int64_t in_size = 1;  // not size / length, because the batch may be empty
    for (int i = 1; i < x.ndim(); ++i) in_size *= x.shape(i);
    W.initialize({out_size, in_size});
  }
  return linear(x, W, b ? static_cast<const Variable&>(*b) : Variable());
}

}  // namespace nn
