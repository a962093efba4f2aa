// The rows of kernels/reduction/sum.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_SUM_ROWS(ROW) \
  ROW(sum, own)              \
  ROW(prod, own)             \
  ROW(mean, own)             \
  ROW(sum_squares, internal)
// clang-format on

namespace catena::rows {
CATENA_SUM_ROWS(CATENA_DECLARE_ROW)
}
