// The graph of variables as data and as text for Graphviz:
//
//   std::ofstream("graph.dot") << autograd::build_computational_graph({loss}).dump();   // dot -Tpng graph.dot -o g.png
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/autograd/variable.h>

namespace autograd {

// Attributes of nodes in Graphviz's language, in order: {{"shape", "octagon"}, {"style", "filled"}}.
using GraphStyle = std::vector<std::pair<std::string, std::string>>;

struct GraphOptions {
  bool remove_split = true;  // only for compatibility: false is a ValueError, as in Chainer
  // With an empty style, variables are ovals and functions are boxes.
  GraphStyle variable_style = {{"shape", "octagon"}, {"fillcolor", "#E0E0E0"}, {"style", "filled"}};
  GraphStyle function_style = {{"shape", "record"}, {"fillcolor", "#6495ED"}, {"style", "filled"}};
  std::string rankdir = "TB";    // the direction of the drawing: TB, BT, LR or RL, else ValueError
  bool remove_variable = false;  // only functions, with an edge from f to g for each output of f that g reads
  bool show_name = true;         // "W: (4, 3), float32" for variables that have a name
};

// A variable or a function as it was when the graph was built. A node refers to no variable or function.
struct GraphNode {
  bool is_variable;
  std::string label;  // Variable::label(), FunctionNode::label()
  std::string name;   // name of a variable that still exists; empty if it has none
};
// An edge from nodes[first] to nodes[second]: from an input to a function or from a function to an output.
using GraphEdge = std::pair<std::size_t, std::size_t>;

// A node from which a graph is built: a variable, or a function, which must outlive the call.
class CATENA_EXPORT GraphRoot {
 public:
  GraphRoot(const Variable& v) : variable_(v) {}
  GraphRoot(FunctionNode* f) : function_(f) {}
  const Variable& variable() const noexcept { return variable_; }
  FunctionNode* function() const noexcept { return function_; }

 private:
  Variable variable_;
  FunctionNode* function_ = nullptr;
};
class CATENA_EXPORT GraphRoots {
 public:
  GraphRoots(std::initializer_list<GraphRoot> list) : list_(list) {}
  GraphRoots(const Variable& v) : list_{v} {}
  GraphRoots(FunctionNode* f) : list_{f} {}
  GraphRoots(const Variables& vs) : list_(vs.begin(), vs.end()) {}
  auto begin() const noexcept { return list_.begin(); }
  auto end() const noexcept { return list_.end(); }

 private:
  std::vector<GraphRoot> list_;
};

// The graph behind some variables, as text of Graphviz (dot).
class CATENA_EXPORT ComputationalGraph {
 public:
  // Throws a ValueError for invalid options and an IndexError for an edge of a node that does not exist.
  ComputationalGraph(std::vector<GraphNode> nodes, std::vector<GraphEdge> edges, GraphOptions options = {});
  // For a temporary graph, nodes() and edges() return by value, so that a loop over
  // build_computational_graph(y).nodes() is safe.
  const std::vector<GraphNode>& nodes() const& noexcept { return nodes_; }
  const std::vector<GraphEdge>& edges() const& noexcept { return edges_; }
  std::vector<GraphNode> nodes() && noexcept { return std::move(nodes_); }
  std::vector<GraphEdge> edges() && noexcept { return std::move(edges_); }
  // Returns one line of text in Graphviz's language, with each edge once. The ids of nodes are their indices, so the
  // text depends only on the graph. NotImplementedError for a format other than "dot".
  std::string dump(std::string_view format = "dot") const;

 private:
  std::vector<GraphNode> nodes_;
  std::vector<GraphEdge> edges_;
  GraphOptions options_;
};

// Returns the graph of all variables and functions that `outputs` depend on, back to variables without a creator.
// Inputs precede the variables computed from them. TypeError for a null output.
CATENA_EXPORT ComputationalGraph build_computational_graph(const GraphRoots& outputs, const GraphOptions& options = {});

// Chainer's module.
namespace computational_graph {
using autograd::build_computational_graph, autograd::ComputationalGraph;
}  // namespace computational_graph

}  // namespace autograd
