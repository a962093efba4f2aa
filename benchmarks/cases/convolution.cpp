// A 3x3 convolution that keeps the image's size, as in the middle of a residual network.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"batch", 16}, {"channels", 64}, {"outputs", 64}, {"size", 56}, {"sets", 4}};
const Parameters tiny{{"batch", 2}, {"channels", 3}, {"outputs", 4}, {"size", 6}, {"sets", 2}};

nd::Array images(const Parameters& p, const char* channels, std::int64_t seed) {
  return uniform({p.at("batch"), p.at(channels), p.at("size"), p.at("size")}, seed, -1);
}

autograd::Variable filters(const Parameters& p) {
  return autograd::Variable(autograd::Array(uniform({p.at("outputs"), p.at("channels"), 3, 3}, 1000, -0.1, 0.1)));
}

Ready forward(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return images(p, "channels", seed); },
      [W = filters(p)](const nd::Array& x) {
        const auto mode = autograd::no_backprop_mode();
        return nd::Array(nn::convolution_2d(x, W, {}, {.pad = 1}).data());
      });
}

// Gradients of the images and the filters; the compared result is the gradient of the filters.
Ready forward_backward(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return autograd::Variable(autograd::Array(images(p, "channels", seed))); },
      [W = filters(p), gy = images(p, "outputs", 2000)](autograd::Variable x) mutable {
        x.cleargrad();
        W.cleargrad();
        autograd::Variable y = nn::convolution_2d(x, W, {}, {.pad = 1});
        y.set_grad(gy);
        y.backward();
        return nd::Array(W.grad());
      });
}

const Cases cases{
    {"convolution/forward", full, tiny, forward},
    {"convolution/forward_backward", full, tiny, forward_backward},
};

}  // namespace
}  // namespace bench
