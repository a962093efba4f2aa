// Batch normalization that whitens groups of channels.
#pragma once

#include <catena/nn/functions/decorrelation.h>
#include <catena/nn/links/batch_normalization.h>

namespace nn {

struct DecorrelatedBatchNormalizationLinkOptions {
  int groups = 16;
  double decay = 0.9, eps = 2e-5;
  std::optional<autograd::Dtype> dtype = {};  // of the averages; by default as in BatchNormalizationLinkOptions
};

// Whitens x (N, size, ...) by decorrelated_batch_normalization() and updates averages of means and projections; test
// mode uses the averages. It has no parameters. ValueError unless the groups divide the size.
//   DecorrelatedBatchNormalization(64)  DecorrelatedBatchNormalization(64, {.groups = 4})
class CATENA_EXPORT DecorrelatedBatchNormalization : public Link {
 public:
  using Options = DecorrelatedBatchNormalizationLinkOptions;
  explicit DecorrelatedBatchNormalization(int size, const Options& options = {});

  NN_MEMBERS(avg_mean, avg_projection, N)
  Variable operator()(const Variable& x, const BatchNormalizationCallOptions& options = {});
  void start_finetuning() { N = 0; }

  Persistent avg_mean;        // (groups, size / groups), zeros
  Persistent avg_projection;  // (groups, size / groups, size / groups), unit matrices
  std::int64_t N = 0;
  int groups;
  double decay, eps;
};

}  // namespace nn
