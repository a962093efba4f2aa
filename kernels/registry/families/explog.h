// The kernels of kernels/elementwise/explog.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_EXPLOG_KERNELS(KERNEL) \
  KERNEL(exp, unary)                                      \
  KERNEL(expm1, unary)  /* exp(x) - 1, accurate near 0 */ \
  KERNEL(exp2, unary)                                     \
  KERNEL(log, unary)  /* -inf of 0, NaN below */          \
  KERNEL(log2, unary)                                     \
  KERNEL(log10, unary)                                    \
  KERNEL(log1p, unary)  /* log(1 + x), accurate near 0 */ \
  KERNEL(logaddexp, binary)  /* log(exp(x1) + exp(x2)), 2 ulp of operands, itself and 1/2; one result everywhere */ \
  KERNEL(logaddexp2, binary)  /* log2(2^x1 + 2^x2), likewise */
// clang-format on

namespace catena::kernels {
CATENA_EXPLOG_KERNELS(CATENA_DECLARE_KERNEL)
}
