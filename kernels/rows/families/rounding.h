// The rows of kernels/elementwise/rounding.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_ROUNDING_ROWS(ROW) \
  ROW(rint, unary)  /* to the nearest, ties to even; gives floats for integers */                    \
  ROW(floor, unary)  /* integers and bools stay as they are, as for the functions that follow */     \
  ROW(ceil, unary)                                                                                   \
  ROW(trunc, unary)  /* toward zero */                                                               \
  ROW(fix, unary)  /* as trunc */
// clang-format on

namespace catena::rows {
CATENA_ROUNDING_ROWS(CATENA_DECLARE_ROW)
}
