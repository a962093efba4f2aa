// Convolutions: one of 3x3 that keeps the size of the image, as in the middle of a residual network; the layers of
// ResNet-18; one filter per channel; the transposed convolution. The maxima of windows between convolutions.
#include <algorithm>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"batch", 16}, {"channels", 64}, {"outputs", 64}, {"size", 56}, {"sets", 4}};
const Parameters tiny{{"batch", 2}, {"channels", 3}, {"outputs", 4}, {"size", 6}, {"sets", 2}};

std::int64_t kernel(const Parameters& p) { return get(p, "kernel", 3); }
nn::ConvolutionOptions options(const Parameters& p) { return {.stride = get(p, "stride", 1), .pad = get(p, "pad", 1)}; }
// Returns the side of the output.
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

// Returns one filter of k x k per channel.
autograd::Variable channel_filters(const Parameters& p) {
  const std::int64_t k = kernel(p);
  return autograd::Variable(autograd::Array(uniform({1, p.at("channels"), k, k}, 1000, -0.3, 0.3)));
}

Ready depthwise(const Parameters& p) {
  const nn::DepthwiseConvolutionOptions o{.stride = int(get(p, "stride", 1)), .pad = int(get(p, "pad", 1))};
  const std::int64_t side = output_size(p);
  return rotating(
      p, [&](std::int64_t seed) { return autograd::Variable(autograd::Array(images(p, seed))); },
      [W = channel_filters(p), gy = uniform({p.at("batch"), p.at("channels"), side, side}, 2000, -1),
       o](autograd::Variable x) mutable {
        x.cleargrad();
        W.cleargrad();
        autograd::Variable y = nn::depthwise_convolution_2d(x, W, {}, o);
        y.set_grad(gy);
        y.backward();
        return nd::Array(W.grad());
      });
}

// Converts small images to large ones.
Ready deconvolution(const Parameters& p) {
  const std::int64_t k = kernel(p), stride = get(p, "stride", 1), pad = get(p, "pad", 1);
  const std::int64_t side = stride * (p.at("size") - 1) + k - 2 * pad;
  const nn::DeconvolutionOptions o{.stride = int(stride), .pad = int(pad)};
  const autograd::Variable filters(
      autograd::Array(uniform({p.at("channels"), p.at("outputs"), k, k}, 1000, -0.1, 0.1)));
  return rotating(
      p, [&](std::int64_t seed) { return autograd::Variable(autograd::Array(images(p, seed))); },
      [W = filters, gy = uniform({p.at("batch"), p.at("outputs"), side, side}, 2000, -1),
       o](autograd::Variable x) mutable {
        x.cleargrad();
        W.cleargrad();
        autograd::Variable y = nn::deconvolution_2d(x, W, {}, o);
        y.set_grad(gy);
        y.backward();
        return nd::Array(W.grad());
      });
}

// Returns the sums over images and positions, one per channel.
Ready bias_gradient(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return gradients(p, seed); },
      [](const nd::Array& gy) {
        return gy.sum({.axis = {0, 2, 3}});
      });
}

