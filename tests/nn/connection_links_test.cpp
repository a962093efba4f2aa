// Bias, Scale, Bilinear, EmbedID, Highway, Maxout, PReLU, SimplifiedDropconnect and links::Parameter: the cases of the
// reference, the forms of their constructors, lazy sizes, initial values, files, copies, errors.
#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/framework_link_golden.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

using Strings = std::vector<std::string>;
using Doubles = std::vector<double>;

Strings paths(const nn::Link& l) {
  Strings result;
  for (const nn::NamedParam& p : l.namedparams()) result.push_back(p.path);
  return result;
}
double deviation(const Array& a) {
  double sum = 0;
  for (const double x : values(a)) sum += x * x;
  return std::sqrt(sum / double(a.size()));
}
// The values that a link of the same class reads from the file of another one.
template <class L> void check_file(const std::string& name, L& saved, L& loaded) {
  const TemporaryFolder folder(name);
  nn::serializers::save_npz(folder / "link.npz", saved);
  nn::serializers::load_npz(folder / "link.npz", loaded);
  BOOST_TEST(paths(saved) == paths(loaded), boost::test_tools::per_element());
  for (std::size_t i = 0; i < saved.params().size(); ++i)
    BOOST_TEST(same_bits(saved.params()[i].data(), loaded.params()[i].data()));
}

// ---- the cases of the reference ----
Shape shape_of(const Json& v) { return Shape(v.get<std::vector<std::int64_t>>()); }

void run_bias(LinkCase& c, const Json& a, Dtype) {
  const int axis = a["axis"].get<int>();
  nn::Bias link = a.contains("shape") ? nn::Bias(axis, shape_of(a["shape"])) : nn::Bias(axis);
  c.run(link,
        [&](const Variables& in, const Json&) { return Variables{in.size() == 1 ? link(in[0]) : link(in[0], in[1])}; });
}

void run_scale(LinkCase& c, const Json& a, Dtype) {
  nn::ScaleOptions o{.bias_term = a["bias_term"].get<bool>()};
  if (a.contains("W_shape")) o.W_shape = shape_of(a["W_shape"]);
  if (a.contains("bias_shape")) o.bias_shape = shape_of(a["bias_shape"]);
  nn::Scale link(a["axis"].get<int>(), o);
  c.run(link,
        [&](const Variables& in, const Json&) { return Variables{in.size() == 1 ? link(in[0]) : link(in[0], in[1])}; });
}

void run_bilinear(LinkCase& c, const Json& a, Dtype) {
  nn::Bilinear link(a["left_size"].get<int>(), a["right_size"].get<int>(), a["out_size"].get<int>(),
                    a["nobias"].get<bool>());
  c.run(link, [&](const Variables& in, const Json&) { return Variables{link(in[0], in[1])}; });
}

void run_embed_id(LinkCase& c, const Json& a, Dtype) {
  nn::EmbedIDLinkOptions o;
  if (!a["ignore_label"].is_null()) o.ignore_label = a["ignore_label"].get<std::int64_t>();
  nn::EmbedID link(a["in_size"].get<int>(), a["out_size"].get<int>(), o);
  c.run(link, [&](const Variables& in, const Json&) { return Variables{link(in[0])}; });
}

void run_highway(LinkCase& c, const Json& a, Dtype) {
  nn::HighwayOptions o{.nobias = a["nobias"].get<bool>()};
  const std::string activate = a["activate"].get<std::string>();
  if (activate == "tanh") o.activate = [](const Variable& x) { return nn::tanh(x); };
  else if (activate == "sigmoid") o.activate = [](const Variable& x) { return nn::sigmoid(x); };
  else BOOST_REQUIRE(activate == "relu");
  nn::Highway link(a["in_out_size"].get<int>(), o);
  c.run(link, [&](const Variables& in, const Json&) { return Variables{link(in[0])}; });
}

void run_maxout(LinkCase& c, const Json& a, Dtype) {
  nn::MaxoutOptions o;
  if (a["initial_bias"].is_null()) o.initial_bias = {};
  nn::Maxout link(a["in_size"].get<int>(), a["out_size"].get<int>(), a["pool_size"].get<int>(), o);
  c.run(link, [&](const Variables& in, const Json&) { return Variables{link(in[0])}; });
}

