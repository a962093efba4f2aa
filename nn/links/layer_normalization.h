// Layer normalization, and normalization by the root of the mean square.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/normalization.h>
#include <catena/nn/layer_place.h>
#include <catena/nn/link.h>
#include <catena/nn/parameter_handle.h>

namespace nn {

struct LayerNormalizationLinkOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double eps = LayerNormalizationDefaults::eps;
  Initializer initial_gamma = 1.0, initial_beta = 0.0;
  // The numbers of Chainer v1.24, whose files have the same parameters: {.eps = 1e-6, .eps_added_to =
  // EpsAddedTo::deviation}.
  EpsAddedTo eps_added_to = LayerNormalizationDefaults::where;
  // PyTorch's: without the first, the link has no parameters (gamma is 1, beta 0), without the second no beta.
  bool elementwise_affine = true, bias = true;
  LayerDevice device = {};
  LayerDtype dtype = {};
};

// (x - mean) / sqrt(var + eps) gamma + beta over the last axis of x, or over the last axes, of the given shape; see
// layer_normalization(). InvalidType for other lengths. Without a size, the first call creates the parameters for the
// last axis.
//   LayerNormalization(512), LayerNormalization(Shape{3, 8, 8}), LayerNormalization()
class CATENA_EXPORT LayerNormalization : public internal::ScaleAndShift<Parameter> {
 public:
  using Options = LayerNormalizationLinkOptions;
  explicit LayerNormalization(const Options& options = {}) : LayerNormalization(std::nullopt, options) {}
  explicit LayerNormalization(std::optional<int> size, const Options& options = {});
  template <std::floating_point D>
  LayerNormalization(int size, D eps_, bool affine = true, bool has_bias = true)
      : LayerNormalization(size, Options{.eps = double(eps_), .elementwise_affine = affine, .bias = has_bias}) {}
  template <std::same_as<Shape> S = Shape>
  explicit LayerNormalization(const S& shape, const Options& o = {})
      : ScaleAndShift(Parameter(o.initial_gamma, shape), Parameter(o.initial_beta, shape), o.elementwise_affine,
                      o.elementwise_affine && o.bias),
        eps(o.eps),
        eps_added_to(o.eps_added_to),
        elementwise_affine(o.elementwise_affine),
        use_beta(o.elementwise_affine && o.bias) {
    name_params();
    internal::place(*this, o.device, o.dtype);
  }

  Variable call(const Variables& args) override { return internal::invoke(*this, args); }
  Variable operator()(const Variable& x);

  // Of gamma and beta, what the link lacks has a shape, but is no parameter of the link.
  double eps;
  EpsAddedTo eps_added_to;
  bool elementwise_affine, use_beta;

 protected:
  void visit_declared(MemberVisitor& v) override;
};

struct RMSNormOptions {
  double eps = 1e-6;
  Initializer initial_gamma = 1.0;
  LayerDevice device = {};
  LayerDtype dtype = {};
};

// gamma x / sqrt(mean(x^2) + eps) over the last axis of x; see rms_normalization(). InvalidType for another length.
// Without a size, the first call creates gamma.
class CATENA_EXPORT RMSNorm : public internal::ScaleAndShift<Parameter> {
 public:
  using Options = RMSNormOptions;
  explicit RMSNorm(const Options& options = {}) : RMSNorm(std::nullopt, options) {}
  explicit RMSNorm(std::optional<int> size, const Options& options = {});

  NN_MEMBERS(gamma)
  Variable operator()(const Variable& x);

  double eps;
};

}  // namespace nn
