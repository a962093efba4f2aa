// The rows of kernels/nn/pooling.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_POOLING_ROWS(ROW) \
  ROW(max_pool_first, internal)       \
  ROW(max_pool_step, internal)        \
  ROW(max_pool_step_bwd, internal)    \
  ROW(max_pool_2d, internal)          \
  ROW(max_pool_2d_bwd, internal)      \
  ROW(max_pool_2d_by_index, internal) \
  ROW(average_pool_2d, internal)      \
  ROW(average_pool_2d_bwd, internal)  \
  ROW(roi_max_pool_2d, internal)
// clang-format on

namespace catena::rows {
CATENA_POOLING_ROWS(CATENA_DECLARE_ROW)
}
