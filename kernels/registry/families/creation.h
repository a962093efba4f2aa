// The kernels of kernels/creation.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_CREATION_KERNELS(KERNEL) \
  KERNEL(arange, own) \
  KERNEL(linspace, own)
// clang-format on

namespace catena::kernels {
CATENA_CREATION_KERNELS(CATENA_DECLARE_KERNEL)
}
