// Layers with PyTorch's names that move elements or compare vectors. They are functions, like the layers of
// torch_activation.h.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>

#include <catena/nn/functions/torch_images.h>

namespace nn {

// Takes and ignores any arguments, as PyTorch's.
struct Identity {
  template <class... A> explicit Identity(const A&...) {}
  Variable operator()(const Variable& x) const { return x; }
};
struct FlattenLayerOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int start_dim = 1, end_dim = -1;
};
// Joins the axes from start_dim to end_dim: (N, C, H, W) -> (N, C H W).
struct Flatten {
  int start_dim, end_dim;
  explicit Flatten(int start = 1, int end = -1) : start_dim(start), end_dim(end) {}
  template <std::same_as<FlattenLayerOptions> O = FlattenLayerOptions>
  explicit Flatten(const O& o) : Flatten(o.start_dim, o.end_dim) {}
  Variable operator()(const Variable& x) const { return x.flatten(start_dim, end_dim); }
};
// Replaces an axis by axes of these lengths, of which one may be -1: Unflatten(1, {2, 5, 5}). IndexError for an axis
// that x does not have, InvalidType for lengths that do not fit.
struct CATENA_EXPORT Unflatten {
  int dim;
  autograd::Shape unflattened_size;
  Unflatten(int axis, const autograd::Shape& sizes) : dim(axis), unflattened_size(sizes) {}
  Variable operator()(const Variable& x) const;
};
// (N, C r^2, H, W) -> (N, C, r H, r W), and back.
struct PixelShuffle {
  int upscale_factor;
  explicit PixelShuffle(int factor) : upscale_factor(factor) {}
  Variable operator()(const Variable& x) const { return pixel_shuffle(x, upscale_factor); }
};
struct PixelUnshuffle {
  int downscale_factor;
  explicit PixelUnshuffle(int factor) : downscale_factor(factor) {}
  Variable operator()(const Variable& x) const { return pixel_unshuffle(x, downscale_factor); }
};
struct ChannelShuffle {
  int groups;
  explicit ChannelShuffle(int number) : groups(number) {}
  Variable operator()(const Variable& x) const { return channel_shuffle(x, groups); }
};

struct UpsampleOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  OptionalLengths size = {};
  std::optional<double> scale_factor = {};
  std::string mode = "nearest";
  bool align_corners = false;
};
// interpolate() with these options, of which `size` or scale_factor is given (ValueError in the call):
//   Upsample({.scale_factor = 2, .mode = "bilinear"}), Upsample(8), Upsample({.size = {8, 6}})
struct Upsample {
  UpsampleOptions options;
  explicit Upsample(const UpsampleOptions& o) : options(o) {}
  explicit Upsample(const Lengths& size, UpsampleOptions more = {}) : options(std::move(more)) { options.size = size; }
  Variable operator()(const Variable& x) const {
    return interpolate(x, InterpolateOptions{.size = options.size,
                                             .scale_factor = options.scale_factor,
                                             .mode = options.mode,
                                             .align_corners = options.align_corners});
  }
};
struct UpsamplingOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  OptionalLengths size = {};
  std::optional<double> scale_factor = {};
};
// Upsample of images with the mode "nearest", and with "bilinear" and align_corners.
struct UpsamplingNearest2d : Upsample {
  explicit UpsamplingNearest2d(const UpsamplingOptions& o)
      : Upsample(UpsampleOptions{.size = o.size, .scale_factor = o.scale_factor}) {}
};
struct UpsamplingBilinear2d : Upsample {
  explicit UpsamplingBilinear2d(const UpsamplingOptions& o)
      : Upsample(UpsampleOptions{
            .size = o.size, .scale_factor = o.scale_factor, .mode = "bilinear", .align_corners = true}) {}
};

// unfold() and fold(): Unfold(3, {.padding = 1}), Fold({4, 5}, 2).
struct Unfold {
  Pair kernel_size;
  UnfoldOptions options;
  explicit Unfold(Pair kernel, const UnfoldOptions& o = {}) : kernel_size(kernel), options(o) {}
  template <std::same_as<UnfoldArguments> O = UnfoldArguments>  // Unfold({.kernel_size = 3, .stride = 2})
  explicit Unfold(const O& o)
      : Unfold(o.kernel_size, UnfoldOptions{.dilation = o.dilation, .padding = o.padding, .stride = o.stride}) {}
  Variable operator()(const Variable& x) const { return unfold(x, kernel_size, options); }
};
struct Fold {
  Pair output_size, kernel_size;
  UnfoldOptions options;
  Fold(Pair size, Pair kernel, const UnfoldOptions& o = {}) : output_size(size), kernel_size(kernel), options(o) {}
  template <std::same_as<FoldArguments> O = FoldArguments>
  explicit Fold(const O& o)
      : Fold(o.output_size, o.kernel_size,
             UnfoldOptions{.dilation = o.dilation, .padding = o.padding, .stride = o.stride}) {}
  Variable operator()(const Variable& x) const { return fold(x, output_size, kernel_size, options); }
};

// cosine_similarity() and pairwise_distance() of two variables.
struct CosineSimilarity {
  int dim = 1;
  double eps = 1e-8;
  explicit CosineSimilarity(int axis = 1, double least = 1e-8) : dim(axis), eps(least) {}
  template <std::same_as<CosineSimilarityOptions> O = CosineSimilarityOptions>
  explicit CosineSimilarity(const O& o)
      : CosineSimilarity(autograd::internal::given_axis(o.axis, o.dim).value_or(1), o.eps) {}
  Variable operator()(const Variable& x, const Variable& y) const { return cosine_similarity(x, y, dim, eps); }
};
struct PairwiseDistance {
  PairwiseDistanceOptions options;
  explicit PairwiseDistance(double p = 2, double eps = 1e-6, bool keepdim = false)
      : options{.p = p, .eps = eps, .keepdims = keepdim} {}
  template <std::same_as<PairwiseDistanceOptions> O = PairwiseDistanceOptions>
  explicit PairwiseDistance(const O& o) : options(o) {}
  Variable operator()(const Variable& x, const Variable& y) const { return pairwise_distance(x, y, options); }
};

}  // namespace nn
