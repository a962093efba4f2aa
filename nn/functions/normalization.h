// Normalization.
#pragma once

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Array;
using autograd::Variable;

struct BatchNormalizationOptions {
  double eps = 2e-5;
  // Updated in place when given: running <- decay running + (1 - decay) statistic, the variance scaled by m / max(m -
  // 1, 1).
  Array running_mean = {}, running_var = {};
  double decay = 0.9;
};
// gamma (x - mean) / sqrt(var + eps) + beta, with the biased statistics of the batch. gamma and beta have the shape of
// the axes 1..k of x; the statistics go over axis 0 and the axes after k. Gradients reach x, gamma and beta.
CATENA_EXPORT Variable batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                           const BatchNormalizationOptions& options = {});
// The same with given statistics; gradients reach mean and var, too.
CATENA_EXPORT Variable fixed_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                                 const Variable& mean, const Variable& var, double eps = 2e-5);

// What eps keeps away from 0: gamma (x - mean) / sqrt(var + eps) + beta, or gamma (x - mean) / (sqrt(var) + eps) +
// beta.
enum class EpsAddedTo { variance, deviation };
// The statistics, the variance biased, go over the last axes of x, whose shape gamma and beta have (InvalidType unless
// all have one floating dtype and at least one axis). Statistics of 16-bit floats are float32. The differences from the
// mean are exact to some rounding errors of the row's deviation, whatever the mean is. Gradients reach x, gamma and
// beta.
CATENA_EXPORT Variable layer_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                           double eps = 1e-5, EpsAddedTo where = EpsAddedTo::variance);

}  // namespace nn
