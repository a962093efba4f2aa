// The kernels of kernels/elementwise/logic.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_LOGIC_KERNELS(KERNEL) \
  KERNEL(logical_and, binary)                                                  \
  KERNEL(logical_or, binary)                                                   \
  KERNEL(logical_xor, binary)                                                  \
  KERNEL(logical_not, unary)  /* every value but 0 counts as true, also NaN */ \
  KERNEL(where, own)
// clang-format on

namespace catena::kernels {
CATENA_LOGIC_KERNELS(CATENA_DECLARE_KERNEL)
}
