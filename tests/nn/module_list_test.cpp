// PyTorch's containers of layers, calls of links whose class is not known, and its functions of modules and of hooks.
#include <catena/nn/module_list.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include <catena/nn/clipping.h>
#include <catena/nn/functional_call.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/link_hooks/spectral_normalization.h>
#include <catena/nn/links.h>
#include <catena/nn/serializers/state_dict.h>
#include <catena/tests/support/link_values.h>

using namespace test;
using Strings = std::vector<std::string>;

namespace {

const auto each = boost::test_tools::per_element();

// Multiplies by a number, which is its parameter.
struct Times : nn::Chain {
  nn::Parameter factor;
  explicit Times(float by) : factor(floats({by}, {1})) {}
  NN_MEMBERS(factor)
  Variable operator()(const Variable& x) { return x * factor; }
};
// PyTorch's form of a class.
struct Affine : nn::Module {
  Times scale{3};
  NN_MEMBERS(scale)
  Variable forward(const Variable& x) { return scale(x) + 1; }
  Variable forward(const Variable& x, const Variable& y) { return scale(x) + y; }
};

Variable x() { return Variable(floats({1, -2}, {2})); }

}  // namespace

BOOST_AUTO_TEST_SUITE(module_lists)

BOOST_AUTO_TEST_CASE(links_and_functions_in_a_list) {
  nn::ModuleList list({Times(2), nn::relu});
  nn::Link& last = list.append(Times(5));
  BOOST_TEST(list.size() == 3u);
  BOOST_TEST(&list[-1].as_link() == &last);
  BOOST_TEST(keys(list) == (Strings{"0/factor", "2/factor"}), each);  // by position, with functions
  Variable h = x();
  for (nn::Link& layer : list) h = layer(h);
  CHECK_VALUES(h, {10, 0});
  CHECK_VALUES(list[0](x()), {2, -4});
  CHECK_VALUES(list[1](x()), {1, 0});
  BOOST_TEST(list[1].params().empty());
  list.extend({Times(7)});
  list.extend(nn::ModuleList({Times(8)}));
  list.insert(1, Times(9));
  list.insert(-1, nn::relu);
  BOOST_TEST(keys(list) == (Strings{"0/factor", "1/factor", "3/factor", "4/factor", "6/factor"}), each);
  BOOST_TEST(list[4].name() == "4");
  BOOST_CHECK_THROW(list.insert(8, nn::relu), catena::IndexError);
  BOOST_CHECK_THROW(list.insert(-8, nn::relu), catena::IndexError);
  BOOST_CHECK_THROW(list.append({}), catena::ValueError);
  BOOST_CHECK_THROW(list[1](Variables{x(), x()}), catena::TypeError);
  BOOST_TEST(nn::ModuleList().size() == 0u);
}

BOOST_AUTO_TEST_CASE(copies_of_lists_are_deep) {
  nn::ModuleList list({Times(2)});
  nn::ModuleList twin = list;
  autograd::fill(twin.params()[0].data(), 6);
  CHECK_VALUES(list[0](x()), {2, -4});
  CHECK_VALUES(twin[0](x()), {6, -12});
  list.extend(list);  // a list is extended by its own links
  BOOST_TEST(list.size() == 2u);
}

BOOST_AUTO_TEST_CASE(layers_by_name) {
  nn::ModuleDict heads({{"b", Times(2)}, {"a", nn::relu}});
  CHECK_VALUES(heads["b"](x()), {2, -4});
  CHECK_VALUES(heads.insert("c", Times(3))(x()), {3, -6});
  heads.update({{"d", Times(4)}});
  BOOST_TEST(heads.keys() == (Strings{"b", "a", "c", "d"}), each);
  BOOST_TEST(heads.size() == 4u);
  BOOST_TEST(heads.values().size() == 4u);
  BOOST_TEST(heads.contains("d"));
  BOOST_TEST(!heads.contains("e"));
  std::string names;
  for (auto& [name, layer] : heads.items()) names += name + std::to_string(layer.params().size());
  BOOST_TEST(names == "b1a0c1d1");
  BOOST_TEST(keys(heads) == (Strings{"b/factor", "c/factor", "d/factor"}), each);
  BOOST_CHECK_THROW(heads.insert("a", nn::relu), catena::AttributeError);
  BOOST_CHECK_THROW(heads["e"](x()), catena::KeyError);
  // An assignment through a Link& would copy a part of the object.
  BOOST_TEST((!std::is_assignable_v<nn::Link&, nn::Linear>));
}

