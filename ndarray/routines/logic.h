// Comparisons and tests: elementwise functions with bool results. Operands, broadcasting, options and errors are as in
// math.h, except that options.dtype must be bool: the inputs choose the loop.
#pragma once

#include <catena/kernels/rows/families/elementwise.h>
#include <catena/ndarray/engine/ufunc.h>

namespace nd {

#define ND_DECLARE_unary(name)
#define ND_DECLARE_binary(name)
#define ND_DECLARE_unary_test(name) CATENA_EXPORT Array name(const Operand& x, const UfuncOptions& options = {});
#define ND_DECLARE_binary_test(name) \
  CATENA_EXPORT Array name(const Operand& x1, const Operand& x2, const UfuncOptions& options = {});
#define ND_DECLARE_own(name)
#define ND_DECLARE_internal(name)
#define ND_DECLARE(name, use) ND_DECLARE_##use(name)
CATENA_ELEMENTWISE_ROWS(ND_DECLARE)
#undef ND_DECLARE_unary
#undef ND_DECLARE_binary
#undef ND_DECLARE_unary_test
#undef ND_DECLARE_binary_test
#undef ND_DECLARE_own
#undef ND_DECLARE_internal
#undef ND_DECLARE

}  // namespace nd
