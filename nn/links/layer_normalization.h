// Layer normalization layer.
#pragma once

#include <optional>

#include <catena/nn/functions/normalization.h>
#include <catena/nn/link.h>

namespace nn {

struct LayerNormalizationLinkOptions {
  double eps = LayerNormalizationDefaults::eps;
  Initializer initial_gamma = 1.0, initial_beta = 0.0;
};

// (x - mean) / (deviation + eps) gamma + beta over the rows of x (N, size); see layer_normalization(). InvalidType for
// another rank or length. Without a size, the first call creates the parameters. The interface is experimental, as in
// Chainer: the first object in the process gives a warning.
class CATENA_EXPORT LayerNormalization : public Link {
 public:
  using Options = LayerNormalizationLinkOptions;
  explicit LayerNormalization(const Options& options = {}) : LayerNormalization(std::nullopt, options) {}
  explicit LayerNormalization(std::optional<int> size, const Options& options = {});

  NN_MEMBERS(gamma, beta)
  Variable operator()(const Variable& x);

  Parameter gamma, beta;
  double eps;
};

}  // namespace nn