BOOST_AUTO_TEST_CASE(elements_are_assigned) {
  nn::ModuleList list({Times(2), Times(3), nn::relu});
  list[1] = Times(5);
  list[-1] = nn::Linear(2, 4);
  list[0] = list[1];
  BOOST_TEST(keys(list) == (Strings{"0/factor", "1/factor", "2/W", "2/b"}), each);
  CHECK_VALUES(list[0](x()), {5, -10});
  BOOST_TEST(list[1].name() == "1");
  BOOST_TEST(list[2].weight.is_same(list[2].as<nn::Linear>()->W));
  BOOST_TEST(list[2].bias.shape() == Shape({4}));
  BOOST_TEST(!list[0].weight);
  BOOST_TEST((list[0].as<nn::Linear>() == nullptr));
  BOOST_TEST(list.pop(0)(x()).shape() == Shape({2}));
  BOOST_TEST(keys(list) == (Strings{"0/factor", "1/W", "1/b"}), each);
  BOOST_CHECK_THROW(list[2], catena::IndexError);
  BOOST_CHECK_THROW(list.pop(2), catena::IndexError);

  nn::ModuleDict heads({{"a", Times(2)}, {"b", Times(3)}});
  heads["c"] = Times(4);
  heads["a"] = nn::Linear(2, 3);
  heads.update({{"b", Times(7)}});
  BOOST_TEST(heads.keys() == (Strings{"a", "b", "c"}), each);
  CHECK_VALUES(heads["b"](x()), {7, -14});
  BOOST_TEST(heads["a"].weight.shape() == Shape({3, 2}));
  heads["a"].requires_grad_(false);
  BOOST_TEST(!heads["a"].weight.requires_grad());
  heads.pop("b");
  BOOST_TEST(heads.keys() == (Strings{"a", "c"}), each);
  BOOST_CHECK_THROW(heads.pop("b"), catena::KeyError);
}

BOOST_AUTO_TEST_CASE(links_of_any_class_are_called) {
  Affine affine;
  nn::Link& link = affine;
  CHECK_VALUES(affine(x()), {4, -5});
  CHECK_VALUES(link(x()), {4, -5});
  CHECK_VALUES(link(floats({1, -2}, {2})), {4, -5});
  CHECK_VALUES(link(x(), x()), {4, -8});
  CHECK_VALUES(link(Variables{x(), x()}), {4, -8});
  BOOST_CHECK_THROW(link(x(), x(), x()), catena::TypeError);
  nn::Chain empty;
  BOOST_CHECK_THROW(empty(x()), catena::NotImplementedError);
}

