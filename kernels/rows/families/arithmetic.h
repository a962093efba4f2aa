// The rows of kernels/elementwise/arithmetic.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_ARITHMETIC_ROWS(ROW) \
  ROW(add, binary)  /* integers wrap; bools: or */                             \
  ROW(subtract, binary)  /* integers wrap; TypeError for two bools */          \
  ROW(multiply, binary)  /* integers wrap; bools: and */                       \
  ROW(true_divide, binary)  /* integers give float64; IEEE division by zero */ \
  ROW(negative, unary)  /* integers wrap; TypeError for bool */                \
  ROW(absolute, unary)  /* the smallest signed integer stays itself */         \
  ROW(conjugate, unary)  /* a real number is its own conjugate */              \
  ROW(reciprocal, unary)  /* integers: 1 / x truncated, and 0 for 0 */         \
  ROW(square, unary)                                                           \
  ROW(sqrt, unary)  /* NaN for a real number below 0 */                        \
  ROW(rsqrt, internal)                                                         \
  ROW(sign, unary)  /* -1, 0, 1; NaN of NaN */                                 \
  ROW(clip, own)                                                               \
  ROW(copy, internal)
// clang-format on

namespace catena::rows {
CATENA_ARITHMETIC_ROWS(CATENA_DECLARE_ROW)
}
