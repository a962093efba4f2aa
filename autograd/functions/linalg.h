// Differentiable linear algebra. Operands are floating and of one dtype (InvalidType); 16-bit floats are computed in
// float32 and rounded once.
#pragma once

#include <catena/autograd/variable.h>

namespace autograd {

struct MatmulOptions {
  bool transa = false, transb = false;
};
// If both operands have rank 1 or 2: the matrix product, always of rank 2. A vector (N) is a column (N, 1) before it is
// transposed.
// If an operand has a higher rank: NumPy's product of stacks of matrices, whose leading axes broadcast. A vector is
// then a row on the left and a column on the right, also if transposed, and the result does not have its axis.
// InvalidType unless the inner lengths are equal.
CATENA_EXPORT Variable matmul(const Variable& a, const Variable& b, const MatmulOptions& options = {});
inline Variable matmul(const Variable& a, const Variable& b, bool transa, bool transb = false) {
  return matmul(a, b, MatmulOptions{transa, transb});
}
// Returns the products (B, M, P) of two stacks of B matrices, (B, M, N) and (B, N, P). An operand (B, N) is a stack of
// columns (B, N, 1) before it is transposed. InvalidType unless the numbers of matrices and the inner lengths are
// equal.
CATENA_EXPORT Variable batch_matmul(const Variable& a, const Variable& b, const MatmulOptions& options = {});
inline Variable batch_matmul(const Variable& a, const Variable& b, bool transa, bool transb = false) {
  return batch_matmul(a, b, MatmulOptions{transa, transb});
}

// Returns the inverse of one matrix (n, n) or of each matrix of a stack (m, n, n). A singular matrix is a ValueError;
// on CUDA only in debug mode, otherwise its inverse is NaN.
CATENA_EXPORT Variable inv(const Variable& a);
CATENA_EXPORT Variable batch_inv(const Variable& a);

// Returns the determinant of one matrix (n, n), 0-d, or of each matrix of a stack (m, n, n), (m). A singular matrix has
// the determinant 0; computing its gradient is a ValueError.
CATENA_EXPORT Variable det(const Variable& a);
CATENA_EXPORT Variable batch_det(const Variable& a);

namespace internal {
// matmul for operands of rank 2 and above, whose leading axes broadcast.
CATENA_EXPORT Variable stack_product(const Variable& a, const Variable& b, bool transa, bool transb);
}  // namespace internal

}  // namespace autograd
