// The functions that the operators of Variable call (operators.h), and the named functions of basic arithmetic.
#pragma once

#include <catena/autograd/operators.h>

namespace autograd {

CATENA_EXPORT Variable absolute(const Variable& x);  // the gradient at 0 is 0
// The absolute value; its derivative at 0 is 0.
inline Variable abs(const Variable& x) { return absolute(x); }

// Sums, and the greatest and least elements, of one or more variables, which broadcast. Of equal elements the first
// gets the gradient. ValueError for no variables.
CATENA_EXPORT Variable add(const Variables& xs);
CATENA_EXPORT Variable maximum(const Variables& xs);
CATENA_EXPORT Variable minimum(const Variables& xs);
// add(x, y), add(x, y, z), maximum(x, y, z)
template <class... X> Variable add(const Variable& x, const X&... more) requires(sizeof...(X) > 0) {
  return add(Variables{x, Variable(more)...});
}
template <class... X>
Variable maximum(const Variable& x, const Variable& y, const X&... more) requires(sizeof...(X) > 0) {
  return maximum(Variables{x, y, Variable(more)...});
}
template <class... X>
Variable minimum(const Variable& x, const Variable& y, const X&... more) requires(sizeof...(X) > 0) {
  return minimum(Variables{x, y, Variable(more)...});
}
CATENA_EXPORT Variable fix(const Variable& x);    // rounds toward 0; derivative 0
CATENA_EXPORT Variable round(const Variable& x);  // to the nearest integer, ties to even; derivative 0

namespace internal {
// Returns the matrix product of operands of rank 1 or 2; its rank is always 2. A vector (N) is a column (N, 1) before
// it is transposed.
CATENA_EXPORT Variable matmul(const Variable& a, const Variable& b, bool transa, bool transb, const char* label);
}  // namespace internal

}  // namespace autograd
