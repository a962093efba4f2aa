#include <catena/nn/links/convolution_2d.h>

#include <cmath>

namespace nn {

Convolution2D::Convolution2D(std::optional<int> in_channels, int out, Pair k, const Options& o)
    : W(scaled_initializer(o.initialW, std::sqrt(o.wscale)), {out, -1, k.y, k.x}),
      out_channels(out),
      ksize(k),
      geometry{.stride = o.stride, .pad = o.pad, .dilate = o.dilate} {
  if (!o.nobias) b.emplace(o.initial_bias, Shape{out});
  if (in_channels) W.initialize({out, *in_channels, k.y, k.x});
}

Variable Convolution2D::operator()(const Variable& x) {
  try {
    if (!W.is_initialized()) {
      if (x.ndim() != 4) throw catena::InvalidType("x.ndim == 4", catena::concat(x.ndim(), " != 4"));
      W.initialize({out_channels, x.shape(1), ksize.y, ksize.x});
    }
    return convolution_2d(x, W, b ? static_cast<const Variable&>(*b) : Variable(), geometry);
  } catch (...) {
    std::string detail;
    if (x && W.is_initialized()) {
      if (x.ndim() == 4 && x.shape(1) != W.shape(1))
        detail = catena::concat("x has ", x.shape(1), " channels, W ", W.shape(1));
      else detail = internal::dtype_detail(x, W);
    }
    internal::rethrow_at(*this, "Convolution2D", detail);
  }
}

}  // namespace nn
