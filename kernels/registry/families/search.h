// The kernels of kernels/search.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_SEARCH_KERNELS(KERNEL) \
  KERNEL(searchsorted, own)
// clang-format on

namespace catena::kernels {
CATENA_SEARCH_KERNELS(CATENA_DECLARE_KERNEL)
}
