// Differentiable linear algebra. Operands are floating and of one dtype (InvalidType); 16-bit floats are computed in
// float32 and rounded once.
#pragma once

#include <catena/autograd/variable.h>

namespace autograd {

struct MatmulOptions {
  bool transa = false, transb = false;
};
// Operands of rank 1 and 2: the product of matrices, always of rank 2. A vector (N) is a column (N, 1) before it is
// transposed.
// An operand of higher rank: NumPy's product of stacks of matrices, whose leading axes broadcast. A vector is then a
// row on the left and a column on the right, transposed or not, and the result lacks its axis. InvalidType unless the
// inner lengths are equal.
CATENA_EXPORT Variable matmul(const Variable& a, const Variable& b, const MatmulOptions& options = {});
inline Variable matmul(const Variable& a, const Variable& b, bool transa, bool transb = false) {
  return matmul(a, b, MatmulOptions{transa, transb});
}
// The products of two stacks of B matrices (B, M, N) and (B, N, P): (B, M, P). An operand (B, N) is a stack of columns
// (B, N, 1) before it is transposed. InvalidType unless the numbers of matrices and the inner lengths are equal.
CATENA_EXPORT Variable batch_matmul(const Variable& a, const Variable& b, const MatmulOptions& options = {});
inline Variable batch_matmul(const Variable& a, const Variable& b, bool transa, bool transb = false) {
  return batch_matmul(a, b, MatmulOptions{transa, transb});
}

// The inverses of one matrix (n, n) and of a stack (m, n, n). A singular matrix is a ValueError; on CUDA this is so in
// debug mode, and otherwise its inverse is NaN.
CATENA_EXPORT Variable inv(const Variable& a);
CATENA_EXPORT Variable batch_inv(const Variable& a);

// The determinants of one matrix (n, n), 0-d, and of a stack (m, n, n): (m). That of a singular matrix is 0; its
// gradient is a ValueError.
CATENA_EXPORT Variable det(const Variable& a);
CATENA_EXPORT Variable batch_det(const Variable& a);

namespace internal {
// matmul of operands of rank 2 and above whose leading axes broadcast.
CATENA_EXPORT Variable stack_product(const Variable& a, const Variable& b, bool transa, bool transb);
}  // namespace internal

}  // namespace autograd
