// The kernels of kernels/segment.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_SEGMENT_KERNELS(KERNEL) \
  KERNEL(segment_starts, internal) \
  KERNEL(segment_sum, internal)
// clang-format on

namespace catena::kernels {
CATENA_SEGMENT_KERNELS(CATENA_DECLARE_KERNEL)
}
