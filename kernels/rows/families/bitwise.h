// The rows of kernels/elementwise/bitwise.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_BITWISE_ROWS(ROW) \
  ROW(bitwise_and, binary)  /* integers and bools; TypeError for floats, as all bit functions */                  \
  ROW(bitwise_or, binary)                                                                                         \
  ROW(bitwise_xor, binary)                                                                                        \
  ROW(invert, unary)  /* bits; logical not of bools; TypeError for floats */                                      \
  ROW(left_shift, binary)  /* a count outside [0, bits) gives 0 */                                                \
  ROW(right_shift, binary)  /* arithmetic for signed integers; a count outside [0, bits) shifts everything out */
// clang-format on

namespace catena::rows {
CATENA_BITWISE_ROWS(CATENA_DECLARE_ROW)
}
