// BinaryHierarchicalSoftmax with its trees, BlackOut, NegativeSampling and CRF1d: the cases of the reference, and loops
// over rows and labels.
#include <cmath>
#include <iostream>
#include <map>
#include <utility>

#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_link_golden.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::BinaryTree;

namespace {

using Doubles = std::vector<double>;
using Labels = std::vector<std::int32_t>;

Array labels(const Labels& t, const Shape& shape) { return autograd::array(t, shape); }

// ---- the cases of the reference ----
// The samples that the notes of a case give as text: "samples = [[0, 3, 2], [0, 2, 0]]".
nn::Sampler sampler_of(const Json& c) {
  const std::string notes = c["notes"].get<std::string>();
  Labels numbers;
  for (std::size_t at = notes.find("samples = [["); at < notes.rfind("]]"); ++at)
    if (notes[at] >= '0' && notes[at] <= '9') numbers.push_back(notes[at] - '0');
  return [numbers](const Shape& shape) { return labels(numbers, shape); };
}

// Lists of lists of labels.
BinaryTree tree_of(const Json& v) {
  if (!v.is_array()) return v.get<std::int64_t>();
  std::vector<BinaryTree> children;
  for (const Json& child : v) children.push_back(tree_of(child));
  return BinaryTree(std::move(children));
}

void run_hierarchical_softmax(LinkCase& c, const Json& a, Dtype) {
  nn::BinaryHierarchicalSoftmax link(a["in_size"].get<int>(), tree_of(a["tree"]));
  c.run(link, [&](const Variables& in, const Json&) { return Variables{link(in[0], in[1])}; });
}

void run_negative_sampling(LinkCase& c, const Json& a, Dtype) {
  nn::NegativeSampling link(a["in_size"].get<int>(), a["counts"].get<std::vector<double>>(),
                            a["sample_size"].get<int>());
  link.sampler = sampler_of(c.json());
  c.run(link, [&](const Variables& in, const Json& o) {
    return Variables{link(in[0], in[1], o["reduce"].get<std::string>())};
  });
}

void run_black_out(LinkCase& c, const Json& a, Dtype) {
  nn::BlackOut link(a["in_size"].get<int>(), a["counts"].get<std::vector<double>>(), a["sample_size"].get<int>());
  link.sampler = sampler_of(c.json());
  c.run(link, [&](const Variables& in, const Json&) { return Variables{link(in[0], in[1])}; });
}

void run_crf1d(LinkCase& c, const Json& a, Dtype) {
  nn::CRF1d link(a["n_label"].get<int>());
  c.run_calls(link, [&](const Variables& in, const Json& one) -> Variables {
    if (one["method"].get<std::string>() == "argmax") {
      const auto [score, path] = link.argmax(in);
      Variables results{score};
      for (const Array& at : path) results.push_back(Variable(at));
      return results;
    }
    const std::size_t times = in.size() / 2;
    Variables xs, ys;
    for (std::size_t k = 0; k < times; ++k) xs.push_back(in[k]);
    for (std::size_t k = times; k < in.size(); ++k) ys.push_back(in[k]);
    return {link(xs, ys, one["args"]["reduce"].get<std::string>())};
  });
}

const LinkRunners registered({{"BinaryHierarchicalSoftmax", run_hierarchical_softmax},
                              {"NegativeSampling", run_negative_sampling},
                              {"BlackOut", run_black_out},
                              {"CRF1d", run_crf1d}});

// ---- the loss of one label, by the walk through the tree ----
int nodes_below(const BinaryTree& t) {
  return t.is_leaf() ? 0 : 1 + nodes_below(t.children()[0]) + nodes_below(t.children()[1]);
}
bool has_label(const BinaryTree& t, std::int64_t label) {
  if (t.is_leaf()) return t.label() == label;
  return has_label(t.children()[0], label) || has_label(t.children()[1], label);
}
double loss_of(const BinaryTree& t, int node, std::int64_t label, const double* x, const Doubles& W, std::size_t d) {
  if (t.is_leaf()) return 0;
  double product = 0;
  for (std::size_t k = 0; k < d; ++k) product += x[k] * W[std::size_t(node) * d + k];
  const BinaryTree &left = t.children()[0], &right = t.children()[1];
  if (has_label(left, label)) return std::log1p(std::exp(-product)) + loss_of(left, node + 1, label, x, W, d);
  return std::log1p(std::exp(product)) + loss_of(right, node + 1 + nodes_below(left), label, x, W, d);
}

const BinaryTree& some_tree() {
  static const BinaryTree tree = {{5, {0, 2}}, {{{1, 6}, 3}, 4}};
  return tree;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loss_links)

BOOST_AUTO_TEST_CASE(hierarchical_softmax_by_walks) {
  const nn::TreePaths paths(some_tree());
  BOOST_TEST(paths.num_nodes() == 6);
  BOOST_TEST(paths.num_labels() == 7);
  BOOST_TEST(paths.longest() == 4);
  const Labels t{0, 6, 5, 6, 4};
  const Array x = spread({5, 3}), W = spread({6, 3}, -1, 1, 3);
  const Doubles xs = values(x), ws = values(W);
  double expected = 0;
  for (std::size_t n = 0; n < 5; ++n) expected += loss_of(some_tree(), 0, t[n], xs.data() + 3 * n, ws, 3);
  const auto f = [&](const Variables& v) {
    return Variables{nn::binary_hierarchical_softmax(v[0], v[1], v[2], paths)};
  };
  const autograd::Arrays inputs{x, labels(t, {5}), W};
  check_close(f({Variable(x), Variable(inputs[1]), Variable(W)})[0].data(), autograd::array(Doubles{expected}, {}),
              1e-12, 1e-12, "loss");
  check_derivatives("binary_hierarchical_softmax", f, inputs, {.atol16 = 5e-3, .rtol16 = 1e-2});
  // Of all leaves, the probabilities add up to 1.
  double total = 0;
  for (std::int32_t label = 0; label < 7; ++label)
    total += std::exp(-double(
        nn::binary_hierarchical_softmax(Variable(spread({1, 3})), Variable(labels({label}, {1})), Variable(W), paths)));
  BOOST_TEST(std::fabs(total - 1) < 1e-12);
  // Other integers, an empty batch, a tree of one leaf.
  const Array wide = autograd::astype(inputs[1], Dtype::int64);
  BOOST_TEST(double(f({Variable(x), Variable(wide), Variable(W)})[0]) == expected, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(
      double(nn::binary_hierarchical_softmax(Variable(autograd::arrays::zeros({0, 3})), Variable(labels({}, {0})),
                                             Variable(autograd::arrays::zeros({6, 3})), paths)) == 0);
  nn::BinaryHierarchicalSoftmax leaf(3, 0);
  BOOST_TEST(double(leaf(Variable(autograd::arrays::zeros({2, 3})), Variable(labels({0, 0}, {2})))) == 0);
}

BOOST_AUTO_TEST_CASE(hierarchical_softmax_errors) {
  const nn::TreePaths paths({0, {1, 3}});
  const Variable x(autograd::arrays::ones({2, 3})), t(labels({0, 3}, {2})), W(autograd::arrays::ones({2, 3}));
  const auto call = [&](const Variable& a, const Variable& b, const Variable& c) {
    return nn::binary_hierarchical_softmax(a, b, c, paths);
  };
  BOOST_CHECK_NO_THROW(call(x, t, W));
  BOOST_CHECK_THROW(call(x, x, W), catena::InvalidType);
  BOOST_CHECK_THROW(call(t, t, W), catena::InvalidType);
  BOOST_CHECK_THROW(call(x, Variable(labels({0}, {1})), W), catena::InvalidType);
  BOOST_CHECK_THROW(call(x, t, Variable(autograd::arrays::ones({2, 2}))), catena::InvalidType);
  BOOST_CHECK_THROW(call(x, t, Variable(autograd::arrays::ones({2, 3}, Dtype::float64))), catena::InvalidType);
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   call(x, t, Variable(autograd::arrays::ones({3, 3})));
                 }),
                 "2 nodes"));
  BOOST_TEST(has(message_of<catena::ValueError>([] {
                   nn::TreePaths({0, BinaryTree(std::vector<BinaryTree>{1, 2, 3})});
                 }),
                 "3 children"));
  BOOST_TEST(has(message_of<catena::ValueError>([] { nn::TreePaths({0, -1}); }), "the leaf -1"));
  if (default_device().kind != autograd::Device::Kind::cpu) {
    std::cout << "not run: labels are checked on the CPU only\n";
    return;
  }
  BOOST_CHECK_THROW(call(x, Variable(labels({0, 4}, {2})), W), catena::IndexError);
  BOOST_TEST(has(message_of<catena::IndexError>([&] { call(x, Variable(labels({0, 2}, {2})), W); }), "is no leaf"));
}

