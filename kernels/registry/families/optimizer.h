// The kernels of kernels/training/optimizer.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_OPTIMIZER_KERNELS(KERNEL) \
  KERNEL(sgd_update, internal)            \
  KERNEL(momentum_sgd_update, internal)   \
  KERNEL(nesterov_ag_update, internal)    \
  KERNEL(ada_grad_update, internal)       \
  KERNEL(ada_delta_update, internal)      \
  KERNEL(adam_update, internal)           \
  KERNEL(rmsprop_update, internal)        \
  KERNEL(rmsprop_graves_update, internal) \
  KERNEL(smorms3_update, internal)        \
  KERNEL(weight_decay, internal)          \
  KERNEL(lasso, internal)                 \
  KERNEL(scale_by, internal)              \
  KERNEL(gradient_hard_clip, internal)
// clang-format on

namespace catena::kernels {
CATENA_OPTIMIZER_KERNELS(CATENA_DECLARE_KERNEL)
}
