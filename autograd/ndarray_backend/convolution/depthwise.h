// Convolutions with one filter per channel, over one or two spatial axes, of arrays whose planes (the images of one
// channel) are contiguous. Each plane is convolved in place, while a library would reorder the channels first. Results
// do not depend on the number of threads. Internal to this folder.
#pragma once

#include <cstdint>

#include <catena/autograd/ndarray_backend/convolution/operands.h>

namespace autograd::internal {

struct DepthwiseSizes {
  ConvolutionAxis y, x;
  std::int64_t channels;
};

// The planes `begin` to `end`, of images times channels. `bias` may be null. `scratch` has depthwise_scratch() floats.
struct DepthwiseCall {
  const DepthwiseSizes& sizes;
  std::int64_t begin, end;
  float* scratch;
};
std::int64_t depthwise_scratch(const DepthwiseSizes& sizes);
void depthwise_forward(const DepthwiseCall& call, const float* x, const float* w, const float* bias, float* y);
void depthwise_backward_data(const DepthwiseCall& call, const float* w, const float* gy, float* gx);
// Computes the gradient of the filter from each plane separately: gw has shape (planes, taps).
void depthwise_backward_filter(const DepthwiseCall& call, const float* x, const float* gy, float* gw);

Array depthwise_convolution(const Convolution& c);

}  // namespace autograd::internal