BOOST_AUTO_TEST_CASE(huffman_trees) {
  const auto tree = [](const auto& counts) { return nn::BinaryHierarchicalSoftmax::create_huffman_tree(counts); };
  const BinaryTree expected = {{3, 1}, {2, 0}};
  BOOST_TEST((tree(std::map<int, int>{{0, 8}, {1, 5}, {2, 6}, {3, 4}}) == expected));
  BOOST_TEST((nn::create_huffman_tree({{0, 8}, {1, 5}, {2, 6}, {3, 4}}) == expected));
  // Of equal counts the earlier entry comes first, and a merged tree has the place of its earliest entry.
  BOOST_TEST((nn::create_huffman_tree({{0, 1}, {1, 1}, {2, 1}, {3, 1}}) == BinaryTree{{0, 1}, {2, 3}}));
  BOOST_TEST((nn::create_huffman_tree({{7, 1}, {1, 1}, {2, 2}}) == BinaryTree{{7, 1}, 2}));
  BOOST_TEST((nn::create_huffman_tree({{7, 2}, {1, 1}, {2, 1}}) == BinaryTree{7, {1, 2}}));
  BOOST_TEST((nn::create_huffman_tree({{4, 1.5}}) == BinaryTree(4)));
  BOOST_CHECK_THROW(tree(std::map<int, int>{}), catena::ValueError);
  BOOST_CHECK_THROW(tree(std::map<int, double>{{0, 1}, {1, NAN}}), catena::ValueError);
  // Fibonacci counts make a chain.
  std::vector<std::pair<std::int64_t, double>> chain;
  for (double a = 1, b = 1; chain.size() < 60; b += std::exchange(a, b)) chain.emplace_back(chain.size(), a);
  BOOST_TEST(nn::TreePaths(nn::create_huffman_tree(chain)).longest() == 59);
}

