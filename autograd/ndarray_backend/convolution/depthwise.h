// Convolutions with one filter per channel, over one or two spatial axes, of arrays whose planes (the images of one
// channel) are contiguous: each plane is convolved where it lies, while a library would reorder the channels first.
// Results do not depend on the number of threads. Internal to this folder.
#pragma once

#include <cstdint>

#include <catena/autograd/ndarray_backend/convolution/operands.h>

namespace autograd::internal {

struct DepthwiseSizes {
  ConvolutionAxis y, x;
  std::int64_t channels;
};

// Planes `begin` to `end` of the batch's images times channels. `bias` may be null. `scratch` has as many floats as
// depthwise_scratch() says.
struct DepthwiseCall {
  const DepthwiseSizes& sizes;
  std::int64_t begin, end;
  float* scratch;
};
std::int64_t depthwise_scratch(const DepthwiseSizes& sizes);
void depthwise_forward(const DepthwiseCall& call, const float* x, const float* w, const float* bias, float* y);
void depthwise_backward_data(const DepthwiseCall& call, const float* w, const float* gy, float* gx);
// The products of each plane alone: gw has shape (planes, taps).
void depthwise_backward_filter(const DepthwiseCall& call, const float* x, const float* gy, float* gw);

// Null where these kernels are not the ones to use: more or less than one filter per channel, other dtypes, and
// activations whose channels are innermost.
Array depthwise_convolution(const Array& x, const Array& w, const Array& b, const Shape& y_shape,
                            const ConvolutionSpec& spec);
Array depthwise_convolution_backward_data(const Array& w, const Array& gy, const Shape& x_shape,
                                          const ConvolutionSpec& spec);
Array depthwise_convolution_backward_filter(const Array& x, const Array& gy, const Shape& w_shape,
                                            const ConvolutionSpec& spec);

}  // namespace autograd::internal
