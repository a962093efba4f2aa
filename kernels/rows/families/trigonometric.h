// The rows of kernels/elementwise/trigonometric.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_TRIGONOMETRIC_ROWS(ROW) \
  ROW(sin, unary)                                 \
  ROW(cos, unary)                                 \
  ROW(tan, unary)                                 \
  ROW(arcsin, unary)  /* NaN outside [-1, 1] */   \
  ROW(arccos, unary)  /* NaN outside [-1, 1] */   \
  ROW(arctan, unary)                              \
  ROW(arctan2, binary)  /* angle of the point (x2, x1) */ \
  ROW(hypot, binary)  /* sqrt(x1^2 + x2^2) to 1.5 ulp, no square overflows; inf beside NaN: inf; one result */ \
  ROW(deg2rad, unary)                             \
  ROW(rad2deg, unary)
// clang-format on

namespace catena::rows {
CATENA_TRIGONOMETRIC_ROWS(CATENA_DECLARE_ROW)
}
