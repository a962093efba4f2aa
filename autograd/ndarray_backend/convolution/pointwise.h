// Convolutions with filters of one element: products of matrices, one per image, of channels that stay where they lie,
// while a library would bring the channels of every pixel together first. Internal to this folder.
#pragma once

#include <catena/autograd/ndarray_backend/convolution/operands.h>

namespace autograd::internal {

// Null where a product is not what to use: other filters, strides, padding and groups, channels that are innermost, and
// few pixels of many channels.
Array pointwise_convolution(const Array& x, const Array& w, const Array& b, const Shape& y_shape,
                            const ConvolutionSpec& spec);
Array pointwise_convolution_backward_data(const Array& w, const Array& gy, const Shape& x_shape,
                                          const ConvolutionSpec& spec);
Array pointwise_convolution_backward_filter(const Array& x, const Array& gy, const Shape& w_shape,
                                            const ConvolutionSpec& spec);

}  // namespace autograd::internal
