// The rows of kernels/nn/im2col.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_IM2COL_ROWS(ROW) \
  ROW(im2col_2d, internal) \
  ROW(col2im_2d, internal)
// clang-format on

namespace catena::rows {
CATENA_IM2COL_ROWS(CATENA_DECLARE_ROW)
}
