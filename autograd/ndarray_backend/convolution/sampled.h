// Convolutions with filters of one element and a stride read only some of the positions. These are copied to a dense
// array, the input of a convolution without strides, which libraries compute much faster. Internal to this folder.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

Array sampled_convolution(const Convolution& c);

}  // namespace autograd::internal
