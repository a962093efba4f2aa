// Differentiable linear algebra.
#pragma once

#include <catena/autograd/variable.h>

namespace autograd {

struct MatmulOptions {
  bool transa = false, transb = false;
};
// The product of operands of rank 1 or 2, always of rank 2. A vector (N) is a column (N, 1) before it is transposed.
// InvalidType unless both have one floating dtype and equal inner lengths.
CATENA_EXPORT Variable matmul(const Variable& a, const Variable& b, const MatmulOptions& options = {});

}  // namespace autograd
