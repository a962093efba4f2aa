// The functions that the operators of Variable call (operators.h), and the named functions of basic arithmetic.
#pragma once

#include <catena/autograd/operators.h>

namespace autograd {

CATENA_EXPORT Variable absolute(const Variable& x);  // the gradient at 0 is 0
// The absolute value; its derivative at 0 is 0.
inline Variable abs(const Variable& x) { return absolute(x); }

namespace internal {
// Returns the matrix product of operands of rank 1 or 2; its rank is always 2. A vector (N) is a column (N, 1) before
// it is transposed.
CATENA_EXPORT Variable matmul(const Variable& a, const Variable& b, bool transa, bool transb, const char* label);
}  // namespace internal

}  // namespace autograd
