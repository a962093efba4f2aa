#include <catena/autograd/ndarray_backend/convolution/choose.h>

#include <algorithm>

#include <catena/autograd/ndarray_backend/convolution/avx2.h>
#include <catena/autograd/ndarray_backend/convolution/depthwise.h>
#include <catena/autograd/ndarray_backend/convolution/device_depthwise.h>
#include <catena/autograd/ndarray_backend/convolution/pointwise.h>
#include <catena/autograd/ndarray_backend/convolution/sampled.h>
#include <catena/autograd/ndarray_backend/convolution/strided_filter.h>
#include <catena/autograd/ndarray_backend/convolution/winograd.h>
#include <catena/autograd/ndarray_backend/cudnn/convolution.h>
#include <catena/autograd/ndarray_backend/onednn/convolution.h>
#include <catena/autograd/nn_extension/convolution.h>

namespace autograd::internal {
namespace {

using Pass = Convolution::Pass;

bool always(const Convolution&) { return true; }

bool all_are(const Dims& d, std::int64_t v) {
  return std::all_of(d.begin(), d.end(), [v](std::int64_t n) { return n == v; });
}

// True where every channel has its own filter, the planes are contiguous, and convolving them in place is faster than
// oneDNN, which reorders the channels first.
bool suits_depthwise(const Convolution& c) {
  constexpr std::int64_t kLongest = 4096;     // longer rows would not stay in the cache
  constexpr std::int64_t kFewChannels = 8;    // most lanes of oneDNN's vectors of channels would be empty
  constexpr std::int64_t kSpecialFilter = 3;  // oneDNN has kernels for gradients of filters of at most this length
  constexpr std::int64_t kLeast = 1500, kLeastOfData = 200;      // pixels of y
  constexpr std::int64_t kLeastOfMany = 900, kMany = 1'000'000;  // pixels and elements of x
  const Array& images = c.images();
  const int last = images.ndim() - 1;
  if (c.w_shape[0] != c.spec.groups || c.w_shape[1] != 1 || images.shape(1) != c.spec.groups || last > 3 ||
      !images.is_c_contiguous() || std::max(images.shape(last), c.w_shape[last]) * c.spec.dilate[last - 2] > kLongest)
    return false;
  const std::int64_t pixels = pixels_of(c.y_shape);
  if (c.y_shape[1] < kFewChannels) return true;
  if (c.pass == Pass::data) return pixels >= kLeastOfData;
  const Dims taps = spatial_of(c.w_shape);
  // Reorders of many images cost more, because their results fall out of the cache.
  return pixels >= kLeast || (pixels_of(c.x_shape) >= kLeastOfMany && catena::size_of(c.x_shape) >= kMany) ||
         (c.pass == Pass::filter && *std::max_element(taps.begin(), taps.end()) > kSpecialFilter);
}

// True for filters of one element that read only some of the positions of the images.
bool suits_sampled(const Convolution& c) {
  for (int i = 0; i < c.spec.stride.size(); ++i)
    if ((c.y_shape[2 + i] - 1) * c.spec.stride[i] >= c.x_shape[2 + i]) return false;
  return all_are(spatial_of(c.w_shape), 1) && all_are(c.spec.pad, 0) && !all_are(c.spec.stride, 1);
}

// True for filters of one element on plain images. With few pixels and many weights, oneDNN's convolution is faster,
// because it processes the pixels of all images together.
bool suits_pointwise(const Convolution& c) {
  constexpr std::int64_t kPixels = 128, kWeights = 128 * 128;
  return all_are(spatial_of(c.w_shape), 1) && all_are(c.spec.stride, 1) && all_are(c.spec.pad, 0) &&
         c.spec.groups == 1 && (pixels_of(c.x_shape) >= kPixels || catena::size_of(c.w_shape) <= kWeights) &&
         c.images().is_c_contiguous() && (c.pass != Pass::filter || c.y.is_c_contiguous());
}

// True on processors with AVX2 for 3x3 filters without strides, of channels that fill the vectors, if there are enough
// positions. A multiplication takes as long as in a direct convolution, but there are 36 per tile instead of 9 per
// position; the transformation of one element of the filter takes as long as 26 tiles.
bool suits_winograd(const Convolution& c) {
  constexpr std::int64_t kLeastChannels = 32, kTilesOfFilter = 26;
  if (!avx2_is_widest() || c.x_shape.size() != 4 || c.spec.groups != 1 || !all_are(spatial_of(c.w_shape), 3) ||
      !all_are(c.spec.stride, 1) || !all_are(c.spec.dilate, 1))
    return false;
  for (const std::int64_t channels : {c.w_shape[0], c.w_shape[1]})
    if (channels < kLeastChannels || channels % kWinogradLanes != 0) return false;
  const Shape& result = c.pass == Pass::data ? c.x_shape : c.y_shape;
  const std::int64_t tiles = result[0] * ceil_divide(result[2], 4) * ceil_divide(result[3], 4);
  return 9 * result[0] * pixels_of(result) >= 43 * (tiles + kTilesOfFilter);
}

// True on processors with AVX2 for gradients of filters with strides, at which oneDNN's kernels wait for the cache.
bool suits_strided_filter(const Convolution& c) {
  constexpr std::int64_t kLeastChannels = 48, kLeastPositions = 128;
  const auto fills_panels = [](std::int64_t channels) {  // most lanes of the panels of channels
    return channels >= kLeastChannels &&
           5 * channels >= 4 * ceil_divide(channels, kStridedFilterLanes) * kStridedFilterLanes;
  };
  return c.pass == Pass::filter && avx2_is_widest() && c.x_shape.size() == 4 && c.spec.groups == 1 &&
         !all_are(c.spec.stride, 1) && c.spec.dilate[1] == 1 && fills_panels(c.w_shape[0]) &&
         fills_panels(c.w_shape[1]) && c.y_shape[0] * pixels_of(c.y_shape) >= kLeastPositions &&
         pixels_of(c.w_shape) > 1;
}

// The algorithms of a device, in order. `compute` returns null where a library has no implementation.
struct Algorithm {
  const char* name;
  bool (*suits)(const Convolution&);
  Array (*compute)(const Convolution&);
};
constexpr Algorithm kOnCuda[] = {
    // of every dtype
    {"depthwise", suits_device_depthwise, device_depthwise_convolution},
    {"cudnn", always, cudnn::convolution},
};
constexpr Algorithm kOnCpu[] = {
    // of float32
    {"depthwise", suits_depthwise, depthwise_convolution},
    {"sampled", suits_sampled, sampled_convolution},  // of a part of the images, by another algorithm
    {"pointwise", suits_pointwise, pointwise_convolution},
    {"winograd", suits_winograd, winograd_convolution},
    {"strided_filter", suits_strided_filter, strided_filter_gradient},
    {"onednn", always, onednn_convolution},
};
constexpr Algorithm kPortable{"portable", always, portable_convolution};

// Returns null if no algorithm of the list applies.
Array convolve_by(std::span<const Algorithm> algorithms, const Convolution& c) {
  for (const Algorithm& a : algorithms) {
    if (!a.suits(c)) continue;
    const Array result = a.compute(c);
    if (!result) continue;
    set_last_implementation(a.name);
    return result;
  }
  return {};
}

}  // namespace

Array convolve(const Convolution& c) {
  const Array& images = c.images();
  const bool on_cuda = images.device().kind == Device::Kind::cuda;
  if (!on_cuda && catena::itemsize(images.dtype()) < 4) return in_float32(c, convolve);
  const bool of_images = images.ndim() >= 3 && images.ndim() <= 5 && catena::size_of(c.x_shape) > 0 &&
                         catena::size_of(c.w_shape) > 0 && catena::size_of(c.y_shape) > 0;
  Array result;
  if (of_images && on_cuda) result = convolve_by(kOnCuda, c);
  if (of_images && !on_cuda && images.dtype() == Dtype::float32) result = convolve_by(kOnCpu, c);
  return result ? result : convolve_by({&kPortable, 1}, c);
}

}  // namespace autograd::internal
