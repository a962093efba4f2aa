// Layer normalization, and normalization by the root of the mean square.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/normalization.h>
#include <catena/nn/link.h>

namespace nn {

struct LayerNormalizationLinkOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double eps = LayerNormalizationDefaults::eps;
  Initializer initial_gamma = 1.0, initial_beta = 0.0;
  // The numbers of Chainer v1.24, whose files have the same parameters: {.eps = 1e-6, .eps_added_to =
  // EpsAddedTo::deviation}.
  EpsAddedTo eps_added_to = LayerNormalizationDefaults::where;
};

// (x - mean) / sqrt(var + eps) gamma + beta over the last axis of x, or over the last axes, of the given shape; see
// layer_normalization(). InvalidType for other lengths. Without a size, the first call creates the parameters for the
// last axis.
//   LayerNormalization(512), LayerNormalization(Shape{3, 8, 8}), LayerNormalization()
class CATENA_EXPORT LayerNormalization : public Link {
 public:
  using Options = LayerNormalizationLinkOptions;
  explicit LayerNormalization(const Options& options = {}) : LayerNormalization(std::nullopt, options) {}
  explicit LayerNormalization(std::optional<int> size, const Options& options = {});
  template <std::same_as<Shape> S = Shape>
  explicit LayerNormalization(const S& shape, const Options& o = {})
      : gamma(o.initial_gamma, shape), beta(o.initial_beta, shape), eps(o.eps), eps_added_to(o.eps_added_to) {
    name_params();
  }

  NN_MEMBERS(gamma, beta)
  Variable operator()(const Variable& x);

  Parameter gamma, beta;
  double eps;
  EpsAddedTo eps_added_to;
};

struct RMSNormOptions {
  double eps = 1e-6;
  Initializer initial_gamma = 1.0;
};

// gamma x / sqrt(mean(x^2) + eps) over the last axis of x; see rms_normalization(). InvalidType for another length.
// Without a size, the first call creates gamma.
class CATENA_EXPORT RMSNorm : public Link {
 public:
  using Options = RMSNormOptions;
  explicit RMSNorm(const Options& options = {}) : RMSNorm(std::nullopt, options) {}
  explicit RMSNorm(std::optional<int> size, const Options& options = {});

  NN_MEMBERS(gamma)
  Variable operator()(const Variable& x);

  Parameter gamma;
  double eps;
};

}  // namespace nn
