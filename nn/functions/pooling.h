// Pooling over windows of (n, c, h, w) images and of arrays with any number of spatial axes, and its inverses.
//
// Floating dtypes and these ranks only (InvalidType). Sizes are those of convolutions; AssertionError where an output
// would be empty. Functions for any number of axes take their number from x.
//
// A window that lies wholly in the padding, as there may be with a padding as long as the window or with cover_all, has
// the maximum -infinity, as in the reference, and an average of no numbers (pad_value = {}) that is NaN.
//
// use_cudnn has no effect: cuDNN is never given a pooling (see CudnnOptions).
#pragma once

#include <concepts>
#include <optional>

#include <catena/autograd/cudnn_options.h>
#include <catena/autograd/variable.h>
#include <catena/nn/functions/lengths.h>

namespace nn {

using autograd::Array;
using autograd::CudnnOptions;
using autograd::Variable;

// ---- maxima -------------------------------------------------------------------------------------
struct MaxPoolingOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  std::optional<Pair> stride = {};  // default: ksize
  Pair pad = 0;                     // padded with -infinity
  bool cover_all = true;
  std::optional<bool> use_cudnn = {};
};
// The gradient goes to the first maximum of a window in row-major order.
CATENA_EXPORT Variable max_pooling_2d(const Variable& x, Pair ksize, const MaxPoolingOptions& options = {});
// max_pooling_2d(x, 3, 2, 1)
inline Variable max_pooling_2d(const Variable& x, Pair ksize, Pair stride, Pair pad = 0, bool cover_all = true,
                               std::optional<bool> use_cudnn = {}) {
  return max_pooling_2d(
      x, ksize, MaxPoolingOptions{.stride = stride, .pad = pad, .cover_all = cover_all, .use_cudnn = use_cudnn});
}
inline Variable max_pooling_2d(const Variable& x, Pair ksize, Pair stride, Pair pad, const MaxPoolingOptions& more) {
  return max_pooling_2d(x, ksize, internal::placed(more, stride, pad));
}

struct MaxPoolingNdOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  std::optional<Lengths> stride = {};  // default: ksize
  Lengths pad = 0;
  bool cover_all = true;
  std::optional<bool> use_cudnn = {};
};
CATENA_EXPORT Variable max_pooling_nd(const Variable& x, const Lengths& ksize, const MaxPoolingNdOptions& options = {});
// max_pooling_nd(x, 3, {2, 1, 1}, 1)
inline Variable max_pooling_nd(const Variable& x, const Lengths& ksize, const Lengths& stride, const Lengths& pad = 0,
                               bool cover_all = true, std::optional<bool> use_cudnn = {}) {
  return max_pooling_nd(
      x, ksize, MaxPoolingNdOptions{.stride = stride, .pad = pad, .cover_all = cover_all, .use_cudnn = use_cudnn});
}
inline Variable max_pooling_nd(const Variable& x, const Lengths& ksize, const Lengths& stride, const Lengths& pad,
                               const MaxPoolingNdOptions& more) {
  return max_pooling_nd(x, ksize, internal::placed(more, stride, pad));
}

// auto [y, indices] = max_pooling_2d(x, 2, {}, return_indices);
struct ReturnIndices {};
inline constexpr ReturnIndices return_indices{};
struct MaxPoolingResult {
  Variable y;
  Array indices;  // int32, of the shape of y: the row-major position of the maximum in its window, padding included
};
CATENA_EXPORT MaxPoolingResult max_pooling_2d(const Variable& x, Pair ksize, const MaxPoolingOptions& options,
                                              ReturnIndices);
CATENA_EXPORT MaxPoolingResult max_pooling_nd(const Variable& x, const Lengths& ksize,
                                              const MaxPoolingNdOptions& options, ReturnIndices);

// ---- averages -----------------------------------------------------------------------------------
struct AveragePoolingOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  std::optional<Pair> stride = {};  // default: ksize
  Pair pad = 0;
  std::optional<double> pad_value = 0.0;  // zeros that count in the divisor kh kw; {}: the padding does not count
  std::optional<bool> use_cudnn = {};
};
CATENA_EXPORT Variable average_pooling_2d(const Variable& x, Pair ksize, const AveragePoolingOptions& options = {});
// average_pooling_2d(x, 3, 2, 1)
inline Variable average_pooling_2d(const Variable& x, Pair ksize, Pair stride, Pair pad = 0,
                                   std::optional<bool> use_cudnn = {}) {
  return average_pooling_2d(x, ksize, AveragePoolingOptions{.stride = stride, .pad = pad, .use_cudnn = use_cudnn});
}
inline Variable average_pooling_2d(const Variable& x, Pair ksize, Pair stride, Pair pad,
                                   const AveragePoolingOptions& more) {
  return average_pooling_2d(x, ksize, internal::placed(more, stride, pad));
}

struct AveragePoolingNdOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  std::optional<Lengths> stride = {};
  Lengths pad = 0;
  std::optional<double> pad_value = 0.0;  // as in two dimensions; ValueError for other numbers than 0
  std::optional<bool> use_cudnn = {};
};
// As average_pooling_2d, in any number of dimensions.
CATENA_EXPORT Variable average_pooling_nd(const Variable& x, const Lengths& ksize,
                                          const AveragePoolingNdOptions& options = {});
