// The option use_cudnn of functions that the reference may give to cuDNN.
#pragma once

#include <optional>

namespace autograd {

// For arrays on CUDA: false computes the call and its gradients by the library's own kernels; without a value the
// thread's configuration decides (config.h). No effect on other devices.
//
// Convolutions, batch normalization and the recurrent functions n_step_* are the functions that cuDNN computes. All
// others use the library's own kernels in any case: they take the option as the reference does, and it has no effect.
struct CudnnOptions {
  std::optional<bool> use_cudnn = {};
};

}  // namespace autograd
