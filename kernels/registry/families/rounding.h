// The kernels of kernels/elementwise/rounding.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_ROUNDING_KERNELS(KERNEL) \
  KERNEL(rint, unary)  /* to the nearest, ties to even; gives floats for integers */                    \
  KERNEL(floor, unary)  /* integers and bools stay as they are, as for the functions that follow */     \
  KERNEL(ceil, unary)                                                                                   \
  KERNEL(trunc, unary)  /* toward zero */                                                               \
  KERNEL(fix, unary)  /* as trunc */
// clang-format on

namespace catena::kernels {
CATENA_ROUNDING_KERNELS(CATENA_DECLARE_KERNEL)
}
