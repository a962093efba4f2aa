// The kernels of kernels/nn/cell.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_CELL_KERNELS(KERNEL) \
  KERNEL(lstm, internal)  \
  KERNEL(slstm, internal) \
  KERNEL(lstm_bwd, internal)
// clang-format on

namespace catena::kernels {
CATENA_CELL_KERNELS(CATENA_DECLARE_KERNEL)
}
