// The kernels of kernels/elementwise/trigonometric.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_TRIGONOMETRIC_KERNELS(KERNEL) \
  KERNEL(sin, unary)                                 \
  KERNEL(cos, unary)                                 \
  KERNEL(tan, unary)                                 \
  KERNEL(arcsin, unary)  /* NaN outside [-1, 1] */   \
  KERNEL(arccos, unary)  /* NaN outside [-1, 1] */   \
  KERNEL(arctan, unary)                              \
  KERNEL(arctan2, binary)  /* angle of the point (x2, x1) */ \
  KERNEL(hypot, binary)  /* sqrt(x1^2 + x2^2) to 1.5 ulp, no square overflows; inf beside NaN: inf; one result */ \
  KERNEL(deg2rad, unary)                             \
  KERNEL(rad2deg, unary)
// clang-format on

namespace catena::kernels {
CATENA_TRIGONOMETRIC_KERNELS(CATENA_DECLARE_KERNEL)
}
