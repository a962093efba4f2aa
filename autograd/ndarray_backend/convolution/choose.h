// Folder autograd/ndarray_backend/convolution: the choice of an algorithm for a convolution (this header), and the
// algorithms for arrays on the CPU that are not a library's: depthwise, pointwise, sampled, Winograd, and the gradients
// of filters with strides.
//
// The algorithms for convolutions. Internal to the folder ndarray_backend.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

// Computes a convolution by the first algorithm of the list in choose.cpp that applies.
Array convolve(const Convolution& c);

}  // namespace autograd::internal
