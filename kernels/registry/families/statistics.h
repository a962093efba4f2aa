// The kernels of kernels/reduction/statistics.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_STATISTICS_KERNELS(KERNEL) \
  KERNEL(var, own)
// clang-format on

namespace catena::kernels {
CATENA_STATISTICS_KERNELS(CATENA_DECLARE_KERNEL)
}
