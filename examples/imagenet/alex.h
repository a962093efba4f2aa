// AlexNet, without its partition of the channels among two devices.
#pragma once

#include <cmath>

#include <catena/catena.h>

struct Alex : nn::Chain {
  using Variable = autograd::Variable;
  static constexpr int insize = 227;  // height and width of an image

  nn::Convolution2D conv1, conv2, conv3, conv4, conv5;
  nn::Linear fc6, fc7, fc8;
  // The initializers of the weights and of the biases also determine the dtype.
  explicit Alex(const nn::Initializer& W = {}, const nn::Initializer& b = 0.0)
      : conv1(96, 11, {.stride = 4, .initialW = W, .initial_bias = b}),
        conv2(256, 5, {.pad = 2, .initialW = W, .initial_bias = b}),
        conv3(384, 3, {.pad = 1, .initialW = W, .initial_bias = b}),
        conv4(384, 3, {.pad = 1, .initialW = W, .initial_bias = b}),
        conv5(256, 3, {.pad = 1, .initialW = W, .initial_bias = b}),
        fc6(4096, {.initialW = W, .initial_bias = b, .n_batch_axes = 1}),
        fc7(4096, {.initialW = W, .initial_bias = b}),
        fc8(1000, {.initialW = W, .initial_bias = b}) {}
  NN_MEMBERS(conv1, conv2, conv3, conv4, conv5, fc6, fc7, fc8)

  Variable operator()(const Variable& x, const Variable& t) {
    Variable h = nn::max_pooling_2d(nn::local_response_normalization(nn::relu(conv1(x))), 3, 2);
    h = nn::max_pooling_2d(nn::local_response_normalization(nn::relu(conv2(h))), 3, 2);
    h = nn::relu(conv3(h));
    h = nn::relu(conv4(h));
    h = nn::max_pooling_2d(nn::relu(conv5(h)), 3, 2);
    h = nn::dropout(nn::relu(fc6(h)));
    h = nn::dropout(nn::relu(fc7(h)));
    h = fc8(h);

    const Variable loss = nn::softmax_cross_entropy(h, t);
    nn::report({{"loss", loss}, {"accuracy", nn::accuracy(h, t)}}, this);
    return loss;
  }
};

// The same with weights of 16 bits.
struct AlexFp16 : Alex {
  AlexFp16()
      : Alex(nn::initializers::HeNormal(std::sqrt(0.5), {.dtype = nd::float16}),
             nn::initializers::Zero({.dtype = nd::float16})) {}
  NN_MEMBERS_OF(Alex)

  Variable operator()(const Variable& x, const Variable& t) { return Alex::operator()(x.astype(nd::float16), t); }
};
