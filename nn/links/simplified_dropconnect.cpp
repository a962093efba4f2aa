#include <catena/nn/links/simplified_dropconnect.h>

#include <catena/nn/link_hook.h>

namespace nn {

SimplifiedDropconnect::SimplifiedDropconnect(std::optional<int> in_size, int out, const Options& o)
    : W(scaled_initializer(o.initialW, 1.0), {out, -1}), ratio(o.ratio), out_size(out) {
  catena::check<catena::ValueError>(ratio >= 0 && ratio < 1, "SimplifiedDropconnect", "ratio is ", ratio,
                                    " and must be in [0, 1)");
  if (!o.nobias) b.emplace(o.initial_bias, Shape{out});
  if (in_size) W.initialize({out, *in_size});
  name_params();
}

Variable SimplifiedDropconnect::operator()(const Variable& x, const SimplifiedDropconnectCallOptions& o) {
  LinkCall called(*this, x);
  try {
    if (!W.is_initialized()) {
      if (x.ndim() < 1) throw catena::InvalidType("x.ndim >= 1", "0 < 1");
      std::int64_t columns = 1;
      for (int i = 1; i < x.ndim(); ++i) columns *= x.shape(i);
      W.initialize({out_size, columns});
    }
    return called(simplified_dropconnect(x, W, b ? static_cast<const Variable&>(*b) : Variable(),
                                         {.ratio = ratio, .train = o.train, .mask = o.mask}));
  } catch (...) {
    internal::rethrow_at(*this, "SimplifiedDropconnect", x ? internal::dtype_detail(x, W) : std::string());
  }
}

}  // namespace nn