BOOST_AUTO_TEST_CASE(links_below_a_link) {
  struct Two : nn::Chain {
    Affine first;
    Times second{2};
    NN_MEMBERS(first, second)
  } two;
  two.params();  // gives the members their names
  std::string order;
  two.apply([&](nn::Module& m) { order += m.name() + ";"; });
  BOOST_TEST(order == "scale;first;second;;");  // children before their parents
  order.clear();
  for (nn::Link& m : two.modules()) order += m.name() + ";";
  BOOST_TEST(order == ";first;scale;second;");
  BOOST_TEST(two.children().size() == 2u);
  BOOST_TEST(&two.children()[1] == &two.second);
  for (nn::Link& child : two.children()) child.disable_update();
  BOOST_TEST(!two.update_enabled());
  BOOST_TEST(two.named_children()[0].first == "first");
  BOOST_TEST(two.named_modules().size() == 4u);
  two.register_buffer("mean", floats({4}, {1}));
  two.register_parameter("shift", nn::Parameter(floats({5}, {1})));
  BOOST_TEST(keys(two) == (Strings{"first/scale/factor", "mean", "second/factor", "shift"}), each);
  two.to_device("@numpy").to_device("cpu").cpu();
  BOOST_TEST(message_of<catena::ValueError>([&] { two.to_device("tpu"); }).find("\"cuda:1\"") != std::string::npos);
  BOOST_TEST(two.half().params()[0].dtype() == Dtype::float16);
}

BOOST_AUTO_TEST_CASE(hooks_that_are_functions) {
  Affine affine;
  nn::Linear linear(2, 1);
  int calls = 0, before = 0;
  double last = 0;
  auto handle = affine.register_forward_hook([&](auto& link, const auto& args, const auto& y) {
    BOOST_TEST(&link == &affine);
    BOOST_TEST(args.size() == 1u);
    last = values(y.data())[0];
    ++calls;
  });
  auto list = affine.register_forward_hook(
      [&](nn::Link&, const Variables&, const Variables& outputs) { calls += 10 * int(outputs.size()); });
  auto pre = affine.register_forward_pre_hook([&](auto&, const auto& args) { before += int(args[0].size()); });
  const auto of_layer = linear.register_forward_hook([&](auto&, auto&, auto& y) { calls += 100 * int(y.ndim()); });
  affine(x());
  BOOST_TEST(calls == 11);
  BOOST_TEST(before == 2);
  BOOST_TEST(last == 4);
  linear(Variable(floats({1, 2}, {1, 2})));
  BOOST_TEST(calls == 211);
  Affine twin = affine;
  handle.remove();
  handle.remove();
  affine(x());
  BOOST_TEST(calls == 221);
  pre.remove();
  list.remove();
  twin(x());  // a copy has the same hooks
  affine(x());
  BOOST_TEST(calls == 221);
  BOOST_TEST(before == 4);
}

BOOST_AUTO_TEST_CASE(a_removed_hook_is_destroyed) {
  Affine affine;
  const auto count = std::make_shared<int>(0);
  auto kept = affine.register_forward_hook([count](auto&, auto&, auto&) { ++*count; });
  Affine twin = affine;
  BOOST_TEST(count.use_count() == 2);
  affine(x());
  kept.remove();
  BOOST_TEST(count.use_count() == 1);
  twin(x());
  BOOST_TEST(*count == 1);
  // A hook may remove itself; its captures exist until it returns.
  std::optional<nn::LinkHookHandle> own;
  own = affine.register_forward_hook([count, &own](auto&, auto&, auto&) {
    own->remove();
    ++*count;
  });
  affine(x());
  affine(x());
  BOOST_TEST(*count == 2);
  BOOST_TEST(count.use_count() == 1);
}

namespace {
// Embeddings of V words, whose weights are those of the last layer, too.
struct TiedNet : nn::Chain {
  nn::EmbedID embedding;
  nn::Linear head;
  explicit TiedNet(int words = 3) : embedding(words, 2), head(2, words, {.nobias = true}) {
    head.weight = embedding.weight;
  }
  NN_MEMBERS(embedding, head)
  Variable operator()(const Variable& words) { return head(embedding(words)); }
};
Variable word(int id) { return Variable(autograd::array<std::int32_t>({id}, {1})); }
}  // namespace

