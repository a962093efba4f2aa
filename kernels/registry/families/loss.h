// The kernels of kernels/nn/loss.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_LOSS_KERNELS(KERNEL) \
  KERNEL(cross_entropy_pick, internal) \
  KERNEL(cross_entropy_bwd, internal)  \
  KERNEL(one_hot, internal)            \
  KERNEL(ctc_step, internal)           \
  KERNEL(ctc_share, internal)
// clang-format on

namespace catena::kernels {
CATENA_LOSS_KERNELS(CATENA_DECLARE_KERNEL)
}
