// Normalization of groups, instances and rows, batch renormalization, and the links of normalization: against PyTorch
// and against loops.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include <catena/autograd/config.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/normalization.h>
#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/group_normalization.h>
#include <catena/nn/links/layer_normalization.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

Variable drawn(const Shape& shape, Dtype t, double low = -2, double high = 2, int seed = 0) {
  return Variable(astype(spread(shape, low, high, seed), t));
}
void close(const Array& a, const Array& b, double tolerance) {
  BOOST_CHECK_NO_THROW(testing::assert_allclose(a, b, tolerance, tolerance));
}
auto says(const std::string& text) {
  return [text](const catena::Error& e) {
    BOOST_TEST_INFO(e.what());
    return std::string(e.what()).find(text) != std::string::npos;
  };
}

BOOST_AUTO_TEST_SUITE(group_normalization)

BOOST_AUTO_TEST_CASE(golden_values) {
  test::run_golden(
      "torch_normalization",
      {{"group_normalization",
        [](const test::GoldenCall& c) {
          return Variables{nn::group_normalization(c.x("x"), int(c.integer("groups", 1)), c.x("gamma"), c.x("beta"),
                                                   c.number("eps", 0))};
        }},
       {"instance_normalization",
        [](const test::GoldenCall& c) {
          return Variables{nn::instance_normalization(c.x("x"), c.x("gamma"), c.x("beta"), c.number("eps", 0))};
        }},
       {"rms_normalization",
        [](const test::GoldenCall& c) {
          return Variables{nn::rms_normalization(c.x("x"), c.x("gamma"), c.number("eps", 0))};
        }},
       {"layer_normalization",
        [](const test::GoldenCall& c) {
          return Variables{nn::layer_normalization(c.x("x"), c.x("gamma"), c.x("beta"), c.number("eps", 0))};
        }},
       {"normalize", [](const test::GoldenCall& c) {
          return Variables{nn::normalize(c.x("x"), c.number("eps", 0), int(c.integer("axis", 1)), c.number("ord", 2))};
        }}});
}

// float16 and bfloat16, strides and repeated backward; the values are those of PyTorch above.
BOOST_AUTO_TEST_CASE(derivatives) {
  const test::DerivativeOptions loose{
      .atol = 1e-5, .rtol = 1e-4, .atol32 = 1e-4, .rtol32 = 1e-3, .atol16 = 2e-2, .rtol16 = 2e-2};
  const Array gamma = spread({4}, 0.5, 1.5, 1), beta = spread({4}, -1, 1, 2);
  for (const Shape& shape : {Shape{2, 4, 3}, Shape{1, 4}, Shape{0, 4, 2}, Shape{2, 4, 0}}) BOOST_TEST_CONTEXT(shape)
  test::check_derivatives(
      "group_normalization",
      [](const Variables& v) { return Variables{nn::group_normalization(v[0], 2, v[1], v[2], 1e-2)}; },
      {spread(shape, -2, 2), gamma, beta}, loose);
  test::check_derivatives(
      "instance_normalization",
      [](const Variables& v) { return Variables{nn::instance_normalization(v[0], {}, {}, 1e-2)}; },
      {spread({2, 2, 3}, -2, 2)}, loose);
  for (const Shape& shape : {Shape{3, 4}, Shape{2, 1, 4}, Shape{4}, Shape{0, 4}}) BOOST_TEST_CONTEXT(shape)
  test::check_derivatives(
      "rms_normalization", [](const Variables& v) { return Variables{nn::rms_normalization(v[0], v[1], 1e-2)}; },
      {spread(shape, -2, 2), gamma}, loose);
  for (const double ord : {1.0, double(INFINITY)})
    test::check_derivatives("normalize",
                            [&](const Variables& v) {
                              return Variables{nn::normalize(v[0], 0.1, {0, 2}, ord)};
                            },
                            {spread({2, 3, 2}, -2, 2)});
}

