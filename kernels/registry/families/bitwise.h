// The kernels of kernels/elementwise/bitwise.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_BITWISE_KERNELS(KERNEL) \
  KERNEL(bitwise_and, binary)  /* integers and bools; TypeError for floats, as all bit functions */                  \
  KERNEL(bitwise_or, binary)                                                                                         \
  KERNEL(bitwise_xor, binary)                                                                                        \
  KERNEL(invert, unary)  /* bits; logical not of bools; TypeError for floats */                                      \
  KERNEL(left_shift, binary)  /* a count outside [0, bits) gives 0 */                                                \
  KERNEL(right_shift, binary)  /* arithmetic for signed integers; a count outside [0, bits) shifts everything out */
// clang-format on

namespace catena::kernels {
CATENA_BITWISE_KERNELS(CATENA_DECLARE_KERNEL)
}
