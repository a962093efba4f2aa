// The kernels of kernels/reduction/logical.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_LOGICAL_KERNELS(KERNEL) \
  KERNEL(all, own)           \
  KERNEL(any, own)           \
  KERNEL(count_nonzero, own)
// clang-format on

namespace catena::kernels {
CATENA_LOGICAL_KERNELS(CATENA_DECLARE_KERNEL)
}
