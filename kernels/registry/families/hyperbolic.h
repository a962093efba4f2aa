// The kernels of kernels/elementwise/hyperbolic.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_HYPERBOLIC_KERNELS(KERNEL) \
  KERNEL(sinh, unary)                                             \
  KERNEL(cosh, unary)                                             \
  KERNEL(tanh, unary)                                             \
  KERNEL(arcsinh, unary)                                          \
  KERNEL(arccosh, unary)  /* NaN below 1 */                       \
  KERNEL(arctanh, unary)  /* infinite at -1 and 1, NaN outside */
// clang-format on

namespace catena::kernels {
CATENA_HYPERBOLIC_KERNELS(CATENA_DECLARE_KERNEL)
}
