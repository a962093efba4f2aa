// The kernels of kernels/nn/im2col.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_IM2COL_KERNELS(KERNEL) \
  KERNEL(im2col_2d, internal) \
  KERNEL(col2im_2d, internal)
// clang-format on

namespace catena::kernels {
CATENA_IM2COL_KERNELS(CATENA_DECLARE_KERNEL)
}