void run_prelu(LinkCase& c, const Json& a, Dtype) {
  nn::PReLU link(shape_of(a["shape"]));
  c.run(link, [&](const Variables& in, const Json&) { return Variables{link(in[0])}; });
}

void run_dropconnect(LinkCase& c, const Json& a, Dtype) {
  nn::SimplifiedDropconnect link(a["in_size"].get<int>(), a["out_size"].get<int>(),
                                 {.ratio = a["ratio"].get<double>(), .nobias = a["nobias"].get<bool>()});
  c.run(link, [&](const Variables& in, const Json& o) {
    return Variables{link(in[0], {.train = o["train"].get<bool>(), .mask = in[1].data()})};
  });
}

void run_parameter(LinkCase& c, const Json&, Dtype) {
  nn::links::Parameter link(c.array(c.json()["params"]["W"]));
  c.run(link, [&](const Variables&, const Json&) { return Variables{link()}; });
}

const LinkRunners registered({{"Bias", run_bias},
                              {"Scale", run_scale},
                              {"Bilinear", run_bilinear},
                              {"EmbedID", run_embed_id},
                              {"Highway", run_highway},
                              {"Maxout", run_maxout},
                              {"PReLU", run_prelu},
                              {"SimplifiedDropconnect", run_dropconnect},
                              {"Parameter", run_parameter}});

