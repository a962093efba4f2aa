// NnExtension by cuDNN 9, for float16, bfloat16, float32 and float64 arrays on CUDA: convolutions, batch normalization
// and recurrent networks. Pooling, and cases that cuDNN does not support, use the portable implementation. Internal to
// this folder.
#pragma once

#include <memory>

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

CATENA_EXPORT bool cudnn_is_disabled();  // by the environment variable CHAINER_CUDNN=0
// Once per program, if cuDNN is not found although it is not disabled: a RuntimeWarning that says what is slower, and
// what to install or to set.
CATENA_EXPORT void warn_without_cudnn();
// Null when cuDNN cannot be loaded or CHAINER_CUDNN=0 disables it.
CATENA_EXPORT NnExtension* cudnn_extension();
// A new instance, whether or not cuDNN can be loaded: if not, its functions throw RuntimeError.
CATENA_EXPORT std::unique_ptr<NnExtension> make_cudnn_extension();

}  // namespace autograd::internal
