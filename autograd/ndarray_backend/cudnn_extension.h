// NnExtension by cuDNN 9: convolutions of float16, bfloat16, float32 and float64 arrays on CUDA. What cuDNN cannot do is left to the
// portable implementation. Internal to this folder.
#pragma once

#include "autograd/backend/nn_extension.h"

namespace autograd::internal {

// Null where cuDNN cannot be used, and when CHAINER_CUDNN=0 says that it shall not be.
CATENA_EXPORT NnExtension* cudnn_extension();

}  // namespace autograd::internal
