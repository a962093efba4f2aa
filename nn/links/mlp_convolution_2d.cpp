#include <catena/nn/links/mlp_convolution_2d.h>

#include <catena/nn/link_hook.h>

namespace nn {

MLPConvolution2D::MLPConvolution2D(std::optional<int> in, const std::vector<int>& out_channels, Pair kernel,
                                   const Options& o)
    : activation(o.activation) {
  catena::check<catena::AssertionError>(!out_channels.empty(), "MLPConvolution2D",
                                        "out_channels is empty; it needs the number of filters of each convolution");
  Convolution2DOptions options{.stride = o.stride,
                               .pad = o.pad,
                               .wscale = o.wscale,
                               .initialW = o.conv_init,
                               .initial_bias = o.bias_init,
                               .use_cudnn = o.use_cudnn};
  add_link(Convolution2D(in, out_channels[0], kernel, options));
  options.stride = 1;
  options.pad = 0;
  for (std::size_t k = 1; k < out_channels.size(); ++k)
    add_link(Convolution2D(out_channels[k - 1], out_channels[k], 1, options));
}

Variable MLPConvolution2D::operator()(const Variable& x) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  Variable y = x;
  for (std::size_t k = 0; k < size(); ++k) y = links_[k].get().call({k == 0 ? y : activation(y)});
  return called(y);
}

}  // namespace nn