// One tree in braces is that tree; two are a node.
BOOST_AUTO_TEST_CASE(trees_in_braces) {
  const BinaryTree other = {{3, 1}, {2, 0}};
  const BinaryTree copied{other}, also = {other}, node{other, 4};
  BOOST_TEST((copied == other));
  BOOST_TEST((also == other));
  BOOST_TEST(node.children().size() == 2u);
  BOOST_TEST((node.children()[0] == other));
  BOOST_TEST((node == BinaryTree{{{3, 1}, {2, 0}}, 4}));
  BOOST_TEST((BinaryTree{5} == BinaryTree(5)));
  BOOST_TEST(!(node == other));
  BOOST_TEST(!(BinaryTree{1, 2} == BinaryTree{1, 3}));
  BOOST_TEST(!(BinaryTree{1, 2} == BinaryTree(1)));
  static_assert(!std::is_constructible_v<BinaryTree, int, int, int>);
  BinaryTree assigned = 7;
  assigned = {other};
  BOOST_TEST((assigned == other));
  assigned = assigned.children()[1];  // a part of itself
  BOOST_TEST((assigned == BinaryTree{2, 0}));
  const BinaryTree list(std::vector<BinaryTree>{other});
  BOOST_TEST(list.children().size() == 1u);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::TreePaths{list}; }), "1 children"));
}

// Labels that never occur make a chain, the deepest tree there is.
BOOST_AUTO_TEST_CASE(deep_trees) {
  constexpr std::int64_t kMany = 1'000'000;
  std::vector<std::pair<std::int64_t, double>> zeros;
  for (std::int64_t label = 0; label < kMany; ++label) zeros.emplace_back(label, 0);
  BinaryTree tree = nn::create_huffman_tree(zeros);
  std::int64_t depth = 0;
  for (const BinaryTree* at = &tree; !at->is_leaf(); at = &at->children()[0]) ++depth;
  BOOST_TEST(depth == kMany - 1);
  BinaryTree copied = tree;
  BOOST_TEST((copied == tree));
  BinaryTree moved = std::move(tree);
  BOOST_TEST((moved == copied));
  copied = BinaryTree(0);
  BOOST_TEST(!(moved == copied));
  // Its paths would have n (n + 1) / 2 - 1 nodes.
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::TreePaths{moved}; }), "500000499999"));
  // A chain whose paths fit, from the root to the deepest labels.
  zeros.resize(3000);
  const nn::TreePaths paths(nn::create_huffman_tree(zeros));
  BOOST_TEST(paths.num_nodes() == 2999);
  BOOST_TEST(paths.longest() == 2999);
  BOOST_TEST(paths.length(0) == 2999);
  BOOST_TEST(paths.length(1) == 2999);
  BOOST_TEST(paths.length(2) == 2998);
  BOOST_TEST(paths.length(2999) == 1);
  BOOST_TEST(paths.nodes().size() == 3000 * 3001 / 2 - 1);
}

