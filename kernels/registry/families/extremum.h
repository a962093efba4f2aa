// The kernels of kernels/reduction/extremum.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_EXTREMUM_KERNELS(KERNEL) \
  KERNEL(amax, own)  /* NaN if one is there; -0 is smaller than +0, wherever they stand */ \
  KERNEL(amin, own)  /* likewise */ \
  KERNEL(nanmax, own) \
  KERNEL(nanmin, own) \
  KERNEL(argmax, own) \
  KERNEL(argmin, own)
// clang-format on

namespace catena::kernels {
CATENA_EXTREMUM_KERNELS(CATENA_DECLARE_KERNEL)
}
