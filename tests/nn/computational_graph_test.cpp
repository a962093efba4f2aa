// Computational graphs: the nodes and edges of the reference, texts for Graphviz, errors.
#include <catena/autograd/computational_graph.h>

#include <functional>
#include <map>
#include <set>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using namespace autograd;
using json = test::Json;

namespace {

struct Parsed {
  std::vector<std::string> attributes;  // of each node
  std::vector<GraphEdge> edges;
};

// Reads the text of dump(): nodes are numbered 0, 1, 2, ... unless some are left out.
Parsed parse(const std::string& dot, const std::string& rankdir) {
  const std::string start = "digraph graphname{rankdir=" + rankdir + ";";
  BOOST_REQUIRE(dot.starts_with(start));
  BOOST_REQUIRE(dot.ends_with("}"));
  Parsed result;
  std::map<std::string, std::size_t> ids;
  std::size_t at = start.size();
  while (at + 1 < dot.size()) {
    const std::size_t end = dot.find(';', at);
    BOOST_REQUIRE(end != std::string::npos);
    const std::string statement = dot.substr(at, end - at);
    at = end + 1;
    if (const std::size_t bracket = statement.find(" ["); bracket != std::string::npos) {
      ids[statement.substr(0, bracket)] = result.attributes.size();
      result.attributes.push_back(statement.substr(bracket + 2, statement.size() - bracket - 3));
    } else {
      const std::size_t arrow = statement.find(" -> ");
      BOOST_REQUIRE(arrow != std::string::npos);
      result.edges.emplace_back(ids.at(statement.substr(0, arrow)), ids.at(statement.substr(arrow + 4)));
    }
  }
  return result;
}

// The same graph up to the numbering of nodes and the order of statements: each node is told apart by its attributes
// and those of everything before and behind it, found by repeated exchange with its neighbours.
std::multiset<std::string> signatures(const Parsed& g) {
  std::vector<std::string> own = g.attributes;
  for (std::size_t round = 0; round < g.attributes.size(); ++round) {
    std::vector<std::multiset<std::string>> in(own.size()), out(own.size());
    for (const auto& [from, to] : g.edges) in[to].insert(own[from]), out[from].insert(own[to]);
    std::vector<std::string> next;
    for (std::size_t i = 0; i < own.size(); ++i) {
      std::string text = own[i] + "<";
      for (const std::string& s : in[i]) text += s + ",";
      text += ">";
      for (const std::string& s : out[i]) text += s + ",";
      next.push_back(g.attributes[i] + "#" + std::to_string(std::hash<std::string>()(text)));
    }
    own = std::move(next);
  }
  return {own.begin(), own.end()};
}

GraphOptions options_of(const json& args) {
  GraphOptions o;
  const auto style = [&](const char* key, GraphStyle& to) {
    if (!args.contains(key)) return;
    to.clear();
    for (const auto& [name, value] : args[key].items()) to.emplace_back(name, value.get<std::string>());
  };
  style("variable_style", o.variable_style);
  style("function_style", o.function_style);
  if (args.contains("rankdir")) o.rankdir = args["rankdir"].get<std::string>();
  o.remove_variable = args.value("remove_variable", false);
  o.show_name = args.value("show_name", true);
  return o;
}

// The graphs of the golden group by their descriptions. Nothing is left of them but the outputs: names of variables
// belong to the graph.
struct GoldenGraph {
  Variables outputs;
  explicit GoldenGraph(const std::string& description) {
    const Variable a(floats({1, 2, 3, 4, 5, 6}, {2, 3})), b(floats({1, 2, 3, 4, 5, 6}, {2, 3}));
    if (has(description, "with 0-d float32 s")) {
      const Variable s(floats({2}, {}));
      outputs = {-s + 3 - pow(s, 2)};
    } else if (has(description, "a, b unnamed")) {
      const Variable c = exp(a);
      outputs = {concat({c, b}, 1), tanh(c)};
    } else if (has(description, "output c only")) {
      outputs = {exp(a)};
    } else {
      nn::Linear link(3, 4);  // its parameters have the names W and b
      const Variable h = nn::relu(link(Variable(a.data(), {.name = "x"})));
      outputs = {sum(h * 2 + h)};
    }
  }
};

// x -> exp -> y and x -> tanh -> z
struct Fork {
  Variable x{floats({1, 2}, {2})}, y = exp(x), z = tanh(x);
};

std::vector<std::string> labels(const ComputationalGraph& g) {
  std::vector<std::string> result;
  for (const GraphNode& n : g.nodes()) result.push_back(n.name.empty() ? n.label : n.name + ": " + n.label);
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(computational_graphs)

BOOST_AUTO_TEST_CASE(graphs_of_the_reference) {
  int checked = 0;
  std::string before;  // "the same" is the graph of the case before
  const auto golden = Golden::open("computational_graph");
  golden.for_each([&](const json& c) -> std::string {
    const std::string given = c["graph"];
    if (!given.starts_with("the same") || has(given, "output c only")) before = given;
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) {
      const GoldenGraph graph(before);
      const GraphOptions options = options_of(c["args"]);
      const std::string ours = build_computational_graph(graph.outputs, options).dump();
      const Parsed expected = parse(c["dot"], options.rankdir), actual = parse(ours, options.rankdir);
      BOOST_TEST(actual.edges.size() == expected.edges.size());
      BOOST_TEST(signatures(actual) == signatures(expected), boost::test_tools::per_element());
      ++checked;
    }
    return {};
  });
  BOOST_TEST(checked == 8);
}

BOOST_AUTO_TEST_CASE(what_the_roots_depend_on) {
  const Fork f;
  const ComputationalGraph both = build_computational_graph({f.y, f.z});
  BOOST_TEST(both.nodes().size() == 5u);
  BOOST_TEST(both.edges().size() == 4u);
  const ComputationalGraph one = build_computational_graph(f.y);
  BOOST_TEST(labels(one) == (std::vector<std::string>{"(2), float32", "exp", "(2), float32"}),
             boost::test_tools::per_element());
  BOOST_TEST((one.edges() == std::vector<GraphEdge>{{0, 1}, {1, 2}}));
  // From a function, its inputs alone; from a variable without a creator, itself.
  BOOST_TEST(labels(build_computational_graph({f.z.creator()})) == (std::vector<std::string>{"(2), float32", "Tanh"}),
             boost::test_tools::per_element());
  BOOST_TEST(build_computational_graph(f.x).nodes().size() == 1u);
  // Behind an unchained variable there is nothing.
  Variable cut = exp(f.y);
  const Variable end = tanh(cut);
  BOOST_TEST(build_computational_graph(end).nodes().size() == 7u);
  cut.unchain();
  BOOST_TEST(build_computational_graph(end).nodes().size() == 3u);
}

BOOST_AUTO_TEST_CASE(order_and_edges_of_the_text) {
  const Variable x(floats({3}, {}), {.name = "x"});
  const Variable y = x * x;  // one edge, although x is taken twice
  BOOST_TEST(build_computational_graph(y, {.variable_style = {}, .function_style = {{"color", "red"}}}).dump() ==
             "digraph graphname{rankdir=TB;0 [label=\"x: float32\",shape=\"oval\"];"
             "1 [label=\"_ * _\",shape=\"box\",color=\"red\"];2 [label=\"float32\",shape=\"oval\"];"
             "0 -> 1;1 -> 2;}");
  BOOST_TEST(build_computational_graph(y, {.variable_style = {{"shape", "star"}, {"label", "v"}},
                                           .function_style = {},
                                           .rankdir = "LR",
                                           .show_name = false})
                 .dump() ==
             "digraph graphname{rankdir=LR;0 [label=\"v\",shape=\"star\"];1 [label=\"_ * _\",shape=\"box\"];"
             "2 [label=\"v\",shape=\"star\"];0 -> 1;1 -> 2;}");
  BOOST_TEST(build_computational_graph({exp(y)}, {.function_style = {}, .remove_variable = true}).dump() ==
             "digraph graphname{rankdir=TB;1 [label=\"_ * _\",shape=\"box\"];3 [label=\"exp\",shape=\"box\"];"
             "1 -> 3;}");
}

// Variables that nobody holds have lost their data, not their shape.
BOOST_AUTO_TEST_CASE(intermediate_variables) {
  const Variable y = sum(exp(Variable(floats({1, 2, 3, 4, 5, 6}, {2, 3}))));
  BOOST_TEST(labels(build_computational_graph(y)) ==
                 (std::vector<std::string>{"(2, 3), float32", "exp", "(2, 3), float32", "Sum", "float32"}),
             boost::test_tools::per_element());
}

// A name belongs to the graph, also if its variable was a temporary; so do those of the parameters of a model.
BOOST_AUTO_TEST_CASE(names_outlive_their_variables) {
  Variable y;
  {
    TinyMLP model;
    Variable h = model(Variable(floats({1, 2, 3, 4}, {1, 4}), {.name = "x"}));
    h.set_name("h");
    y = sum(h);
  }
  std::multiset<std::string> names;
  for (const GraphNode& n : build_computational_graph(y).nodes())
    if (!n.name.empty()) names.insert(n.name);
  BOOST_TEST(names == (std::multiset<std::string>{"W", "W", "b", "b", "h", "x"}), boost::test_tools::per_element());
  BOOST_TEST(has(build_computational_graph(y).dump(), "label=\"x: (1, 4), float32\""));
}

BOOST_AUTO_TEST_CASE(characters_with_a_meaning_in_labels) {
  const std::vector<GraphNode> nodes{{true, "a \"b\" \\ {c}", ""}, {false, "<f|g>\n", ""}};
  const auto dump = [&](const GraphStyle& style) {
    return ComputationalGraph(nodes, {}, {.variable_style = {}, .function_style = style}).dump();
  };
  BOOST_TEST(has(dump({}), "0 [label=\"a \\\"b\\\" \\\\ {c}\",shape=\"oval\"]"), dump({}));
  BOOST_TEST(has(dump({}), "1 [label=\"<f|g>\\n\",shape=\"box\"]"), dump({}));
  BOOST_TEST(has(dump({{"shape", "record"}}), "1 [label=\"\\<f\\|g\\>\\n\",shape=\"record\"]"),
             dump({{"shape", "record"}}));
}

BOOST_AUTO_TEST_CASE(a_deep_graph) {
  Variable y(floats({1}, {1}));
  for (int i = 0; i < 20000; ++i) y = y + 1;
  const ComputationalGraph g = build_computational_graph(y);
  BOOST_TEST(g.nodes().size() == 40001u);
  bool in_order = true;
  for (const auto& [from, to] : g.edges()) in_order = in_order && from + 1 == to;
  BOOST_TEST(in_order);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Fork f;
  BOOST_CHECK_THROW(build_computational_graph(f.y, {.remove_split = false}), catena::ValueError);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { build_computational_graph(f.y, {.rankdir = "UP"}); }),
                 "rankdir is \"UP\", not TB, BT, LR or RL"));
  for (const char* direction : {"TB", "BT", "LR", "RL"})
    BOOST_TEST(has(build_computational_graph(f.y, {.rankdir = direction}).dump(), direction));
  BOOST_TEST(has(message_of<catena::NotImplementedError>([&] { build_computational_graph(f.y).dump("png"); }), "png"));
  BOOST_CHECK_THROW(build_computational_graph(Variable()), catena::TypeError);
  BOOST_CHECK_THROW(build_computational_graph({f.x.creator()}), catena::TypeError);  // a root has none
  BOOST_CHECK_THROW(ComputationalGraph({{true, "x", ""}}, {{0, 1}}), catena::IndexError);
}

BOOST_AUTO_TEST_SUITE_END()
