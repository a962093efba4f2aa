// Normalization.
#pragma once

#include "autograd/variable.h"

namespace nn {

using autograd::Array;
using autograd::Variable;

struct BatchNormalizationOptions {
  double eps = 2e-5;
  // Updated in place when given: running <- decay running + (1 - decay) statistic, the variance scaled by m / max(m - 1, 1).
  Array running_mean = {}, running_var = {};
  double decay = 0.9;
};
// gamma (x - mean) / sqrt(var + eps) + beta, with the biased statistics of the batch. gamma and beta have the shape of the axes
// 1..k of x; the statistics go over axis 0 and the axes after k. Gradients reach x, gamma and beta.
CATENA_EXPORT Variable batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                           const BatchNormalizationOptions& options = {});
// The same with given statistics; gradients reach mean and var, too.
CATENA_EXPORT Variable fixed_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta, const Variable& mean,
                                                 const Variable& var, double eps = 2e-5);

}  // namespace nn
