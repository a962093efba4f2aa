// A layer and the batch normalization behind it as one layer, for a trained model.
//
//   model.eval();
//   nn::Conv2d fused = nn::utils::fuse_conv_bn_eval(model.conv, model.norm);   // fused(x) is norm(conv(x))
#pragma once

#include <type_traits>

#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/parameter_handle.h>

namespace nn::utils {

namespace internal {
using nn::internal::WeightAndBias;
CATENA_EXPORT void fuse_normalization(const char* op, WeightAndBias& layer, const BatchNormalization& norm);
}  // namespace internal

// A copy of the layer with W gamma / sqrt(avg_var + eps) and (b - avg_mean) gamma / sqrt(avg_var + eps) + beta. The
// layer is a convolution or a transposed convolution with one group, the normalization has a size of one axis.
// ValueError while one of both is in training mode, for a layer without its input size, and for other numbers of
// channels.
template <class C>
C fuse_conv_bn_eval(const C& conv,
                    const BatchNormalization& norm) requires(std::is_base_of_v<nn::internal::WeightAndBias, C>) {
  C fused = conv;
  internal::fuse_normalization("fuse_conv_bn_eval", fused, norm);
  return fused;
}
// The same for Linear.
template <class L>
L fuse_linear_bn_eval(const L& linear,
                      const BatchNormalization& norm) requires(std::is_base_of_v<nn::internal::WeightAndBias, L>) {
  L fused = linear;
  internal::fuse_normalization("fuse_linear_bn_eval", fused, norm);
  return fused;
}

}  // namespace nn::utils
