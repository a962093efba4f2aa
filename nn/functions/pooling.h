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
#include <string_view>

#include <catena/autograd/cudnn_options.h>
#include <catena/autograd/variable.h>
#include <catena/nn/functions/lengths.h>

namespace nn {

using autograd::Array;
using autograd::CudnnOptions;
using autograd::Variable;

// ---- maxima -------------------------------------------------------------------------------------
struct MaxPoolingOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  OptionalPair stride = {};  // default: ksize
  Pair pad = 0;              // padded with -infinity
  bool cover_all = true;
  std::optional<bool> use_cudnn = {};
};
// The gradient goes to the first maximum of a window in row-major order. ValueError for lengths above 2^30.
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
  [[no_unique_address]] catena::Named named = catena::Named();
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

// max_pooling_nd of x with one and with three spatial axes, (n, c, w) and (n, c, d, h, w); InvalidType for other ranks.
CATENA_EXPORT Variable max_pooling_1d(const Variable& x, const Lengths& ksize, const MaxPoolingNdOptions& options = {});
CATENA_EXPORT Variable max_pooling_3d(const Variable& x, const Lengths& ksize, const MaxPoolingNdOptions& options = {});
// max_pooling_1d(x, 3, 2, 1)
inline Variable max_pooling_1d(const Variable& x, const Lengths& ksize, const Lengths& stride, const Lengths& pad = 0,
                               bool cover_all = true, std::optional<bool> use_cudnn = {}) {
  return max_pooling_1d(
      x, ksize, MaxPoolingNdOptions{.stride = stride, .pad = pad, .cover_all = cover_all, .use_cudnn = use_cudnn});
}
inline Variable max_pooling_3d(const Variable& x, const Lengths& ksize, const Lengths& stride, const Lengths& pad = 0,
                               bool cover_all = true, std::optional<bool> use_cudnn = {}) {
  return max_pooling_3d(
      x, ksize, MaxPoolingNdOptions{.stride = stride, .pad = pad, .cover_all = cover_all, .use_cudnn = use_cudnn});
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
  [[no_unique_address]] catena::Named named = catena::Named();
  OptionalPair stride = {};  // default: ksize
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
  [[no_unique_address]] catena::Named named = catena::Named();
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

// average_pooling_nd of x with one and with three spatial axes; InvalidType for other ranks.
CATENA_EXPORT Variable average_pooling_1d(const Variable& x, const Lengths& ksize,
                                          const AveragePoolingNdOptions& options = {});
CATENA_EXPORT Variable average_pooling_3d(const Variable& x, const Lengths& ksize,
                                          const AveragePoolingNdOptions& options = {});
inline Variable average_pooling_1d(const Variable& x, const Lengths& ksize, const Lengths& stride,
                                   const Lengths& pad = 0) {
  return average_pooling_1d(x, ksize, AveragePoolingNdOptions{.stride = stride, .pad = pad});
}
inline Variable average_pooling_3d(const Variable& x, const Lengths& ksize, const Lengths& stride,
                                   const Lengths& pad = 0) {
  return average_pooling_3d(x, ksize, AveragePoolingNdOptions{.stride = stride, .pad = pad});
}

namespace internal {
// Pooling over disjoint windows of x (n, c, d1, ..., dN), for functions that compute their size.
CATENA_EXPORT Variable maximum_of_windows(const Variable& x, const Lengths& size);
CATENA_EXPORT Variable average_of_windows(const Variable& x, const Lengths& size);
}  // namespace internal

// ---- output sizes -------------------------------------------------------------------------------
// Pooling of (n, c, d1, ..., dN) to output_size along the N spatial axes, one length for all axes or one for each:
// position i of an axis of length d has the elements from floor(i d / o) to ceil((i + 1) d / o), as in PyTorch.
// ValueError for lengths below 1, and for an empty axis; InvalidType for less than one spatial axis. The gradient of a
// maximum goes to the first one.
CATENA_EXPORT Variable adaptive_average_pooling_nd(const Variable& x, const Lengths& output_size);
CATENA_EXPORT Variable adaptive_max_pooling_nd(const Variable& x, const Lengths& output_size);
// The same for images (n, c, h, w) only.
CATENA_EXPORT Variable adaptive_average_pooling_2d(const Variable& x, const Lengths& output_size);
CATENA_EXPORT Variable adaptive_max_pooling_2d(const Variable& x, const Lengths& output_size);
// The mean and the maximum over all spatial axes: (n, c, d1, ..., dN) -> (n, c). A gradient of equal maxima goes to
// each.
CATENA_EXPORT Variable global_average_pooling(const Variable& x);
CATENA_EXPORT Variable global_max_pooling(const Variable& x);

// ---- inverses -----------------------------------------------------------------------------------
struct UnpoolingOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<Lengths> stride = {};  // default: ksize
  Lengths pad = 0;
  // The spatial lengths of the result; pooling them must give the lengths of x (else InvalidType). Default: s (n - 1) +
  // k - 2 p; with cover_all, the smallest length.
  OptionalLengths outsize = {};
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
struct RoiPoolingOptions {
  int outh = 1, outw = 1;
  double spatial_scale = 1;
};
template <std::same_as<RoiPoolingOptions> O = RoiPoolingOptions>
Variable roi_pooling_2d(const Variable& x, const Variable& rois, const O& o) {
  return roi_pooling_2d(x, rois, o.outh, o.outw, o.spatial_scale);
}

struct RoiAlignOptions {
  double spatial_scale = 1;  // the corners are multiplied by it
  // Points of a bin along each axis at which x is interpolated; 0: the length of the bin, rounded up.
  int sampling_ratio = 0;
  bool aligned = false;  // corners are moved by half a pixel, as torchvision's aligned=True
};
// Returns the averages or maxima of x (B, C, H, W) at points inside of outsize bins of regions: (R, C, outh, outw).
// rois (R, 4) are {y_min, x_min, y_max, x_max} and roi_indices (R) their images. Corners are not rounded; the values of
// x are interpolated linearly between its pixels and are 0 further than a pixel outside. ValueError for sizes below
// 1, a negative sampling_ratio and image numbers out of range; InvalidType for other shapes and dtypes. Reads rois and
// roi_indices on the host; they have no gradient.
CATENA_EXPORT Variable roi_average_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                            Pair outsize, const RoiAlignOptions& options = {});
CATENA_EXPORT Variable roi_max_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                        Pair outsize, const RoiAlignOptions& options = {});
// By position, as in Chainer: roi_average_align_2d(x, rois, roi_indices, 7, 0.25, 2).
template <class N>
Variable roi_average_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices, Pair outsize,
                              N spatial_scale, int sampling_ratio = 0) requires std::is_arithmetic_v<N> {
  return roi_average_align_2d(x, rois, roi_indices, outsize, RoiAlignOptions{double(spatial_scale), sampling_ratio});
}
template <class N>
Variable roi_max_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices, Pair outsize,
                          N spatial_scale, int sampling_ratio = 0) requires std::is_arithmetic_v<N> {
  return roi_max_align_2d(x, rois, roi_indices, outsize, RoiAlignOptions{double(spatial_scale), sampling_ratio});
}
// Returns the averages or maxima of the pixels of the bins: corners are multiplied by spatial_scale and rounded (halves
// away from zero), y_max and x_max are behind the last pixel, as in later versions of Chainer. An empty bin is 0; other
// arguments and errors as above.
CATENA_EXPORT Variable roi_average_pooling_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                              Pair outsize, double spatial_scale);
CATENA_EXPORT Variable roi_max_pooling_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                          Pair outsize, double spatial_scale);
// Returns the numbers of the boxes (N, 4), {y_min, x_min, y_max, x_max}, that remain, in the order of decreasing scores
// (N), when each box removes those of lower scores whose intersection over union with it is above the threshold.
// {x_min, y_min, x_max, y_max} gives the same. int64, on the device of the boxes; computed on the host; no gradient.
// InvalidType for other shapes and dtypes.
CATENA_EXPORT Variable nms(const Variable& boxes, const Variable& scores, double iou_threshold);

