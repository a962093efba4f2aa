// The kernels of kernels/nn/activation.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_ACTIVATION_KERNELS(KERNEL) \
  KERNEL(relu, internal)             \
  KERNEL(relu_bwd, internal)         \
  KERNEL(clipped_relu, internal)     \
  KERNEL(clipped_relu_bwd, internal) \
  KERNEL(sigmoid, internal)          \
  KERNEL(sigmoid_bwd, internal)      \
  KERNEL(tanh_bwd, internal)         \
  KERNEL(leaky_relu, internal)       \
  KERNEL(leaky_relu_bwd, internal)   \
  KERNEL(elu, internal)              \
  KERNEL(elu_bwd, internal)          \
  KERNEL(softplus, internal)         \
  KERNEL(softplus_bwd, internal)     \
  KERNEL(hard_sigmoid, internal)     \
  KERNEL(hard_sigmoid_bwd, internal)
// clang-format on

namespace catena::kernels {
CATENA_ACTIVATION_KERNELS(CATENA_DECLARE_KERNEL)
}
