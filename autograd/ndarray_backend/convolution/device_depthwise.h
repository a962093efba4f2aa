// Convolutions with one filter per channel of arrays on CUDA, by kernels of ndarray/cuda. Internal to this folder.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

// True for images over two axes with one square filter of 3, 5 or 7 elements per channel, which moves by 1 or 2.
CATENA_EXPORT bool suits_device_depthwise(const Convolution& c);
// The result has the memory layout of the images: channels last, or contiguous. It does not depend on the device.
CATENA_EXPORT Array device_depthwise_convolution(const Convolution& c);

}  // namespace autograd::internal
