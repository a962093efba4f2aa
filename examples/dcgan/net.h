// The networks of the DCGAN example. (Radford et al.: Unsupervised Representation Learning with Deep Convolutional
// Generative Adversarial Networks, arXiv:1511.06434.)
#pragma once

#include <catena/catena.h>

// Adds normal noise in training, which keeps the discriminator from winning too early.
inline autograd::Variable add_noise(const autograd::Variable& h, bool test, double sigma = 0.2) {
  if (test) return h;
  return h + sigma * nd::random::randn(h.shape(), h.dtype());
}

// Makes pictures (N, 3, 8 bottom_width, 8 bottom_width) in 0..1 of random numbers z (N, n_hidden, 1, 1).
struct Generator : nn::Chain {
  int n_hidden, bottom_width, ch;
  nn::Linear l0;
  nn::Deconvolution2D dc1, dc2, dc3, dc4;
  nn::BatchNormalization bn0, bn1, bn2, bn3;

  explicit Generator(int n_hidden, int bottom_width = 4, int ch = 512,
                     nn::Initializer w = nn::initializers::Normal(0.02))
      : n_hidden(n_hidden),
        bottom_width(bottom_width),
        ch(ch),
        l0(n_hidden, bottom_width * bottom_width * ch, {.initialW = w}),
        dc1(ch, ch / 2, 4, {.stride = 2, .pad = 1, .initialW = w}),
        dc2(ch / 2, ch / 4, 4, {.stride = 2, .pad = 1, .initialW = w}),
        dc3(ch / 4, ch / 8, 4, {.stride = 2, .pad = 1, .initialW = w}),
        dc4(ch / 8, 3, 3, {.stride = 1, .pad = 1, .initialW = w}),
        bn0(bottom_width * bottom_width * ch),
        bn1(ch / 2),
        bn2(ch / 4),
        bn3(ch / 8) {}
  NN_MEMBERS(l0, dc1, dc2, dc3, dc4, bn0, bn1, bn2, bn3)

  Variable make_hidden(std::int64_t batchsize) const {
    return nd::random::uniform(-1, 1, {batchsize, n_hidden, 1, 1}, nd::float32);
  }
  Variable operator()(const Variable& z, bool test = false) {
    Variable h = nn::relu(bn0(l0(z), test)).reshape(z.shape(0), ch, bottom_width, bottom_width);
    h = nn::relu(bn1(dc1(h), test));
    h = nn::relu(bn2(dc2(h), test));
    h = nn::relu(bn3(dc3(h), test));
    return nn::sigmoid(dc4(h));
  }
};

// Returns a number (N, 1) for each picture: large for real ones, small for those of a generator.
struct Discriminator : nn::Chain {
  nn::Convolution2D c0_0, c0_1, c1_0, c1_1, c2_0, c2_1, c3_0;
  nn::Linear l4;
  nn::BatchNormalization bn0_1, bn1_0, bn1_1, bn2_0, bn2_1, bn3_0;

  explicit Discriminator(int bottom_width = 4, int ch = 512, nn::Initializer w = nn::initializers::Normal(0.02))
      : c0_0(3, ch / 8, 3, {.stride = 1, .pad = 1, .initialW = w}),
        c0_1(ch / 8, ch / 4, 4, {.stride = 2, .pad = 1, .initialW = w}),
        c1_0(ch / 4, ch / 4, 3, {.stride = 1, .pad = 1, .initialW = w}),
        c1_1(ch / 4, ch / 2, 4, {.stride = 2, .pad = 1, .initialW = w}),
        c2_0(ch / 2, ch / 2, 3, {.stride = 1, .pad = 1, .initialW = w}),
        c2_1(ch / 2, ch, 4, {.stride = 2, .pad = 1, .initialW = w}),
        c3_0(ch, ch, 3, {.stride = 1, .pad = 1, .initialW = w}),
        l4(bottom_width * bottom_width * ch, 1, {.initialW = w}),
        bn0_1(ch / 4, {.use_gamma = false}),
        bn1_0(ch / 4, {.use_gamma = false}),
        bn1_1(ch / 2, {.use_gamma = false}),
        bn2_0(ch / 2, {.use_gamma = false}),
        bn2_1(ch, {.use_gamma = false}),
        bn3_0(ch, {.use_gamma = false}) {}
  NN_MEMBERS(c0_0, c0_1, c1_0, c1_1, c2_0, c2_1, c3_0, l4, bn0_1, bn1_0, bn1_1, bn2_0, bn2_1, bn3_0)

  Variable operator()(const Variable& x, bool test = false) {
    Variable h = add_noise(x, test);
    h = nn::leaky_relu(add_noise(c0_0(h), test));
    h = nn::leaky_relu(add_noise(bn0_1(c0_1(h), test), test));
    h = nn::leaky_relu(add_noise(bn1_0(c1_0(h), test), test));
    h = nn::leaky_relu(add_noise(bn1_1(c1_1(h), test), test));
    h = nn::leaky_relu(add_noise(bn2_0(c2_0(h), test), test));
    h = nn::leaky_relu(add_noise(bn2_1(c2_1(h), test), test));
    h = nn::leaky_relu(add_noise(bn3_0(c3_0(h), test), test));
    return l4(h);
  }
};
