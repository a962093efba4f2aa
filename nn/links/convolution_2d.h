// Two-dimensional convolution layer.
#pragma once

#include <optional>

#include <catena/nn/functions/connection.h>
#include <catena/nn/link.h>

namespace nn {

struct Convolution2DOptions {
  Pair stride = 1, pad = 0, dilate = 1;
  double wscale = 1.0;        // the initial weights are multiplied by its square root
  Initializer initialW = {};  // default: HeNormal(1 / sqrt 2)
  Initializer initial_bias = 0.0;
  bool nobias = false;
};

// W (out, in, kh, kw), b (out); see convolution_2d(). Without a number of input channels the first call creates W.
class CATENA_EXPORT Convolution2D : public Link {
 public:
  using Options = Convolution2DOptions;
  Convolution2D(int out, Pair kernel, const Options& options = {})
      : Convolution2D(std::nullopt, out, kernel, options) {}
  Convolution2D(std::optional<int> in, int out, Pair kernel, const Options& options = {});
  // Convolution2D(3, 64, 3, 1, 1), Convolution2D(std::nullopt, 64, 3, 1, 1)
  template <std::convertible_to<Pair> Stride>
  Convolution2D(std::optional<int> in, int out, Pair kernel, Stride stride, Pair pad = 0)
      : Convolution2D(in, out, kernel, Options{.stride = stride, .pad = pad}) {}

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x);

  Parameter W;
  std::optional<Parameter> b;
  int out_channels;
  Pair ksize;
  ConvolutionOptions geometry;
};

}  // namespace nn
