#include <catena/nn/functions/hierarchical_softmax.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include <catena/autograd/capture.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/operators.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/labels.h>
#include <catena/nn/functions/loss/row_products.h>

namespace nn {

using autograd::Device;
using autograd::Dtype;
using autograd::type_check::TypeInfoTuple;
using catena::check;
using catena::ValueError;

// ---- trees --------------------------------------------------------------------------------------
BinaryTree::BinaryTree(BinaryTree left, BinaryTree right) {
  children_.reserve(2);
  children_.push_back(std::move(left));
  children_.push_back(std::move(right));
}

BinaryTree::BinaryTree(const BinaryTree& o) : label_(o.label_) {
  // Nodes whose children are not copied yet. Vectors of children get their final capacity before an address is taken.
  std::vector<std::pair<const BinaryTree*, BinaryTree*>> open{{&o, this}};
  while (!open.empty()) {
    const auto [from, to] = open.back();
    open.pop_back();
    to->children_.reserve(from->children_.size());
    for (const BinaryTree& child : from->children_) {
      to->children_.emplace_back(child.label_);
      if (!child.is_leaf()) open.emplace_back(&child, &to->children_.back());
    }
  }
}

// Destroys the nodes from the root downwards, so that the trees of a list are leaves when the list is destroyed.
BinaryTree::~BinaryTree() {
  std::vector<std::vector<BinaryTree>> open;
  const auto take_apart = [&open](std::vector<BinaryTree>& list) {
    for (BinaryTree& child : list)
      if (!child.is_leaf()) open.push_back(std::move(child.children_));
  };
  take_apart(children_);
  while (!open.empty()) {
    std::vector<BinaryTree> list = std::move(open.back());
    open.pop_back();
    take_apart(list);
  }
}

bool operator==(const BinaryTree& a, const BinaryTree& b) {
  std::vector<std::pair<const BinaryTree*, const BinaryTree*>> open{{&a, &b}};
  while (!open.empty()) {
    const auto [left, right] = open.back();
    open.pop_back();
    if (left->label_ != right->label_ || left->children_.size() != right->children_.size()) return false;
    for (std::size_t k = 0; k < left->children_.size(); ++k)
      open.emplace_back(&left->children_[k], &right->children_[k]);
  }
  return true;
}

BinaryTree create_huffman_tree(const std::vector<std::pair<std::int64_t, double>>& word_counts) {
  check<ValueError>(!word_counts.empty(), "create_huffman_tree", "there are no words");
  // `first` is the smallest index in the list of the entries below this subtree; it decides between equal counts.
  struct Entry {
    double count;
    std::size_t first, tree;
    bool operator>(const Entry& o) const { return count != o.count ? count > o.count : first > o.first; }
  };
  std::vector<BinaryTree> trees;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  trees.reserve(word_counts.size());
  for (const auto& [label, count] : word_counts) {
    check<ValueError>(!std::isnan(count), "create_huffman_tree", "the count of the word ", label, " is NaN");
    queue.push({count, trees.size(), trees.size()});
    trees.emplace_back(label);
  }
  while (queue.size() > 1) {
    const Entry rarer = queue.top();
    queue.pop();
    const Entry other = queue.top();
    queue.pop();
    trees[rarer.tree] = BinaryTree(std::move(trees[rarer.tree]), std::move(trees[other.tree]));
    queue.push({rarer.count + other.count, std::min(rarer.first, other.first), rarer.tree});
  }
  return std::move(trees[queue.top().tree]);
}

namespace {

struct Path {
  std::vector<std::int32_t> nodes;
  std::vector<float> codes;
};

// Calls found(label, path) for every leaf, from left to right. Returns the number of nodes.
template <class F> std::int32_t walk(const BinaryTree& tree, F&& found) {
  Path path;
  std::int32_t next_node = 0;
  std::vector<const BinaryTree*> right;  // nodes whose left side is being visited, one for each code of 1
  const BinaryTree* at = &tree;
  while (true) {
    while (!at->is_leaf()) {
      const auto& children = at->children();
      check<ValueError>(children.size() == 2, "TreePaths", "a node has ", children.size(),
                        " children; every node of a binary tree has two");
      path.nodes.push_back(next_node++);
      path.codes.push_back(1);
      right.push_back(&children[1]);
      at = &children[0];
    }
    found(at->label(), path);
    while (!path.codes.empty() && path.codes.back() < 0) {
      path.nodes.pop_back();
      path.codes.pop_back();
    }
    if (path.codes.empty()) return next_node;
    path.codes.back() = -1;
    at = right.back();
    right.pop_back();
  }
}

void expect_tree(const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  expect(in_types[0].dtype.kind() == 'f', in_types[2].dtype == in_types[0].dtype);
  internal::expect_labels(in_types, 1);
  expect(in_types[0].ndim == 2, in_types[1].ndim == 1, in_types[0].shape[0] == in_types[1].shape[0],
         in_types[2].ndim == 2, in_types[2].shape[1] == in_types[0].shape[1]);
}

}  // namespace

TreePaths::TreePaths(const BinaryTree& tree) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t largest = -1, total = 0;
  num_nodes_ = walk(tree, [&](std::int64_t label, const Path& to) {
    check<ValueError>(label >= 0 && label < kMost, "TreePaths", "the leaf ", label,
                      " cannot be a label: labels are numbers from 0 on");
    largest = std::max(largest, label);
    total += std::int64_t(to.nodes.size());
    longest_ = std::max(longest_, std::int64_t(to.nodes.size()));
  });
  check<ValueError>(total <= kMost, "TreePaths", "the paths to the labels have ", total,
                    " nodes together, the longest ", longest_, "; at most ", kMost,
                    " are possible (labels that never occur make a Huffman tree deep: count them once)");
  std::vector<std::int32_t> begins(std::size_t(largest) + 1, 0);
  lengths_on_host_.assign(begins.size(), -1);
  Path all;
  all.nodes.reserve(std::size_t(total));
  all.codes.reserve(std::size_t(total));
  walk(tree, [&](std::int64_t label, const Path& to) {
    begins[std::size_t(label)] = static_cast<std::int32_t>(all.nodes.size());
    lengths_on_host_[std::size_t(label)] = static_cast<std::int32_t>(to.nodes.size());
    all.nodes.insert(all.nodes.end(), to.nodes.begin(), to.nodes.end());
    all.codes.insert(all.codes.end(), to.codes.begin(), to.codes.end());
  });
  nodes_ = autograd::array(all.nodes, {total});
  codes_ = autograd::array(all.codes, {total});
  begins_ = autograd::array(begins, {num_labels()});
  lengths_ = autograd::array(lengths_on_host_, {num_labels()});
}

