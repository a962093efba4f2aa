// The rows of kernels/nn/loss.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_LOSS_ROWS(ROW) \
  ROW(cross_entropy_pick, internal) \
  ROW(cross_entropy_bwd, internal)  \
  ROW(one_hot, internal)            \
  ROW(ctc_step, internal)           \
  ROW(ctc_share, internal)
// clang-format on

namespace catena::rows {
CATENA_LOSS_ROWS(CATENA_DECLARE_ROW)
}
