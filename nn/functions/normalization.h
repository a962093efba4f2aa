// Normalization: over batches, layers, neighbouring channels, and of vectors.
#pragma once

#include <concepts>
#include <optional>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Array;
using autograd::Variable;

struct BatchNormalizationOptions {
  double eps = 2e-5;
  // Only for return_statistics: the averages so far (null: zeros), and the weight of these averages in the new ones.
  Array running_mean = {}, running_var = {};
  double decay = 0.9;
  autograd::Axes axis = {};  // of the statistics; default: 0 and those behind the axes of gamma
  // On CUDA, false: the library's own kernels, in the gradients, too. Default: the thread's configuration.
  std::optional<bool> use_cudnn = {};
};
// gamma (x - mean) / sqrt(var + eps) + beta, with the biased variance of the batch. gamma and beta have the shape of
// the axes 1..k of x; the statistics are computed over axis 0 and the axes after k. With options.axis they have the
// shape of all other axes. They may be float32 beside 16-bit x; otherwise there is one dtype (InvalidType). Gradients
// of x, gamma and beta. With one element per statistic, the result is beta whatever x is, and there is a UserWarning.
CATENA_EXPORT Variable batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                           const BatchNormalizationOptions& options = {});
// In the order of the reference: batch_normalization(x, gamma, beta, 1e-3), and so on to use_cudnn.
template <std::convertible_to<double> E>
Variable batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta, E eps,
                             const Array& running_mean = {}, const Array& running_var = {}, double decay = 0.9,
                             std::optional<bool> use_cudnn = {}) {
  return batch_normalization(x, gamma, beta,
                             BatchNormalizationOptions{.eps = double(eps),
                                                       .running_mean = running_mean,
                                                       .running_var = running_var,
                                                       .decay = decay,
                                                       .use_cudnn = use_cudnn});
}

// auto [y, mean, var] = batch_normalization(x, gamma, beta, {.running_mean = m, .running_var = v}, return_statistics);
struct ReturnStatistics {};
inline constexpr ReturnStatistics return_statistics{};
struct BatchNormalizationResult {
  Variable y;
  // decay * options.running_mean + (1 - decay) * mean, likewise for the variance multiplied by m / max(m - 1, 1) for m
  // elements per statistic; unchanged by an empty batch. New arrays in the shape and dtype of the given ones (of gamma,
  // without).
  Array running_mean, running_var;
};
CATENA_EXPORT BatchNormalizationResult batch_normalization(const Variable& x, const Variable& gamma,
                                                           const Variable& beta,
                                                           const BatchNormalizationOptions& options, ReturnStatistics);
namespace internal {
// The same, with the results written to options.running_mean and options.running_var themselves.
CATENA_EXPORT Variable moving_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                                  const BatchNormalizationOptions& options);
}  // namespace internal
struct FixedBatchNormalizationOptions {
  double eps = 2e-5;
  autograd::Axes axis = {};            // as above
  std::optional<bool> use_cudnn = {};  // likewise; the gradients are computed by the library's own kernels
};
// The same with given statistics; mean and var get gradients, too.
CATENA_EXPORT Variable fixed_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                                 const Variable& mean, const Variable& var,
                                                 const FixedBatchNormalizationOptions& options = {});
inline Variable fixed_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                          const Variable& mean, const Variable& var, double eps,
                                          const autograd::Axes& axis = {}) {
  return fixed_batch_normalization(x, gamma, beta, mean, var, FixedBatchNormalizationOptions{.eps = eps, .axis = axis});
}
// A bool in the place of the axis is use_cudnn, as in the reference.
template <std::same_as<bool> B>
Variable fixed_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta, const Variable& mean,
                                   const Variable& var, double eps, B use_cudnn) {
  return fixed_batch_normalization(x, gamma, beta, mean, var,
                                   FixedBatchNormalizationOptions{.eps = eps, .use_cudnn = use_cudnn});
}

