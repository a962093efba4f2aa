// Normalization by the covariance of groups of channels.
#pragma once

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Variable;

struct DecorrelatedBatchNormalizationOptions {
  int groups = 16;
  double eps = 2e-5;  // is added to the variances
  // If given, updated in place as decay * old + (1 - decay) * new: the means (groups, C / groups) and the projections
  // (groups, C / groups, C / groups) of the batches, in the dtype of x, float32 for narrower x.
  autograd::Array running_mean = {}, running_projection = {};
  double decay = 0.9;
};

// Whitens groups of channels of x (N, C, ...) by ZCA (Huang et al.: Decorrelated Batch Normalization, 2018): y = P (x -
// mean) with P = (covariance + eps)^(-1/2), where the covariance of the C / groups channels of a group is that of all
// positions of the batch, divided by their number. Gradients of any covariance are exact; second ones are so unless two
// eigenvalues of a covariance are equal. ValueError unless the groups divide C and for an eps that is not positive,
// InvalidType for x of less than two axes, ValueError for a batch without elements.
CATENA_EXPORT Variable decorrelated_batch_normalization(const Variable& x,
                                                        const DecorrelatedBatchNormalizationOptions& options = {});
// The same with a given mean (groups, C / groups) and projection (groups, C / groups, C / groups).
CATENA_EXPORT Variable fixed_decorrelated_batch_normalization(const Variable& x, const Variable& mean,
                                                              const Variable& projection, int groups = 16);

}  // namespace nn
