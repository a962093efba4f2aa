// The rows of kernels/nn/cell.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_CELL_ROWS(ROW) \
  ROW(lstm, internal)  \
  ROW(slstm, internal) \
  ROW(lstm_bwd, internal)
// clang-format on

namespace catena::rows {
CATENA_CELL_ROWS(CATENA_DECLARE_ROW)
}
