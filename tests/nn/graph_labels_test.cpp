// The labels of functions and variables are those that the reference writes into its graph dumps.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/variable_node.h>
#include <catena/nn/functions.h>
#include <catena/tests/support/golden.h>

using namespace autograd;

namespace {

using internal::Access;
using internal::VariableNode;

// Labels and edges without the numbers of nodes, which are arbitrary.
struct Labels {
  std::multiset<std::string> nodes;
  std::multiset<std::string> edges;  // "from -> to"
};

class Walk {
 public:
  Walk(const Variables& outputs, bool names, bool variables) : names_(names), variables_(variables) {
    for (const Variable& y : outputs) visit(Access::node(y));
  }
  const Labels& labels() const { return labels_; }

 private:
  std::string label_of(const VariableNode* n) const {
    Shape shape{};
    for (const std::int64_t d : n->shape) shape.push_back(d);
    const std::string text = Variable(arrays::zeros(n->data ? n->data.shape() : shape)).label();
    return names_ && n->name ? *n->name + ": " + text : text;
  }
  void visit(VariableNode* n) {
    if (!seen_.insert(n).second) return;
    if (variables_) labels_.nodes.insert(label_of(n));
    FunctionNode* f = n->creator;
    if (f == nullptr) return;
    if (variables_) labels_.edges.insert(f->label() + " -> " + label_of(n));
    if (!seen_.insert(f).second) return;
    labels_.nodes.insert(f->label());
    std::set<const void*> connected;
    for (std::size_t i = 0; i < f->num_inputs(); ++i) {
      VariableNode* x = f->input_node(i);
      const void* from = variables_ ? static_cast<void*>(x) : static_cast<void*>(x->creator);
      if (from != nullptr && connected.insert(from).second)
        labels_.edges.insert((variables_ ? label_of(x) : x->creator->label()) + " -> " + f->label());
      visit(x);
    }
  }

  bool names_, variables_;
  std::set<const void*> seen_;
  Labels labels_;
};

Labels expected_labels(const test::Json& c) {
  Labels l;
  std::vector<std::string> of(c["nodes"].size());
  for (const auto& n : c["nodes"]) {
    const auto label = n["attributes"]["label"].get<std::string>();
    of[n["id"].get<std::uint64_t>()] = label;
    l.nodes.insert(label);
  }
  for (const auto& e : c["edges"]) l.edges.insert(of[e[0].get<std::uint64_t>()] + " -> " + of[e[1].get<std::size_t>()]);
  return l;
}

Variables outputs_of(const std::string& graph, Variables& keep) {
  const auto kept = [&keep](const Variable& v) {
    keep.push_back(v);
    return v;
  };
  if (graph == "scalar") {
    const Variable s = kept(Variable(arrays::full({}, 2)));
    return {-s + 3 - pow(s, 2)};
  }
  if (graph == "branches" || graph == "one_output") {
    const Variable a = kept(Variable(arrays::ones({2, 3}))), b = kept(Variable(arrays::ones({2, 3}))), c = kept(exp(a));
    if (graph == "one_output") return {c};
    return {concat({c, b}, 1), nn::tanh(c)};
  }
  const Variable x = kept(Variable(arrays::ones({2, 3}), {.name = "x"})),
                 W = kept(Variable(arrays::ones({4, 3}), {.name = "W"})),
                 b = kept(Variable(arrays::ones({4}), {.name = "b"}));
  const Variable h = nn::relu(nn::linear(x, W, b));
  return {sum(h * 2 + h)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(graph_labels)

BOOST_AUTO_TEST_CASE(golden_graphs) {
  const auto golden = test::Golden::open("computational_graph");
  std::size_t graphs = 0;
  for (const auto& c : golden.cases()) {
    const auto name = c["name"].get<std::string>();
    const auto& args = c["args"];
    const auto is = [&args](const char* key, bool otherwise) {
      return args.contains(key) ? args[key].get<bool>() : otherwise;
    };
    Variables keep;
    const Variables outputs = outputs_of(name, keep);
    const Labels actual = Walk(outputs, is("show_name", true), !is("remove_variable", false)).labels(),
                 expected = expected_labels(c);
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(actual.nodes == expected.nodes, boost::test_tools::per_element());
      BOOST_TEST(actual.edges == expected.edges, boost::test_tools::per_element());
    }
    ++graphs;
  }
  BOOST_TEST(graphs == 8u);
}

// The labels that no graph above has; the classes and `label` properties of v1.24.
BOOST_AUTO_TEST_CASE(labels_of_functions) {
  const Variable x(arrays::ones({2, 2})), p(arrays::ones({2})), images(arrays::ones({1, 1, 4, 4})),
      w(arrays::ones({1, 1, 2, 2}));
  const auto label = [](const Variable& v) { return v.creator()->label(); };
  BOOST_TEST(label(nn::sigmoid(x)) == "Sigmoid");
  BOOST_TEST(label(nn::batch_normalization(x, p, p)) == "BatchNormalizationFunction");
  BOOST_TEST(label(nn::fixed_batch_normalization(x, p, p, p, p)) == "BatchNormalizationFunction");
  BOOST_TEST(label(nn::softmax(x)) == "Softmax");
  BOOST_TEST(label(nn::log_softmax(x)) == "LogSoftmax");
  BOOST_TEST(label(nn::convolution_2d(images, w)) == "Convolution2DFunction");
  BOOST_TEST(label(nn::max_pooling_2d(images, 2)) == "MaxPooling2D");
  BOOST_TEST(label(nn::average_pooling_2d(images, 2)) == "AveragePooling2D");
  BOOST_TEST(label(nn::dropout(x, {.train = true})) == "Dropout");
  BOOST_TEST(label(nn::mean_squared_error(x, x)) == "MeanSquaredError");
  BOOST_TEST(label(broadcast({x, p})[0]) == "Broadcast");
  BOOST_TEST(label(broadcast_to(p, {2, 2})) == "BroadcastTo");
}

BOOST_AUTO_TEST_SUITE_END()
