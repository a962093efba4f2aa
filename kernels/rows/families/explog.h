// The rows of kernels/elementwise/explog.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_EXPLOG_ROWS(ROW) \
  ROW(exp, unary)                                      \
  ROW(expm1, unary)  /* exp(x) - 1, accurate near 0 */ \
  ROW(exp2, unary)                                     \
  ROW(log, unary)  /* -inf of 0, NaN below */          \
  ROW(log2, unary)                                     \
  ROW(log10, unary)                                    \
  ROW(log1p, unary)  /* log(1 + x), accurate near 0 */ \
  ROW(logaddexp, binary)  /* log(exp(x1) + exp(x2)), 2 ulp of operands, itself and 1/2; one result everywhere */ \
  ROW(logaddexp2, binary)  /* log2(2^x1 + 2^x2), likewise */
// clang-format on

namespace catena::rows {
CATENA_EXPLOG_ROWS(CATENA_DECLARE_ROW)
}
