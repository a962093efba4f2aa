// A residual network of 50 layers (He, Zhang, Ren, Sun: Deep Residual Learning, 2015).
#pragma once

#include <optional>
#include <string>

#include <catena/catena.h>

// Three convolutions of n_mid, n_mid and n_out channels, whose result is added to x. With a stride, x is brought to the
// shape of the result by a convolution of its own, conv4; without one, it has that shape.
struct BottleNeck : nn::Chain {
  using Variable = autograd::Variable;

  nn::Convolution2D conv1, conv2, conv3;
  nn::BatchNormalization bn1, bn2, bn3;
  std::optional<nn::Convolution2D> conv4;
  std::optional<nn::BatchNormalization> bn4;
  BottleNeck(int n_mid, int n_out, std::optional<int> stride = {})
      : conv1(n_mid, 1, {.stride = stride.value_or(1), .nobias = true, .initialW = nn::initializers::HeNormal()}),
        conv2(n_mid, 3, {.pad = 1, .nobias = true, .initialW = nn::initializers::HeNormal()}),
        conv3(n_out, 1, {.nobias = true, .initialW = nn::initializers::HeNormal()}),
        bn1(n_mid),
        bn2(n_mid),
        bn3(n_out) {
    if (!stride) return;
    conv4.emplace(
        n_out, 1,
        nn::Convolution2D::Options{.stride = *stride, .nobias = true, .initialW = nn::initializers::HeNormal()});
    bn4.emplace(n_out);
  }
  NN_MEMBERS(conv1, bn1, conv2, bn2, conv3, bn3, conv4, bn4)

  Variable operator()(const Variable& x) {
    Variable h = nn::relu(bn1(conv1(x)));
    h = nn::relu(bn2(conv2(h)));
    return nn::relu(bn3(conv3(h)) + (conv4 ? (*bn4)((*conv4)(x)) : x));
  }
};

// A bottleneck `a` with a stride, and n - 1 others: b1, b2...
struct ResidualBlock : nn::Chain {
  ResidualBlock(int n, int n_mid, int n_out, int stride) {
    add_link("a", BottleNeck(n_mid, n_out, stride));
    for (int i = 1; i < n; ++i) add_link("b" + std::to_string(i), BottleNeck(n_mid, n_out));
  }
  NN_MEMBERS()

  autograd::Variable operator()(const autograd::Variable& x) {
    autograd::Variable h = x;
    for (nn::Link& bottleneck : *this) h = bottleneck.call({h});
    return h;
  }
};

struct ResNet50 : nn::Chain {
  using Variable = autograd::Variable;
  static constexpr int insize = 224;  // height and width of an image

  nn::Convolution2D conv1{64, 7, {.stride = 2, .pad = 3, .initialW = nn::initializers::HeNormal()}};
  nn::BatchNormalization bn1{64};
  ResidualBlock res2{3, 64, 256, 1}, res3{4, 128, 512, 2}, res4{6, 256, 1024, 2}, res5{3, 512, 2048, 2};
  nn::Linear fc6{1000, {.n_batch_axes = 1}};
  NN_MEMBERS(conv1, bn1, res2, res3, res4, res5, fc6)

  Variable operator()(const Variable& x, const Variable& t) {
    Variable h = nn::max_pooling_2d(nn::relu(bn1(conv1(x))), 3, 2);
    h = res5(res4(res3(res2(h))));
    h = fc6(nn::average_pooling_2d(h, 7, 1));

    const Variable loss = nn::softmax_cross_entropy(h, t);
    nn::report({{"loss", loss}, {"accuracy", nn::accuracy(h, t)}}, this);
    return loss;
  }
};
