// Convolutions with one filter per channel, for the framework.
#pragma once

#include <catena/ndarray/cuda/plans/plan.h>
#include <catena/ndarray/device/stream.h>

namespace nd::cuda {

// Square filters of 3, 5 or 7 elements that move by 1 or 2 over images (images, channels, height, width), which are
// dense with the channels in the second or in the last place in memory; filters (channels, kernel, kernel).
struct DepthwiseCall {
  enum class Pass : std::uint8_t {
    forward,  // y from x, w, bias
    data,     // x from w and y
    filter    // `partial` from x and y
  };
  Pass pass = Pass::forward;
  Dtype dtype = Dtype::float32;
  bool channels_last = false;
  int kernel = 3, stride = 1;
  std::int64_t images = 0, channels = 0;
  std::int64_t height = 0, width = 0, out_height = 0, out_width = 0;  // of x and y, each with fewer than 2^31 elements
  std::int64_t pad_y = 0, pad_x = 0;
  std::byte *x = nullptr, *w = nullptr, *bias = nullptr, *y = nullptr;  // bias may be null
  std::byte* partial = nullptr;

  // The gradient of the filters is the sum of this many parts (pieces, channels, kernel, kernel), in the
  // compute type of the dtype. It does not depend on the device.
  CATENA_EXPORT std::int64_t pieces() const;
};

CATENA_EXPORT LaunchPlan plan_depthwise(const DepthwiseCall& call, int processors);
CATENA_EXPORT void depthwise(const DepthwiseCall& call, StreamRef stream);

}  // namespace nd::cuda
