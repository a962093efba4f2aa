// Calls of function objects: the ways to pass inputs, the arrays they keep, composed functions as one node, errors.
#include <catena/nn/functions/objects.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/links/lstm.h>
#include <catena/nn/sequential.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;
namespace F = nn::functions;

namespace {

Array ints(const std::vector<std::int32_t>& v, const Shape& shape) { return array(v, shape); }
Array positive(const Shape& shape, int seed = 0) { return spread(shape, 0.2, 2, seed); }

}  // namespace

BOOST_AUTO_TEST_SUITE(function_object_calls)

BOOST_AUTO_TEST_CASE(ways_to_call) {
  const Array a = spread({2, 3}), b = spread({2, 3}, -1, 1, 1);
  const Variable x(a), z(b);
  const auto same = [](const Variable& y, const Array& expected) {
    BOOST_CHECK_NO_THROW(testing::assert_allclose(y.data(), expected, 0, 0));
  };
  auto y = F::ReLU()(x);
  static_assert(std::is_same_v<decltype(y), Variable>);
  same(F::ReLU()(a), y.data());  // an array
  same(F::ReLU()({x}), y.data());
  same(F::Concat()(x, z), concat({x, z}).data());
  same(F::Concat()({x, z}), concat({x, z}).data());
  same(F::Concat()(x, b), concat({x, z}).data());
  same(F::Concat(0)(std::vector<Variable>{x, z, x}), concat({x, z, x}, 0).data());
  auto parts = F::SplitAxis(3, 1)(x);
  static_assert(std::is_same_v<decltype(parts), Variables>);
  BOOST_TEST(parts.size() == 3u);
  auto [c, h] = F::LSTM()(spread({2, 1}), spread({2, 4}));
  same(h, nn::lstm(spread({2, 1}), spread({2, 4})).h.data());
  same(c, nn::lstm(spread({2, 1}), spread({2, 4})).c.data());
  auto one = F::Identity()(x);
  same(one, a);
  one.set_grad(b);  // as of the only output
  BOOST_TEST(F::Identity()(x, z).size() == 2);

  // An object is called again, copied, assigned and stored; every call has a node of its own.
  const F::ClippedReLU clip(0.3);
  const Variable first = clip(x), second = clip(x);
  BOOST_TEST(first.creator() != second.creator());
  F::ClippedReLU copied = clip, other(5);
  other = copied;
  same(other(x), first.data());
  BOOST_TEST(clip.label() == "ClippedReLU");
  const std::function<Variable(const Variable&)> stored = F::ClippedReLU(0.3);
  same(stored(x), first.data());
  nn::Sequential net(F::LeakyReLU(0.1), F::Sum({0, 1}));
  same(net(x), sum(nn::leaky_relu(x, 0.1)).data());
  // F has the classes of functions, L the links of the same name; links without one are in both.
  static_assert(!std::is_base_of_v<nn::Link, F::LSTM> && std::is_base_of_v<nn::Link, nn::links::LSTM>);
  static_assert(std::is_same_v<F::Linear, nn::links::Linear>);
  // Absent inputs at the end may be null.
  const Variable W(spread({4, 3}));
  same(F::LinearFunction()(x, W, Variable()), nn::linear(x, W).data());
}

BOOST_AUTO_TEST_CASE(arrays_of_the_last_call) {
  const Variable x(spread({2, 3, 4, 4}));
  F::MaxPooling2D pool(2, 2);
  BOOST_CHECK(!pool.indexes());
  const Variable y = pool(x);
  BOOST_CHECK_NO_THROW(testing::assert_allclose(
      pool.indexes(), nn::max_pooling_2d(x, 2, {.stride = 2}, nn::return_indices).indices, 0, 0));
  const Variable up = F::Upsampling2D(pool.indexes(), 2, 2, 0, {4, 4})(y);
  BOOST_CHECK_NO_THROW(testing::assert_allclose(nn::max_pooling_2d(up, 2).data(), nn::relu(y).data(), 0, 0));
  const F::MaxPoolingND any(2, 2, 1);
  any(x);
  BOOST_TEST(any.indexes().shape() == (Shape{2, 3, 3, 3}));

  const Array gamma = positive({3}), beta = spread({3}), mean = spread({3}, -1, 1, 1), var = positive({3}, 2);
  F::BatchNormalizationFunction normalize(2e-5, mean, var, true, 0.7);
  normalize(x, gamma, beta);
  const auto expected = nn::batch_normalization(
      x, gamma, beta, {.running_mean = mean, .running_var = var, .decay = 0.7}, nn::return_statistics);
  BOOST_CHECK_NO_THROW(testing::assert_allclose(normalize.running_mean(), expected.running_mean, 0, 0));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(normalize.running_var(), expected.running_var, 0, 0));
  // Without training, those that were given take the place of inputs.
  const F::BatchNormalizationFunction fixed(1e-3, mean, var);
  BOOST_CHECK_NO_THROW(testing::assert_allclose(
      fixed(x, gamma, beta).data(), nn::fixed_batch_normalization(x, gamma, beta, mean, var, 1e-3).data(), 0, 0));

  const Variable mu(spread({5})), ln_var(spread({5}, -1, 1, 1));
  const F::Gaussian gaussian;
  const Variable sample = gaussian(mu, ln_var);
  BOOST_CHECK_NO_THROW(testing::assert_allclose(sample.data(), nn::gaussian(mu, ln_var, gaussian.eps()).data(), 0, 0));
  const F::NegativeSamplingFunction sampling([](const Shape& s) { return arrays::full(s, 2, Dtype::int32); }, 1);
  sampling(spread({2, 3}), ints({1, 0}, {2}), spread({4, 3}));
  BOOST_TEST(to_vector<std::int32_t>(sampling.samples()) == (std::vector<std::int32_t>{1, 2, 0, 2}),
             boost::test_tools::per_element());
}

