// The kernels of kernels/nn/normalization.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_NORMALIZATION_KERNELS(KERNEL) \
  KERNEL(batch_norm_fwd, internal)     \
  KERNEL(batch_norm_bwd, internal)     \
  KERNEL(fixed_batch_norm, internal)   \
  KERNEL(layer_norm_fwd, internal)     \
  KERNEL(layer_norm_bwd, internal)     \
  KERNEL(layer_norm_ggamma, internal)  \
  KERNEL(squared_difference, internal) \
  KERNEL(batch_norm_write, internal)   \
  KERNEL(batch_norm_ggamma, internal)  \
  KERNEL(batch_norm_gx, internal)
// clang-format on

namespace catena::kernels {
CATENA_NORMALIZATION_KERNELS(CATENA_DECLARE_KERNEL)
}