BOOST_AUTO_TEST_CASE(hierarchical_softmax_as_a_link) {
  autograd::seed(4);
  std::map<int, int> counts;
  for (int k = 0; k < 64; ++k) counts[k] = 1;
  nn::BinaryHierarchicalSoftmax l(50, nn::BinaryHierarchicalSoftmax::create_huffman_tree(counts));
  BOOST_TEST(l.W.shape() == Shape({63, 50}));
  double largest = 0, squares = 0;
  for (const double w : values(l.W.data())) largest = std::max(largest, std::fabs(w)), squares += w * w / (63 * 50);
  BOOST_TEST(largest <= 1);
  BOOST_TEST(std::fabs(squares - 1.0 / 3) < 0.03);
  const Variable x(autograd::astype(spread({4, 50}), Dtype::float32)), t(ints({0, 63, 5, 5}));
  Variable loss = l(x, t);
  loss.backward();
  BOOST_TEST(bool(l.W.grad()));
  const TemporaryFolder folder("hierarchical_softmax");
  nn::serializers::save_npz(folder / "l.npz", l);
  nn::BinaryHierarchicalSoftmax loaded = l;
  autograd::fill(loaded.W.data(), 0);
  nn::serializers::load_npz(folder / "l.npz", loaded);
  BOOST_TEST(double(loaded(x, t)) == double(loss));
  if (const auto other = other_device()) {
    loaded.to_device(*other);
    BOOST_TEST((loaded.paths().nodes().device() == *other));
    const Variable there(autograd::to_device(x.data(), *other)), labels_there(autograd::to_device(t.data(), *other));
    BOOST_TEST(double(loaded(there, labels_there)) == double(loss), boost::test_tools::tolerance(1e-5));
    BOOST_TEST((l.paths().nodes().device() == default_device()));
  }
}

BOOST_AUTO_TEST_CASE(negative_sampling_and_black_out) {
  autograd::seed(11);
  const std::vector<int> counts{16, 0, 81, 1};
  nn::NegativeSampling negative(3, counts, 2);
  nn::BlackOut black(3, counts, 2);
  BOOST_TEST(nn::NegativeSampling(3, {16, 0, 81.5}, 2).W.shape() == Shape({3, 3}));  // counts of any type
  BOOST_TEST(nn::BlackOut(3, std::vector<std::uint16_t>{5, 2}, 2).W.shape() == Shape({2, 3}));
  BOOST_TEST(values(negative.W.data()) == Doubles(12, 0), boost::test_tools::per_element());
  BOOST_TEST(negative.W.shape() == Shape({4, 3}));
  // BlackOut starts at random, with the deviation 1 / sqrt(in_size).
  nn::BlackOut large(400, std::vector<double>(300, 1.0), 5);
  double squares = 0;
  for (const double w : values(large.W.data())) squares += w * w / (300 * 400);
  BOOST_TEST(std::fabs(squares * 400 - 1) < 0.05);
  // Label i is drawn as often as counts[i]^power.
  const auto shares = [](const nn::WalkerAlias& alias) {
    Doubles share(4);
    for (const double id : values(alias({20000}))) share[std::size_t(id)] += 1.0 / 20000;
    return share;
  };
  const Doubles powers = shares(negative.alias), plain = shares(black.alias);
  BOOST_TEST(powers[1] == 0);
  BOOST_TEST(std::fabs(powers[0] - 8.0 / 36) < 0.02);
  BOOST_TEST(std::fabs(powers[2] - 27.0 / 36) < 0.02);
  BOOST_TEST(std::fabs(plain[2] - 81.0 / 98) < 0.02);
  const Variable x(floats({1, 2, 3, 4, 5, 6}, {2, 3})), t(ints({0, 2}));
  // W is 0: every term is log 2.
  BOOST_TEST(double(negative(x, t)) == 6 * std::log(2.0), boost::test_tools::tolerance(1e-6));
  BOOST_TEST(negative(x, t, "no").shape() == Shape{2});
  BOOST_TEST(black(x, t).shape() == Shape{});
  BOOST_TEST(black(x, t, "no").shape() == Shape{2});
  BOOST_CHECK_THROW(negative(x, t, "other"), catena::ValueError);
  BOOST_CHECK_THROW(nn::NegativeSampling(3, counts, -1), catena::ValueError);
  BOOST_TEST(message_of<catena::ValueError>([&] { nn::BlackOut(3, counts, -2); }) ==
             "BlackOut: sample_size is -2 and must not be negative");
  BOOST_CHECK_THROW(nn::BlackOut(3, std::vector<int>{}, 1), catena::ValueError);
  BOOST_TEST(has(message_of<catena::InvalidType>([&] {
                   negative(Variable(floats({1}, {1, 1})), Variable(ints({0})));
                 }),
                 "NegativeSampling"));
  BOOST_TEST(has(message_of<catena::InvalidType>([&] {
                   black(Variable(floats({1}, {1, 1})), Variable(ints({0})));
                 }),
                 "BlackOut"));
  if (const auto other = other_device()) {
    nn::NegativeSampling moved = negative;
    moved.to_device(*other);
    BOOST_TEST((moved.alias.sample({2}).device() == *other));
    BOOST_TEST((negative.alias.sample({2}).device() == default_device()));
  }
}