// A function of several nodes: what holds for one node holds for them.
BOOST_AUTO_TEST_CASE(composed_functions_as_one_node) {
  // Absent gradients of outputs, repeated backward.
  Variable a(spread({3, 2})), b(spread({2, 2}, -1, 1, 1));
  Variables ys = F::TransposeSequence()(a, b);
  ys[1].set_grad(arrays::ones({2, 2}, Dtype::float64));
  for (int time = 0; time < 2; ++time) {
    a.cleargrad();
    b.cleargrad();
    ys[1].backward();
    BOOST_TEST(to_vector<double>(a.grad()) == (std::vector<double>{0, 0, 1, 1, 0, 0}),
               boost::test_tools::per_element());
    BOOST_TEST(to_vector<double>(b.grad()) == (std::vector<double>{0, 0, 1, 1}), boost::test_tools::per_element());
  }
  // Gradients flow on to what made the input, beside those of other functions that read it.
  const Array at = spread({2, 3});
  const auto gradient = [&at](const auto& crelu, bool graph) {
    Variable x(at);
    const Variable inner = x * 3;
    Variable y = sum(crelu(inner) * crelu(inner)) + sum(square(inner)) + sum(crelu(crelu(inner)));
    y.backward({.enable_double_backprop = graph});
    return x.grad();
  };
  const Array expected = gradient([](const Variable& v) { return nn::crelu(v); }, false);
  for (const bool graph : {false, true})
    BOOST_CHECK_NO_THROW(testing::assert_allclose(gradient(F::CReLU(), graph), expected, 1e-12, 1e-12));
}