// head.weight = embedding.weight: one parameter, with one gradient, that both layers read.
BOOST_AUTO_TEST_CASE(tied_weights) {
  TiedNet model(4);
  BOOST_TEST((model.head.W.is_same(model.embedding.W) && model.head.weight.is_same(model.embedding.W)));
  BOOST_TEST(model.params().size() == 1u);
  BOOST_TEST((model.namedparams().size() == 1u && model.namedparams()[0].path == "/embedding/W"));
  BOOST_TEST(model.count_params() == 8);
  model.embedding.W.set_data(floats({1, 0, 0, 1, 1, 1, 2, 0}, {4, 2}));
  const Variable y = model(Variable(autograd::array<std::int32_t>({2}, {1})));
  CHECK_VALUES(y, {1, 1, 2, 2});
  autograd::sum(y).backward();
  // The sum over v of w_v . w_2: w_2 for every row, and for row 2 also the sum of all rows, (4, 2).
  CHECK_VALUES(Variable(model.head.W.grad()), {1, 1, 1, 1, 5, 3, 1, 1});
  // A copy has a parameter for each layer, and a copied handle does not belong to a layer.
  TiedNet copied = model;
  BOOST_TEST(!copied.head.W.is_same(model.head.W));
  auto handle = model.head.weight;
  BOOST_CHECK_THROW(handle = copied.head.weight, catena::RuntimeError);
  BOOST_CHECK_THROW(model.head.bias = nn::Linear(2, 4).bias, catena::RuntimeError);
  nn::Linear moved = std::move(model.head);
  moved.weight = copied.embedding.weight;
  BOOST_TEST(moved.W.is_same(copied.embedding.W));
  // The source is the parameter of the layer, also if it was exchanged after the handle was made.
  nn::Linear a(2, 3), b(2, 3), c(2, 3);
  b.b = nn::Parameter(floats({7, 8, 9}, {3}));
  a.bias = b.bias;
  BOOST_TEST((a.b->is_same(*b.b) && a.bias.is_same(*b.b)));
  CHECK_VALUES(Variable(a.bias), {7, 8, 9});
  a.b = std::nullopt;
  BOOST_CHECK_THROW(a.bias = c.bias, catena::RuntimeError);
  BOOST_CHECK_THROW(c.bias = a.bias, catena::RuntimeError);
  BOOST_TEST((!a.b && c.b.has_value()));
}

// One gradient in the norm of gradients, and one sum of gradients.
BOOST_AUTO_TEST_CASE(gradients_of_tied_weights) {
  const std::vector<float> weights{1, 0, 0, 1, 1, 1};
  TiedNet model, twin;
  for (TiedNet* net : {&model, &twin}) {
    net->embedding.W.set_data(floats(weights, {3, 2}));
    autograd::sum((*net)(word(0))).backward();
  }
  // w_0 for every row, and for row 0 also the sum of all rows, (2, 2).
  CHECK_VALUES(Variable(model.head.W.grad()), {3, 2, 1, 0, 1, 0});
  BOOST_TEST(autograd::item(nn::grads_norm(model)).to_double() == std::sqrt(15.0), boost::test_tools::tolerance(1e-6));
  // The gradients of a copy, in which each layer has its own parameter, add up; those of a tied model are added once.
  const TiedNet untied = twin;
  model.zerograds();
  model.addgrads(twin);
  CHECK_VALUES(Variable(model.head.W.grad()), {3, 2, 1, 0, 1, 0});
  model.zerograds();
  model.addgrads(untied);
  CHECK_VALUES(Variable(model.head.W.grad()), {6, 4, 2, 0, 2, 0});
}

// Files have both places of a tied parameter.
BOOST_AUTO_TEST_CASE(tied_weights_in_a_state_dict) {
  TiedNet model, other;
  const nn::StateDict state = model.state_dict();
  BOOST_TEST((state.contains("embedding.weight") && state.contains("head.weight")));
  BOOST_TEST(other.load_state_dict(state).missing_keys.empty());
  BOOST_TEST(other.head.W.is_same(other.embedding.W));
  BOOST_TEST(test::values(other.head.W.data()) == test::values(model.head.W.data()), each);
}

