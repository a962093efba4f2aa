// PyTorch's bilinear layer. (nn::Bilinear is Chainer's, which has linear terms as well.)
#pragma once

#include <catena/kernels/base/named.h>
#include <catena/nn/layer_place.h>
#include <catena/nn/parameter_handle.h>

namespace nn::torch {

struct BilinearOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool bias = true;
  LayerDevice device = {};
  LayerDtype dtype = {};
};

// y[..., l] = sum_jk x1[..., j] x2[..., k] W[l, j, k] + b[l] with W (out, in1, in2) and b (out), drawn evenly from
// [-1 / sqrt(in1), 1 / sqrt(in1)). InvalidType unless the axes before the last ones have the same lengths.
class CATENA_EXPORT Bilinear : public nn::internal::WeightAndBias {
 public:
  using Options = BilinearOptions;
  Bilinear(int in1_features, int in2_features, int out_features, const Options& options = {});
  Bilinear(int in1_features, int in2_features, int out_features, bool has_bias)
      : Bilinear(in1_features, in2_features, out_features, Options{.bias = has_bias}) {}

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x1, const Variable& x2);
};

}  // namespace nn::torch