// Graphs of gradients lead back to the inputs: that keeps nothing alive.
BOOST_AUTO_TEST_CASE(composed_functions_are_released) {
  const Array a = spread({2, 3});
  {
    Variable x(a);
    const Variable y = F::CReLU()(x);
    Variable loss = sum(y * y);
    loss.backward({.enable_double_backprop = true});
    BOOST_TEST(!catena::is_sole_reference(*a.get()));
  }
  BOOST_TEST(catena::is_sole_reference(*a.get()));
  Variable x(spread({1, 2}));
  {
    // Long chains are released and differentiated without recursion.
    Variable h = x;
    for (int i = 0; i < 20000; ++i) h = F::Vstack()(h);
    sum(h).backward();
  }
  BOOST_TEST(to_vector<double>(x.grad()) == (std::vector<double>{1, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x(spread({2, 3})), image(spread({1, 2, 4, 4})), volume(spread({1, 2, 4, 4, 4}));
  const auto numbers = [](const auto& call, const std::string& expect, const std::string& actual) {
    BOOST_CHECK_EXCEPTION(call(), catena::InvalidType, [&](const catena::InvalidType& e) {
      BOOST_TEST(e.expect() == expect);
      BOOST_TEST(e.actual() == actual);
      return std::string(e.what()).starts_with("Invalid operation is performed in: ");
    });
  };
  numbers([&] { F::ReLU()(x, x); }, "in_types.size() == 1", "2 != 1");
  numbers([&] { F::ReLU()(Variables()); }, "in_types.size() == 1", "0 != 1");
  numbers([&] { F::Concat()(Variables()); }, "in_types.size() >= 1", "0 < 1");
  numbers([&] { F::LinearFunction()(x); }, "in_types.size() >= 2", "1 < 2");
  numbers([&] { F::LinearFunction()(x, x, x, x); }, "in_types.size() <= 3", "4 > 3");
  numbers([&] { F::CReLU()(x, x); }, "in_types.size() == 1", "2 != 1");
  numbers([&] { F::NStepLSTM(1, 0.0)({x, x, x, x}); }, "in_types.size() > 18", "4 <= 18");
  numbers([&] { F::BatchNormalizationFunction()(x, x, x, x); }, "in_types.size() == 3 or in_types.size() == 5",
          "in_types.size() == 4");
  numbers([&] { F::ConvolutionND(2)(volume, volume); }, "x.ndim == ndim + 2", "5 != 4");
  numbers([&] { F::DeconvolutionND(2)(volume, volume); }, "x.ndim == ndim + 2", "5 != 4");
  numbers([&] { F::MaxPoolingND(3, 2)(image); }, "x.ndim == ndim + 2", "4 != 5");
  numbers([&] { F::AveragePoolingND(3, 2)(image); }, "x.ndim == ndim + 2", "4 != 5");
  numbers([&] { F::UnpoolingND(3, 2)(image); }, "x.ndim == ndim + 2", "4 != 5");
  numbers([&] { F::SpatialPyramidPooling2D({2, 4, 5}, 1, nn::PoolingClass::max)(image); }, "x.shape[3] == 5", "4 != 5");

  BOOST_CHECK_THROW(F::ReLU()(Variable()), catena::TypeError);
  BOOST_CHECK_THROW(F::Add()(Variable(), x), catena::TypeError);
  // The errors of the functions that the classes call.
  BOOST_CHECK_THROW(F::ClippedReLU(-1)(x), catena::AssertionError);
  BOOST_CHECK_THROW(F::CReLU(2)(x), catena::InvalidType);
  BOOST_CHECK_THROW(F::SplitAxis(0, 1)(x), catena::ValueError);
  BOOST_CHECK_THROW(F::SplitAxis(2, 1)(x), catena::InvalidType);
  BOOST_CHECK_THROW(F::Contrastive(-1)(x, x, ints({0, 1}, {2})), catena::ValueError);
  BOOST_CHECK_THROW(F::Contrastive(1, "both")(x, x, ints({0, 1}, {2})), catena::ValueError);
  BOOST_CHECK_THROW(F::Hinge("L3")(x, ints({0, 1}, {2})), catena::NotImplementedError);
  BOOST_CHECK_THROW(F::Dropout(1)(x), catena::ValueError);
  BOOST_CHECK_THROW(F::Squeeze({0})(x), catena::ValueError);
  BOOST_CHECK_THROW(F::MaxPooling2D(9, 1, 0, false)(image), catena::AssertionError);
  BOOST_CHECK_THROW(F::R2_score(positive({2}), "raw_values")(x, x), catena::NotImplementedError);
  BOOST_CHECK_THROW(F::SpatialPyramidPooling2D({2, 4, 4}, 1, nn::PoolingClass::average)(image),
                    catena::NotImplementedError);
  BOOST_CHECK_THROW(F::AveragePoolingND(2, 2, {}, 0, true)(image), catena::ValueError);
  BOOST_CHECK_THROW(F::NStepGRU(0, 0.0)({x, x, x, x}), catena::ValueError);
  const Array one = positive({3});
  BOOST_CHECK_THROW(F::BatchNormalizationFunction()(x, one, one), catena::ValueError);
  BOOST_CHECK_THROW(F::BatchNormalizationFunction(2e-5, {}, {}, true)(x, one, one, one, one), catena::ValueError);
}

// use_cudnn changes neither the values nor the graph. (Which implementation computes: integration/use_cudnn.)
BOOST_AUTO_TEST_CASE(use_cudnn_of_the_constructors) {
  const Variable image(spread({1, 2, 4, 4})), rows(spread({2, 3})), points(spread({1, 2, 2, 3})),
      theta(spread({1, 2, 3})), params(spread({2}, 0.5, 1)), classes(ints({1, 0}, {2})),
      flags(ints({0, 1, 1, 0, -1, 1}, {2, 3}));
  const auto same = [](const auto& call) {
    const Variable expected = call(true), y = call(false);
    BOOST_TEST(y.creator()->label() == expected.creator()->label());
    BOOST_TEST(y.rank() == 1);
    BOOST_CHECK_NO_THROW(testing::assert_allclose(y.data(), expected.data(), 0, 0));
  };
  same([&](bool use) { return F::LogSoftmax(use)(rows); });
  same([&](bool use) { return F::ReLU(use)(rows); });
  same([&](bool use) { return F::Sigmoid(use)(rows); });
  same([&](bool use) { return F::Softmax(use)(rows); });
  same([&](bool use) { return F::Softmax(use, 0)(rows); });
  same([&](bool use) { return F::Tanh(use)(rows); });
  same([&](bool use) { return F::SpatialTransformerGrid({2, 3}, use)(theta); });
  same([&](bool use) { return F::SpatialTransformerSampler(use)(image, points); });
  same([&](bool use) { return F::SigmoidCrossEntropy(use)(rows, flags); });
  same([&](bool use) { return F::SoftmaxCrossEntropy(use)(rows, classes); });
  same([&](bool use) { return F::BatchNormalizationFunction(2e-5, {}, {}, true, 0.9, use)(image, params, params); });
  same([&](bool use) {
    return F::BatchNormalizationFunction(2e-5, {}, {}, false, 0.9, use)(image, params, params, params, params);
  });
  same([&](bool use) { return F::AveragePooling2D(2, 2, 0, false, use)(image); });
  same([&](bool use) { return F::AveragePoolingND(2, 2, 2, 0, false, use)(image); });
  same([&](bool use) { return F::MaxPooling2D(2, 2, 0, true, use)(image); });
  same([&](bool use) { return F::MaxPoolingND(2, 2, 2, 0, true, use)(image); });
  same([&](bool use) { return F::SpatialPyramidPooling2D({2, 4, 4}, 2, nn::PoolingClass::max, use)(image); });
}

BOOST_AUTO_TEST_SUITE_END()
