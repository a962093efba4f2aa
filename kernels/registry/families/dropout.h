// The kernels of kernels/nn/dropout.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_DROPOUT_KERNELS(KERNEL) \
  KERNEL(dropout, internal)
// clang-format on

namespace catena::kernels {
CATENA_DROPOUT_KERNELS(CATENA_DECLARE_KERNEL)
}