BOOST_AUTO_TEST_CASE(crf1d_as_a_link) {
  nn::CRF1d l(3), loaded(3);
  BOOST_TEST(values(l.cost.data()) == Doubles(9, 0), boost::test_tools::per_element());
  autograd::assign(l.cost.data(), floats({0, 1, 0, 2, 0, 0, 0, 0, 3}, {3, 3}));
  const TemporaryFolder folder("crf1d");
  nn::serializers::save_npz(folder / "l.npz", l);
  nn::serializers::load_npz(folder / "l.npz", loaded);
  // Two sequences, of which the second ends first. All paths of the first one: scores x + cost.
  const Array first = floats({1, 0, 2, 0, 1, 0}, {2, 3}), second = floats({0, 2, 1}, {1, 3});
  const Doubles a = values(first), b = values(second), cost = values(loaded.cost.data());
  double all = 0, best = -1e9, last = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    last += std::exp(a[3 + i]);
    for (std::size_t j = 0; j < 3; ++j) {
      const double score = a[i] + cost[3 * i + j] + b[j];
      all += std::exp(score);
      best = std::max(best, score);
    }
  }
  const Variables xs{Variable(first), Variable(second)}, ys{Variable(ints({0, 1})), Variable(ints({2}))};
  const Doubles losses = values(loaded(xs, ys, "no").data());
  BOOST_TEST(losses[0] == std::log(all) - (a[0] + cost[2] + b[2]), boost::test_tools::tolerance(1e-5));
  BOOST_TEST(losses[1] == std::log(last) - a[4], boost::test_tools::tolerance(1e-5));
  BOOST_TEST(double(loaded(xs, ys)) == (losses[0] + losses[1]) / 2, boost::test_tools::tolerance(1e-5));
  const auto [score, path] = loaded.argmax(xs);
  BOOST_TEST(values(score.data())[0] == best, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(values(path[0]) == (Doubles{2, 1}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(loaded(xs, ys, "other"), catena::ValueError);
}

// Weights whose sum is no float32, and arrays without axes.
BOOST_AUTO_TEST_CASE(sampling_at_the_limits) {
  for (const double scale : {1e-60, 1e300, 6e307}) {
    const nn::WalkerAlias alias(std::vector<double>{scale, 0, 2 * scale});
    Doubles share(3);
    for (const double id : values(alias({20000}))) share[std::size_t(id)] += 1.0 / 20000;
    BOOST_TEST(share[1] == 0);
    BOOST_TEST(std::fabs(share[2] - 2.0 / 3) < 0.02);
  }
  nn::BlackOut black(3, std::vector<double>{1, 2}, 2);
  BOOST_CHECK_THROW(black(Variable(floats({1}, {})), Variable(ints({0}))), catena::InvalidType);
}

BOOST_AUTO_TEST_SUITE_END()
