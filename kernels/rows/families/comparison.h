// The rows of kernels/elementwise/comparison.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_COMPARISON_ROWS(ROW) \
  ROW(equal, binary)  /* int64 and uint64 are compared as the numbers they are */ \
  ROW(not_equal, binary)                                                          \
  ROW(less, binary)                                                               \
  ROW(less_equal, binary)                                                         \
  ROW(greater, binary)                                                            \
  ROW(greater_equal, binary)                                                      \
  ROW(maximum, binary)  /* NaN if either is NaN */                                     \
  ROW(minimum, binary)                                                                 \
  ROW(fmax, binary)  /* NaN only if both are NaN */                                    \
  ROW(fmin, binary)
// clang-format on

namespace catena::rows {
CATENA_COMPARISON_ROWS(CATENA_DECLARE_ROW)
}