// A variable in the place of one of the tied parameters is in the place of both.
BOOST_AUTO_TEST_CASE(functional_calls_of_tied_weights) {
  TiedNet model;
  const Variable own = model.params()[0], w(floats({1, 0, 0, 1, 1, 1}, {3, 2})), v(floats({1, 0, 0, 1, 1, 1}, {3, 2}));
  using Map = std::map<std::string, Variable>;
  for (const Map& given :
       {Map{{"embedding.weight", w}}, Map{{"head.weight", w}}, Map{{"embedding.weight", w}, {"head.weight", w}}})
    CHECK_VALUES(nn::functional_call(model, given, word(2)), {1, 1, 2});
  CHECK_VALUES(nn::functional_call(model, Variables{w}, word(2)), {1, 1, 2});
  BOOST_CHECK_THROW(nn::functional_call(model, Variables{w, w}, word(2)), catena::ValueError);
  const Map two{{"embedding.weight", w}, {"head.weight", v}};
  BOOST_CHECK_THROW(nn::functional_call(model, two, word(2)), catena::ValueError);
  BOOST_TEST((model.head.W.is_same(own) && model.embedding.W.is_same(own)));
}

// Other names of append(), and names of elements.
BOOST_AUTO_TEST_CASE(elements_by_push_back) {
  nn::ModuleList list;
  list.push_back(Times(2));
  list.push_back(nn::relu);
  CHECK_VALUES(list[0](x()), {2, -4});
  CHECK_VALUES(list[1](x()), {1, 0});
  nn::Sequential sequence({{"double", Times(2)}, {"act", nn::relu}});
  sequence.push_back(Times(3));
  sequence.push_back("last", Times(5));
  CHECK_VALUES(sequence.forward(x()), {30, 0});
  Strings names = keys(sequence);
  std::sort(names.begin(), names.end());
  BOOST_TEST(names == (Strings{"2/factor", "double/factor", "last/factor"}), each);
  BOOST_TEST(sequence.is_training());
  sequence.eval();
  BOOST_TEST(!sequence.is_training());
}

namespace {
struct Returning : nn::Chain {
  NN_MEMBERS()
  Variable operator()(const Variable& x) {
    nn::LinkCall called(*this, x);
    return called(x);
  }
};
}  // namespace

// The gradient of the result of a call, until the handle is removed.
BOOST_AUTO_TEST_CASE(hooks_of_backward) {
  struct Tripled : nn::Module {
    Times scale{3};
    NN_MEMBERS(scale)
    Variable forward(const Variable& x) { return scale(x); }
  };
  Tripled times;
  std::vector<double> seen;
  auto handle = times.register_full_backward_hook([&](auto& link, const auto& grad_in, const auto& grad_out) {
    BOOST_TEST(&link == &times);
    BOOST_TEST((grad_in.size() == 1u && !grad_in[0]));
    for (const double g : test::values(grad_out[0].data())) seen.push_back(g);
  });
  autograd::sum(times(x()) * 2).backward();
  BOOST_TEST(seen == (std::vector<double>{2, 2}), each);
  {
    const auto scope = autograd::no_backprop_mode();
    times(x());
  }
  handle.remove();
  autograd::sum(times(x())).backward();
  BOOST_TEST(seen.size() == 2u);
  // A link that returns its argument itself leaves no hook on it.
  Returning identity;
  int calls = 0;
  identity.register_full_backward_hook([&](auto&, const auto&, const auto&) { ++calls; });
  const Variable leaf = x(), result = leaf * 2;
  BOOST_TEST(identity(leaf).is_same(leaf));
  BOOST_TEST(identity(result).is_same(result));
  autograd::sum(leaf * 3 + result).backward();
  BOOST_TEST(calls == 0);
}

