// The kernels of kernels/elementwise/arithmetic.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_ARITHMETIC_KERNELS(KERNEL) \
  KERNEL(add, binary)  /* integers wrap; bools: or */                             \
  KERNEL(subtract, binary)  /* integers wrap; TypeError for two bools */          \
  KERNEL(multiply, binary)  /* integers wrap; bools: and */                       \
  KERNEL(true_divide, binary)  /* integers give float64; IEEE division by zero */ \
  KERNEL(negative, unary)  /* integers wrap; TypeError for bool */                \
  KERNEL(absolute, unary)  /* the smallest signed integer stays itself */         \
  KERNEL(conjugate, unary)  /* a real number is its own conjugate */              \
  KERNEL(reciprocal, unary)  /* integers: 1 / x truncated, and 0 for 0 */         \
  KERNEL(square, unary)                                                           \
  KERNEL(sqrt, unary)  /* NaN for a real number below 0 */                        \
  KERNEL(rsqrt, internal)                                                         \
  KERNEL(sign, unary)  /* -1, 0, 1; NaN of NaN */                                 \
  KERNEL(clip, own)                                                               \
  KERNEL(copy, internal)
// clang-format on

namespace catena::kernels {
CATENA_ARITHMETIC_KERNELS(CATENA_DECLARE_KERNEL)
}
