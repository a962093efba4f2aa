// The rows of kernels/nn/softmax.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_SOFTMAX_ROWS(ROW) \
  ROW(softmax, own)              \
  ROW(log_softmax, internal)     \
  ROW(softmax_bwd, internal)     \
  ROW(log_softmax_bwd, internal)
// clang-format on

namespace catena::rows {
CATENA_SOFTMAX_ROWS(CATENA_DECLARE_ROW)
}
