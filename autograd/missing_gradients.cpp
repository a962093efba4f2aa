#include <catena/autograd/missing_gradients.h>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/variable_node.h>

namespace autograd::internal {

std::vector<ArrayKind> kinds_of(const Arrays& arrays) { return std::vector<ArrayKind>(arrays.begin(), arrays.end()); }

Variables with_zeros(const Variables& gy, const std::vector<ArrayKind>& kinds) {
  Variables all = gy;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (all[k]) continue;
    const ArrayKind& kind = kinds[k];
    const Array zeros = kind.backend->empty(kind.shape, kind.dtype, kind.device);
    fill(zeros, 0);
    all[k] = Variable(zeros, {.requires_grad = false});
  }
  return all;
}

}  // namespace autograd::internal
