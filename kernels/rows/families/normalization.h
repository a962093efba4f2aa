// The rows of kernels/nn/normalization.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_NORMALIZATION_ROWS(ROW) \
  ROW(batch_norm_fwd, internal)     \
  ROW(batch_norm_bwd, internal)     \
  ROW(fixed_batch_norm, internal)   \
  ROW(layer_norm_fwd, internal)     \
  ROW(layer_norm_bwd, internal)     \
  ROW(layer_norm_ggamma, internal)  \
  ROW(squared_difference, internal) \
  ROW(batch_norm_write, internal)   \
  ROW(batch_norm_ggamma, internal)  \
  ROW(batch_norm_gx, internal)
// clang-format on

namespace catena::rows {
CATENA_NORMALIZATION_ROWS(CATENA_DECLARE_ROW)
}
