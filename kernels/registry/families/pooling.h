// The kernels of kernels/nn/pooling.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_POOLING_KERNELS(KERNEL) \
  KERNEL(max_pool_first, internal)       \
  KERNEL(max_pool_step, internal)        \
  KERNEL(max_pool_step_bwd, internal)    \
  KERNEL(max_pool_2d, internal)          \
  KERNEL(max_pool_2d_bwd, internal)      \
  KERNEL(max_pool_2d_by_index, internal) \
  KERNEL(average_pool_2d, internal)      \
  KERNEL(average_pool_2d_bwd, internal)  \
  KERNEL(roi_max_pool_2d, internal)
// clang-format on

namespace catena::kernels {
CATENA_POOLING_KERNELS(CATENA_DECLARE_KERNEL)
}
