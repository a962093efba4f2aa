// Batch and layer normalization.
#pragma once

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Array;
using autograd::Variable;

struct BatchNormalizationOptions {
  double eps = 2e-5;
  // For return_statistics: the averages so far (null: zeros) and the share of them that is kept.
  Array running_mean = {}, running_var = {};
  double decay = 0.9;
};
// gamma (x - mean) / sqrt(var + eps) + beta, with the biased variance of the batch. gamma and beta have the shape of
// the axes 1..k of x; the statistics are computed over axis 0 and the axes after k. Gradients of x, gamma and beta.
CATENA_EXPORT Variable batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                           const BatchNormalizationOptions& options = {});

// auto [y, mean, var] = batch_normalization(x, gamma, beta, {.running_mean = m, .running_var = v}, return_statistics);
struct ReturnStatistics {};
inline constexpr ReturnStatistics return_statistics{};
struct BatchNormalizationResult {
  Variable y;
  // decay * options.running_mean + (1 - decay) * mean, likewise for the variance multiplied by m / max(m - 1, 1) for m
  // elements per statistic. New arrays in the shape and dtype of the given ones (of gamma, without).
  Array running_mean, running_var;
};
CATENA_EXPORT BatchNormalizationResult batch_normalization(const Variable& x, const Variable& gamma,
                                                           const Variable& beta,
                                                           const BatchNormalizationOptions& options, ReturnStatistics);
// The same with given statistics; mean and var get gradients, too.
CATENA_EXPORT Variable fixed_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                                 const Variable& mean, const Variable& var, double eps = 2e-5);

// Where eps is added: gamma (x - mean) / sqrt(var + eps) + beta, or gamma (x - mean) / (sqrt(var) + eps) + beta.
enum class EpsAddedTo { variance, deviation };
// Mean and biased variance are computed over the last axes of x, whose shape gamma and beta have. InvalidType unless
// all have one floating dtype and at least one axis. Statistics of 16-bit floats are float32. The error of x - mean is
// a few rounding errors of the row's deviation, independent of the size of the mean. Gradients of x, gamma and beta.
CATENA_EXPORT Variable layer_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                           double eps = 1e-5, EpsAddedTo where = EpsAddedTo::variance);

}  // namespace nn
