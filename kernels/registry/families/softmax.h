// The kernels of kernels/nn/softmax.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_SOFTMAX_KERNELS(KERNEL) \
  KERNEL(softmax, own)              \
  KERNEL(log_softmax, internal)     \
  KERNEL(softmax_bwd, internal)     \
  KERNEL(log_softmax_bwd, internal)
// clang-format on

namespace catena::kernels {
CATENA_SOFTMAX_KERNELS(CATENA_DECLARE_KERNEL)
}
