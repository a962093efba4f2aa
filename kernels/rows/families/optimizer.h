// The rows of kernels/training/optimizer.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_OPTIMIZER_ROWS(ROW) \
  ROW(sgd_update, internal)            \
  ROW(momentum_sgd_update, internal)   \
  ROW(nesterov_ag_update, internal)    \
  ROW(ada_grad_update, internal)       \
  ROW(ada_delta_update, internal)      \
  ROW(adam_update, internal)           \
  ROW(rmsprop_update, internal)        \
  ROW(rmsprop_graves_update, internal) \
  ROW(smorms3_update, internal)        \
  ROW(weight_decay, internal)          \
  ROW(lasso, internal)                 \
  ROW(scale_by, internal)              \
  ROW(gradient_hard_clip, internal)
// clang-format on

namespace catena::rows {
CATENA_OPTIMIZER_ROWS(CATENA_DECLARE_ROW)
}