// Maxima of windows of 3x3 at every second position, with the gradient of the images or without a graph.
template <bool backward> Ready max_pooling(const Parameters& p) {
  const auto pooled = [](const autograd::Variable& x) { return nn::max_pooling_2d(x, 3, 2, 1, false); };
  const auto make = [p](std::int64_t seed) {
    const std::int64_t size = p.at("size");
    return autograd::Variable(autograd::Array(input(p, {p.at("batch"), p.at("channels"), size, size}, seed, -1)));
  };
  const std::int64_t side = (p.at("size") - 1) / 2 + 1;
  return rotating(
      p, make, [pooled, gy = input(p, {p.at("batch"), p.at("channels"), side, side}, 2000, -1)](autograd::Variable x) {
        if constexpr (backward) {
          x.cleargrad();
          pooled(x).backward(autograd::Array(gy));
          return nd::Array(x.grad());
        } else {
          const auto mode = autograd::no_backprop_mode();
          return nd::Array(pooled(x).data());
        }
      });
}
const Parameters pooled_full{{"batch", 64}, {"channels", 256}, {"size", 28}, {"sets", 2}};
Parameters pooled_layer(Draw& draw) {
  const std::int64_t size = draw.length(2, 128), channels = draw.length(1, std::min<std::int64_t>(512, 8192 / size));
  return {{"batch", draw.log_uniform(1, std::clamp<std::int64_t>(4000000 / (size * size * channels), 1, 64))},
          {"channels", draw.at_most(channels)},
          {"size", size},
          {"dtype", draw.dtype("fd")},
          {"offset", draw.offset()},
          {"sets", 1}};
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

// The convolutions of ResNet-18 on images of 224 x 224 (He et al. 2015, table 1), in order.
struct ResnetLayer {
  std::int64_t channels, outputs, size, kernel, stride;
};
constexpr ResnetLayer kResnet[] = {{3, 64, 224, 7, 2},   {64, 64, 56, 3, 1},   {64, 128, 56, 3, 2},
                                   {64, 128, 56, 1, 2},  {128, 128, 28, 3, 1}, {128, 256, 28, 3, 2},
                                   {128, 256, 28, 1, 2}, {256, 256, 14, 3, 1}, {256, 512, 14, 3, 2},
                                   {256, 512, 14, 1, 2}, {512, 512, 7, 3, 1}};
const Parameters resnet_full{{"batch", 8},  {"channels", 256}, {"outputs", 256}, {"size", 14},
                             {"kernel", 3}, {"stride", 1},     {"pad", 1},       {"sets", 4}};
Parameters resnet_layer(Draw& draw) {
  const ResnetLayer& l = kResnet[draw.one_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})];
  return {{"batch", draw.at_most(draw.log_uniform(1, 16))},
          {"channels", l.channels},
          {"outputs", l.outputs},
          {"size", l.size},
          {"kernel", l.kernel},
          {"stride", l.stride},
          {"pad", l.kernel / 2},
          {"sets", 1}};
}

// Layers of networks for small devices (Howard et al.: MobileNets, 2017): 3x3, with every second layer halving the
// image.
const Parameters depthwise_full{{"batch", 16}, {"channels", 128}, {"size", 56}, {"kernel", 3},
                                {"stride", 1}, {"pad", 1},        {"sets", 4}};
Parameters depthwise_layer(Draw& draw) {
  const std::int64_t size = draw.length(4, 128), channels = draw.length(1, std::min<std::int64_t>(1024, 16384 / size));
  return {
      {"batch", draw.at_most(draw.log_uniform(1, std::clamp<std::int64_t>(4000000 / (size * size * channels), 1, 64)))},
      {"channels", channels},
      {"size", size},
      {"kernel", 3},
      {"stride", draw.one_of({1, 2})},
      {"pad", 1},
      {"sets", 1}};
}

// Layers of a generator (Radford et al. 2015): filters of 4x4 that double the image; sometimes others.
const Parameters deconvolution_full{{"batch", 16}, {"channels", 128}, {"outputs", 64}, {"size", 16},
                                    {"kernel", 4}, {"stride", 2},     {"pad", 1},      {"sets", 4}};
Parameters generator_layer(Draw& draw) {
  const std::int64_t size = draw.length(2, 64), k = draw.one_of({4, 4, 4, 3, 5});
  const std::int64_t most = std::min<std::int64_t>(512, 4096 / size);
  const std::int64_t channels = draw.length(1, most), outputs = draw.one_of({draw.length(1, most), 3});
  const std::int64_t images =
      draw.log_uniform(1, std::clamp<std::int64_t>(1000000 / (size * size * std::max(channels, outputs)), 1, 64));
  return {{"batch", draw.at_most(images)},
          {"channels", channels},
          {"outputs", outputs},
          {"size", size},
          {"kernel", k},
          {"stride", draw.one_of({2, 2, 1})},
          {"pad", 1},
          {"sets", 1}};
}

const Cases cases{
    {"convolution/forward", full, tiny, forward, layer},
    {"convolution/forward_backward", full, tiny, forward_backward, layer},
    {"convolution/bias_gradient", full, tiny, bias_gradient, layer},
    {"convolution/resnet18", resnet_full, tiny, forward_backward, resnet_layer},
    {"convolution/depthwise", depthwise_full, tiny, depthwise, depthwise_layer},
    {"convolution/max_pooling", pooled_full, tiny, max_pooling<false>, pooled_layer},
    {"convolution/max_pooling_backward", pooled_full, tiny, max_pooling<true>, pooled_layer},
    {"convolution/deconvolution", deconvolution_full, tiny, deconvolution, generator_layer},
};

}  // namespace
}  // namespace bench
