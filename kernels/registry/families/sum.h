// The kernels of kernels/reduction/sum.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_SUM_KERNELS(KERNEL) \
  KERNEL(sum, own)              \
  KERNEL(prod, own)             \
  KERNEL(mean, own)             \
  KERNEL(sum_squares, internal)
// clang-format on

namespace catena::kernels {
CATENA_SUM_KERNELS(CATENA_DECLARE_KERNEL)
}
