// A 3x3 convolution that keeps the image's size, as in the middle of a residual network.
#include <algorithm>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"batch", 16}, {"channels", 64}, {"outputs", 64}, {"size", 56}, {"sets", 4}};
const Parameters tiny{{"batch", 2}, {"channels", 3}, {"outputs", 4}, {"size", 6}, {"sets", 2}};

std::int64_t kernel(const Parameters& p) { return get(p, "kernel", 3); }
nn::ConvolutionOptions options(const Parameters& p) { return {.stride = get(p, "stride", 1), .pad = get(p, "pad", 1)}; }
// The side of the output.
std::int64_t output_size(const Parameters& p) {
  return (p.at("size") + 2 * get(p, "pad", 1) - kernel(p)) / get(p, "stride", 1) + 1;
}

nd::Array images(const Parameters& p, std::int64_t seed) {
  return uniform({p.at("batch"), p.at("channels"), p.at("size"), p.at("size")}, seed, -1);
}
nd::Array gradients(const Parameters& p, std::int64_t seed) {
  return uniform({p.at("batch"), p.at("outputs"), output_size(p), output_size(p)}, seed, -1);
}

autograd::Variable filters(const Parameters& p) {
  const std::int64_t k = kernel(p);
  return autograd::Variable(autograd::Array(uniform({p.at("outputs"), p.at("channels"), k, k}, 1000, -0.1, 0.1)));
}

Ready forward(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return images(p, seed); },
      [W = filters(p), o = options(p)](const nd::Array& x) {
        const auto mode = autograd::no_backprop_mode();
        return nd::Array(nn::convolution_2d(x, W, {}, o).data());
      });
}

// Gradients of the images and the filters; the compared result is the gradient of the filters.
Ready forward_backward(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return autograd::Variable(autograd::Array(images(p, seed))); },
      [W = filters(p), gy = gradients(p, 2000), o = options(p)](autograd::Variable x) mutable {
        x.cleargrad();
        W.cleargrad();
        autograd::Variable y = nn::convolution_2d(x, W, {}, o);
        y.set_grad(gy);
        y.backward();
        return nd::Array(W.grad());
      });
}

// The sum over images and positions, one per channel.
Ready bias_gradient(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return gradients(p, seed); },
      [](const nd::Array& gy) {
        return gy.sum({.axis = {0, 2, 3}});
      });
}

// Layers of real networks: few channels and large images at the beginning, many channels and small images at the end;
// filters of 3x3 mostly, of 1x1, 5x5 and 7x7 sometimes.
Parameters layer(Draw& draw) {
  const std::int64_t size = draw.length(4, 128), k = draw.one_of({1, 3, 3, 3, 5, 7});
  const std::int64_t most = std::min<std::int64_t>(512, 8192 / size);
  const std::int64_t channels =
      draw.one_of({draw.length(1, most), draw.length(1, most), std::min<std::int64_t>(3, most)});
  const std::int64_t outputs = draw.length(1, most);
  const std::int64_t images =
      draw.log_uniform(1, std::clamp<std::int64_t>(4000000 / (size * size * std::max(channels, outputs)), 1, 64));
  return {{"batch", draw.at_most(images)},
          {"channels", channels},
          {"outputs", outputs},
          {"size", std::max(size, k)},
          {"kernel", k},
          {"stride", draw.one_of({1, 1, 1, 2})},
          {"pad", draw.one_of({k / 2, k / 2, 0})},
          {"sets", 1}};
}

const Cases cases{
    {"convolution/forward", full, tiny, forward, layer},
    {"convolution/forward_backward", full, tiny, forward_backward, layer},
    {"convolution/bias_gradient", full, tiny, bias_gradient, layer},
};

}  // namespace
}  // namespace bench
