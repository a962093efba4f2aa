// Folder autograd/ndarray_backend/cudnn: the interface of neural networks (nn_extension.h) by NVIDIA's cuDNN. This
// header is the entry; library.h loads the library, plans.h describes its calls.
//
// NnExtension by cuDNN 9, for float16, bfloat16, float32 and float64 arrays on CUDA: convolutions, batch normalization
// and recurrent networks. Pooling, and cases that cuDNN does not support, use the portable implementation. Internal to
// this folder.
#pragma once

#include <memory>

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

CATENA_EXPORT bool cudnn_is_disabled();  // by the environment variable CHAINER_CUDNN=0
// Called once per program if cuDNN is not found although it is not disabled: gives a RuntimeWarning with the slower
// operations and the ways to install cuDNN or to silence the warning.
CATENA_EXPORT void warn_without_cudnn();
// Returns null if cuDNN cannot be loaded or CHAINER_CUDNN=0 disables it.
CATENA_EXPORT NnExtension* cudnn_extension();
// Returns a new instance even if cuDNN cannot be loaded; its functions then throw a RuntimeError.
CATENA_EXPORT std::unique_ptr<NnExtension> make_cudnn_extension();

}  // namespace autograd::internal
