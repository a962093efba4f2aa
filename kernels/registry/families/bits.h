// The kernels of kernels/bits.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_BITS_KERNELS(KERNEL) \
  KERNEL(packbits, own) \
  KERNEL(unpackbits, own)
// clang-format on

namespace catena::kernels {
CATENA_BITS_KERNELS(CATENA_DECLARE_KERNEL)
}