// Buffers of a link and of its children, whose memory the variables have.
BOOST_AUTO_TEST_CASE(buffers_and_their_names) {
  Affine model;
  BOOST_TEST(model.named_buffers().empty());
  model.register_buffer("offset", floats({1, 2}, {2}));
  model.scale.register_buffer("mean", floats({3}, {1}));
  const std::vector<nn::NamedParam> named = model.named_buffers();
  BOOST_REQUIRE(named.size() == 2u);
  BOOST_TEST((named[0].path == "offset" && named[1].path == "scale.mean"));
  CHECK_VALUES(named[0].param, {1, 2});
  BOOST_TEST(!named[0].param.requires_grad());
  autograd::fill(named[1].param.data(), 7);
  CHECK_VALUES(model.buffers()[1], {7});
}

BOOST_AUTO_TEST_CASE(names_of_the_parameters_of_layers) {
  nn::Linear linear(3, 2), without(3, 2, {.nobias = true});
  BOOST_TEST(linear.weight.is_same(linear.W));
  BOOST_TEST(linear.bias.is_same(*linear.b));
  BOOST_TEST(!without.bias);
  nn::Linear twin = linear;
  BOOST_TEST(twin.weight.is_same(twin.W));
  BOOST_TEST(!twin.weight.is_same(linear.W));
  twin = without;
  BOOST_TEST(twin.weight.is_same(twin.W));
  BOOST_TEST(!twin.bias);
  const nn::Linear moved = std::move(linear);
  BOOST_TEST(moved.weight.is_same(moved.W));
  nn::Linear later(2);  // the first call determines the shape of the same variable
  later(Variable(floats({1, 2, 3}, {1, 3})));
  BOOST_TEST(later.weight.shape() == (Shape{2, 3}));
  BOOST_TEST(later.params().size() == 2u);
  // Another variable: the handle follows with the next call.
  later.W = nn::Parameter(floats({1, 2, 3, 4, 5, 6}, {2, 3}));
  later(Variable(floats({1, 2, 3}, {1, 3})));
  BOOST_TEST(later.weight.is_same(later.W));
  // Variables that stand in the place of parameters during one call are not followed.
  const Variables others{Variable(floats({1, 1, 1, 1, 1, 1}, {2, 3})), Variable(floats({0, 0}, {2}))};
  CHECK_VALUES(nn::functional_call(later, others, Variable(floats({1, 2, 3}, {1, 3}))), {6, 6});
  BOOST_TEST(later.weight.is_same(later.W));
  BOOST_TEST(later.bias.is_same(*later.b));
  later.add_hook(nn::link_hooks::SpectralNormalization());
  later(Variable(floats({1, 2, 3}, {1, 3})));
  BOOST_TEST(later.weight.is_same(later.W));
  static_assert(!std::is_assignable_v<decltype(later.weight)&, const Variable&>);
  nn::Convolution2D conv(1, 2, 3);
  const nn::Convolution2D copied = conv;
  BOOST_TEST(conv.weight.is_same(conv.W));
  BOOST_TEST(copied.weight.is_same(copied.W));
  BOOST_TEST(copied.bias.is_same(*copied.b));
  conv = nn::Convolution2D(1, 2, 1);
  BOOST_TEST(conv.weight.is_same(conv.W));
  const nn::Convolution2D& other = copied;
  conv = other;
  BOOST_TEST(conv.bias.is_same(*conv.b));
  BOOST_TEST(conv.ksize.x == 3);  // the copy of a layer has its other members too
  // A layer that is made or copied during a functional_call() has handles of its own parameters.
  struct Copying : nn::Chain {
    nn::Linear l{3, 2, {.nobias = true}};
    bool is_own = false;
    NN_MEMBERS(l)
    Variable operator()(const Variable& x) {
      const nn::Linear made(3, 2), twin = l;
      is_own = made.weight.is_same(made.W) && twin.weight.is_same(twin.W);
      return l(x);
    }
  } copying;
  nn::functional_call(copying, Variables{others[0]}, Variable(floats({1, 2, 3}, {1, 3})));
  BOOST_TEST(copying.is_own);
}

BOOST_AUTO_TEST_SUITE_END()
