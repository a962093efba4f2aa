// Normalization of groups of channels and of single channels of each example.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/normalization.h>
#include <catena/nn/layer_place.h>
#include <catena/nn/link.h>
#include <catena/nn/parameter_handle.h>

namespace nn {

struct GroupNormalizationOptions {
  std::optional<int> num_groups = {}, num_channels = {};  // in place of the arguments
  double eps = 1e-5;
  bool affine = true;  // false: the link has no parameters
  Initializer initial_gamma = 1.0, initial_beta = 0.0;
  LayerDevice device = {};
  LayerDtype dtype = {};
};

// Normalizes each example of x (N, size, ...) over groups of neighbouring channels; see group_normalization().
// ValueError unless the groups divide the channels. Without a size, the first call creates the parameters.
//   GroupNormalization(8, 64), GroupNormalization(8)
class CATENA_EXPORT GroupNormalization : public internal::ScaleAndShift<Parameter> {
 public:
  using Options = GroupNormalizationOptions;
  explicit GroupNormalization(int num_groups, const Options& options = {})
      : GroupNormalization(num_groups, std::nullopt, options) {}
  GroupNormalization(int num_groups, std::optional<int> size, const Options& options = {});
  template <std::same_as<Options> O = Options>
  explicit GroupNormalization(const O& o)
      : GroupNormalization(internal::required("GroupNorm", "num_groups", o.num_groups), o.num_channels, o) {}

  Variable call(const Variables& args) override { return internal::invoke(*this, args); }
  Variable operator()(const Variable& x);

  int groups;
  bool affine;  // false: gamma and beta have no values, and are no parameters of the link
  double eps;

 protected:
  void visit_declared(MemberVisitor& v) override;

 private:
  void initialize(std::int64_t size, const char* where);
};

struct InstanceNormalizationOptions {
  std::optional<int> num_features = {};  // in place of the argument
  double eps = 1e-5;
  double momentum = 0.1;  // without effect
  bool affine = false;    // with gamma and beta
  // There are no running statistics: true is a NotImplementedError.
  bool track_running_stats = false;
  Initializer initial_gamma = 1.0, initial_beta = 0.0;
  LayerDevice device = {};
  LayerDtype dtype = {};
};

// Normalizes each channel of each example of x (N, size, ...); see instance_normalization(). InvalidType for another
// number of channels where there are gamma and beta; without a size, the first call creates them.
//   InstanceNormalization(), InstanceNormalization(64, {.affine = true})
class CATENA_EXPORT InstanceNormalization : public internal::ScaleAndShift<OptionalParameter> {
 public:
  using Options = InstanceNormalizationOptions;
  explicit InstanceNormalization(const Options& options = {}) : InstanceNormalization(options.num_features, options) {}
  explicit InstanceNormalization(std::optional<int> size, const Options& options = {});

  NN_MEMBERS(gamma, beta)
  Variable operator()(const Variable& x);

  double eps;
};

}  // namespace nn
