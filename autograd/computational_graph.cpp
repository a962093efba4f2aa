#include <catena/autograd/computational_graph.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>

namespace autograd {

using catena::check;
using catena::ValueError;

ComputationalGraph::ComputationalGraph(std::vector<GraphNode> nodes, std::vector<GraphEdge> edges, GraphOptions options)
    : nodes_(std::move(nodes)), edges_(std::move(edges)), options_(std::move(options)) {
  constexpr const char* kOp = "ComputationalGraph";
  check<ValueError>(options_.remove_split, kOp, "remove_split=false is not supported");
  const std::string& d = options_.rankdir;
  check<ValueError>(d == "TB" || d == "BT" || d == "LR" || d == "RL", kOp, "rankdir is \"", d,
                    "\", not TB, BT, LR or RL");
  for (const auto& [from, to] : edges_)
    check<catena::IndexError>(std::max(from, to) < nodes_.size(), kOp, "there is no node ", std::max(from, to),
                              " among ", nodes_.size());
}

namespace {

// Escapes text for quotes. In labels of the shape "record", braces, bars and angle brackets would divide the node, so
// they are escaped too.
std::string escaped(const std::string& text, bool is_record) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\' || (is_record && std::string_view("{}|<>").find(c) != std::string_view::npos))
      out += '\\';
    out += c;
  }
  return out;
}

std::string attributes_of(const GraphNode& node, const GraphOptions& options) {
  std::string label = node.label;
  if (options.show_name && !node.name.empty()) label = node.name + ": " + label;
  GraphStyle all = {{"label", label}, {"shape", node.is_variable ? "oval" : "box"}};
  for (const auto& [key, value] : node.is_variable ? options.variable_style : options.function_style) {
    const auto at = std::find_if(all.begin(), all.end(), [&key = key](const auto& a) { return a.first == key; });
    if (at == all.end()) all.emplace_back(key, value);
    else at->second = value;
  }
  const bool is_record = all[1].second == "record" || all[1].second == "Mrecord";
  std::string text;
  for (const auto& [key, value] : all)
    text += (text.empty() ? "" : ",") + key + "=\"" + escaped(value, is_record && key == "label") + '"';
  return text;
}

// Returns the edges from each function to the functions that read its outputs.
std::vector<GraphEdge> without_variables(const std::vector<GraphNode>& nodes, const std::vector<GraphEdge>& edges) {
  std::vector<std::vector<std::size_t>> users(nodes.size());
  for (const auto& [from, to] : edges) users[from].push_back(to);
  std::vector<GraphEdge> result;
  for (const auto& [from, to] : edges)
    if (!nodes[from].is_variable)
      for (const std::size_t user : users[to]) result.emplace_back(from, user);
  return result;
}

}  // namespace

std::string ComputationalGraph::dump(std::string_view format) const {
  check<catena::NotImplementedError>(format == "dot", "ComputationalGraph.dump", "the format \"", format,
                                     "\" is not offered; there is \"dot\"");
  const bool all = !options_.remove_variable;
  std::string text = "digraph graphname{rankdir=" + options_.rankdir + ';';
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (all || !nodes_[i].is_variable) text += std::to_string(i) + " [" + attributes_of(nodes_[i], options_) + "];";
  std::set<GraphEdge> drawn;
  for (const GraphEdge& edge : all ? edges_ : without_variables(nodes_, edges_))
    if (drawn.insert(edge).second) text += std::to_string(edge.first) + " -> " + std::to_string(edge.second) + ';';
  return text + '}';
}

namespace {

// Follows a graph backwards, without recursion. Each node is visited once.
class GraphBuilder {
 public:
  void add(const GraphRoot& root) {
    check<catena::TypeError>(bool(root.variable()) || root.function() != nullptr, "build_computational_graph",
                             "an output is null");
    if (root.function() != nullptr) index_of(root.function());
    else index_of(internal::Access::node(root.variable())->graph_node());
    while (!pending_.empty()) {
      const Pending next = pending_.back();
      pending_.pop_back();
      if (next.variable != nullptr) visit(*next.variable);
      else visit(*next.function);
    }
  }

  ComputationalGraph build(const GraphOptions& options) {
    // A function has the greatest rank of its inputs; the rank of its outputs is higher by one.
    std::vector<std::size_t> order(nodes_.size()), place(nodes_.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(ranks_[a], !nodes_[a].is_variable) < std::pair(ranks_[b], !nodes_[b].is_variable);
    });
    std::vector<GraphNode> nodes;
    for (const std::size_t i : order) {
      place[i] = nodes.size();
      nodes.push_back(std::move(nodes_[i]));
    }
    std::vector<GraphEdge> edges;
    for (const auto& [from, to] : edges_) edges.emplace_back(place[from], place[to]);
    std::sort(edges.begin(), edges.end());
    return {std::move(nodes), std::move(edges), options};
  }

 private:
  struct Pending {
    internal::VariableNode* variable;
    FunctionNode* function;
  };

  std::size_t index_of(internal::VariableNode* n) {
    const auto [at, is_new] = indices_.try_emplace(n, nodes_.size());
    if (!is_new) return at->second;
    // If no handle is left, the data are gone; shape and dtype are known from the function that read the variable.
    const Variable v = n->hold();
    const std::string name = n->name ? *n->name : std::string();
    if (v && v.data()) nodes_.push_back({true, v.label(), name});
    else nodes_.push_back({true, internal::label_of(Shape(std::span<const std::int64_t>(n->shape)), n->dtype), name});
    ranks_.push_back(n->rank);
    pending_.push_back({n, nullptr});
    return at->second;
  }
  std::size_t index_of(FunctionNode* f) {
    const auto [at, is_new] = indices_.try_emplace(f, nodes_.size());
    if (!is_new) return at->second;
    nodes_.push_back({false, f->label(), ""});
    ranks_.push_back(f->rank());
    pending_.push_back({nullptr, f});
    return at->second;
  }

  void visit(internal::VariableNode& n) {
    if (n.creator == nullptr) return;
    const std::size_t from = index_of(n.creator);
    edges_.insert({from, indices_.at(&n)});
  }
  void visit(FunctionNode& f) {
    for (std::size_t i = 0; i < f.num_inputs(); ++i) {
      const std::size_t from = index_of(f.input_node(i)->graph_node());
      edges_.insert({from, indices_.at(&f)});
    }
  }

  std::vector<GraphNode> nodes_;
  std::vector<int> ranks_;
  std::set<GraphEdge> edges_;
  std::unordered_map<const void*, std::size_t> indices_;
  std::vector<Pending> pending_;
};

}  // namespace

ComputationalGraph build_computational_graph(const GraphRoots& outputs, const GraphOptions& options) {
  GraphBuilder builder;
  for (const GraphRoot& root : outputs) builder.add(root);
  return builder.build(options);
}

}  // namespace autograd
