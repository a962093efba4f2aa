// The kernels of kernels/elementwise/floating.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_FLOATING_KERNELS(KERNEL) \
  KERNEL(isnan, unary)                                                                      \
  KERNEL(isinf, unary)  /* of either sign */                                                \
  KERNEL(isfinite, unary)                                                                   \
  KERNEL(signbit, unary)  /* true for negative values, -0.0 and NaN with its sign set */    \
  KERNEL(copysign, binary)  /* magnitude of x1, sign of x2 */                                    \
  KERNEL(modf, own)                                                                              \
  KERNEL(frexp, own)                                                                             \
  KERNEL(ldexp, binary)  /* x1 * 2^x2; x2 of an integer dtype that int64 can hold (TypeError) */ \
  KERNEL(nextafter, own)                                                                         \
  KERNEL(nextafter_float16, internal)                                                            \
  KERNEL(nextafter_bfloat16, internal)
// clang-format on

namespace catena::kernels {
CATENA_FLOATING_KERNELS(CATENA_DECLARE_KERNEL)
}
