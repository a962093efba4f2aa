// Activation functions.
#include <catena/nn/functions/activation.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <initializer_list>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/testing.h>
#include <catena/autograd/unary_function.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/modules.h>
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
    {"Softplus", [](const Variable& x) { return nn::softplus(x, 1.5); },
     [](double x) { return std::log1p(std::exp(1.5 * x)) / 1.5; }},
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
    BOOST_TEST(row.function(Variable(arrays::ones({2}))).creator()->label() == row.name);
    // Sigmoid and tanh are functions of autograd, which convert integers.
    const bool converts = std::string_view(row.name) == "Sigmoid" || std::string_view(row.name) == "Tanh";
    const Variable whole(arrays::ones({2}, Dtype::int32));
    if (converts) BOOST_CHECK(row.function(whole).dtype() == Dtype::float32);
    else BOOST_CHECK_THROW(row.function(whole), catena::InvalidType);
  }
  BOOST_CHECK_EXCEPTION(
      nn::clipped_relu(Variable(arrays::ones({2})), 0), catena::AssertionError,
      [](const catena::Error& e) { return e.what() == std::string("clipped_relu: z is 0 and must be positive"); });
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
          const Array e = apply(catena::kernels::exp, {x});
          const Array y = e / sum(e, axis, true);
          BOOST_CHECK_NO_THROW(testing::assert_allclose(
              f({Variable(x)})[0].data(), logarithm ? apply(catena::kernels::log, {y}) : y, 1e-12, 1e-12));
          test::check_derivatives(logarithm ? "log_softmax" : "softmax", f, {x}, {.atol16 = 5e-3, .rtol16 = 5e-2});
        }
    }
  }
  const Variable x(spread({2, 3, 4}));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(nn::softmax(x, 2).data(), nn::softmax(x, {.axis = 2}).data(), 0, 0));
  BOOST_CHECK_NO_THROW(
      testing::assert_allclose(nn::log_softmax(x, 0).data(), nn::log_softmax(x, {.axis = 0}).data(), 0, 0));
  BOOST_CHECK_THROW(nn::softmax(Variable(arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::softmax(Variable(arrays::ones({3, 2})), {.axis = 2}), catena::InvalidType);
  BOOST_CHECK_THROW(nn::log_softmax(Variable(arrays::ones({3, 2}, Dtype::int64))), catena::InvalidType);
}

// The ways to give use_cudnn, with names of nn, of functions and without any: values and gradients stay the same bits.
BOOST_AUTO_TEST_CASE(use_cudnn_by_position_and_by_name) {
  using namespace nn;
  namespace F = nn::functions;
  using Call = UnaryFunction;
  const auto is = [](const char* name, const Call& expected, std::initializer_list<Call> calls) {
    const auto result = [](const Call& f) {
      Variable x(spread({2, 3, 4}, -2, 2));
      Variable y = f(x);
      y.set_grad(spread({2, 3, 4}, -1, 1, 5));
      y.backward();
      return Arrays{y.data(), x.grad()};
    };
    const Arrays wanted = result(expected);
    int at = 0;
    for (const Call& f : calls) BOOST_TEST_CONTEXT(name << " " << at++) {
        const Arrays got = result(f);
        for (std::size_t i = 0; i < wanted.size(); ++i)
          BOOST_CHECK_NO_THROW(testing::assert_allclose(got[i], wanted[i], 0, 0));
      }
  };
  using V = const Variable&;
  is("relu", [](V x) { return maximum(x, Variable(zeros_like(x.data()))); },
     {nn::relu, F::relu, [](V x) { return relu(x, true); }, [](V x) { return relu(x, false); },
      [](V x) { return nn::relu(x, {.use_cudnn = false}); }, [](V x) { return F::relu(x, {}); }});
  is("sigmoid", [](V x) { return autograd::sigmoid(x); },
     {nn::sigmoid, F::sigmoid, [](V x) { return sigmoid(x); }, [](V x) { return sigmoid(x, false); },
      [](V x) { return nn::sigmoid(x, true); }, [](V x) { return nn::sigmoid(x, {.use_cudnn = false}); },
      [](V x) { return F::sigmoid(x, {.use_cudnn = false}); }});
  is("tanh", [](V x) { return autograd::tanh(x); },
     {nn::tanh, F::tanh, [](V x) { return tanh(x); }, [](V x) { return tanh(x, false); },
      [](V x) { return nn::tanh(x, true); }, [](V x) { return nn::tanh(x, {.use_cudnn = false}); },
      [](V x) { return F::tanh(x, false); }});
  // An int is the axis, a bool is not.
  is("softmax", [](V x) { return softmax(x, {.axis = 1}); },
     {nn::softmax, [](V x) { return softmax(x, false); }, [](V x) { return F::softmax(x, true); },
      [](V x) { return softmax(x, false, 1); }, [](V x) { return softmax(x, 1); },
      [](V x) { return softmax(x, {.use_cudnn = false}); }});
  is("softmax along the last axis", [](V x) { return softmax(x, {.axis = 2}); },
     {[](V x) { return softmax(x, true, 2); }, [](V x) { return softmax(x, 2); },
      [](V x) { return softmax(x, std::int64_t(2)); }, [](V x) { return softmax(x, {.axis = 2, .use_cudnn = true}); }});
  is("log_softmax", [](V x) { return log_softmax(x, {.axis = 1}); },
     {nn::log_softmax, [](V x) { return log_softmax(x, false); }, [](V x) { return F::log_softmax(x, true); },
      [](V x) { return log_softmax(x, {.use_cudnn = false}); }});
}

BOOST_AUTO_TEST_CASE(log_softmax_stays_finite) {
  const std::vector<float> y = to_vector<float>(nn::log_softmax(Variable(array<float>({-1000, 1}, {1, 2}))).data());
  BOOST_TEST(y[0] == -1001.0f);
  BOOST_TEST(y[1] == 0.0f);
}

BOOST_AUTO_TEST_CASE(softplus_far_from_zero) {
  const std::vector<float> y = to_vector<float>(nn::softplus(Variable(array<float>({1000, -1000, -30}, {3}))).data());
  BOOST_TEST(y[0] == 1000.0f);
  BOOST_TEST(y[1] == 0.0f);
  BOOST_TEST(y[2] == std::exp(-30.0f), boost::test_tools::tolerance(1e-6f));
  BOOST_TEST(to_vector<float>(nn::softplus(Variable(arrays::zeros({1}))).data())[0] == std::log(2.0f),
             boost::test_tools::tolerance(1e-6f));
}

BOOST_AUTO_TEST_CASE(crelu_along_every_axis) {
  for (const Shape& shape : {Shape{3, 4}, Shape{2, 3, 2}, Shape{1}, Shape{0, 3}})
    for (int axis = -shape.size(); axis < shape.size(); ++axis) BOOST_TEST_CONTEXT(shape << axis) {
        const Array x = values(shape);
        const Array halves[] = {apply(catena::kernels::maximum, {x, 0}), apply(catena::kernels::maximum, {-x, 0})};
        const auto f = [&](const Variables& v) { return Variables{nn::crelu(v[0], axis)}; };
        BOOST_CHECK_NO_THROW(
            testing::assert_allclose(f({Variable(x)})[0].data(), concatenate(halves, axis), 1e-12, 1e-12));
        test::check_derivatives("crelu", f, {x});
      }
  const Variable x(arrays::ones({2, 3}));
  BOOST_CHECK(nn::crelu(x).shape() == (Shape{2, 6}));
  for (const int axis : {2, -3})
    BOOST_CHECK_EXCEPTION(nn::crelu(x, axis), catena::InvalidType, [](const catena::Error& e) {
      return std::string(e.what()).starts_with("Invalid operation is performed in: CReLU (Forward)");
    });
  BOOST_CHECK_THROW(nn::crelu(Variable(arrays::ones({2, 3}, Dtype::int32))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(maxout_takes_the_greatest_of_neighbours) {
  const Array x = spread({2, 6, 4}, -2, 2);
  const std::vector<double> xs = to_vector<double>(x);
  for (const int axis : {0, 1, 2, -1, -2})
    for (const int pool : {1, 2}) BOOST_TEST_CONTEXT(axis << pool) {
        const int at = axis < 0 ? axis + 3 : axis;
        Shape shape = x.shape();
        shape[at] /= pool;
        std::vector<double> expected(std::size_t(catena::size_of(shape)), -INFINITY);
        std::size_t k = 0;
        for (std::int64_t a = 0; a < 2; ++a)
          for (std::int64_t b = 0; b < 6; ++b)
            for (std::int64_t c = 0; c < 4; ++c, ++k) {
              std::int64_t i[] = {a, b, c};
              i[at] /= pool;
              double& best = expected[std::size_t((i[0] * shape[1] + i[1]) * shape[2] + i[2])];
              best = std::max(best, xs[k]);
            }
        const auto f = [&](const Variables& v) { return Variables{nn::maxout(v[0], pool, axis)}; };
        BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x)})[0].data(), array(expected, shape), 0, 0));
        test::check_derivatives("maxout", f, {x});
      }
  // Equal elements get the whole gradient each.
  Variable tied(arrays::ones({1, 2}));
  Variable y = nn::maxout(tied, 2);
  y.backward();
  BOOST_TEST((to_vector<float>(tied.grad()) == std::vector<float>{1, 1}));
  BOOST_CHECK(nn::maxout(Variable(arrays::zeros({0, 4})), 2).shape() == (Shape{0, 2}));
  BOOST_CHECK_EXCEPTION(nn::maxout(tied, 0), catena::ValueError, [](const catena::Error& e) {
    return e.what() == std::string("maxout: pool_size is 0 and must be positive");
  });
  BOOST_CHECK_EXCEPTION(nn::maxout(Variable(x), 4), catena::InvalidType, [](const catena::Error& e) {
    const std::string text = e.what();
    return text.find("x.shape[1] % pool_size == 0") != text.npos && text.find("2 != 0") != text.npos;
  });
  BOOST_CHECK_THROW(nn::maxout(Variable(x), 2, 3), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(prelu_of_one_slope_and_of_many) {
  const Array x = values({2, 3, 4});
  const std::vector<double> xs = to_vector<double>(x);
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{3, 4}}) BOOST_TEST_CONTEXT(shape) {
      const Array W = spread(shape, -0.5, 1.5, 3);
      const std::vector<double> ws = to_vector<double>(W);
      std::vector<double> expected;
      for (std::size_t i = 0; i < xs.size(); ++i) {
        const std::size_t place = shape.size() == 0 ? 0 : shape.size() == 1 ? i / 4 % 3 : i % 12;
        expected.push_back(xs[i] >= 0 ? xs[i] : ws[place] * xs[i]);
      }
      const auto f = [](const Variables& v) { return Variables{nn::prelu(v[0], v[1])}; };
      BOOST_CHECK_NO_THROW(
          testing::assert_allclose(f({Variable(x), Variable(W)})[0].data(), array(expected, x.shape()), 1e-12, 1e-12));
      test::check_derivatives("prelu", f, {x, W}, {.atol16 = 5e-3});
    }
  const Variable v(arrays::ones({2, 3, 4}));
  BOOST_CHECK(nn::prelu(Variable(arrays::zeros({0, 3})), Variable(arrays::ones({3}))).shape() == (Shape{0, 3}));
  BOOST_CHECK_THROW(nn::prelu(v, Variable(arrays::ones({4}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::prelu(v, Variable(arrays::ones({3, 4, 1}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::prelu(v, Variable(arrays::ones({3}, Dtype::float64))), catena::InvalidType);
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
       {"softplus", [](const test::GoldenCall& c) { return Variables{nn::softplus(c.x(0), c.number("beta", 1.0))}; }},
       {"crelu", [](const test::GoldenCall& c) { return Variables{nn::crelu(c.x(0), int(c.integer("axis", 1)))}; }},
       {"maxout",
        [](const test::GoldenCall& c) {
          return Variables{nn::maxout(c.x(0), int(c.integer("pool_size", 1)), int(c.integer("axis", 1)))};
        }},
       {"prelu", [](const test::GoldenCall& c) { return Variables{nn::prelu(c.x("x"), c.x("W"))}; }},
       {"lstm",
        [](const test::GoldenCall& c) {
          const auto [state, h] = nn::lstm(c.x("c_prev"), c.x("x"));
          return Variables{state, h};
        }},
       {"slstm",
        [](const test::GoldenCall& c) {
          const auto [state, h] = nn::slstm(c.x("c_prev1"), c.x("c_prev2"), c.x("x1"), c.x("x2"));
          return Variables{state, h};
        }},
       {"softmax",
        [](const test::GoldenCall& c) { return Variables{nn::softmax(c.x(0), {.axis = int(c.integer("axis", 1))})}; }},
       {"log_softmax", [](const test::GoldenCall& c) { return Variables{nn::log_softmax(c.x(0))}; }}},
      {.once_only = {"relu", "clipped_relu", "leaky_relu", "elu", "hard_sigmoid", "crelu", "maxout", "prelu"}});
}

BOOST_AUTO_TEST_SUITE_END()
