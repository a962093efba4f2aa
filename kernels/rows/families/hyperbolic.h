// The rows of kernels/elementwise/hyperbolic.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_HYPERBOLIC_ROWS(ROW) \
  ROW(sinh, unary)                                             \
  ROW(cosh, unary)                                             \
  ROW(tanh, unary)                                             \
  ROW(arcsinh, unary)                                          \
  ROW(arccosh, unary)  /* NaN below 1 */                       \
  ROW(arctanh, unary)  /* infinite at -1 and 1, NaN outside */
// clang-format on

namespace catena::rows {
CATENA_HYPERBOLIC_ROWS(CATENA_DECLARE_ROW)
}
