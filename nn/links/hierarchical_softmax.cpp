#include <catena/nn/links/hierarchical_softmax.h>

#include <catena/nn/link_hook.h>

namespace nn {

BinaryHierarchicalSoftmax::BinaryHierarchicalSoftmax(int in_size, const BinaryTree& tree)
    : paths_(tree), W(initializers::Uniform(1.0), {paths_.num_nodes(), in_size}) {
  name_params();
}

Variable BinaryHierarchicalSoftmax::operator()(const Variable& x, const Variable& t) {
  LinkCall called(*this, x, t);
  try {
    return called(binary_hierarchical_softmax(x, t, W, paths_));
  } catch (...) {
    internal::rethrow_at(*this, "BinaryHierarchicalSoftmax", x ? internal::dtype_detail(x, W) : std::string());
  }
}

}  // namespace nn