// The kernels of the ordinary backward against the rule that double backward differentiates, over several blocks.
BOOST_AUTO_TEST_CASE(backward_by_kernels_and_by_rule) {
  const auto compare = [](const char* name, const auto& f, const Shape& shape, std::int64_t n) {
    BOOST_TEST_CONTEXT(name) {
      Variable x = drawn(shape, Dtype::float32), gamma = drawn({n}, Dtype::float32, 0.5, 1.5, 1),
               beta = drawn({n}, Dtype::float32, -1, 1, 2);
      std::vector<Arrays> gradients;
      for (const bool twice : {false, true}) {
        for (Variable* v : {&x, &gamma, &beta}) v->cleargrad();
        Variable y = f(x, gamma, beta);
        y.set_grad(astype(spread(shape, -1, 1, 5), Dtype::float32));
        y.backward({.enable_double_backprop = twice});
        gradients.push_back({x.grad(), gamma.grad()});
        if (beta.grad()) gradients.back().push_back(beta.grad());
      }
      for (std::size_t k = 0; k < gradients[0].size(); ++k) close(gradients[0][k], gradients[1][k], 2e-4);
    }
  };
  using V = const Variable&;
  compare(
      "group", [](V x, V g, V b) { return nn::group_normalization(x, 3, g, b); }, {3, 6, 70}, 6);
  compare(
      "instance", [](V x, V g, V b) { return nn::instance_normalization(x, g, b); }, {3, 6, 70}, 6);
  compare(
      "rms", [](V x, V g, V) { return nn::rms_normalization(x, g); }, {300, 65}, 65);
}

// float32 parameters beside 16-bit x: everything is computed in float32 and rounded once, without a copy of x.
BOOST_AUTO_TEST_CASE(wide_parameters_beside_narrow_rows) {
  const Shape shape{3, 4, 2};
  for (const Dtype t : {Dtype::float16, Dtype::bfloat16}) BOOST_TEST_CONTEXT(t) {
      const double rounding = t == Dtype::float16 ? 1e-3 : 8e-3;
      const auto compare = [&](const auto& f, std::int64_t n) {
        for (const bool twice : {false, true}) {
          std::vector<Arrays> found;
          for (const Dtype wide : {Dtype::float32, Dtype::float64}) {
            const bool exact = wide == Dtype::float64;
            Variable x(astype(drawn(shape, t, 90, 110).data(), exact ? wide : t)),
                gamma = drawn({n}, wide, 0.5, 1.5, 1), beta = drawn({n}, wide, -1, 1, 2);
            Variable y = f(x, gamma, beta);
            BOOST_CHECK(y.dtype() == x.dtype());
            y.set_grad(astype(drawn(shape, t, -1, 1, 5).data(), y.dtype()));
            y.backward({.enable_double_backprop = twice});
            BOOST_CHECK(x.grad().dtype() == x.dtype() && gamma.grad().dtype() == wide);
            found.push_back({y.data(), x.grad(), gamma.grad()});
          }
          for (std::size_t k = 0; k < 3; ++k) close(found[0][k], found[1][k], k == 2 ? 1e-3 : rounding);
        }
      };
      using V = const Variable&;
      compare([](V x, V g, V b) { return nn::layer_normalization(x, g, b, 1e-2); }, 2);
      compare([](V x, V g, V b) { return nn::group_normalization(x, 2, g, b, 1e-2); }, 4);
      compare([](V x, V g, V) { return nn::rms_normalization(x, g, 1e-2); }, 2);
    }
}

