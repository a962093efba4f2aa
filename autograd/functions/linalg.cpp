#include <catena/autograd/functions/linalg.h>

#include <catena/autograd/functions/basic_math.h>

namespace autograd {

Variable matmul(const Variable& a, const Variable& b, const MatmulOptions& o) {
  return internal::matmul(a, b, o.transa, o.transb, "MatMul");
}

}  // namespace autograd
