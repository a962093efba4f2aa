#include <catena/nn/onnx/import_fuse.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <catena/autograd/array.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/onnx/tensor.h>

namespace nn::onnx::importing {

namespace {

namespace kernels = catena::kernels;
using autograd::Array;
using autograd::Scalar;
using autograd::Shape;

// A graph with its initializers by name, and the number of readers of each value.
struct IndexedGraph {
  explicit IndexedGraph(Graph& graph) : graph_(graph) {
    for (const Tensor& t : graph.initializer) initializers_.emplace(t.name, &t);
    for (const Node& node : graph.node)
      for (const std::string& name : node.input) ++readers_[name];
    for (const ValueInfo& v : graph.output) ++readers_[v.name];
  }

  Graph& graph_;
  std::unordered_map<std::string, const Tensor*> initializers_;
  std::unordered_map<std::string, int> readers_;
};

class Fusion : IndexedGraph {
 public:
  using IndexedGraph::IndexedGraph;

  int run() {
    std::unordered_map<std::string, Node*> convolutions;  // by their output
    for (Node& node : graph_.node)
      if (node.op_type == "Conv" && node.domain.empty() && node.output.size() == 1)
        convolutions[node.output[0]] = &node;
    std::vector<Node> kept;
    for (Node& node : graph_.node) {
      const auto before = node.op_type == "BatchNormalization" && !node.input.empty() ? convolutions.find(node.input[0])
                                                                                      : convolutions.end();
      if (before != convolutions.end() && may_fuse(*before->second, node)) {
        fuse(*before->second, node);
        renamed_[before->first] = node.output[0];
        gone_.insert(&node);
      }
    }
    for (Node& node : graph_.node) {
      if (gone_.contains(&node)) continue;
      for (std::string& name : node.output)
        if (const auto found = renamed_.find(name); found != renamed_.end()) name = found->second;
      kept.push_back(std::move(node));
    }
    graph_.node = std::move(kept);
    for (Tensor& t : made_) graph_.initializer.push_back(std::move(t));
    return int(gone_.size());
  }

 private:
  const Tensor* initializer(const std::string& name) const {
    const auto found = initializers_.find(name);
    return found == initializers_.end() ? nullptr : found->second;
  }

  static bool has_bias(const Node& convolution) {
    return convolution.input.size() > 2 && !convolution.input[2].empty();
  }

  bool may_fuse(const Node& convolution, const Node& bn) const {
    if (!bn.domain.empty() || bn.output.size() != 1 || bn.input.size() != 5 || convolution.input.size() < 2 ||
        readers_.at(convolution.output[0]) != 1)
      return false;
    const Attribute* const training = bn.find("training_mode");
    if (training != nullptr && training->i != 0) return false;
    const Tensor* const W = initializer(convolution.input[1]);
    if (W == nullptr || W->data_type != DataType::float_ || W->dims.empty()) return false;
    std::vector<std::string> names(bn.input.begin() + 1, bn.input.end());
    if (has_bias(convolution)) names.push_back(convolution.input[2]);
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      const Tensor* const t = initializer(name);
      return t != nullptr && t->data_type == DataType::float_ && t->dims.size() == 1 && t->dims[0] == W->dims[0];
    });
  }

  // W s and (b - mean) s + beta, where s = gamma / sqrt(var + eps), for each
  // output channel.
  void fuse(Node& convolution, const Node& bn) {
    const auto value = [&](const std::string& name) { return to_array(*initializer(name)); };
    const Attribute* const given = bn.find("epsilon");
    const double eps = given == nullptr ? 1e-5 : double(given->f);
    const Array W = value(convolution.input[1]);
    const Array scale =
        value(bn.input[1]) / autograd::apply(kernels::sqrt, {value(bn.input[4]) + autograd::Operand(Scalar(eps))});
    Shape along = Shape::filled(W.shape().size(), 1);
    along[0] = scale.size();
    const Array mean = value(bn.input[3]);
    const Array shifted = has_bias(convolution) ? value(convolution.input[2]) - mean : -mean;
    const std::string name = convolution.input[1] + "/fused" + std::to_string(made_.size());
    made_.push_back(to_tensor(W * autograd::reshape(scale, along), name));
    made_.push_back(to_tensor(shifted * scale + value(bn.input[2]), name + "/bias"));
    convolution.input.resize(3);
    convolution.input[1] = name;
    convolution.input[2] = name + "/bias";
  }

  std::unordered_map<std::string, std::string> renamed_;  // outputs of convolutions
  std::unordered_set<const Node*> gone_;
  std::vector<Tensor> made_;
};

class QuantizedProducts : IndexedGraph {
 public:
  using IndexedGraph::IndexedGraph;

  int run() {
    std::unordered_map<std::string, const Node*> weights;  // by their output
    for (const Node& node : graph_.node)
      if (is_weight(node)) weights[node.output[0]] = &node;
    std::unordered_set<std::string> gone;
    for (Node& node : graph_.node) {
      const auto found = node.input.size() > 1 ? weights.find(node.input[1]) : weights.end();
      if (found == weights.end() || !is_layer(node, initializers_.at(found->second->input[0])->dims[0])) continue;
      gone.insert(found->first);
      node.input.resize(3);
      node.input.push_back(found->second->input[1]);
      node.input[1] = found->second->input[0];
    }
    std::erase_if(graph_.node, [&](const Node& n) { return n.output.size() == 1 && gone.contains(n.output[0]); });
    return int(gone.size());
  }

 private:
  // int8 rows with a scale for each.
  bool is_weight(const Node& node) const {
    if (node.op_type != "DequantizeLinear" || !node.domain.empty() || node.input.size() != 2 ||
        node.output.size() != 1 || !readers_.contains(node.output[0]) || readers_.at(node.output[0]) != 1 ||
        number(node, "axis", 1) != 0)
      return false;
    const auto values = initializers_.find(node.input[0]), scale = initializers_.find(node.input[1]);
    if (values == initializers_.end() || scale == initializers_.end()) return false;
    const Tensor &W = *values->second, &s = *scale->second;
    return W.data_type == DataType::int8 && W.dims.size() == 2 && s.data_type == DataType::float_ &&
           s.dims.size() == 1 && s.dims[0] == W.dims[0];
  }
  // x W^T + b, with one element of b for each output.
  bool is_layer(const Node& node, std::int64_t outputs) const {
    if (node.op_type != "Gemm" || !node.domain.empty() || node.input.size() < 2 || node.input.size() > 3) return false;
    if (number(node, "transA", 0) != 0 || number(node, "transB", 0) != 1 || number(node, "alpha", 1) != 1 ||
        number(node, "beta", 1) != 1)
      return false;
    if (node.input.size() < 3 || node.input[2].empty()) return true;
    const auto bias = initializers_.find(node.input[2]);
    return bias != initializers_.end() && bias->second->dims.size() == 1 && bias->second->dims[0] == outputs;
  }
  static double number(const Node& node, std::string_view name, double otherwise) {
    const Attribute* const a = node.find(name);
    if (a == nullptr) return otherwise;
    return a->type == Attribute::Type::int_ ? double(a->i) : double(a->f);
  }
};

}  // namespace

int fuse_quantized_products(Model& model) { return model.graph ? QuantizedProducts(*model.graph).run() : 0; }
int fuse_batch_normalization(Model& model) { return model.graph ? Fusion(*model.graph).run() : 0; }

}  // namespace nn::onnx::importing
