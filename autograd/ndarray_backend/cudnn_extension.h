// NnExtension by cuDNN 9, for float16, bfloat16, float32 and float64 arrays on CUDA: convolutions, average pooling,
// batch normalization and recurrent networks. What cuDNN cannot do is left to the portable implementation. Internal to
// this folder.
#pragma once

#include <memory>

#include <catena/autograd/backend/nn_extension.h>

namespace autograd::internal {

// Null where cuDNN cannot be used, and when CHAINER_CUDNN=0 says that it shall not be.
CATENA_EXPORT NnExtension* cudnn_extension();
// One of its own, whether or not cuDNN can be used: its functions then throw RuntimeError.
CATENA_EXPORT std::unique_ptr<NnExtension> make_cudnn_extension();

}  // namespace autograd::internal
