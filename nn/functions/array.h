// Functions of arrays for networks that NumPy does not have: images, sequences, selection. Functions that NumPy has are
// in autograd/functions/array.h.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string_view>

#include <catena/autograd/cudnn_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/nn/functions/connection.h>

namespace nn {

using autograd::CudnnOptions;
using autograd::Variables;

// ---- images -------------------------------------------------------------------------------------
// Moves channels to blocks of r x r pixels, and back: X (B, C r^2, H, W) <-> (B, C, r H, r W). Floating inputs.
// InvalidType for lengths that are not multiples of r, or r^2; ValueError for r < 1. The channel of pixel (i, j) of a
// block is:
//   depth2space, space2depth        (i r + j) C + c
//   pixel_shuffle, pixel_unshuffle  (c r + i) r + j
CATENA_EXPORT Variable depth2space(const Variable& X, int r);
CATENA_EXPORT Variable space2depth(const Variable& X, int r);
CATENA_EXPORT Variable pixel_shuffle(const Variable& X, int r);
CATENA_EXPORT Variable pixel_unshuffle(const Variable& X, int r);

// Returns the patches that a convolution multiplies by its filters: x (n, c, h, w) -> (n, c kh kw, oh, ow), with
// channels in the order (c, ky, kx) and 0 outside the image. Floating input (InvalidType); AssertionError for a window
// larger than the padded image.
CATENA_EXPORT Variable im2col(const Variable& x, Pair ksize, const ConvolutionOptions& options = {});
// im2col(x, 3, 2, 1)
inline Variable im2col(const Variable& x, Pair ksize, Pair stride, Pair pad = 0, bool cover_all = false,
                       Pair dilate = 1) {
  return im2col(x, ksize, ConvolutionOptions{.stride = stride, .pad = pad, .dilate = dilate, .cover_all = cover_all});
}

struct FoldOptions {
  Pair stride = 1, pad = 0, dilate = 1;
};
// im2col with the positions in one axis: x (n, c, h, w) -> (n, c kh kw, oh ow).
CATENA_EXPORT Variable unfold(const Variable& x, Pair ksize, const FoldOptions& options = {});
// Adds patches (n, c kh kw, oh ow) up to images (n, c, h, w) of output_size (h, w): the adjoint of unfold. Floating;
// InvalidType for lengths that do not fit.
CATENA_EXPORT Variable fold(const Variable& x, Pair output_size, Pair ksize, const FoldOptions& options = {});

// Bilinear interpolation of x (n, c, h, w) at output_shape points (height, width); the corners of both images coincide.
// Floating input of 4 axes (InvalidType); ValueError for a length that is not positive.
// With a mode of interpolate(), such as "nearest", x is resized by it; align_corners applies to "linear" and "cubic".
CATENA_EXPORT Variable resize_images(const Variable& x, Pair output_shape);
CATENA_EXPORT Variable resize_images(const Variable& x, Pair output_shape, std::string_view mode,
                                     bool align_corners = true);

struct InterpolateOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  OptionalLengths size = {};                // of the result; or
  std::optional<double> scale_factor = {};  // floor(d scale_factor) along every axis of length d
  std::string_view mode = "nearest";
  bool align_corners = false;  // the first and last pixels of both images coincide; else their outer edges
  bool antialias = false;      // "linear" and "cubic": shrinking averages over all pixels, as PyTorch's
};
// Resizes x (n, c, d1, ..., dN) along its spatial axes. Modes: "nearest", the pixel at floor(i d / o); "nearest-exact",
// at floor((i + 1/2) d / o); "linear", also as "bilinear" and "trilinear"; "cubic" or "bicubic", with the coefficient
// -0.75; "area", adaptive_average_pooling_nd. ValueError for other modes, for lengths below 1, for neither or both of
// size and scale_factor, and for options that the mode does not have. Floating x (InvalidType).
CATENA_EXPORT Variable interpolate(const Variable& x, const InterpolateOptions& options);
// interpolate(x, {8, 8}, "bilinear"), interpolate(x, 8, "cubic", {.align_corners = true})
inline Variable interpolate(const Variable& x, const Lengths& size, std::string_view mode = "nearest",
                            InterpolateOptions more = {}) {
  return interpolate(x, (more.size = size, more.mode = mode, more));
}

// Returns the points of an affine map: theta (B, 2, 3) -> (B, 2, H, W) with [b, :, i, j] = theta[b] (X_j, Y_i, 1)^T,
// where X and Y are W and H points from -1 to 1. Component 0 is horizontal. Floating (InvalidType); ValueError for a
// length that is not positive.
// spatial_transformer_grid(theta, {4, 5}, false): see CudnnOptions.
CATENA_EXPORT Variable spatial_transformer_grid(const Variable& theta, Pair output_shape,
                                                const CudnnOptions& options = {});
