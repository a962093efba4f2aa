// Convolutions with filters of one element, as matrix products, one per image. The channels stay in place, while a
// library would first make the channels of every pixel contiguous. Internal to this folder.
#pragma once

#include <catena/autograd/ndarray_backend/convolution/operands.h>

namespace autograd::internal {

Array pointwise_convolution(const Convolution& c);

}  // namespace autograd::internal
