// The functions behind the operators of Variable (operators.h), and the named functions of basic arithmetic.
#pragma once

#include <catena/autograd/operators.h>

namespace autograd {

CATENA_EXPORT Variable absolute(const Variable& x);  // the gradient at 0 is 0
inline Variable abs(const Variable& x) { return absolute(x); }

namespace internal {
// The matrix product of operands of rank 1 or 2, always of rank 2. A vector (N) is a column (N, 1) before it is
// transposed.
CATENA_EXPORT Variable matmul(const Variable& a, const Variable& b, bool transa, bool transb, const char* label);
}  // namespace internal

}  // namespace autograd