inline Variable average_pooling_nd(const Variable& x, const Lengths& ksize, const Lengths& stride,
                                   const Lengths& pad = 0, std::optional<bool> use_cudnn = {}) {
  return average_pooling_nd(x, ksize, AveragePoolingNdOptions{.stride = stride, .pad = pad, .use_cudnn = use_cudnn});
}
inline Variable average_pooling_nd(const Variable& x, const Lengths& ksize, const Lengths& stride, const Lengths& pad,
                                   const AveragePoolingNdOptions& more) {
  return average_pooling_nd(x, ksize, internal::placed(more, stride, pad));
}

// ---- inverses -----------------------------------------------------------------------------------
struct UnpoolingOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  std::optional<Lengths> stride = {};  // default: ksize
  Lengths pad = 0;
  // The spatial lengths of the result; pooling them must give the lengths of x (else InvalidType). Default: s (n - 1) +
  // k - 2 p; with cover_all, the smallest length.
  std::optional<Lengths> outsize = {};
  bool cover_all = true;
};
// Writes every element of x to its whole window; elements of overlapping windows are added.
CATENA_EXPORT Variable unpooling_2d(const Variable& x, const Lengths& ksize, const UnpoolingOptions& options = {});
CATENA_EXPORT Variable unpooling_nd(const Variable& x, const Lengths& ksize, const UnpoolingOptions& options = {});
// unpooling_2d(x, 3, 2, 1), unpooling_nd(x, 3, {2, 1, 1}, 0, {7, 5, 5})
inline Variable unpooling_2d(const Variable& x, const Lengths& ksize, const Lengths& stride, const Lengths& pad = 0) {
  return unpooling_2d(x, ksize, UnpoolingOptions{.stride = stride, .pad = pad});
}
inline Variable unpooling_2d(const Variable& x, const Lengths& ksize, const Lengths& stride, const Lengths& pad,
                             const Lengths& outsize, bool cover_all = true) {
  return unpooling_2d(x, ksize,
                      UnpoolingOptions{.stride = stride, .pad = pad, .outsize = outsize, .cover_all = cover_all});
}
inline Variable unpooling_nd(const Variable& x, const Lengths& ksize, const Lengths& stride, const Lengths& pad = 0) {
  return unpooling_nd(x, ksize, UnpoolingOptions{.stride = stride, .pad = pad});
}
inline Variable unpooling_nd(const Variable& x, const Lengths& ksize, const Lengths& stride, const Lengths& pad,
                             const Lengths& outsize, bool cover_all = true) {
  return unpooling_nd(x, ksize,
                      UnpoolingOptions{.stride = stride, .pad = pad, .outsize = outsize, .cover_all = cover_all});
}
// Writes every element of x to the position in its window that max pooling returned as index; 0 elsewhere. `indexes`
// has the shape of x (InvalidType).
CATENA_EXPORT Variable upsampling_2d(const Variable& x, const Array& indexes, const Lengths& ksize,
                                     const UnpoolingOptions& options = {});
inline Variable upsampling_2d(const Variable& x, const Array& indexes, const Lengths& ksize, const Lengths& stride,
                              const Lengths& pad = 0) {
  return upsampling_2d(x, indexes, ksize, UnpoolingOptions{.stride = stride, .pad = pad});
}
inline Variable upsampling_2d(const Variable& x, const Array& indexes, const Lengths& ksize, const Lengths& stride,
                              const Lengths& pad, const Lengths& outsize, bool cover_all = true) {
  return upsampling_2d(x, indexes, ksize,
                       UnpoolingOptions{.stride = stride, .pad = pad, .outsize = outsize, .cover_all = cover_all});
}

// ---- regions ------------------------------------------------------------------------------------
// Returns the maxima of outh x outw bins of regions of x (B, C, H, W) -> (R, C, outh, outw). rois (R, 5) are floating
// rows {image, x_min, y_min, x_max, y_max}; corners are multiplied by spatial_scale, rounded (halves away from zero)
// and inclusive. A region with a maximum below its minimum has one pixel. An empty bin is 0 and has no gradient. In
// debug mode, an image index out of range is a ValueError; otherwise its bins are empty. rois has no gradient.
CATENA_EXPORT Variable roi_pooling_2d(const Variable& x, const Variable& rois, int outh, int outw,
                                      double spatial_scale);

// The value that a region gives: its maximum or its average.
enum class PoolingClass { max, average };
// Max pooling of the whole image into 1, 4, ... 4^(pyramid_height - 1) bins, concatenated: (n, c, h, w) -> (n, c (1 + 4
// + ...), 1, 1). ValueError for images that cannot be divided into so many bins; NotImplementedError for average
// pooling.
CATENA_EXPORT Variable spatial_pyramid_pooling_2d(const Variable& x, int pyramid_height,
                                                  PoolingClass pooling_class = PoolingClass::max,
                                                  const CudnnOptions& options = {});
template <std::same_as<bool> B>
Variable spatial_pyramid_pooling_2d(const Variable& x, int pyramid_height, PoolingClass pooling_class, B use_cudnn) {
  return spatial_pyramid_pooling_2d(x, pyramid_height, pooling_class, CudnnOptions{use_cudnn});
}

}  // namespace nn
