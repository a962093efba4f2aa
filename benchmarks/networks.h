// The networks of the cases for training and inference: those of examples/mnist, and a ResNet-18 for images of 32x32.
// Their weights are hashes, so that all contenders compute the same.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include <catena/benchmarks/cases.h>

namespace bench {

// Sets weights on [-sqrt(3 / fan_in), sqrt(3 / fan_in)) and biases 0.
template <class Layer> void initialize(Layer& layer, std::int64_t seed) {
  const autograd::Shape shape = layer.W.shape();
  const double range = std::sqrt(3.0 / double(layer.W.size() / shape[0]));
  layer.W.set_data(uniform(shape, seed, -range, range));
}

struct MLP : nn::Chain {
  nn::Linear l1, l2, l3;
  explicit MLP(const Parameters& p) : MLP(int(p.at("units"))) {}
  explicit MLP(int units) : l1(784, units), l2(units, units), l3(units, 10) {
    initialize(l1, 1000);
    initialize(l2, 1001);
    initialize(l3, 1002);
  }
  NN_MEMBERS(l1, l2, l3)
  autograd::Variable operator()(const autograd::Variable& x) { return l3(nn::relu(l2(nn::relu(l1(x))))); }
  static nd::Shape input(std::int64_t batch) { return {batch, 784}; }
};

// For images of `size` x `size` (28) and `channels` (1).
struct CNN : nn::Chain {
  int channels, size;
  nn::Convolution2D conv1, conv2{16, 32, 5};
  nn::BatchNormalization bn1{16, {.initial_avg_var = 1.0}};
  nn::Linear fc1, fc2{128, 10};
  explicit CNN(const Parameters& p)
      : channels(int(get(p, "channels", 1))),
        size(int(get(p, "size", 28))),
        conv1(channels, 16, 5),
        fc1(32 * (size / 4 - 3) * (size / 4 - 3), 128) {
    initialize(conv1, 1000);
    initialize(conv2, 1001);
    initialize(fc1, 1002);
    initialize(fc2, 1003);
  }
  NN_MEMBERS(conv1, bn1, conv2, fc1, fc2)
  autograd::Variable operator()(const autograd::Variable& x) {
    autograd::Variable h = nn::max_pooling_2d(nn::relu(bn1(conv1(x.reshape(-1, channels, size, size)))), 2);
    h = nn::max_pooling_2d(nn::relu(conv2(h)), 2);
    return fc2(nn::relu(fc1(h)));
  }
  static nd::Shape input(std::int64_t batch) { return {batch, 784}; }
};

// Two 3x3 convolutions and a shortcut, which is a 1x1 convolution if the shape changes (He et al. 2015, figure 2 and
// option B).
struct BasicBlock : nn::Chain {
  nn::Convolution2D conv1, conv2;
  nn::BatchNormalization bn1, bn2;
  std::optional<nn::Convolution2D> conv3;
  std::optional<nn::BatchNormalization> bn3;
  BasicBlock(int in, int out, int stride, std::int64_t seed)
      : conv1(in, out, 3, {.stride = stride, .pad = 1, .nobias = true}),
        conv2(out, out, 3, {.pad = 1, .nobias = true}),
        bn1(out, {.initial_avg_var = 1.0}),
        bn2(out, {.initial_avg_var = 1.0}) {
    initialize(conv1, seed);
    initialize(conv2, seed + 1);
    if (in == out && stride == 1) return;
    conv3.emplace(in, out, 1, nn::Convolution2DOptions{.stride = stride, .nobias = true});
    bn3.emplace(out, nn::BatchNormalizationLinkOptions{.initial_avg_var = 1.0});
    initialize(*conv3, seed + 2);
  }
  NN_MEMBERS(conv1, bn1, conv2, bn2, conv3, bn3)
  autograd::Variable operator()(const autograd::Variable& x) {
    const autograd::Variable h = bn2(conv2(nn::relu(bn1(conv1(x)))));
    return nn::relu(h + (conv3 ? (*bn3)((*conv3)(x)) : x));
  }
};

// `width`: the channels of the first stage, 64 in the paper.
struct ResNet18 : nn::Chain {
  nn::Convolution2D conv1;
  nn::BatchNormalization bn1;
  nn::ChainList blocks;
  nn::Linear fc;
  explicit ResNet18(const Parameters& p) : ResNet18(int(p.at("width"))) {}
  explicit ResNet18(int width)
      : conv1(3, width, 3, {.pad = 1, .nobias = true}), bn1(width, {.initial_avg_var = 1.0}), fc(8 * width, 10) {
    initialize(conv1, 1000);
    initialize(fc, 1001);
    std::int64_t seed = 1002;
    int in = width;
    for (const int out : {width, 2 * width, 4 * width, 8 * width}) {
      for (const int stride : {out == width ? 1 : 2, 1}) {
        blocks.add_link(BasicBlock(in, out, stride, seed));
        seed += 3;
        in = out;
      }
    }
  }
  NN_MEMBERS(conv1, bn1, blocks, fc)
  autograd::Variable operator()(const autograd::Variable& x) {
    autograd::Variable h = nn::relu(bn1(conv1(x)));
    for (nn::Link& block : blocks) h = static_cast<BasicBlock&>(block)(h);
    return fc(nn::average_pooling_2d(h, 4));
  }
  static nd::Shape input(std::int64_t batch) { return {batch, 3, 32, 32}; }
};

}  // namespace bench