Variable sample() { return floats({1, -2, 3, -4, 5, -6}, {2, 3}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(connection_links)

BOOST_AUTO_TEST_CASE(bias_and_scale) {
  nn::Bias b(1, {3});
  BOOST_TEST(values(b.b->data()) == Doubles(3, 0), boost::test_tools::per_element());
  autograd::fill(b.b->data(), 2);
  BOOST_TEST(values(b(sample()).data()) == (Doubles{3, 0, 5, -2, 7, -4}), boost::test_tools::per_element());
  BOOST_TEST(values(nn::Bias()(sample(), Variable(floats({1, 2, 3}, {3}))).data()) == (Doubles{2, 0, 6, -3, 7, -3}),
             boost::test_tools::per_element());

  nn::Scale s(1, {3}, true);
  BOOST_TEST(paths(s) == (Strings{"/W", "/bias/b"}), boost::test_tools::per_element());
  BOOST_TEST(values(s.W->data()) == Doubles(3, 1), boost::test_tools::per_element());
  nn::Scale loaded(1, {3}, true);
  autograd::fill(s.bias->b->data(), 7);
  check_file("scale", s, loaded);
  BOOST_TEST(values(loaded(sample()).data())[1] == 5);
  nn::Scale given(1, {.bias_term = true, .bias_shape = Shape{3}});
  autograd::fill(given.bias->b->data(), 1);
  BOOST_TEST(values(given(sample(), Variable(floats({1, 2, 3}, {3}))).data()) == (Doubles{2, -3, 10, -3, 11, -17}),
             boost::test_tools::per_element());
  nn::Scale copied = given;  // a copy has a bias of its own
  autograd::fill(copied.bias->b->data(), 0);
  BOOST_TEST(values(given.bias->b->data())[0] == 1);
}

BOOST_AUTO_TEST_CASE(numbers_of_arguments) {
  nn::Bias with(1, {3}), without(1);
  const Variable y(floats({1, 2, 3}, {3}));
  BOOST_TEST(has(message_of<catena::AssertionError>([&] { with(sample(), y); }), "it takes one argument, not two"));
  BOOST_TEST(has(message_of<catena::AssertionError>([&] { without(sample()); }), "second argument"));
  nn::Scale scaled(1, {3}), unscaled;
  BOOST_TEST(has(message_of<catena::AssertionError>([&] { scaled(sample(), y); }), "it takes one argument, not two"));
  BOOST_TEST(has(message_of<catena::AssertionError>([&] { unscaled(sample()); }), "second argument"));
  BOOST_TEST(has(message_of<catena::ValueError>([] { nn::Scale(1, {.bias_term = true}); }), "bias_shape"));
  BOOST_CHECK_THROW(scaled(Variable(floats({1, 2}, {1, 2}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(bilinear) {
  autograd::seed(5);
  nn::Bilinear l(20, 30, 40);
  BOOST_TEST(paths(l) == (Strings{"/W", "/V1", "/V2", "/b"}), boost::test_tools::per_element());
  BOOST_TEST(std::fabs(deviation(l.W.data()) - std::sqrt(1.0 / 1200)) < 0.001);
  BOOST_TEST(std::fabs(deviation(l.V1->data()) - std::sqrt(1.0 / 40)) < 0.02);
  BOOST_TEST(deviation(l.b->data()) == 0);
  nn::Bilinear filled(2, 3, 4, {.initialW = 1.0, .initial_bias = {2.0, 3.0, floats({1, 2, 3, 4}, {4})}});
  BOOST_TEST(values(filled.V2->data())[11] == 3);
  // sum(e1) sum(e2) + 2 sum(e1) + 3 sum(e2) + b
  const Variable e1(floats({1, 2}, {1, 2})), e2(floats({1, 1, 2}, {1, 3}));
  BOOST_TEST(values(filled(e1, e2).data()) == (Doubles{31, 32, 33, 34}), boost::test_tools::per_element());
  nn::Bilinear loaded(2, 3, 4);
  check_file("bilinear", filled, loaded);
  BOOST_TEST(nn::Bilinear(2, 3, 4, true).params().size() == 1u);
  BOOST_TEST(has(message_of<catena::ValueError>([] {
                   nn::Bilinear(2, 3, 4, {.initial_bias = {1.0, 2.0}});
                 }),
                 "initial_bias has 2 entries"));
  BOOST_TEST(has(message_of<catena::InvalidType>([&] { filled(e1, e1); }), "Bilinear"));
}

BOOST_AUTO_TEST_CASE(embed_id) {
  autograd::seed(6);
  nn::EmbedID random(400, 50);
  BOOST_TEST(std::fabs(deviation(random.W.data()) - 1) < 0.02);
  nn::EmbedID l(3, 2, Array(floats({0, 1, 2, 3, 4, 5}, {3, 2})), -1);
  const Variable x(ints({2, -1, 0}));
  Variable y = l(x);
  BOOST_TEST(values(y.data()) == (Doubles{4, 5, 0, 0, 0, 1}), boost::test_tools::per_element());
  autograd::sum(y).backward();
  BOOST_TEST(values(l.W.grad()) == (Doubles{1, 1, 0, 0, 1, 1}), boost::test_tools::per_element());
  BOOST_TEST(!bool(x.grad()));
  nn::EmbedID padded(3, 2, {.initialW = 1.0, .padding_idx = 2});
  padded.cleargrads();
  autograd::sum(padded(Variable(ints({2, 1})))).backward();
  BOOST_TEST(values(padded.W.grad()) == (Doubles{0, 0, 1, 1, 0, 0}), boost::test_tools::per_element());
  BOOST_TEST(values(padded.W.data()) == Doubles(6, 1.0), boost::test_tools::per_element());
  // A drawn row of the index begins as 0, the others as without it.
  autograd::seed(6);
  const nn::EmbedID drawn(3, 2);
  autograd::seed(6);
  nn::EmbedID of_padding(3, 2, {.padding_idx = -2});
  BOOST_TEST(of_padding.padding_idx.value() == 1);
  Doubles expected = values(drawn.W.data());
  expected[2] = expected[3] = 0;
  BOOST_TEST(values(of_padding.W.data()) == expected, boost::test_tools::per_element());
  of_padding.cleargrads();
  autograd::sum(of_padding(Variable(ints({1, 2})))).backward();
  BOOST_TEST(values(of_padding.W.grad()) == (Doubles{0, 0, 0, 0, 1, 1}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(nn::EmbedID(3, 2, {.padding_idx = 3}), catena::ValueError);
  // Rows that are read get a norm of at most max_norm; the others stay. A label that is ignored is no row.
  nn::EmbedID limited(4, 2, {.ignore_label = -1, .max_norm = 1});
  limited.W.set_data(autograd::array<float>({3, 4, 0.5f, 0, 0, -2, 6, 8}, {4, 2}));
  limited(Variable(ints({2, 0, -1, 1, 0})));
  const Doubles rows = values(limited.W.data()), norms{0.6, 0.8, 0.5, 0, 0, -1, 6, 8};
  for (std::size_t k = 0; k < norms.size(); ++k) BOOST_TEST(std::abs(rows[k] - norms[k]) < 1e-6);
  BOOST_TEST(has(message_of<catena::ValueError>([] { nn::EmbedID(3, 2, {.max_norm = 0}); }), "max_norm is 0"));
  BOOST_TEST(has(message_of<catena::ValueError>([] { nn::EmbedID(3, 2, {.norm_type = 0}); }), "norm_type is 0"));
  // Given vectors, as a copy.
  const Array vectors = autograd::array<float>({1, 2, 3, 4}, {2, 2});
  nn::EmbedID given = nn::EmbedID::from_pretrained(vectors, {.freeze = false, .padding_idx = -1});
  BOOST_TEST((given.W.requires_grad() && given.padding_idx.value() == 1));
  fill(vectors, 0);
  BOOST_TEST(to_vector<double>(given.W.data()) == (std::vector<double>{1, 2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST(!nn::EmbedID::from_pretrained(vectors).weight.requires_grad());
  BOOST_TEST(nn::EmbedID::from_pretrained(vectors, false).weight.requires_grad());
  BOOST_CHECK_THROW(nn::EmbedID::from_pretrained(autograd::arrays::ones({2, 2, 2})), catena::ValueError);
  BOOST_CHECK_THROW(nn::EmbedID(3, 2, {.padding_idx = -4}), catena::ValueError);
  BOOST_TEST((nn::EmbedID(3, 2, nn::initializers::Normal(1.0, {.dtype = Dtype::float16})).W.dtype() == Dtype::float16));
  nn::EmbedID loaded(3, 2);
  check_file("embed_id", l, loaded);
  BOOST_TEST(nn::EmbedID(3, 2)(Variable(autograd::arrays::zeros({0, 4}, Dtype::int32))).shape() == Shape({0, 4, 2}));
  BOOST_CHECK_THROW(l(Variable(floats({1}, {1}))), catena::InvalidType);
  const autograd::DebugMode debugging(true);
  BOOST_CHECK_THROW(l(Variable(ints({3}))), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(highway) {
  nn::Highway l(2, {.init_Wh = 0.0, .init_bh = 3.0});
  BOOST_TEST(paths(l) == (Strings{"/plain/W", "/plain/b", "/transform/W", "/transform/b"}),
             boost::test_tools::per_element());
  BOOST_TEST(values(l.transform.b->data()) == Doubles(2, -1), boost::test_tools::per_element());
  autograd::fill(l.transform.W.data(), 0);
  // g = sigmoid(-1): 3 g + x (1 - g)
  const double g = 1 / (1 + std::exp(1.0));
  check_close(l(Variable(floats({1, -2}, {1, 2}))).data(),
              floats({float(3 * g + 1 - g), float(3 * g - 2 * (1 - g))}, {1, 2}), 1e-6, 1e-6, "y");
  BOOST_TEST(nn::Highway(2, {.nobias = true}).params().size() == 2u);
  nn::Highway empty(2, {.init_bh = {}, .init_bt = {}});
  BOOST_TEST(values(empty.plain.b->data()) == Doubles(2, 0), boost::test_tools::per_element());
  nn::Highway loaded(2), copied = l;
  check_file("highway", l, loaded);
  autograd::fill(copied.plain.b->data(), 0);
  BOOST_TEST(values(l.plain.b->data())[0] == 3);
  BOOST_TEST(has(message_of<catena::InvalidType>([&] { l(Variable(floats({1}, {1, 1}))); }), "/transform: Linear"));
  BOOST_CHECK_THROW(nn::Highway(2, {.activate = {}}), catena::TypeError);
  // Of the functions that are called tanh the activation is that of a variable alone.
  const Variable x(floats({1, -2}, {1, 2}));
  const catena::Function<Variable(const Variable&)> squashed = [](const Variable& v) { return nn::tanh(v); };
  l.activate = squashed;
  const Doubles expected = values(l(x).data());
  l.activate = nn::tanh;
  BOOST_TEST(values(l(x).data()) == expected, boost::test_tools::per_element());
  BOOST_TEST(std::fabs(expected[0] - (std::tanh(3.0) * g + 1 - g)) < 1e-6);
  l.activate = nn::Highway(2, {.activate = nn::functions::tanh}).activate;
  BOOST_TEST(values(l(x).data()) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(maxout) {
  // Unit o has the rows 2 o and 2 o + 1.
  nn::Maxout l(
      2, 2, 2,
      {.initialW = floats({1, 0, 0, 1, -1, 0, 0, -1}, {2, 2, 2}), .initial_bias = floats({0, 1, 2, 3}, {2, 2})});
  BOOST_TEST(paths(l) == (Strings{"/linear/W", "/linear/b"}), boost::test_tools::per_element());
  BOOST_TEST(l.linear.W.shape() == Shape({4, 2}));
  BOOST_TEST(values(l(Variable(floats({5, 3}, {1, 2}))).data()) == (Doubles{5, 0}), boost::test_tools::per_element());
  autograd::seed(8);
  nn::Maxout lazy(std::nullopt, 100, 4, {.wscale = 4.0});
  BOOST_TEST(lazy.linear.has_uninitialized_params());
  BOOST_TEST(lazy(Variable(autograd::arrays::zeros({2, 64}))).shape() == Shape({2, 100}));
  BOOST_TEST(std::fabs(deviation(lazy.linear.W.data()) - 0.25) < 0.005);  // sqrt(4 / 64)
  BOOST_TEST(nn::Maxout(2, 2, 2, {.initial_bias = {}}).params().size() == 1u);
  nn::Maxout loaded(2, 2, 2);
  check_file("maxout", l, loaded);
  BOOST_CHECK_THROW(nn::Maxout(2, 2, 0), catena::ValueError);
  BOOST_TEST(has(message_of<catena::ValueError>([] {
                   nn::Maxout(2, 2, 2, {.initialW = floats({1}, {1, 1, 1})});
                 }),
                 "(1, 1, 1)"));
}

BOOST_AUTO_TEST_CASE(prelu) {
  nn::PReLU one, three(3), given({3}, floats({0, 1, 2}, {3}));
  BOOST_TEST(one.W.shape() == Shape{});
  BOOST_TEST(values(three.W.data()) == Doubles(3, 0.25), boost::test_tools::per_element());
  BOOST_TEST(values(one(sample()).data()) == (Doubles{1, -0.5, 3, -1, 5, -1.5}), boost::test_tools::per_element());
  BOOST_TEST(values(given(sample()).data()) == (Doubles{1, -2, 3, 0, 5, -12}), boost::test_tools::per_element());
  nn::PReLU loaded(3);
  check_file("prelu", given, loaded);
  BOOST_CHECK_THROW(given(Variable(floats({1, 2}, {1, 2}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(simplified_dropconnect) {
  nn::SimplifiedDropconnect lazy(std::nullopt, 2, 0.25);
  BOOST_TEST(lazy.has_uninitialized_params());
  const Variable x(floats({1, 2, 3}, {1, 3}));
  const auto test_mode = [&](nn::SimplifiedDropconnect& l) { return l(x, {.train = false}); };
  const Variable y = test_mode(lazy);
  BOOST_TEST(lazy.W.shape() == Shape({2, 3}));
  check_close(y.data(), nn::linear(x, lazy.W, *lazy.b).data(), 1e-6, 1e-6, "nothing is dropped");
  BOOST_TEST(values(lazy.b->data()) == Doubles(2, 0), boost::test_tools::per_element());
  // A mask is no state of the link.
  nn::SimplifiedDropconnect filled(3, 2, {.ratio = 0.5, .initialW = 1.0, .initial_bias = 1.0});
  BOOST_TEST(values(filled(x, {.mask = floats({1, 0, 1, 0, 1, 0}, {1, 2, 3})}).data()) == (Doubles{9, 5}),
             boost::test_tools::per_element());
  nn::serializers::DictionarySerializer s;
  s.save(filled);
  BOOST_TEST(s.entries().size() == 2u);
  nn::SimplifiedDropconnect loaded(std::nullopt, 2);
  check_file("dropconnect", filled, loaded);
  {
    const auto testing = autograd::train_mode(false);
    BOOST_TEST(values(filled(x).data()) == (Doubles{7, 7}), boost::test_tools::per_element());
  }
  // The flag and the mask in the places of the reference: the flag of a call goes before the mode.
  {
    const auto testing = autograd::train_mode(false);
    const Array mask = floats({1, 0, 1, 0, 1, 0}, {1, 2, 3});
    BOOST_TEST(values(filled(x, true, mask).data()) == (Doubles{9, 5}), boost::test_tools::per_element());
    BOOST_TEST(values(filled(x, false, mask).data()) == (Doubles{5, 3}), boost::test_tools::per_element());
    const Variable ones(autograd::arrays::ones({1, 400}));
    nn::SimplifiedDropconnect many(400, 1, {.initialW = 1.0});
    const double kept = values(many(ones, true).data())[0];
    BOOST_TEST(kept != 400);
    BOOST_TEST(std::fabs(kept - 400) < 200);
    const auto training = autograd::train_mode(true);
    BOOST_TEST(values(many(ones, false).data()) == Doubles{400}, boost::test_tools::per_element());
  }
  // Each connection is kept with the probability 1 - ratio: 2 x at every connection that is.
  autograd::seed(9);
  nn::SimplifiedDropconnect wide(100, 50, {.ratio = 0.5, .nobias = true, .initialW = 1.0});
  double mean = 0;
  for (const double v : values(wide(Variable(autograd::arrays::ones({20, 100}))).data())) mean += v / 1000;
  BOOST_TEST(std::fabs(mean - 100) < 2);
  BOOST_CHECK_THROW(nn::SimplifiedDropconnect(3, 2, 1.0), catena::ValueError);
  BOOST_CHECK_THROW(filled(Variable(floats({1, 2}, {1, 2}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(parameter_as_a_link) {
  nn::links::Parameter l(floats({1, 2}, {2}));
  BOOST_TEST(paths(l) == Strings{"/W"}, boost::test_tools::per_element());
  Variable y = l();
  BOOST_TEST((y.volatile_flag() == autograd::OFF));
  BOOST_TEST((l.W.volatile_flag() == autograd::AUTO));
  autograd::sum(y * 3).backward();
  BOOST_TEST(values(l.W.grad()) == (Doubles{3, 3}), boost::test_tools::per_element());
  const Variable still = l(autograd::ON);
  BOOST_TEST((still.volatile_flag() == autograd::ON));
  BOOST_TEST((still.creator() == nullptr));
  BOOST_TEST((l("auto").volatile_flag() == autograd::AUTO));
}

// The modules of the reference, and links under the names of functions.
namespace F = nn::functions;
namespace L = nn::links;

BOOST_AUTO_TEST_CASE(names_of_the_modules) {
  L::Linear linear(3, 2);
  F::Linear same(3, 2);
  same.copyparams(linear);
  BOOST_TEST(values(F::relu(linear(sample())).data()) == values(F::relu(same(sample())).data()),
             boost::test_tools::per_element());
  F::EmbedID embed(3, 2);
  F::PReLU prelu;
  F::Bilinear bilinear(2, 3, 4);
  F::Convolution2D convolution(3, 4, 3);
  F::BatchNormalization normalization(3);
  F::BinaryHierarchicalSoftmax tree(3, {0, 1});
  F::NegativeSampling sampling(3, {1, 2}, 1);
  F::Parameter parameter(floats({1, 2}, {2}));
  static_assert(std::is_same_v<F::Parameter, L::Parameter> && std::is_base_of_v<nn::Link, F::Parameter>);
  BOOST_TEST(F::concat({parameter(), parameter()}, 0).shape() == Shape{4});
  BOOST_TEST(double(F::sum(parameter())) == 3);
}

BOOST_AUTO_TEST_SUITE_END()
