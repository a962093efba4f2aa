// Convolutions with filters of one element, as matrix products, one per image. The channels stay in place, while a
// library would first make the channels of every pixel contiguous. Internal to this folder.
#pragma once

#include <catena/autograd/ndarray_backend/convolution/operands.h>

namespace autograd::internal {

// Return null where a product does not apply or is slower: for other filters, strides, padding and groups, for
// innermost channels, and for few pixels with many channels.
Array pointwise_convolution(const Array& x, const Array& w, const Array& b, const Shape& y_shape,
                            const ConvolutionSpec& spec);
Array pointwise_convolution_backward_data(const Array& w, const Array& gy, const Shape& x_shape,
                                          const ConvolutionSpec& spec);
Array pointwise_convolution_backward_filter(const Array& x, const Array& gy, const Shape& w_shape,
                                            const ConvolutionSpec& spec);

}  // namespace autograd::internal
