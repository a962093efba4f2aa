// Normalization layers with PyTorch's names, options and defaults. Parameters have the keys of the classes from which
// they derive (gamma, beta).
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include <catena/nn/functions/torch_normalization.h>
#include <catena/nn/layer_place.h>
#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/embed_id.h>
#include <catena/nn/links/group_normalization.h>
#include <catena/nn/links/layer_normalization.h>

namespace nn {

struct BatchNormOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> num_features = {};  // in place of the argument
  double eps = 1e-5, momentum = 0.1;     // momentum is 1 - decay of BatchNormalization
  bool affine = true;
  LayerDevice device = {};
  LayerDtype dtype = {};
  bool bias = true;  // false: with affine, there is no beta
};
// BatchNormalization over all axes but that of the channels.
struct CATENA_EXPORT BatchNorm2d : BatchNormalization {
  using Options = BatchNormOptions;
  explicit BatchNorm2d(int size, const Options& o = {});
  template <std::same_as<Options> O = Options>  // BatchNorm2d({.num_features = 8})
  explicit BatchNorm2d(const O& o) : BatchNorm2d(internal::required("BatchNorm", "num_features", o.num_features), o) {}
  BatchNorm2d(int size, double eps_, double momentum = 0.1, bool affine = true)
      : BatchNorm2d(size, Options{.eps = eps_, .momentum = momentum, .affine = affine}) {}
  BatchNorm2d(const BatchNorm2d& o) : BatchNormalization(o) {}
  BatchNorm2d(BatchNorm2d&& o) noexcept : BatchNormalization(std::move(o)) {}
  BatchNorm2d& operator=(const BatchNorm2d& o) { return BatchNormalization::operator=(o), *this; }
  BatchNorm2d& operator=(BatchNorm2d&& o) noexcept { return BatchNormalization::operator=(std::move(o)), *this; }

  // PyTorch's names of the averages.
  Persistent &running_mean = avg_mean, &running_var = avg_var;
};
using BatchNorm1d = BatchNorm2d;
using BatchNorm3d = BatchNorm2d;
// On one device, where its statistics are those of the batch. Several devices have a copy of the layer each, whose
// statistics are those of its part of the batch.
using SyncBatchNorm = BatchNorm2d;

// BatchNorm2d whose first call determines the number of channels. Until then the averages have no elements.
class CATENA_EXPORT LazyBatchNorm2d : public BatchNorm2d {
 public:
  explicit LazyBatchNorm2d(const BatchNormOptions& o = {});
  NN_MEMBERS_OF(BatchNorm2d)
  Variable operator()(const Variable& x, const BatchNormalizationCallOptions& options = {});
};
using LazyBatchNorm1d = LazyBatchNorm2d;
using LazyBatchNorm3d = LazyBatchNorm2d;

// These have PyTorch's defaults.
using LayerNorm = LayerNormalization;
using GroupNorm = GroupNormalization;
using InstanceNorm1d = InstanceNormalization;
using InstanceNorm2d = InstanceNormalization;
using InstanceNorm3d = InstanceNormalization;
// Without a size: LazyInstanceNorm2d(), LazyInstanceNorm2d({.affine = true}).
using LazyInstanceNorm1d = InstanceNormalization;
using LazyInstanceNorm2d = InstanceNormalization;
using LazyInstanceNorm3d = InstanceNormalization;
using Embedding = EmbedID;

// A function, like the layers of torch_activation.h: local_response_norm() with its size.
struct LocalResponseNorm {
  int size;
  functions::LocalResponseNormFuncOptions options;
  explicit LocalResponseNorm(int channels, const functions::LocalResponseNormFuncOptions& o = {})
      : size(channels), options(o) {}
  LocalResponseNorm(int channels, double alpha, double beta = 0.75, double k = 1)
      : LocalResponseNorm(channels, functions::LocalResponseNormFuncOptions{.alpha = alpha, .beta = beta, .k = k}) {}
  Variable operator()(const Variable& x) const { return functions::local_response_norm(x, size, options); }
};

// LocalResponseNorm over size - 1 channels if the size is even, with alpha divided by the size that is given.
struct CrossMapLRN2d {
  int size;
  functions::LocalResponseNormFuncOptions options;
  explicit CrossMapLRN2d(int channels, double alpha = 1e-4, double beta = 0.75, double k = 1)
      : size(channels), options{.alpha = alpha, .beta = beta, .k = k} {}
  template <std::same_as<functions::LocalResponseNormFuncOptions> O = functions::LocalResponseNormFuncOptions>
  CrossMapLRN2d(int channels, const O& o) : size(channels), options(o) {}
  Variable operator()(const Variable& x) const {
    return local_response_normalization(x, (size - 1) / 2 * 2 + 1, options.k, options.alpha / size, options.beta);
  }
};

}  // namespace nn