template <std::same_as<bool> B>
Variable spatial_transformer_grid(const Variable& theta, Pair output_shape, B use_cudnn) {
  return spatial_transformer_grid(theta, output_shape, CudnnOptions{use_cudnn});
}
struct SamplerOptions {
  std::optional<bool> use_cudnn = {};
  std::string_view mode = "bilinear";       // or "nearest": halves to even pixels, and grid gets no gradient
  std::string_view padding_mode = "zeros";  // or "border", "reflection": points outside are moved inside
  bool align_corners = true;  // -1 and 1 are the centres of the first and the last pixel; else their outer edges
};
// Interpolation of x (B, C, H, W) at the points of grid (B, 2, oH, oW), component 0 horizontal; pixels outside of x are
// 0. -> (B, C, oH, oW). Of volumes (B, C, D, H, W) at points (B, 3, oD, oH, oW), whose components are along W, H and D,
// -> (B, C, oD, oH, oW). At a pixel the derivative is that of the cell to the right of it and below. InvalidType for
// other shapes and unequal dtypes; ValueError for other modes. The defaults are Chainer's; PyTorch's grid_sample has
// align_corners = false and grids (B, oH, oW, 2).
CATENA_EXPORT Variable spatial_transformer_sampler(const Variable& x, const Variable& grid,
                                                   const SamplerOptions& options = {});
template <std::same_as<bool> B>
Variable spatial_transformer_sampler(const Variable& x, const Variable& grid, B use_cudnn) {
  return spatial_transformer_sampler(x, grid, SamplerOptions{.use_cudnn = use_cudnn});
}

struct PadModeOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::string_view mode = "constant";  // or "reflect", "replicate", "circular" (ValueError for other texts)
  double value = 0;                    // of mode "constant"
};
// PyTorch's pad: the widths before and after the last axis, then those of the axis before it, and so on; other axes
// stay as they are. ValueError for an odd number of widths, for widths of more axes than x has and, in "reflect", for
// widths that are not less than the axis; other errors as for pad in autograd/functions/array.h, which is pad without
// options and has NumPy's widths.
//   pad(x, {1, 1, 2, 2}, {.mode = "reflect"})
CATENA_EXPORT Variable pad(const Variable& x, std::initializer_list<catena::Integer> widths,
                           const PadModeOptions& options);

// ---- sequences ----------------------------------------------------------------------------------
// Returns sequences (l_i, ...) as rows of one array (len(xs), L, ...), followed by `padding`; L is `length` or the
// largest l_i. InvalidType for no sequences, unequal dtypes or trailing shapes, and an l_i above `length`.
CATENA_EXPORT Variable pad_sequence(const Variables& xs, std::optional<std::int64_t> length = {},
                                    const autograd::Scalar& padding = 0);
struct PadSequenceOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<std::int64_t> length = {};
  autograd::Scalar padding = 0;
};
template <std::same_as<PadSequenceOptions> O = PadSequenceOptions>
Variable pad_sequence(const Variables& xs, const O& o) {
  return pad_sequence(xs, o.length, o.padding);
}
// Converts sequences (l_i, ...) with l_0 >= l_1 >= ... to l_0 arrays; array t has element t of every sequence longer
// than t. InvalidType for increasing lengths, unequal dtypes or trailing shapes.
CATENA_EXPORT Variables transpose_sequence(const Variables& xs);

// ---- selection ----------------------------------------------------------------------------------
// y[i] = x[indices[i]] along the axis, or y[indices[i]] = x[i] if inv. `indices` is a permutation: integers (n), n =
// x.shape(axis) (InvalidType). In debug mode, a missing number is a ValueError.
CATENA_EXPORT Variable permutate(const Variable& x, const Variable& indices, int axis = 0, bool inv = false);
struct PermutateOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int axis = 0;
  bool inv = false;
};
template <std::same_as<PermutateOptions> O = PermutateOptions>
Variable permutate(const Variable& x, const Variable& indices, const O& o) {
  return permutate(x, indices, o.axis, o.inv);
}
// y[i] = x[i, t[i]] for x (n, m) of any dtype and integers t (n) (InvalidType). In debug mode, a number outside [0, m)
// is a ValueError.
CATENA_EXPORT Variable select_item(const Variable& x, const Variable& t);

}  // namespace nn
