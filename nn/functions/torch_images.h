// Functions of images and of vectors with the names and the options of torch.nn.functional, as names of nn::functional.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <catena/nn/functions/array.h>
#include <catena/nn/functions/modules.h>
#include <catena/nn/functions/similarity.h>

namespace nn {

namespace internal {
// Four widths or more, as PyTorch writes them. (Two with a mode are NumPy's widths, of all axes, as in Chainer.)
struct LastWidths {
  template <std::integral I, std::integral J, std::integral K, std::integral L, std::integral... More>
  LastWidths(I i, J j, K k, L l, More... more) : widths{i, j, k, l, more...} {}
  std::vector<catena::Integer> widths;
};
CATENA_EXPORT Variable pad_last(const Variable& x, const std::vector<catena::Integer>& widths,
                                const PadModeOptions& options);
}  // namespace internal
// pad of array.h with PyTorch's widths and order of arguments, for four widths or more: pad(x, {1, 1, 2, 2},
// "reflect").
inline Variable pad(const Variable& x, const internal::LastWidths& widths, std::string_view mode = "constant",
                    double value = 0) {
  return internal::pad_last(x, widths.widths, PadModeOptions{.mode = mode, .value = value});
}

// Without a mode, any even number of widths is PyTorch's: pad(x, {4, 0}) adds four zeros before the last axis.
inline Variable pad(const Variable& x, std::initializer_list<catena::Integer> widths) {
  return pad(x, widths, PadModeOptions{});
}

// All arguments by name: pad(x, {.pad = {1, 1}, .mode = "reflect"}).
struct PadArguments {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::vector<std::int64_t> pad = {};
  std::string_view mode = "constant";
  double value = 0;
};
template <std::same_as<PadArguments> O = PadArguments> Variable pad(const Variable& x, const O& o) {
  return internal::pad_last(x, std::vector<catena::Integer>(o.pad.begin(), o.pad.end()),
                            PadModeOptions{.mode = o.mode, .value = o.value});
}

// Options of unfold and fold with PyTorch's names: unfold(x, 3, {.padding = 1, .stride = 2}).
struct UnfoldOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair dilation = 1, padding = 0, stride = 1;
};
template <std::same_as<UnfoldOptions> O = UnfoldOptions>
Variable unfold(const Variable& x, Pair kernel_size, const O& o) {
  return unfold(x, kernel_size, FoldOptions{.stride = o.stride, .pad = o.padding, .dilate = o.dilation});
}
template <std::same_as<UnfoldOptions> O = UnfoldOptions>
Variable fold(const Variable& x, Pair output_size, Pair kernel_size, const O& o) {
  return fold(x, output_size, kernel_size, FoldOptions{.stride = o.stride, .pad = o.padding, .dilate = o.dilation});
}

// All arguments by name, unfold(x, {.kernel_size = 3, .stride = 2}), and in PyTorch's order, unfold(x, 3, 1, 1, 2).
struct UnfoldArguments {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair kernel_size = 1, dilation = 1, padding = 0, stride = 1;
};
template <std::same_as<UnfoldArguments> O = UnfoldArguments> Variable unfold(const Variable& x, const O& o) {
  return unfold(x, o.kernel_size, FoldOptions{.stride = o.stride, .pad = o.padding, .dilate = o.dilation});
}
inline Variable unfold(const Variable& x, Pair kernel_size, Pair dilation, Pair padding = 0, Pair stride = 1) {
  return unfold(x, kernel_size, FoldOptions{.stride = stride, .pad = padding, .dilate = dilation});
}
struct FoldArguments {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair output_size = 1, kernel_size = 1, dilation = 1, padding = 0, stride = 1;
};
template <std::same_as<FoldArguments> O = FoldArguments> Variable fold(const Variable& x, const O& o) {
  return fold(x, o.output_size, o.kernel_size, FoldOptions{.stride = o.stride, .pad = o.padding, .dilate = o.dilation});
}

// Moves channel g n + k of n = C / groups to k groups + g: x (N, C, ...). ValueError unless the groups divide C.
CATENA_EXPORT Variable channel_shuffle(const Variable& x, int groups);

struct GridSampleOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::string_view mode = "bilinear";       // or "nearest"
  std::string_view padding_mode = "zeros";  // or "border", "reflection"
  bool align_corners = false;
};
// spatial_transformer_sampler with PyTorch's grid (N, oH, oW, 2), or (N, oD, oH, oW, 3) for volumes, and its defaults.
CATENA_EXPORT Variable grid_sample(const Variable& x, const Variable& grid, const GridSampleOptions& o = {});
template <std::convertible_to<std::string_view> M>
Variable grid_sample(const Variable& x, const Variable& grid, const M& mode, std::string_view padding_mode = "zeros",
                     bool align_corners = false) {
  return grid_sample(x, grid,
                     GridSampleOptions{.mode = mode, .padding_mode = padding_mode, .align_corners = align_corners});
}

struct AffineGridOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool align_corners = false;
};
// The grid for grid_sample of affine maps: theta (N, 2, 3), size (N, C, H, W) -> (N, H, W, 2); theta (N, 3, 4), size
// (N, C, D, H, W) -> (N, D, H, W, 3). InvalidType for other shapes, ValueError for lengths below 1.
CATENA_EXPORT Variable affine_grid(const Variable& theta, const autograd::Shape& size, bool align_corners = false);
template <std::same_as<AffineGridOptions> O = AffineGridOptions>
Variable affine_grid(const Variable& theta, const autograd::Shape& size, const O& o) {
  return affine_grid(theta, size, o.align_corners);
}

// Another name of interpolate().
inline Variable upsample(const Variable& x, const InterpolateOptions& options) { return interpolate(x, options); }
inline Variable upsample(const Variable& x, const Lengths& size, std::string_view mode = "nearest",
                         InterpolateOptions more = {}) {
  return interpolate(x, size, mode, more);
}

// The p-norms of the differences of all pairs of rows i < j of x (N, M), row by row: (N (N - 1) / 2). InvalidType for
// another rank.
CATENA_EXPORT Variable pdist(const Variable& x, double p = 2);

namespace functions {
struct OneHotOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::int64_t num_classes = -1;
};
// one_hot(t, {.num_classes = 3})
using autograd::one_hot;
template <std::same_as<OneHotOptions> O = OneHotOptions> Variable one_hot(const Variable& indices, const O& o) {
  return autograd::one_hot(indices, o.num_classes);
}
}  // namespace functions

}  // namespace nn
