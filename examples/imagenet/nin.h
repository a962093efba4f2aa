// Network in Network (Lin, Chen, Yan, 2013).
#pragma once

#include <numbers>

#include <catena/catena.h>

struct NIN : nn::Chain {
  using Variable = autograd::Variable;
  static constexpr int insize = 227;  // height and width of an image

  nn::MLPConvolution2D mlpconv1{{}, {96, 96, 96}, 11, {.stride = 4, .wscale = std::numbers::sqrt2}};
  nn::MLPConvolution2D mlpconv2{{}, {256, 256, 256}, 5, {.pad = 2, .wscale = std::numbers::sqrt2}};
  nn::MLPConvolution2D mlpconv3{{}, {384, 384, 384}, 3, {.pad = 1, .wscale = std::numbers::sqrt2}};
  nn::MLPConvolution2D mlpconv4{{}, {1024, 1024, 1000}, 3, {.pad = 1, .wscale = std::numbers::sqrt2}};
  NN_MEMBERS(mlpconv1, mlpconv2, mlpconv3, mlpconv4)

  Variable operator()(const Variable& x, const Variable& t) {
    Variable h = nn::max_pooling_2d(nn::relu(mlpconv1(x)), 3, 2);
    h = nn::max_pooling_2d(nn::relu(mlpconv2(h)), 3, 2);
    h = nn::max_pooling_2d(nn::relu(mlpconv3(h)), 3, 2);
    h = mlpconv4(nn::dropout(h));
    h = nn::average_pooling_2d(h, 6).reshape(x.shape(0), 1000);

    const Variable loss = nn::softmax_cross_entropy(h, t);
    nn::report({{"loss", loss}, {"accuracy", nn::accuracy(h, t)}}, this);
    return loss;
  }
};
