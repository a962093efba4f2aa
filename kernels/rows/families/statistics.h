// The rows of kernels/reduction/statistics.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_STATISTICS_ROWS(ROW) \
  ROW(var, own)
// clang-format on

namespace catena::rows {
CATENA_STATISTICS_ROWS(CATENA_DECLARE_ROW)
}
