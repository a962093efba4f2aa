// Comparisons and tests: elementwise functions whose result is bool. What math.h says of operands, broadcasting, options and errors
// holds here too, except that options.dtype must be bool: the loop is chosen by the inputs.
#pragma once

#include "ndarray/kernel/ufunc.h"

// clang-format off
#define ND_LOGIC_UNARY(X)                                                       \
  X(isfinite)                                                                   \
  X(isinf)       /* of either sign */                                           \
  X(isnan)                                                                      \
  X(signbit)     /* true for negative values, -0.0 and NaN with its sign set */ \
  X(logical_not) /* what is not 0 counts as true, NaN included */

#define ND_LOGIC_BINARY(X)                                                      \
  X(equal)       /* int64 and uint64 are compared as the numbers they are */    \
  X(not_equal)                                                                  \
  X(less)                                                                       \
  X(less_equal)                                                                 \
  X(greater)                                                                    \
  X(greater_equal)                                                              \
  X(logical_and)                                                                \
  X(logical_or)                                                                 \
  X(logical_xor)
// clang-format on

namespace nd {

#define ND_DECLARE_TEST(name) CATENA_EXPORT Array name(const Operand& x, const UfuncOptions& options = {});
#define ND_DECLARE_COMPARISON(name) CATENA_EXPORT Array name(const Operand& x1, const Operand& x2, const UfuncOptions& options = {});
ND_LOGIC_UNARY(ND_DECLARE_TEST)
ND_LOGIC_BINARY(ND_DECLARE_COMPARISON)
#undef ND_DECLARE_TEST
#undef ND_DECLARE_COMPARISON

}  // namespace nd
