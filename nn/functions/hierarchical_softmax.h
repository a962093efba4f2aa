// Binary hierarchical softmax: labels are the leaves of a binary tree, and the probability of a label is the product of
// the probabilities of the turns on its path. (Morin, Bengio: Hierarchical Probabilistic Neural Network Language Model,
// 2005.)
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Array;
using autograd::Variable;

// A tree whose leaves are labels: BinaryTree tree = {{3, 1}, {2, 0}}; BinaryTree copied{tree} is a copy. The depth is
// limited only by memory, because no operation on trees is recursive.
class CATENA_EXPORT BinaryTree {
 public:
  template <std::integral I> BinaryTree(I leaf) : label_(static_cast<std::int64_t>(leaf)) {}
  // Makes a node. A list of trees in braces is not accepted: a list of one tree could mean a copy or a node with one
  // child.
  BinaryTree(BinaryTree left, BinaryTree right);
  // Makes a node with any number of children (TreePaths requires two); without children, the leaf 0.
  explicit BinaryTree(std::vector<BinaryTree> children) : children_(std::move(children)) {}
  BinaryTree(const BinaryTree& o);
  BinaryTree(BinaryTree&& o) noexcept = default;
  BinaryTree& operator=(BinaryTree o) noexcept {
    std::swap(label_, o.label_);
    children_.swap(o.children_);
    return *this;
  }
  ~BinaryTree();

  bool is_leaf() const noexcept { return children_.empty(); }
  std::int64_t label() const noexcept { return label_; }  // label of a leaf
  const std::vector<BinaryTree>& children() const noexcept { return children_; }
  CATENA_EXPORT friend bool operator==(const BinaryTree& a, const BinaryTree& b);

 private:
  std::int64_t label_ = 0;
  std::vector<BinaryTree> children_;
};

// Returns the Huffman tree, which has the shortest paths for labels with these counts. The two subtrees with the lowest
// counts are joined repeatedly, the lower count on the left; among equal counts, the subtree with the entry that is
// first in the list. Labels with count 0 thus make a chain. ValueError for an empty list and for a count that is NaN.
CATENA_EXPORT BinaryTree create_huffman_tree(const std::vector<std::pair<std::int64_t, double>>& word_counts);
//   create_huffman_tree(std::map<int, int>{{0, 8}, {1, 5}, {2, 6}, {3, 4}})   ((3, 1), (2, 0))
template <class Counts>
requires requires(const Counts& c) {
  c.begin()->first;
  c.begin()->second;
}
BinaryTree create_huffman_tree(const Counts& word_counts) {
  std::vector<std::pair<std::int64_t, double>> list;
  for (const auto& [label, count] : word_counts)
    list.emplace_back(static_cast<std::int64_t>(label), static_cast<double>(count));
  return create_huffman_tree(list);
}

// The paths from the root of a tree to its labels, as arrays. Internal nodes are numbered in preorder.
class CATENA_EXPORT TreePaths {
 public:
  // Throws a ValueError for a node without exactly two children, for labels that are negative or above 2^31 - 1, and
  // for paths with more than 2^31 - 1 nodes in total. A chain of 65536 labels exceeds this limit: with counts of 1
  // instead of 0, a Huffman tree has short paths.
  explicit TreePaths(const BinaryTree& tree);

  std::int64_t num_nodes() const noexcept { return num_nodes_; }
  std::int64_t num_labels() const noexcept { return std::int64_t(lengths_on_host_.size()); }  // the largest label + 1
  // Returns the number of nodes on the path of a label; -1 if it is no leaf.
  std::int64_t length(std::int64_t label) const noexcept { return lengths_on_host_[std::size_t(label)]; }
  std::int64_t longest() const noexcept { return longest_; }
  // The nodes of all paths (int32), and codes (float32): 1 where a path turns left, -1 where it turns right. The path
  // of label k has lengths[k] (int32) elements from begins[k] (int32) on.
  const Array& nodes() const noexcept { return nodes_; }
  const Array& codes() const noexcept { return codes_; }
  const Array& begins() const noexcept { return begins_; }
  const Array& lengths() const noexcept { return lengths_; }
  void to_device(autograd::Device device);

 private:
  std::int64_t num_nodes_ = 0, longest_ = 0;
  std::vector<std::int32_t> lengths_on_host_;
  Array nodes_, codes_, begins_, lengths_;
};

// Returns the sum over the batch of -log of the probabilities of the labels t: x (N, D), t (N), W (number of nodes, D)
// -> 0-d. The probability of a label is the product of sigmoid(code W[node] x) over its path. x and W have one floating
// dtype, t any integer dtype (InvalidType). A label that is no leaf is an IndexError on the CPU.
CATENA_EXPORT Variable binary_hierarchical_softmax(const Variable& x, const Variable& t, const Variable& W,
                                                   const TreePaths& paths);

}  // namespace nn
