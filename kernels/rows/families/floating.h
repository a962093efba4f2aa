// The rows of kernels/elementwise/floating.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_FLOATING_ROWS(ROW) \
  ROW(isnan, unary)                                                                      \
  ROW(isinf, unary)  /* of either sign */                                                \
  ROW(isfinite, unary)                                                                   \
  ROW(signbit, unary)  /* true for negative values, -0.0 and NaN with its sign set */    \
  ROW(copysign, binary)  /* magnitude of x1, sign of x2 */                                    \
  ROW(modf, own)                                                                              \
  ROW(frexp, own)                                                                             \
  ROW(ldexp, binary)  /* x1 * 2^x2; x2 of an integer dtype that int64 can hold (TypeError) */ \
  ROW(nextafter, own)                                                                         \
  ROW(nextafter_float16, internal)                                                            \
  ROW(nextafter_bfloat16, internal)
// clang-format on

namespace catena::rows {
CATENA_FLOATING_ROWS(CATENA_DECLARE_ROW)
}
