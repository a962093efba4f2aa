// The rows of kernels/nn/dropout.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_DROPOUT_ROWS(ROW) \
  ROW(dropout, internal)
// clang-format on

namespace catena::rows {
CATENA_DROPOUT_ROWS(CATENA_DECLARE_ROW)
}
