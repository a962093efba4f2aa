// The rows of kernels/elementwise/logic.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_LOGIC_ROWS(ROW) \
  ROW(logical_and, binary)                                                  \
  ROW(logical_or, binary)                                                   \
  ROW(logical_xor, binary)                                                  \
  ROW(logical_not, unary)  /* every value but 0 counts as true, also NaN */ \
  ROW(where, own)
// clang-format on

namespace catena::rows {
CATENA_LOGIC_ROWS(CATENA_DECLARE_ROW)
}
