// Binary hierarchical softmax as a layer.
#pragma once

#include <catena/nn/functions/hierarchical_softmax.h>
#include <catena/nn/link.h>

namespace nn {

// The loss of labels that are the leaves of a tree, summed over the batch; see binary_hierarchical_softmax(). W (number
// of nodes, in_size) is initially uniform in [-1, 1].
//
//   auto tree = nn::BinaryHierarchicalSoftmax::create_huffman_tree(word_counts);   // label -> count
//   nn::BinaryHierarchicalSoftmax loss(100, tree);
//   nn::BinaryHierarchicalSoftmax small(3, {{0, 1}, {{2, 3}, 4}});
//   loss(x, t)   x (N, in_size), t (N)
class CATENA_EXPORT BinaryHierarchicalSoftmax : public Link {
 public:
  // Throws a ValueError for a node without exactly two children, and for leaves that are no labels.
  BinaryHierarchicalSoftmax(int in_size, const BinaryTree& tree);
  template <class Counts> static BinaryTree create_huffman_tree(const Counts& word_counts) {
    return nn::create_huffman_tree(word_counts);
  }
  static BinaryTree create_huffman_tree(const std::vector<std::pair<std::int64_t, double>>& word_counts) {
    return nn::create_huffman_tree(word_counts);
  }

  NN_MEMBERS(W)
  Variable operator()(const Variable& x, const Variable& t);
  const TreePaths& paths() const noexcept { return paths_; }

 protected:
  void on_device_changed() override { paths_.to_device(device()); }

 private:
  TreePaths paths_;

 public:
  Parameter W;
};

}  // namespace nn