// Where eps is added: gamma (x - mean) / sqrt(var + eps) + beta, or gamma (x - mean) / (sqrt(var) + eps) + beta.
enum class EpsAddedTo { variance, deviation };
// The defaults of layer_normalization() and of the link LayerNormalization, as in PyTorch and later versions of
// Chainer. The numbers of the link of Chainer v1.24 are those of eps 1e-6 and EpsAddedTo::deviation.
struct LayerNormalizationDefaults {
  static constexpr double eps = 1e-5;
  static constexpr EpsAddedTo where = EpsAddedTo::variance;
};
// Mean and biased variance are computed over the last axes of x; gamma and beta have the shape of these axes.
// InvalidType unless all have one floating dtype, or gamma and beta float32 beside 16-bit x, and at least one axis.
// Statistics of 16-bit floats are float32, and results are rounded once. The error of x - mean is a few rounding errors
// of the row's deviation, independent of the size of the mean. Gradients of x, gamma and beta.
CATENA_EXPORT Variable layer_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                           double eps = LayerNormalizationDefaults::eps,
                                           EpsAddedTo where = LayerNormalizationDefaults::where);
// gamma (x - mean) / sqrt(var + eps) + beta for x (N, C, ...), with the mean and the biased variance of each example
// and each of the groups of C / groups neighbouring channels; gamma and beta (C), null: ones and zeros. InvalidType
// unless the groups divide C, and as for layer_normalization; ValueError for fewer than one group. Gradients of x,
// gamma and beta.
CATENA_EXPORT Variable group_normalization(const Variable& x, int groups, const Variable& gamma = {},
                                           const Variable& beta = {}, double eps = 1e-5);
// group_normalization with one channel in a group.
CATENA_EXPORT Variable instance_normalization(const Variable& x, const Variable& gamma = {}, const Variable& beta = {},
                                              double eps = 1e-5);
// gamma x / sqrt(mean(x^2) + eps), with the mean over the last axes of x, of which gamma has the shape; without gamma,
// over the last axis. InvalidType as for layer_normalization. Gradients of x and gamma.
CATENA_EXPORT Variable rms_normalization(const Variable& x, const Variable& gamma = {}, double eps = 1e-6);

struct BatchRenormalizationOptions {
  double eps = 2e-5;
  Array running_mean = {}, running_var = {};  // null: zeros and ones
  double decay = 0.9;
  autograd::Axes axis = {};  // as in batch_normalization
  // The averages are written to running_mean and running_var themselves, which must then be given (ValueError).
  bool update_statistics = false;
};
// Batch normalization with the statistics of the batch moved towards the averages (Ioffe, 2017), as in later versions
// of Chainer: gamma ((x - mean) / sigma r + d) + beta, where sigma = sqrt(var + eps), r = sigma / sqrt(running_var +
// eps) between 1 / rmax and rmax, and d = (mean - running_mean) / sqrt(running_var + eps) between -dmax and dmax. r and
// d are constants for the gradients. ValueError unless rmax >= 1 and dmax >= 0; other errors as batch_normalization.
CATENA_EXPORT Variable batch_renormalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                             double rmax, double dmax, const BatchRenormalizationOptions& options = {});

struct LocalResponseOptions {
  int n = 5;  // channels in a window; an even number counts as the next odd one
  double k = 2, alpha = 1e-4, beta = 0.75;
};
// x / (k + alpha s)^beta, where s is the sum of the squares of the element and of the n / 2 channels (axis 1) on either
// side; alpha is not divided by n. At least 2 dimensions (InvalidType); ValueError unless n > 0.
CATENA_EXPORT Variable local_response_normalization(const Variable& x, const LocalResponseOptions& options = {});
template <std::convertible_to<int> N>
Variable local_response_normalization(const Variable& x, N n, double k = 2, double alpha = 1e-4, double beta = 0.75) {
  return local_response_normalization(x, LocalResponseOptions{int(n), k, alpha, beta});
}

// x / (|x| + eps) with a norm along one or several axes: ord 1 is the sum of the absolute values, 2 the Euclidean norm,
// infinity the largest absolute value, whose gradient goes to every element that has it; ValueError for other numbers.
// For a vector of zeros, the result is 0, with the gradient of x / eps.
CATENA_EXPORT Variable normalize(const Variable& x, double eps = 1e-5, const autograd::Axes& axis = 1, double ord = 2);
struct NormalizeOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double p = 2;
  autograd::Axes dim = {};   // the axes by PyTorch's name; default: 1
  double eps = 1e-12;        // the least divisor
  autograd::Axes axis = {};  // the axes by Chainer's name
};
// PyTorch's form, normalize(x, {.p = 2, .dim = 1}): x / max(|x|_p, eps), where the norm is that of Variable::norm and a
// norm below eps has no gradient.
CATENA_EXPORT Variable normalize(const Variable& x, const NormalizeOptions& options);

}  // namespace nn
