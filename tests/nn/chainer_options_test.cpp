// Options of functions, links and distributions under the names of Chainer, against the forms by position.
#include <cmath>
#include <tuple>

#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/distributions/distributions.h>
#include <catena/nn/links/classifier.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

const auto each = boost::test_tools::per_element();
using Doubles = std::vector<double>;
Doubles of(const Variable& v) { return values(v.data()); }
Variable random(const Shape& shape) {
  return Variable(autograd::random_normal(shape, 0, 1, Dtype::float32, autograd::default_generator(), {}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(chainer_options)

BOOST_AUTO_TEST_CASE(activations) {
  const Variable x(floats({-2, -1, 1, 3}, {2, 2}));
  struct Row {
    const char* name;
    Variable y;
    Doubles expected;
  };
  const Row rows[] = {
      {"leaky_relu slope", nn::leaky_relu(x, {.slope = 0.5}), {-1, -0.5, 1, 3}},
      {"leaky_relu slope, assigned",
       nn::leaky_relu(x,
                      [] {
                        nn::LeakyReLUOptions o;
                        o.slope = 0.5;
                        return o;
                      }()),
       {-1, -0.5, 1, 3}},
      {"leaky_relu negative_slope", nn::leaky_relu(x, {.negative_slope = 0.25}), {-0.5, -0.25, 1, 3}},
      {"clipped_relu", nn::clipped_relu(x, {.z = 2}), {0, 0, 1, 2}},
      {"crelu", nn::crelu(x, {.axis = 0}), {0, 0, 1, 3, 2, 1, 0, 0}},
  };
  for (const Row& row : rows) BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(of(row.y) == row.expected, each);
    }
  BOOST_CHECK_THROW(nn::clipped_relu(x, {.z = 0}), catena::AssertionError);
}

BOOST_AUTO_TEST_CASE(arrays) {
  const Variable x(floats({0, 1, 2, 3, 4, 5}, {3, 2}));
  const Variable order(ints({2, 0, 1}));
  BOOST_TEST(of(nn::permutate(x, order, {.axis = 0})) == (Doubles{4, 5, 0, 1, 2, 3}), each);
  BOOST_TEST(of(nn::permutate(x, order, {.axis = 0, .inv = true})) == (Doubles{2, 3, 4, 5, 0, 1}), each);
  const Variables ragged{Variable(floats({1}, {1})), Variable(floats({2, 3}, {2}))};
  BOOST_TEST(of(nn::pad_sequence(ragged, {.length = 3, .padding = -1})) == (Doubles{1, -1, -1, 2, 3, -1}), each);
  BOOST_TEST(of(nn::pad_sequence(ragged, {.padding = 7})) == (Doubles{1, 7, 2, 3}), each);
}

BOOST_AUTO_TEST_CASE(axes) {
  const Variable x(floats({0, 1, 2, 3}, {2, 2}));
  BOOST_TEST((autograd::expand_dims(x, {.axis = 1}).shape() == Shape({2, 1, 2})));
  BOOST_TEST((autograd::expand_dims(x, {.dim = -1}).shape() == Shape({2, 2, 1})));
  BOOST_TEST(of(autograd::repeat(x, 2, {.axis = 0})) == (Doubles{0, 1, 0, 1, 2, 3, 2, 3}), each);
  BOOST_TEST(of(autograd::average(x, {.axis = 0})) == (Doubles{1, 2}), each);
  const Variable weights(floats({1, 3}, {2}));
  BOOST_TEST(of(autograd::average(x, {.axis = 0, .weights = weights, .keepdims = true})) == (Doubles{1.5, 2.5}), each);
  BOOST_TEST((autograd::cast(x, "float64").dtype() == Dtype::float64));
  BOOST_CHECK_THROW(autograd::cast(x, "number"), catena::TypeError);
  // eps is the least divisor in this form: |(0, 1)| = 1, |(2, 3)| = sqrt(13).
  const double n = std::sqrt(13.0);
  BOOST_TEST(of(nn::normalize(x, {.eps = 1e-5, .axis = 1})) == (Doubles{0, 1, 2 / n, 3 / n}),
             boost::test_tools::tolerance(1e-6) << each);
}

BOOST_AUTO_TEST_CASE(pairs_as_options) {
  const Variable x = random({2, 3, 8, 6});
  BOOST_TEST(of(nn::max_pooling_2d(x, {2, 3}, {.stride = {2, 3}})) == of(nn::max_pooling_2d(x, {2, 3})), each);
  BOOST_TEST(of(nn::average_pooling_2d(x, 2, {.stride = {2, 1}})) == of(nn::average_pooling_2d(x, 2, nn::Pair(2, 1))),
             each);
  BOOST_TEST((nn::unpooling_2d(x, 2, {.outsize = {15, 12}}).shape() == Shape({2, 3, 15, 12})));
  const Variable filters = random({4, 3, 3, 3});
  BOOST_TEST(of(nn::convolution_2d(x, filters, {.stride = 2, .pad = 1})) ==
                 of(nn::convolution_2d(x, filters, Variable(), 2, 1)),
             each);
  const Variable W = random({3, 4, 3, 3});
  const Variable y = nn::deconvolution_2d(x, W, {.stride = 2, .outsize = {17, 13}});
  BOOST_TEST((y.shape() == Shape({2, 4, 17, 13})));
  BOOST_TEST(of(y) == of(nn::deconvolution_2d(x, W, Variable(), 2, 0, nn::Pair(17, 13))), each);
}

BOOST_AUTO_TEST_CASE(lists_of_arrays) {
  const std::vector<Array> arrays{floats({1, 2}, {2}), floats({3, 4}, {2})};
  BOOST_TEST(of(autograd::concat(arrays, 0)) == (Doubles{1, 2, 3, 4}), each);
  BOOST_TEST(of(nn::pad_sequence(arrays, 3)) == (Doubles{1, 2, 0, 3, 4, 0}), each);
  const Variables list = std::vector<Variable>{Variable(arrays[0])};
  BOOST_TEST(list.size() == 1u);
}

BOOST_AUTO_TEST_CASE(functions_that_fill) {
  const auto ones = [](const Array& a) { autograd::assign(a, autograd::arrays::ones(a.shape(), a.dtype())); };
  const nn::Linear by_lambda(3, 2, {.initialW = ones});
  BOOST_TEST(values(by_lambda.W.data()) == Doubles(6, 1.0), each);
  struct Twos {
    void operator()(Array a) const { autograd::assign(a, autograd::arrays::full(a.shape(), 2, a.dtype())); }
  };
  const nn::Linear by_class(3, 2, {.initialW = Twos(), .initial_bias = Twos()});
  BOOST_TEST(values(by_class.W.data()) == Doubles(6, 2.0), each);
  BOOST_TEST(values(by_class.b->data()) == Doubles(2, 2.0), each);
  const nn::Linear by_object(3, 2, {.initialW = nn::initializers::One()});
  BOOST_TEST(values(by_object.W.data()) == Doubles(6, 1.0), each);
}

BOOST_AUTO_TEST_CASE(nodes_of_trees) {
  const Variable c1 = random({2, 4}), c2 = random({2, 4}), h1 = random({2, 4}), h2 = random({2, 4}), x = random({2, 3});
  nn::ChildSumTreeLSTM node(3, 4);
  nn::NaryTreeLSTM binary(3, 4, {.n_ary = 2});
  BOOST_TEST(of(node(c1, c2, h1, h2, x).h) == of(node({c1, c2}, {h1, h2}, x).h), each);
  BOOST_TEST(of(node(c1, h1, x).c) == of(node({c1}, {h1}, x).c), each);
  BOOST_TEST(of(binary(c1, c2, h1, h2, x).h) == of(binary({c1, c2}, {h1, h2}, x).h), each);
  BOOST_CHECK_THROW(binary(c1, h1, x), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(recurrent_links) {
  const Variables xs{random({4, 3}), random({2, 3})};
  autograd::seed(5);
  const nn::NStepGRU named(2, 3, 4, {.dropout = 0.25});
  autograd::seed(5);
  const nn::NStepGRU positional(2, 3, 4, 0.25);
  BOOST_TEST(named.dropout == 0.25);
  BOOST_TEST(of(named(std::nullopt, xs, false).hy) == of(positional(std::nullopt, xs, false).hy), each);
  BOOST_TEST(nn::NStepBiLSTM(1, 3, 4, {.dropout = 0.5}).direction == 2);
  nn::StatelessLSTM lstm(3, 4);
  const Variable x = random({2, 3});
  Variable c(autograd::arrays::zeros({2, 4})), h = c;
  const nn::LSTMState expected = lstm(c, h, x);
  std::tie(c, h) = lstm(c, h, x);
  BOOST_TEST(of(c) == of(expected.c), each);
  BOOST_TEST(of(h) == of(expected.h), each);
}

BOOST_AUTO_TEST_CASE(poolings_of_pyramids) {
  const Variable x = random({2, 3, 8, 8});
  BOOST_TEST(of(nn::spatial_pyramid_pooling_2d(x, 2, "max")) == of(nn::spatial_pyramid_pooling_2d(x, 2)), each);
  BOOST_CHECK_THROW(nn::spatial_pyramid_pooling_2d(x, 2, "average"), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(functions_of_a_classifier) {
  const Variable x(floats({1, 2}, {1, 2})), t(ints({1}));
  nn::Classifier model(nn::Linear(2, 2), {.lossfun = nn::softmax_cross_entropy, .accfun = std::nullopt});
  const double cross = model(x, t).item<double>();
  BOOST_TEST(!model.accuracy);
  model.lossfun = [](const Variable& y, const Variable& labels) { return 2 * nn::softmax_cross_entropy(y, labels); };
  model.accfun = nn::accuracy;
  BOOST_TEST(model(x, t).item<double>() == 2 * cross, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(bool(model.accuracy));
  const auto copied = model;
  BOOST_TEST(bool(copied.lossfun));
  BOOST_TEST(&copied.lossfun == &copied.options.lossfun);
}

BOOST_AUTO_TEST_CASE(regions) {
  autograd::seed(1);
  const Variable x = random({2, 3, 12, 8});
  const Variable rois(floats({0, 1, 1, 6, 6, 1, 2, 0, 7, 10}, {2, 5}));
  BOOST_TEST(of(nn::roi_pooling_2d(x, rois, {.outh = 3, .outw = 2, .spatial_scale = 0.5})) ==
                 of(nn::roi_pooling_2d(x, rois, 3, 2, 0.5)),
             each);
  const Variable boxes(floats({1, 1, 6, 6, 0, 2, 10, 7}, {2, 4}));
  const Variable images(ints({1, 0}));
  BOOST_TEST(of(nn::roi_average_align_2d(x, boxes, images, {3, 2}, 0.5, 2)) ==
                 of(nn::roi_average_align_2d(x, boxes, images, {3, 2}, {.spatial_scale = 0.5, .sampling_ratio = 2})),
             each);
  BOOST_TEST(of(nn::roi_max_align_2d(x, boxes, images, 3, 1)) == of(nn::roi_max_align_2d(x, boxes, images, 3)), each);
}

BOOST_AUTO_TEST_CASE(losses) {
  autograd::seed(2);
  Variables scores;
  for (int i = 0; i < 5; ++i) scores.push_back(random({2, 4}));
  const Variable labels(autograd::array(std::vector<std::int32_t>{0, 2, 1, 0}, {2, 2}));
  BOOST_TEST(of(nn::connectionist_temporal_classification(
                 scores, labels, {.blank_symbol = 3, .input_length = ints({5, 4}), .reduce = "no"})) ==
                 of(nn::connectionist_temporal_classification(scores, labels, 3,
                                                              {.input_length = ints({5, 4}), .reduce = "no"})),
             each);
  BOOST_TEST(of(nn::connectionist_temporal_classification(scores, labels, {.blank_symbol = 3})) ==
                 of(nn::connectionist_temporal_classification(scores, labels, 3)),
             each);
  const Variable x(floats({1, 2, 0, -1}, {2, 2}));
  BOOST_TEST(
      of(nn::softmax_cross_entropy(x, Variable(ints({1, 0})), {.reduce = "no", .enable_double_backprop = true})) ==
          of(nn::softmax_cross_entropy(x, Variable(ints({1, 0})), {.reduce = "no"})),
      each);
}

BOOST_AUTO_TEST_CASE(gradients_by_option) {
  const Variable x(floats({1, 2}, {2}));
  const Variable y = x * x, z = y * 3;
  const Variable more(floats({10, 20}, {2}));
  const Variables g = autograd::grad(
      {z}, {x},
      {.grad_outputs = {Variable(floats({1, 2}, {2}))}, .grad_inputs = {more}, .set_grad = true, .retain_grad = true});
  BOOST_TEST(of(g[0]) == (Doubles{16, 44}), each);  // 6 x w + more
  BOOST_TEST(values(x.grad()) == (Doubles{16, 44}), each);
  BOOST_TEST(values(y.grad()) == (Doubles{3, 6}), each);
  BOOST_TEST((g[0].creator() == nullptr));
  const Variable first = autograd::grad({z}, {x}, {.enable_double_backprop = true})[0];
  BOOST_TEST(of(autograd::grad({first}, {x})[0]) == (Doubles{6, 6}), each);
  BOOST_CHECK_THROW(autograd::grad({z}, {x}, {.grad_inputs = {more, more}}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(names_of_later_versions) {
  Variable x(floats({1, 2}, {2}));
  autograd::sum(x * x * x).backward({.enable_double_backprop = true});
  Variable gx = x.grad_var();
  BOOST_TEST(of(gx) == (Doubles{3, 12}), each);
  BOOST_TEST((gx.creator() != nullptr));
  x.set_array(floats({5, 6}, {2}));
  BOOST_TEST(of(x) == (Doubles{5, 6}), each);
}

BOOST_AUTO_TEST_CASE(scales_of_initializers) {
  using nn::Initializer;
  namespace I = nn::initializers;
  using Given = I::ScaleOptions;
  const auto filled = [](const Initializer& initializer) {
    autograd::seed(7);
    return values(nn::generate_array(initializer, {4, 4}));
  };
  struct Row {
    const char* name;
    Initializer by_name, by_position, by_default, without;
  };
  const Row rows[] = {
      {"Identity", I::Identity({.scale = 2.0}), I::Identity(2), I::Identity(Given{}), I::Identity()},
      {"Normal", I::Normal({.scale = 2.0}), I::Normal(2), I::Normal(Given{}), I::Normal()},
      {"LeCunNormal", I::LeCunNormal({.scale = 2.0}), I::LeCunNormal(2), I::LeCunNormal(Given{}), I::LeCunNormal()},
      {"GlorotNormal", I::GlorotNormal({.scale = 2.0}), I::GlorotNormal(2), I::GlorotNormal(Given{}),
       I::GlorotNormal()},
      {"HeNormal", I::HeNormal({.scale = 2.0}), I::HeNormal(2), I::HeNormal(Given{}), I::HeNormal()},
      {"Orthogonal", I::Orthogonal({.scale = 2.0}), I::Orthogonal(2), I::Orthogonal(Given{}), I::Orthogonal()},
      {"Uniform", I::Uniform({.scale = 2.0}), I::Uniform(2), I::Uniform(Given{}), I::Uniform()},
      {"LeCunUniform", I::LeCunUniform({.scale = 2.0}), I::LeCunUniform(2), I::LeCunUniform(Given{}),
       I::LeCunUniform()},
      {"GlorotUniform", I::GlorotUniform({.scale = 2.0}), I::GlorotUniform(2), I::GlorotUniform(Given{}),
       I::GlorotUniform()},
      {"HeUniform", I::HeUniform({.scale = 2.0}), I::HeUniform(2), I::HeUniform(Given{}), I::HeUniform()},
  };
  for (const Row& row : rows) BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(filled(row.by_name) == filled(row.by_position), each);
      BOOST_TEST(filled(row.by_default) == filled(row.without), each);
      BOOST_TEST(filled(row.by_name) != filled(row.without));
    }
  BOOST_TEST((I::HeNormal({.scale = 1.0, .dtype = Dtype::float64}).dtype() == Dtype::float64));
}

BOOST_AUTO_TEST_CASE(links) {
  const Variable x(floats({1, 2, 3}, {1, 3}));
  nn::Linear without(3, 2, true), with(3, 2, false);
  BOOST_TEST(without.params().size() == 1u);
  BOOST_TEST(with.params().size() == 2u);

  nn::Link link;
  const nn::Parameter& W = link.add_param("W", {3, 2}, {.initializer = 0.5});
  BOOST_TEST(values(W.data()) == Doubles(6, 0.5), each);
  const nn::Parameter& v = link.add_param("v", {2}, {.dtype = Dtype::float64});
  BOOST_TEST((v.dtype() == Dtype::float64));
  BOOST_TEST(std::isnan(values(v.data())[0]));

  autograd::seed(4);
  nn::NegativeSampling named(3, std::vector<int>{1, 2, 3}, {.sample_size = 4, .power = 0.5});
  BOOST_TEST(named.sample_size == 4);
  autograd::seed(4);
  nn::StatelessGRU gru(3, 2);
  autograd::seed(4);
  nn::GRU same(2, 3);
  const Variable h(floats({0.5f, -0.5f}, {1, 2}));
  BOOST_TEST(of(gru(h, x)) == of(same(h, x)), each);
}

BOOST_AUTO_TEST_CASE(copies_by_the_name_of_the_mode) {
  const nn::Linear link(3, 2);
  const nn::Linear shared = nn::copy(link, "share"), own = nn::copy(link, {.mode = "copy"});
  BOOST_TEST((shared.W.data().get() == link.W.data().get()));
  BOOST_TEST((own.W.data().get() != link.W.data().get()));
  BOOST_TEST(same_bits(own.W.data(), link.W.data()));
  BOOST_TEST(!same_bits(nn::copy(link, "init").W.data(), link.W.data()));
  BOOST_CHECK_THROW(nn::copy(link, "deep"), catena::ValueError);
  BOOST_TEST(nn::Sequential(link, nn::relu).repeat(2, "copy").size() == 4u);
  BOOST_TEST(nn::repeat(link, 3, "init").size() == 3u);
}

BOOST_AUTO_TEST_CASE(elements_of_a_sequence_by_class) {
  nn::Sequential s(nn::Linear(3, 3), nn::relu, nn::Linear(3, 3), nn::BatchNormalization(3), nn::sigmoid);
  BOOST_TEST(s.count_by_layer_type("Linear") == 2);
  BOOST_TEST(s.count_by_layer_type("BatchNormalization") == 1);
  BOOST_TEST(s.count_by_layer_type("relu") == 0);
  s.remove_by_layer_type("Linear");
  BOOST_TEST(s.size() == 3u);
  BOOST_TEST(s.count_by_layer_type("Linear") == 0);
  BOOST_TEST(s.namedparams()[0].path == "/1/gamma");
  s.remove_by_layer_type("Convolution2D");
  BOOST_TEST(s.size() == 3u);
}

BOOST_AUTO_TEST_CASE(parameters_of_distributions) {
  namespace D = nn::distributions;
  const Variable log_scale(floats({0, std::log(2.0f)}, {2}));
  const D::Normal normal({.loc = Variable(floats({1, 2}, {2})), .log_scale = log_scale});
  BOOST_TEST(of(normal.loc) == (Doubles{1, 2}), each);
  BOOST_TEST(of(normal.scale) == (Doubles{1, 2}), boost::test_tools::tolerance(1e-6) << each);
  autograd::sum(normal.scale).backward();
  BOOST_TEST(values(log_scale.grad()) == (Doubles{1, 2}), boost::test_tools::tolerance(1e-6) << each);
  const D::Laplace laplace({.loc = 1.0, .scale = 2.0});
  BOOST_TEST(of(laplace.loc) == (Doubles{1}), each);
  BOOST_TEST(of(laplace.scale) == (Doubles{2}), each);
  const D::Uniform uniform({.low = -1.0, .high = 3.0});
  BOOST_TEST(of(uniform.low) == (Doubles{-1}), each);
  BOOST_TEST(of(uniform.high) == (Doubles{3}), each);
  const Variable logits(floats({0, 1}, {2}));
  BOOST_TEST(of(D::Bernoulli({.logit = logits}).probs) == of(D::Bernoulli({.logits = logits}).probs), each);
  const Variable probs(floats({0.25f, 0.75f}, {2}));
  BOOST_TEST(of(D::Categorical({.p = probs}).probs) == of(D::Categorical({.probs = probs}).probs), each);
  BOOST_CHECK_THROW(D::Bernoulli({.p = probs, .logit = logits}), catena::ValueError);
  BOOST_CHECK_THROW(D::Bernoulli(D::ProbsOptions{}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
