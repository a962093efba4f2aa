// The kernels of kernels/elementwise/comparison.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_COMPARISON_KERNELS(KERNEL) \
  KERNEL(equal, binary)  /* int64 and uint64 are compared as the numbers they are */ \
  KERNEL(not_equal, binary)                                                          \
  KERNEL(less, binary)                                                               \
  KERNEL(less_equal, binary)                                                         \
  KERNEL(greater, binary)                                                            \
  KERNEL(greater_equal, binary)                                                      \
  KERNEL(maximum, binary)  /* NaN if either is NaN */                                     \
  KERNEL(minimum, binary)                                                                 \
  KERNEL(fmax, binary)  /* NaN only if both are NaN */                                    \
  KERNEL(fmin, binary)
// clang-format on

namespace catena::kernels {
CATENA_COMPARISON_KERNELS(CATENA_DECLARE_KERNEL)
}
