// The rows of kernels/segment.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_SEGMENT_ROWS(ROW) \
  ROW(segment_starts, internal) \
  ROW(segment_sum, internal)
// clang-format on

namespace catena::rows {
CATENA_SEGMENT_ROWS(CATENA_DECLARE_ROW)
}