// The value that a region gives: its maximum or its average.
enum class PoolingClass { max, average };
// Max pooling of the whole image into 1, 4, ... 4^(pyramid_height - 1) bins, concatenated: (n, c, h, w) -> (n, c (1 + 4
// + ...), 1, 1). ValueError for images that cannot be divided into so many bins; NotImplementedError for average
// pooling.
CATENA_EXPORT Variable spatial_pyramid_pooling_2d(const Variable& x, int pyramid_height,
                                                  PoolingClass pooling_class = PoolingClass::max,
                                                  const CudnnOptions& options = {});
// With the text of later versions of Chainer, "max"; ValueError for others.
template <std::convertible_to<std::string_view> S>
Variable spatial_pyramid_pooling_2d(const Variable& x, int pyramid_height, const S& pooling) {
  catena::check<catena::ValueError>(std::string_view(pooling) == "max", "spatial_pyramid_pooling_2d", "the pooling \"",
                                    std::string_view(pooling), "\" is not \"max\"");
  return spatial_pyramid_pooling_2d(x, pyramid_height);
}
template <std::same_as<bool> B>
Variable spatial_pyramid_pooling_2d(const Variable& x, int pyramid_height, PoolingClass pooling_class, B use_cudnn) {
  return spatial_pyramid_pooling_2d(x, pyramid_height, pooling_class, CudnnOptions{use_cudnn});
}

// torchvision's module.
namespace ops {
using nn::nms;
// The areas (N) of boxes (N, 4), and the intersection over union (N, M) of each of N boxes with each of M: the area of
// their intersection divided by that of their union, NaN if both are empty. InvalidType for other shapes.
CATENA_EXPORT Variable box_area(const Variable& boxes);
CATENA_EXPORT Variable box_iou(const Variable& boxes1, const Variable& boxes2);
}  // namespace ops

}  // namespace nn
