// A layer and the batch normalization behind it as one layer, for a trained model.
//
//   model.eval();
//   nn::Conv2d fused = nn::utils::fuse_conv_bn_eval(model.conv, model.norm);   // fused(x) is norm(conv(x))
#pragma once

#include <type_traits>
#include <utility>

#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/parameter_handle.h>

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

// The weight and the bias of such a layer: conv_w gamma / sqrt(var + eps) along axis 0, or 1 if the convolution is a
// transposed one, and (conv_b - mean) gamma / sqrt(var + eps) + beta. Null variables: a conv_b of 0, gamma of 1 and
// beta of 0. ValueError for other numbers of channels.
CATENA_EXPORT std::pair<Variable, Variable> fuse_conv_bn_weights(const Variable& conv_w, const Variable& conv_b,
                                                                 const Variable& bn_rm, const Variable& bn_rv,
                                                                 double bn_eps, const Variable& bn_w,
                                                                 const Variable& bn_b, bool transpose = false);
inline std::pair<Variable, Variable> fuse_linear_bn_weights(const Variable& linear_w, const Variable& linear_b,
                                                            const Variable& bn_rm, const Variable& bn_rv, double bn_eps,
                                                            const Variable& bn_w, const Variable& bn_b) {
  return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b);
}

// PyTorch's name of making a layer whose parameters are not initialised: skip_init<nn::Linear>(3, 4). They have their
// usual initial values.
template <class L, class... A> L skip_init(A&&... arguments) { return L(std::forward<A>(arguments)...); }

}  // namespace nn::utils
