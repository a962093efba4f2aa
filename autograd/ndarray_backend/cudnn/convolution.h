// Convolutions by cuDNN. Internal to the folder ndarray_backend.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal::cudnn {

// Computes a convolution of non-empty arrays over one to three spatial axes. Returns null if cuDNN has no plan.
Array convolution(const Convolution& c);

}  // namespace autograd::internal::cudnn
