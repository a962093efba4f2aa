// The algorithms for convolutions. Internal to the folder ndarray_backend.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

// Computes a convolution by the first algorithm of the list in choose.cpp that applies.
Array convolve(const Convolution& c);

}  // namespace autograd::internal