// Of Chainer 7: r and d are constants.
BOOST_AUTO_TEST_CASE(batch_renormalization) {
  const Array x = spread({4, 2}, -2, 2), gamma = spread({2}, 0.5, 1.5, 1), beta = spread({2}, -1, 1, 2);
  const std::vector<double> xs = to_vector<double>(x), g = to_vector<double>(gamma), b = to_vector<double>(beta);
  const std::vector<double> old_mean{0.4, -3}, old_var{0.5, 9};
  const double eps = 1e-2, rmax = 1.25, dmax = 0.3, decay = 0.75;
  std::vector<double> y(8), mean(2), var(2), factor(2);
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::size_t i = 0; i < 4; ++i) mean[k] += xs[2 * i + k] / 4;
    for (std::size_t i = 0; i < 4; ++i) var[k] += (xs[2 * i + k] - mean[k]) * (xs[2 * i + k] - mean[k]) / 4;
    const double sigma = std::sqrt(var[k] + eps), old = std::sqrt(old_var[k] + eps);
    factor[k] = std::min(std::max(sigma / old, 1 / rmax), rmax);
    const double d = std::min(std::max((mean[k] - old_mean[k]) / old, -dmax), dmax);
    for (std::size_t i = 0; i < 4; ++i)
      y[2 * i + k] = g[k] * ((xs[2 * i + k] - mean[k]) / sigma * factor[k] + d) + b[k];
  }
  const Array running_mean = array(old_mean, {2}), running_var = array(old_var, {2});
  const nn::BatchRenormalizationOptions o{
      .eps = eps, .running_mean = running_mean, .running_var = running_var, .decay = decay};
  Variable v(x), scale(gamma), shift(beta);
  Variable found = nn::batch_renormalization(v, scale, shift, rmax, dmax, o);
  close(found.data(), array(y, {4, 2}), 1e-12);
  BOOST_TEST(to_vector<double>(running_mean) == old_mean, boost::test_tools::per_element());
  // The gradient of x is r times that of batch normalization.
  found.set_grad(spread({4, 2}, -1, 1, 5));
  found.backward();
  Variable w(x), other(gamma);
  Variable plain = nn::batch_normalization(w, other, Variable(beta), {.eps = eps});
  plain.set_grad(spread({4, 2}, -1, 1, 5));
  plain.backward();
  close(v.grad(), w.grad() * array(factor, {2}), 1e-10);
  nn::BatchRenormalizationOptions updating = o;
  updating.update_statistics = true;
  nn::batch_renormalization(v, scale, shift, rmax, dmax, updating);
  for (std::size_t k = 0; k < 2; ++k) {
    BOOST_TEST(to_vector<double>(running_mean)[k] == 0.75 * old_mean[k] + 0.25 * mean[k],
               boost::test_tools::tolerance(1e-12));
    BOOST_TEST(to_vector<double>(running_var)[k] == 0.75 * old_var[k] + 0.25 * var[k] * 4 / 3,
               boost::test_tools::tolerance(1e-12));
  }
  BOOST_CHECK_EXCEPTION(nn::batch_renormalization(v, scale, shift, 0.5, 0), catena::ValueError, says("rmax is 0.5"));
  BOOST_CHECK_EXCEPTION(nn::batch_renormalization(v, scale, shift, 1, 0, {.update_statistics = true}),
                        catena::ValueError, says("needs running_mean"));
}

BOOST_AUTO_TEST_CASE(links) {
  const Variable x = drawn({2, 6, 3}, Dtype::float32);
  nn::GroupNormalization lazy(3), sized(3, 6);
  for (nn::GroupNormalization* link : {&lazy, &sized})
    close((*link)(x).data(), nn::group_normalization(x, 3).data(), 1e-6);
  BOOST_TEST(lazy.gamma.shape() == Shape{6});
  BOOST_CHECK_EXCEPTION(nn::GroupNormalization(4, 6), catena::ValueError, says("4 groups do not divide"));
  BOOST_CHECK_EXCEPTION(nn::GroupNormalization(4)(x), catena::ValueError, says("size is 6"));
  BOOST_CHECK_EXCEPTION(nn::GroupNormalization(0), catena::ValueError, says("there are 0 groups"));

  nn::InstanceNormalization plain, affine({.affine = true, .initial_gamma = 2.0, .initial_beta = 1.0});
  BOOST_TEST(!plain.gamma.has_value());
  close(plain(x).data(), nn::instance_normalization(x).data(), 1e-6);
  close(affine(x).data(), nn::instance_normalization(x).data() * 2.0 + 1.0, 1e-5);
  BOOST_TEST(affine.gamma->shape() == Shape{6});
  BOOST_TEST(nn::InstanceNormalization(6, {.affine = true}).beta->shape() == Shape{6});

  nn::RMSNorm rms, of_three(3, {.eps = 1e-2, .initial_gamma = 2.0});
  close(rms(x).data(), nn::rms_normalization(x).data(), 1e-6);
  close(of_three(x).data(), nn::rms_normalization(x, {}, 1e-2).data() * 2.0, 1e-6);
  BOOST_CHECK_THROW(nn::RMSNorm(4)(x), catena::InvalidType);
}