void TreePaths::to_device(Device device) {
  const Array nodes = autograd::to_device(nodes_, device), codes = autograd::to_device(codes_, device),
              begins = autograd::to_device(begins_, device), lengths = autograd::to_device(lengths_, device);
  nodes_ = nodes, codes_ = codes, begins_ = begins, lengths_ = lengths;
}

Variable binary_hierarchical_softmax(const Variable& x, const Variable& t, const Variable& W, const TreePaths& paths) {
  constexpr const char* op = "binary_hierarchical_softmax";
  internal::check_inputs("BinaryHierarchicalSoftmaxFunction", "x t W", {x, t, W}, expect_tree);
  check<ValueError>(W.shape(0) == paths.num_nodes(), op, "W has ", W.shape(0), " rows; the tree has ",
                    paths.num_nodes(), " nodes");
  internal::check_labels(op, t.data(), paths.num_labels(), {});
  const Device device = x.device();
  // The longest path of the batch, if labels can be read at no cost, else of the tree. In captured work the longest
  // path of the batch is not used, because it may be too short for a replay.
  std::int64_t longest = paths.longest();
  if (device.kind == Device::Kind::cpu && !autograd::is_capturing()) {
    longest = 0;
    for (const std::int64_t label : autograd::to_vector<std::int64_t>(t.data())) {
      check<catena::IndexError>(paths.length(label) >= 0, op, "the label ", label, " is no leaf of the tree");
      longest = std::max(longest, paths.length(label));
    }
  }
  const Array labels = internal::labels_of(t.data());
  const auto of_labels = [&](const Array& table) {
    return autograd::expand_dims(autograd::take(autograd::to_device(table, device), labels, 0), 1);
  };
  const Array step = autograd::expand_dims(autograd::arrays::arange(longest, Dtype::int32, device), 0);
  const Array there = internal::less(step, of_labels(paths.lengths()));
  const Array place = autograd::where(there, of_labels(paths.begins()) + step, 0);
  const Array nodes = autograd::take(autograd::to_device(paths.nodes(), device), place, 0);
  const Array codes = autograd::take(autograd::to_device(paths.codes(), device), place, 0);
  const Variable losses = autograd::masked(softplus(internal::row_products(x, W, nodes) * -codes), there);
  return internal::reduced(losses, "sum", 1.0, x.dtype());
}

}  // namespace nn
