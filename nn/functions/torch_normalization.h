// Normalization with the names, the order of arguments and the defaults of torch.nn.functional, as names of
// nn::functional.
//
//   F::layer_norm(x, {512}, weight, bias)  F::layer_norm(x, {3, 8}, {.weight = w, .eps = 1e-6})
//   F::batch_norm(x, mean, var)  F::batch_norm(x, mean, var, {.weight = w, .bias = b, .training = true})
//
// Weights and biases of {} are ones and zeros. InvalidType for shapes and dtypes that do not fit.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>

#include <catena/nn/functions/modules.h>
#include <catena/nn/functions/normalization.h>

namespace nn::functions {

using autograd::Shape;

// Options of layer_norm and group_norm.
struct NormFuncOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Variable weight = {}, bias = {};
  double eps = 1e-5;
};
struct BatchNormFuncOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Variable weight = {}, bias = {};
  bool training = false;  // with the statistics of the batch, which then update the running ones in place
  double momentum = 0.1, eps = 1e-5;
};
struct InstanceNormFuncOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Array running_mean = {}, running_var = {};
  Variable weight = {}, bias = {};
  bool use_input_stats = true;  // false: with the running statistics (ValueError where they are null)
  double momentum = 0.1, eps = 1e-5;
};
struct LocalResponseNormFuncOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double alpha = 1e-4, beta = 0.75, k = 1;
};

// Over the last axes of x, which have this shape, as weight and bias.
CATENA_EXPORT Variable layer_norm(const Variable& x, const Shape& normalized_shape, const Variable& weight = {},
                                  const Variable& bias = {}, double eps = 1e-5);
template <std::same_as<NormFuncOptions> O = NormFuncOptions>
Variable layer_norm(const Variable& x, const Shape& normalized_shape, const O& o) {
  return layer_norm(x, normalized_shape, o.weight, o.bias, o.eps);
}
// x / sqrt(mean(x^2) + eps) over these axes, times weight. Default of eps: the machine epsilon of the dtype of x.
CATENA_EXPORT Variable rms_norm(const Variable& x, const Shape& normalized_shape, const Variable& weight = {},
                                std::optional<double> eps = {});
struct RMSNormFuncOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Variable weight = {};
  std::optional<double> eps = {};
};
template <std::same_as<RMSNormFuncOptions> O = RMSNormFuncOptions>
Variable rms_norm(const Variable& x, const Shape& normalized_shape, const O& o) {
  return rms_norm(x, normalized_shape, o.weight, o.eps);
}
// Over groups of channels of x (N, C, ...).
inline Variable group_norm(const Variable& x, int num_groups, const Variable& weight = {}, const Variable& bias = {},
                           double eps = 1e-5) {
  return group_normalization(x, num_groups, weight, bias, eps);
}
template <std::same_as<NormFuncOptions> O = NormFuncOptions>
Variable group_norm(const Variable& x, int num_groups, const O& o) {
  return group_norm(x, num_groups, o.weight, o.bias, o.eps);
}
// All arguments by name: group_norm(x, {.num_groups = 32}).
struct GroupNormArguments {
  [[no_unique_address]] catena::Named named = catena::Named();
  int num_groups = 1;
  Variable weight = {}, bias = {};
  double eps = 1e-5;
};
template <std::same_as<GroupNormArguments> O = GroupNormArguments> Variable group_norm(const Variable& x, const O& o) {
  return group_norm(x, o.num_groups, o.weight, o.bias, o.eps);
}
// Over all axes of x (N, C, ...) but that of the channels. Not in training with running_mean and running_var (C),
// which are null only in training (ValueError).
CATENA_EXPORT Variable batch_norm(const Variable& x, const Array& running_mean, const Array& running_var,
                                  const Variable& weight = {}, const Variable& bias = {}, bool training = false,
                                  double momentum = 0.1, double eps = 1e-5);
template <std::same_as<BatchNormFuncOptions> O = BatchNormFuncOptions>
Variable batch_norm(const Variable& x, const Array& running_mean, const Array& running_var, const O& o) {
  return batch_norm(x, running_mean, running_var, o.weight, o.bias, o.training, o.momentum, o.eps);
}
// With the running statistics as variables, such as those of buffers.
template <autograd::PlainVariable V, autograd::PlainVariable W>
Variable batch_norm(const Variable& x, const V& running_mean, const W& running_var, const Variable& weight = {},
                    const Variable& bias = {}, bool training = false, double momentum = 0.1, double eps = 1e-5) {
  return batch_norm(x, running_mean.data(), running_var.data(), weight, bias, training, momentum, eps);
}
template <autograd::PlainVariable V, autograd::PlainVariable W,
          std::same_as<BatchNormFuncOptions> O = BatchNormFuncOptions>
Variable batch_norm(const Variable& x, const V& running_mean, const W& running_var, const O& o) {
  return batch_norm(x, running_mean.data(), running_var.data(), o);
}
// Over the spatial axes of x (N, C, ...). Running statistics, where they are given, are updated by the means over the
// batch.
CATENA_EXPORT Variable instance_norm(const Variable& x, const InstanceNormFuncOptions& o = {});
template <std::convertible_to<Array> A>
Variable instance_norm(const Variable& x, const A& running_mean, const Array& running_var = {},
                       const Variable& weight = {}, const Variable& bias = {}, bool use_input_stats = true,
                       double momentum = 0.1, double eps = 1e-5) {
  return instance_norm(x, InstanceNormFuncOptions{.running_mean = running_mean,
                                                  .running_var = running_var,
                                                  .weight = weight,
                                                  .bias = bias,
                                                  .use_input_stats = use_input_stats,
                                                  .momentum = momentum,
                                                  .eps = eps});
}
// x / (k + alpha / size s)^beta, where s is the sum of the squares of `size` neighbouring channels (axis 1); outside
// they are 0. (nn::local_response_normalization does not divide alpha by the size.)
CATENA_EXPORT Variable local_response_norm(const Variable& x, int size, const LocalResponseNormFuncOptions& o);
inline Variable local_response_norm(const Variable& x, int size, double alpha = 1e-4, double beta = 0.75,
                                    double k = 1) {
  return local_response_norm(x, size, LocalResponseNormFuncOptions{.alpha = alpha, .beta = beta, .k = k});
}

// x / max(|x|_p, eps) along an axis, in PyTorch's order of arguments, if p is an integer: normalize(x, 2, 1). With a
// double it is nn::normalize, whose first number is eps. normalize(x, {.p = 2, .dim = 1}) is PyTorch's as well.
using nn::normalize;
template <std::integral P> Variable normalize(const Variable& x, P p, int dim = 1, double eps = 1e-12) {
  return nn::normalize(x, NormalizeOptions{.p = double(p), .dim = dim, .eps = eps});
}

}  // namespace nn::functions
