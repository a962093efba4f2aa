// MLPConvolution2D: a small network applied at every position of an image.
#pragma once

#include <optional>
#include <vector>

#include <catena/autograd/unary_function.h>
#include <catena/nn/chain_list.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/links/convolution_2d.h>

namespace nn {

struct MLPConvolution2DOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1, pad = 0;  // for the first convolution
  double wscale = 1.0;       // see Convolution2DOptions
  autograd::UnaryFunction activation = relu;
  Initializer conv_init = {};   // of all filters; default: HeNormal(1 / sqrt 2)
  Initializer bias_init = 0.0;  // of all biases
  std::optional<bool> use_cudnn = {};
};

// Child 0 is a Convolution2D with out_channels[0] filters, child k > 0 one with out_channels[k] filters of 1x1. The
// activation is applied between children. AssertionError for empty out_channels. Without `in`, the first call creates
// the filters of child 0. (Lin, Chen, Yan: Network in Network, 2013.)
//   MLPConvolution2D(3, {96, 96}, 3, 1, 1)
class CATENA_EXPORT MLPConvolution2D : public ChainList {
 public:
  using Options = MLPConvolution2DOptions;
  MLPConvolution2D(std::optional<int> in, const std::vector<int>& out_channels, Pair kernel,
                   const Options& options = {});
  MLPConvolution2D(std::optional<int> in, const std::vector<int>& out_channels, Pair kernel, Pair stride, Pair pad = 0,
                   const Options& more = {})
      : MLPConvolution2D(in, out_channels, kernel, internal::placed(more, stride, pad)) {}

  NN_MEMBERS_OF(ChainList)
  Variable operator()(const Variable& x);

  autograd::UnaryFunction activation;
};

}  // namespace nn