// Over the last axis of inputs of any rank, or over a shape, by PyTorch's formula and by that of Chainer v1.24.
BOOST_AUTO_TEST_CASE(layer_normalization_link) {
  const Variable x = drawn({2, 3, 4}, Dtype::float32, -1e-2, 1e-2);
  nn::LayerNormalization lazy, sized(4), whole(Shape{3, 4}),
      chainer(4, {.eps = 1e-6, .eps_added_to = nn::EpsAddedTo::deviation});
  BOOST_TEST(lazy(x).shape() == x.shape());
  BOOST_TEST(lazy.gamma.shape() == Shape{4});
  BOOST_TEST(whole.beta.shape() == (Shape{3, 4}));
  const auto expected = [&](std::size_t length, double inside, double outside) {
    const std::vector<double> xs = to_vector<double>(x.data());
    std::vector<double> y(xs.size());
    for (std::size_t row = 0; row < xs.size(); row += length) {
      double mean = 0, var = 0;
      for (std::size_t i = 0; i < length; ++i) mean += xs[row + i] / double(length);
      for (std::size_t i = 0; i < length; ++i) var += (xs[row + i] - mean) * (xs[row + i] - mean) / double(length);
      for (std::size_t i = 0; i < length; ++i) y[row + i] = (xs[row + i] - mean) / (std::sqrt(var + inside) + outside);
    }
    return array(y, x.shape());
  };
  close(lazy(x).data(), expected(4, 1e-5, 0), 1e-4);
  close(sized(x).data(), expected(4, 1e-5, 0), 1e-4);
  close(whole(x).data(), expected(12, 1e-5, 0), 1e-4);
  close(chainer(x).data(), expected(4, 0, 1e-6), 1e-4);
  BOOST_CHECK_THROW(nn::LayerNormalization(3)(x), catena::InvalidType);
  BOOST_CHECK_THROW(nn::LayerNormalization()(Variable(arrays::ones({}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(batch_renormalization_link) {
  const Array x = astype(spread({4, 2}, -2, 2), Dtype::float32);
  nn::BatchRenormalization link(2), free(2, {.rmax = 3, .dmax = 5});
  nn::BatchNormalization batch(2, {.initial_avg_var = 1.0});
  // With rmax 1 and dmax 0 it is batch normalization; the averages are the same.
  close(link(x).data(), batch(x).data(), 1e-6);
  close(link.avg_mean.array(), batch.avg_mean.array(), 1e-6);
  close(link.avg_var.array(), batch.avg_var.array(), 1e-6);
  close(link(x, {.test = true}).data(), batch(x, {.test = true}).data(), 1e-6);
  // Without limits it gives, in training, what test mode gives.
  const Array before = free(x, {.test = true}).data();
  close(free(x).data(), before, 1e-4);
  free.rmax = 1, free.dmax = 0;
  close(free(x).data(), batch(x).data(), 1e-6);
  link.start_finetuning();
  link(x, {.finetune = true});
  BOOST_TEST(link.N == 1);
  close(link.avg_mean.array(), mean(x, 0), 1e-6);
}

std::vector<std::string> warnings;
void keep_warning(std::string_view category, std::string_view text) {
  warnings.push_back(catena::concat(category, ": ", text));
}
struct KeptWarnings {
  KeptWarnings() : before(catena::set_warning_handler(keep_warning)) { warnings.clear(); }
  ~KeptWarnings() { catena::set_warning_handler(before); }
  catena::WarningHandler before;
};

BOOST_AUTO_TEST_CASE(one_element_per_statistic_gives_a_warning) {
  const KeptWarnings kept;
  nn::BatchNormalization link(3);
  const Variable one = drawn({1, 3}, Dtype::float32), image = drawn({1, 3, 1, 2}, Dtype::float32);
  link(image);
  link(one, {.test = true});
  link(Variable(arrays::zeros({0, 3})));
  BOOST_TEST(warnings.empty());
  BOOST_TEST(to_vector<float>(link(one).data()) == std::vector<float>({0, 0, 0}), boost::test_tools::per_element());
  BOOST_REQUIRE(warnings.size() == 1);
  BOOST_TEST(warnings[0].starts_with("UserWarning: batch_normalization: each mean and variance is of one element of x "
                                     "(1, 3)"),
             warnings[0]);
  BOOST_TEST(warnings[0].find("GroupNormalization") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x(arrays::ones({2, 4})), four(arrays::ones({4})), two(arrays::ones({2}));
  BOOST_CHECK_THROW(nn::group_normalization(x, 3, four, four), catena::InvalidType);
  BOOST_CHECK_THROW(nn::group_normalization(x, 2, two, two), catena::InvalidType);
  BOOST_CHECK_THROW(nn::group_normalization(four, 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::group_normalization(x, 2, Variable(arrays::ones({4}, Dtype::float64)), four),
                    catena::InvalidType);
  BOOST_CHECK_EXCEPTION(nn::group_normalization(x, 0), catena::ValueError, says("there are 0 groups"));
  BOOST_CHECK_THROW(nn::group_normalization(Variable(), 2), catena::TypeError);
  BOOST_CHECK_THROW(nn::rms_normalization(x, two), catena::InvalidType);
  BOOST_CHECK_THROW(nn::rms_normalization(Variable(arrays::ones({}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::rms_normalization(Variable(arrays::ones({2}, Dtype::int32))), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(nn::normalize(x, 1e-5, 1, 3), catena::ValueError, says("ord is 3"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
