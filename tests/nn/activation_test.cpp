// Activation functions.
#include <catena/nn/functions/activation.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/function_node.h>
#include <catena/autograd/testing.h>
#include <catena/kernels/rows/families.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

struct Row {
  const char* name;
  Variable (*function)(const Variable&);
  double (*value)(double);
};

double relu_value(double x) { return x > 0 ? x : 0; }

const Row kRows[] = {
    {"ReLU", nn::relu, relu_value},
    {"ClippedReLU", [](const Variable& x) { return nn::clipped_relu(x, 0.75); },
     [](double x) { return std::min(relu_value(x), 0.75); }},
    {"LeakyReLU", [](const Variable& x) { return nn::leaky_relu(x, 0.3); },
     [](double x) { return x >= 0 ? x : 0.3 * x; }},
    {"ELU", [](const Variable& x) { return nn::elu(x, 1.5); },
     [](double x) { return x >= 0 ? x : 1.5 * std::expm1(x); }},
    {"HardSigmoid", [](const Variable& x) { return nn::hard_sigmoid(x); },
     [](double x) { return std::min(std::max(0.2 * x + 0.5, 0.0), 1.0); }},
    {"Sigmoid", nn::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"Tanh", nn::tanh, [](double x) { return std::tanh(x); }},
};

// Values away from the kinks at 0, 0.75 and +-2.5.
Array values(const Shape& shape, int seed = 0) {
  std::vector<double> v = to_vector<double>(spread(shape, -3, 3, seed));
  for (double& x : v)
    for (const double kink : {0.0, 0.75, 2.5, -2.5})
      if (std::fabs(x - kink) < 0.02) x += 0.05;
  return array(v, shape);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(activation)

BOOST_AUTO_TEST_CASE(values_and_derivatives) {
  for (const Row& row : kRows)
    for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{1}, Shape{0, 3}, Shape{2, 3, 5}})
      BOOST_TEST_CONTEXT(row.name << shape) {
        const Array x = values(shape);
        std::vector<double> expected = to_vector<double>(x);
        for (double& v : expected) v = row.value(v);
        BOOST_CHECK_NO_THROW(
            testing::assert_allclose(row.function(Variable(x)).data(), array(expected, shape), 1e-12, 1e-12));
        test::check_derivatives(row.name, [&](const Variables& v) { return Variables{row.function(v[0])}; }, {x});
      }
}

BOOST_AUTO_TEST_CASE(labels_and_type_errors) {
  for (const Row& row : kRows) {
    BOOST_TEST(row.function(Variable(ones({2}))).creator()->label() == row.name);
    BOOST_CHECK_THROW(row.function(Variable(ones({2}, Dtype::int32))), catena::InvalidType);
  }
  BOOST_CHECK_EXCEPTION(nn::clipped_relu(Variable(ones({2})), 0), catena::AssertionError, [](const catena::Error& e) {
    return e.what() == std::string("clipped_relu: z is 0 and must be positive");
  });
}

BOOST_AUTO_TEST_CASE(nan_passes_and_large_values_do_not_overflow) {
  const Array x = array<float>({NAN, 200, -200, INFINITY, -INFINITY}, {5});
  const std::vector<float> relu = to_vector<float>(nn::relu(Variable(x)).data());
  BOOST_TEST(std::isnan(relu[0]));
  BOOST_TEST(relu[3] == INFINITY);
  const std::vector<float> sigmoid = to_vector<float>(nn::sigmoid(Variable(x)).data());
  BOOST_TEST(sigmoid[1] == 1.0f);
  BOOST_TEST(sigmoid[2] == 0.0f);
  // The gradient of the masked branch of elu must not be inf * 0, nor the second derivative.
  Variable v(array<float>({200}, {1}));
  Variable y = nn::elu(v);
  y.backward({.enable_double_backprop = true});
  BOOST_TEST(to_vector<float>(v.grad())[0] == 1.0f);
  Variable g = v.grad_variable();
  v.cleargrad();
  g.backward();
  BOOST_TEST(to_vector<float>(v.grad())[0] == 0.0f);
}

BOOST_AUTO_TEST_CASE(softmax_along_every_axis) {
  for (const bool logarithm : {false, true}) {
    for (const Shape& shape : {Shape{3, 4}, Shape{2, 3, 4}, Shape{2, 1}, Shape{0, 3}}) {
      for (int axis = -shape.size(); axis < shape.size(); ++axis) BOOST_TEST_CONTEXT(logarithm << shape << axis) {
          const auto f = [&](const Variables& v) {
            return Variables{logarithm ? nn::log_softmax(v[0], {.axis = axis}) : nn::softmax(v[0], {.axis = axis})};
          };
          const Array x = spread(shape, -2, 2);
          const Array e = apply(catena::rows::exp, {x});
          const Array y = e / sum(e, axis, true);
          BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x)})[0].data(),
                                                        logarithm ? apply(catena::rows::log, {y}) : y, 1e-12, 1e-12));
          test::check_derivatives(logarithm ? "log_softmax" : "softmax", f, {x}, {.atol16 = 5e-3, .rtol16 = 5e-2});
        }
    }
  }
  const Variable x(spread({2, 3, 4}));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(nn::softmax(x, 2).data(), nn::softmax(x, {.axis = 2}).data(), 0, 0));
  BOOST_CHECK_NO_THROW(
      testing::assert_allclose(nn::log_softmax(x, 0).data(), nn::log_softmax(x, {.axis = 0}).data(), 0, 0));
  BOOST_CHECK_THROW(nn::softmax(Variable(ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::softmax(Variable(ones({3, 2})), {.axis = 2}), catena::InvalidType);
  BOOST_CHECK_THROW(nn::log_softmax(Variable(ones({3, 2}, Dtype::int64))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(log_softmax_stays_finite) {
  const std::vector<float> y = to_vector<float>(nn::log_softmax(Variable(array<float>({-1000, 1}, {1, 2}))).data());
  BOOST_TEST(y[0] == -1001.0f);
  BOOST_TEST(y[1] == 0.0f);
}

BOOST_AUTO_TEST_CASE(golden_values) {
  test::run_golden(
      "activation",
      {{"relu", [](const test::GoldenCall& c) { return Variables{nn::relu(c.x(0))}; }},
       {"clipped_relu",
        [](const test::GoldenCall& c) { return Variables{nn::clipped_relu(c.x(0), c.number("z", 20.0))}; }},
       {"leaky_relu",
        [](const test::GoldenCall& c) { return Variables{nn::leaky_relu(c.x(0), c.number("slope", 0.2))}; }},
       {"elu", [](const test::GoldenCall& c) { return Variables{nn::elu(c.x(0), c.number("alpha", 1.0))}; }},
       {"hard_sigmoid", [](const test::GoldenCall& c) { return Variables{nn::hard_sigmoid(c.x(0))}; }},
       {"sigmoid", [](const test::GoldenCall& c) { return Variables{nn::sigmoid(c.x(0))}; }},
       {"tanh", [](const test::GoldenCall& c) { return Variables{nn::tanh(c.x(0))}; }},
       {"softmax",
        [](const test::GoldenCall& c) { return Variables{nn::softmax(c.x(0), {.axis = int(c.integer("axis", 1))})}; }},
       {"log_softmax", [](const test::GoldenCall& c) { return Variables{nn::log_softmax(c.x(0))}; }}},
      {.once_only = {"relu", "clipped_relu", "leaky_relu", "elu", "hard_sigmoid"}});
}

BOOST_AUTO_TEST_SUITE_END()
