// The rows of kernels/reduction/logical.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_LOGICAL_ROWS(ROW) \
  ROW(all, own)           \
  ROW(any, own)           \
  ROW(count_nonzero, own)
// clang-format on

namespace catena::rows {
CATENA_LOGICAL_ROWS(CATENA_DECLARE_ROW)
}
