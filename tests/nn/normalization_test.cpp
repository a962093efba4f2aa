// Batch and layer normalization, neighbouring channels, vectors.
#include <catena/nn/functions/normalization.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/testing.h>
#include <catena/kernels/base/parallel.h>
#include <catena/nn/functions/modules.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

struct Case {
  Shape x, params;
};
const Case kCases[] = {{{5, 3}, {3}}, {{4, 3, 2, 2}, {3}}, {{4, 3, 2}, {3, 2}}, {{2, 1}, {1}}};

// Statistics of x over all axes but those of the parameters, by loops.
struct Naive {
  std::vector<double> y, mean, var;
};
Naive naive(const Array& x, const Array& gamma, const Array& beta, double eps) {
  const std::int64_t groups = gamma.size(), batch = x.shape(0), rest = x.size() / (groups * batch);
  const std::vector<double> xs = to_vector<double>(x), gs = to_vector<double>(gamma), bs = to_vector<double>(beta);
  Naive r{std::vector<double>(xs.size()), {}, {}};
  for (std::int64_t g = 0; g < groups; ++g) {
    const auto at = [&](std::int64_t b, std::int64_t k) { return std::size_t((b * groups + g) * rest + k); };
    double mean = 0, var = 0;
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t k = 0; k < rest; ++k) mean += xs[at(b, k)] / double(batch * rest);
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t k = 0; k < rest; ++k)
        var += (xs[at(b, k)] - mean) * (xs[at(b, k)] - mean) / double(batch * rest);
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t k = 0; k < rest; ++k)
        r.y[at(b, k)] = gs[std::size_t(g)] * (xs[at(b, k)] - mean) / std::sqrt(var + eps) + bs[std::size_t(g)];
    r.mean.push_back(mean);
    r.var.push_back(var);
  }
  return r;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(normalization)

BOOST_AUTO_TEST_CASE(values_and_derivatives) {
  for (const Case& c : kCases) BOOST_TEST_CONTEXT(c.x << c.params) {
      const Array x = spread(c.x, -2, 2), gamma = spread(c.params, 0.5, 1.5, 1), beta = spread(c.params, -1, 1, 2);
      const auto f = [](const Variables& v) {
        return Variables{nn::batch_normalization(v[0], v[1], v[2], {.eps = 1e-3})};
      };
      const Naive expected = naive(x, gamma, beta, 1e-3);
      BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x), Variable(gamma), Variable(beta)})[0].data(),
                                                    array(expected.y, c.x), 1e-12, 1e-12));
      test::check_derivatives(
          "batch_normalization", f, {x, gamma, beta},
          {.atol = 1e-5, .rtol = 1e-4, .atol32 = 1e-4, .rtol32 = 1e-3, .atol16 = 2e-2, .rtol16 = 2e-2});
    }
}

BOOST_AUTO_TEST_CASE(new_running_statistics_are_returned) {
  const Array x = spread({4, 3, 2, 2}, -2, 2), gamma = arrays::ones({3}, Dtype::float64),
              beta = arrays::zeros({3}, Dtype::float64);
  const Array mean = spread({3}, -1, 1, 3), var = spread({3}, 0.5, 1, 4);
  const std::vector<double> mean_before = to_vector<double>(mean), var_before = to_vector<double>(var);
  const auto [y, new_mean, new_var] =
      nn::batch_normalization(Variable(x), Variable(gamma), Variable(beta),
                              {.running_mean = mean, .running_var = var, .decay = 0.75}, nn::return_statistics);
  BOOST_TEST((to_vector<double>(mean) == mean_before));  // the caller's arrays are his
  BOOST_TEST((to_vector<double>(var) == var_before));
  BOOST_TEST((to_vector<double>(y.data()) ==
              to_vector<double>(nn::batch_normalization(Variable(x), Variable(gamma), Variable(beta)).data())));
  const auto [from_zero, mean_from_zero, var_from_zero] =
      nn::batch_normalization(Variable(x), Variable(gamma), Variable(beta), {.decay = 0.75}, nn::return_statistics);
  const Naive expected = naive(x, gamma, beta, 2e-5);
  const double m = 16;
  for (std::size_t k = 0; k < 3; ++k) {
    BOOST_TEST(to_vector<double>(new_mean)[k] == 0.75 * mean_before[k] + 0.25 * expected.mean[k],
               boost::test_tools::tolerance(1e-12));
    BOOST_TEST(to_vector<double>(new_var)[k] == 0.75 * var_before[k] + 0.25 * expected.var[k] * m / (m - 1),
               boost::test_tools::tolerance(1e-12));
    BOOST_TEST(to_vector<double>(mean_from_zero)[k] == 0.25 * expected.mean[k], boost::test_tools::tolerance(1e-12));
    BOOST_TEST(to_vector<double>(var_from_zero)[k] == 0.25 * expected.var[k] * m / (m - 1),
               boost::test_tools::tolerance(1e-12));
  }
}

BOOST_AUTO_TEST_CASE(an_empty_batch_leaves_the_statistics) {
  const Array gamma = arrays::ones({3}, Dtype::float64), beta = arrays::zeros({3}, Dtype::float64);
  const Array mean = spread({3}, -1, 1, 3), var = spread({3}, 0.5, 1, 4);
  const auto [y, new_mean, new_var] =
      nn::batch_normalization(Variable(arrays::zeros({0, 3}, Dtype::float64)), Variable(gamma), Variable(beta),
                              {.running_mean = mean, .running_var = var}, nn::return_statistics);
  BOOST_TEST((y.shape() == Shape{0, 3}));
  BOOST_TEST((to_vector<double>(new_mean) == to_vector<double>(mean)));
  BOOST_TEST((to_vector<double>(new_var) == to_vector<double>(var)));
}

BOOST_AUTO_TEST_CASE(fixed_values_and_derivatives) {
  for (const Case& c : kCases) BOOST_TEST_CONTEXT(c.x << c.params) {
      const Arrays in{spread(c.x, -2, 2), spread(c.params, 0.5, 1.5, 1), spread(c.params, -1, 1, 2),
                      spread(c.params, -1, 1, 3), spread(c.params, 0.5, 1.5, 4)};
      const auto f = [](const Variables& v) {
        return Variables{nn::fixed_batch_normalization(v[0], v[1], v[2], v[3], v[4], 1e-3)};
      };
      test::check_derivatives("fixed_batch_normalization", f, in,
                              {.atol32 = 1e-4, .rtol32 = 1e-3, .atol16 = 1e-2, .rtol16 = 1e-2});
      // With the statistics of the batch both functions agree.
      const Naive n = naive(in[0], in[1], in[2], 1e-3);
      const Variable y =
          nn::fixed_batch_normalization(Variable(in[0]), Variable(in[1]), Variable(in[2]),
                                        Variable(array(n.mean, c.params)), Variable(array(n.var, c.params)), 1e-3);
      BOOST_CHECK_NO_THROW(testing::assert_allclose(y.data(), array(n.y, c.x), 1e-12, 1e-12));
    }
}

// gamma (x - mean) / deviation + beta over the last axes, by loops in long double.
std::vector<double> naive_layers(const Array& x, const Array& gamma, const Array& beta, double eps,
                                 nn::EpsAddedTo where) {
  const std::vector<double> xs = to_vector<double>(x), gs = to_vector<double>(gamma), bs = to_vector<double>(beta);
  std::vector<double> y(xs.size());
  const std::size_t n = gs.size();
  for (std::size_t row = 0; row + n <= xs.size(); row += n) {
    long double mean = 0, var = 0;
    for (std::size_t i = 0; i < n; ++i) mean += xs[row + i] / static_cast<long double>(n);
    for (std::size_t i = 0; i < n; ++i)
      var += (xs[row + i] - mean) * (xs[row + i] - mean) / static_cast<long double>(n);
    const long double deviation = where == nn::EpsAddedTo::variance ? std::sqrt(var + eps) : std::sqrt(var) + eps;
    for (std::size_t i = 0; i < n; ++i) y[row + i] = double((xs[row + i] - mean) / deviation * gs[i] + bs[i]);
  }
  return y;
}
const auto kWheres = {nn::EpsAddedTo::variance, nn::EpsAddedTo::deviation};

// By name and by position, where a bool is no axis. (Which implementation computes: integration/use_cudnn.)
BOOST_AUTO_TEST_CASE(use_cudnn_and_options_by_position) {
  namespace F = nn::functions;
  const Array gamma = spread({3}, 0.5, 1.5, 1), beta = spread({3}, -1, 1, 2), mean = spread({3}, -1, 1, 3),
              var = spread({3}, 0.5, 1.5, 4);
  const auto run = [&](const auto& f) {
    Variable x(spread({4, 3, 2, 3}, -2, 2)), g(gamma), b(beta);
    Variable y = f(x, g, b);
    y.set_grad(spread({4, 3, 2, 3}, -1, 1, 5));
    y.backward();
    return Arrays{y.data(), x.grad(), g.grad(), b.grad()};
  };
  const auto same = [&run](const auto& expected, const auto&... calls) {
    const Arrays wanted = run(expected);
    const auto check = [&](const Arrays& got) {
      for (std::size_t i = 0; i < wanted.size(); ++i)
        BOOST_CHECK_NO_THROW(testing::assert_allclose(got[i], wanted[i], 1e-12, 1e-12));
    };
    (check(run(calls)), ...);
  };
  using V = const Variable&;
  same([](V x, V g, V b) { return nn::batch_normalization(x, g, b, {.eps = 1e-3}); },
       [](V x, V g, V b) { return nn::batch_normalization(x, g, b, {.eps = 1e-3, .use_cudnn = false}); },
       [](V x, V g, V b) { return F::batch_normalization(x, g, b, 1e-3); },
       [](V x, V g, V b) { return F::batch_normalization(x, g, b, 1e-3, {}, {}, 0.9, false); });
  const Variable m(mean), v(var);
  same([&](V x, V g, V b) { return nn::fixed_batch_normalization(x, g, b, m, v); },
       [&](V x, V g, V b) { return nn::fixed_batch_normalization(x, g, b, m, v, {.use_cudnn = true}); },
       [&](V x, V g, V b) { return nn::fixed_batch_normalization(x, g, b, m, v, 2e-5, false); });
  same(
      [&](V x, V g, V b) {
        return nn::fixed_batch_normalization(x, g, b, m, v, 0.25, {0, 2, 3});
      },
      [&](V x, V g, V b) { return nn::fixed_batch_normalization(x, g, b, m, v, 0.25); },
      [&](V x, V g, V b) { return F::fixed_batch_normalization(x, g, b, m, v, 0.25, true); },
      [&](V x, V g, V b) {
        return nn::fixed_batch_normalization(x, g, b, m, v, {.eps = 0.25, .axis = {0, 2, 3}, .use_cudnn = false});
      });
}

BOOST_AUTO_TEST_CASE(layer_values_and_derivatives) {
  const Case cases[] = {{{5, 3}, {3}}, {{1, 7}, {7}},  {{2, 3, 5}, {5}}, {{2, 3, 2, 2}, {3, 2, 2}},
                        {{6}, {6}},    {{3, 40}, {40}}};
  for (const nn::EpsAddedTo where : kWheres)
    for (const Case& c : cases) BOOST_TEST_CONTEXT(c.x << c.params << int(where)) {
        const double eps = 1e-2;
        const Array x = spread(c.x, -2, 2), gamma = spread(c.params, 0.5, 1.5, 1), beta = spread(c.params, -1, 1, 2);
        const auto f = [&](const Variables& v) {
          return Variables{nn::layer_normalization(v[0], v[1], v[2], eps, where)};
        };
        const Array expected = array(naive_layers(x, gamma, beta, eps, where), c.x);
        BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x), Variable(gamma), Variable(beta)})[0].data(),
                                                      expected, 1e-12, 1e-12));
        test::check_derivatives(
            "layer_normalization", f, {x, gamma, beta},
            {.atol = 1e-5, .rtol = 1e-4, .atol32 = 1e-4, .rtol32 = 1e-3, .atol16 = 2e-2, .rtol16 = 2e-2});
      }
}

// The row of the ordinary backward against the rule that double backward differentiates; 700 rows are several blocks.
BOOST_AUTO_TEST_CASE(layer_backward_by_row_and_by_rule) {
  for (const nn::EpsAddedTo where : kWheres)
    for (const Shape& shape : {Shape{7, 65}, Shape{700, 3, 64}})
      for (const Dtype t : {Dtype::float64, Dtype::float32}) BOOST_TEST_CONTEXT(shape << ' ' << t) {
          const Shape last{shape[shape.size() - 1]};
          Variable x(astype(spread(shape, -2, 2), t)), gamma(astype(spread(last, 0.5, 1.5, 1), t)),
              beta(astype(spread(last, -1, 1, 2), t));
          std::vector<Arrays> gradients;
          for (const bool twice : {false, true}) {
            for (Variable* v : {&x, &gamma, &beta}) v->cleargrad();
            Variable y = nn::layer_normalization(x, gamma, beta, 1e-2, where);
            y.set_grad(astype(spread(shape, -1, 1, 5), t));
            y.backward({.enable_double_backprop = twice});
            gradients.push_back({x.grad(), gamma.grad(), beta.grad()});
          }
          const double most = std::sqrt(double(shape[0]) / 7);  // sums of many terms
          const double tolerance = (t == Dtype::float64 ? 1e-13 : 1e-5) * most;
          for (std::size_t k = 0; k < 3; ++k)
            BOOST_CHECK_NO_THROW(testing::assert_allclose(gradients[0][k], gradients[1][k], tolerance, tolerance));
        }
}

BOOST_AUTO_TEST_CASE(layer_gradients_have_the_same_bits_in_any_layout_and_with_any_number_of_threads) {
  const int before = catena::max_threads();
  const Shape shape{520, 258};  // several blocks
  const Array x = astype(spread(shape, -2, 2), Dtype::float32), gy = astype(spread(shape, -1, 1, 5), Dtype::float32);
  const auto strided = [](const Array& a) { return transpose(copy(transpose(a))); };
  std::vector<std::vector<float>> first;
  for (const int threads : {1, 2})
    for (const bool is_strided : {false, true}) {
      catena::set_max_threads(threads);
      Variable v(is_strided ? strided(x) : x), gamma(arrays::ones({258})), beta(arrays::zeros({258}));
      Variable y = nn::layer_normalization(v, gamma, beta);
      y.set_grad(is_strided ? strided(gy) : gy);
      y.backward();
      std::vector<std::vector<float>> all;
      for (const Array& a : {y.data(), v.grad(), gamma.grad(), beta.grad()}) all.push_back(to_vector<float>(a));
      if (first.empty()) first = all;
      if (!is_strided || x.device().kind == Device::Kind::cpu) {
        BOOST_TEST((all == first), threads << " threads" << (is_strided ? ", strided" : ""));
        continue;
      }
      // On a device the layout chooses the form of a sum, which rounds in another order.
      for (std::size_t k = 0; k < all.size(); ++k)
        BOOST_CHECK_NO_THROW(testing::assert_allclose(array(all[k], {std::int64_t(all[k].size())}),
                                                      array(first[k], {std::int64_t(first[k].size())}), 1e-4, 1e-4));
    }
  catena::set_max_threads(before);
}

// Rows of mean 1e4 and deviation 1e-2: float32 holds the values to 1e-3, and from these on nothing may be lost.
BOOST_AUTO_TEST_CASE(layer_statistics_far_from_zero) {
  for (const std::int64_t n : {8, 100, 1000, 5000}) BOOST_TEST_CONTEXT(n) {
      const Array x = astype(autograd::operator+(spread({3, n}, -0.02, 0.02), 1e4), Dtype::float32),
                  gy = spread({3, n}, -1, 1, 9);
      Arrays y, gx;
      for (const Dtype t : {Dtype::float32, Dtype::float64}) {
        Variable v(astype(x, t));
        Variable r = nn::layer_normalization(v, Variable(arrays::ones({n}, t)), Variable(arrays::zeros({n}, t)), 0.0);
        r.set_grad(astype(gy, t));
        r.backward();
        y.push_back(r.data());
        gx.push_back(v.grad());
      }
      BOOST_CHECK_NO_THROW(testing::assert_allclose(y[0], y[1], 1e-5, 1e-5));
      BOOST_CHECK_NO_THROW(
          testing::assert_allclose(gx[0], gx[1], 1e-3, 1e-5));  // of the size of 1 / deviation, about 100
      const Array exact =
          array(naive_layers(x, arrays::ones({n}), arrays::zeros({n}), 0.0, nn::EpsAddedTo::variance), {3, n});
      BOOST_CHECK_NO_THROW(testing::assert_allclose(y[0], exact, 1e-5, 1e-5));
    }
}

BOOST_AUTO_TEST_CASE(layer_rows_of_equal_or_no_elements) {
  for (const nn::EpsAddedTo where : kWheres)
    for (const Shape& shape : {Shape{3, 1}, Shape{2, 9}, Shape{0, 4}, Shape{3, 0}}) BOOST_TEST_CONTEXT(shape) {
        Variable x(arrays::full(shape, 0.1, Dtype::float32)), gamma(arrays::full({shape[1]}, 2.0)),
            beta(arrays::full({shape[1]}, 3.0));
        Variable y = nn::layer_normalization(x, gamma, beta, 1e-3, where);
        BOOST_TEST(y.shape() == shape);
        for (const float v : to_vector<float>(y.data())) BOOST_TEST(v == 3.0f);
        y.set_grad(arrays::ones(shape));
        y.backward();
        BOOST_TEST(x.grad().shape() == shape);
        for (const float v : to_vector<float>(x.grad())) BOOST_TEST(v == 0.0f);
        for (const float v : to_vector<float>(gamma.grad())) BOOST_TEST(v == 0.0f);
        for (const float v : to_vector<float>(beta.grad())) BOOST_TEST(v == float(shape[0]));
      }
}

BOOST_AUTO_TEST_CASE(layer_gradients_of_some_inputs) {
  const Array x = spread({4, 5}, -2, 2), gamma = spread({5}, 0.5, 1.5, 1), beta = spread({5}, -1, 1, 2);
  const auto leaf = [](const Array& a, bool wanted) { return Variable(a, {.requires_grad = wanted}); };
  Variable all[] = {leaf(x, true), leaf(gamma, true), leaf(beta, true)};
  const auto run = [&](Variable* v) {
    Variable y = nn::layer_normalization(v[0], v[1], v[2]);
    y.set_grad(spread({4, 5}, -1, 1, 5));
    y.backward();
  };
  run(all);
  for (int only = 0; only < 3; ++only) {
    Variable some[] = {leaf(x, only == 0), leaf(gamma, only == 1), leaf(beta, only == 2)};
    run(some);
    for (int k = 0; k < 3; ++k) {
      BOOST_TEST(bool(some[k].grad()) == (k == only));
      if (k == only) BOOST_CHECK_NO_THROW(testing::assert_allclose(some[k].grad(), all[k].grad(), 0, 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(layer_errors) {
  const Variable x(arrays::ones({4, 3})), three(arrays::ones({3})), four(arrays::ones({4}));
  BOOST_CHECK_THROW(nn::layer_normalization(x, four, four), catena::InvalidType);
  BOOST_CHECK_THROW(nn::layer_normalization(x, three, four), catena::InvalidType);
  BOOST_CHECK_THROW(nn::layer_normalization(x, Variable(arrays::ones({3}, Dtype::float64)), three),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::layer_normalization(Variable(arrays::ones({4, 3}, Dtype::int32)), three, three),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::layer_normalization(three, x, x), catena::InvalidType);
  BOOST_CHECK_THROW(nn::layer_normalization(x, Variable(arrays::ones({})), Variable(arrays::ones({}))),
                    catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x(arrays::ones({4, 3})), three(arrays::ones({3})), four(arrays::ones({4}));
  BOOST_CHECK_THROW(nn::batch_normalization(x, four, four), catena::InvalidType);
  BOOST_CHECK_THROW(nn::batch_normalization(x, three, four), catena::InvalidType);
  BOOST_CHECK_THROW(nn::batch_normalization(x, Variable(arrays::ones({3}, Dtype::float64)), three),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::batch_normalization(Variable(arrays::ones({4, 3}, Dtype::int32)), three, three),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::batch_normalization(three, three, three), catena::InvalidType);
  BOOST_CHECK_THROW(nn::fixed_batch_normalization(x, three, three, three, four), catena::InvalidType);
}

// The same as over the default axes of an array whose axes are permuted.
BOOST_AUTO_TEST_CASE(statistics_over_any_axes) {
  const Array x = spread({2, 3, 4}, -2, 2);
  struct Axis {
    Axes axes;
    Dims order;  // the axes of the statistics first
    Shape params;
  };
  const Axis all[] = {{Axes(2), {2, 0, 1}, {2, 3}},
                      {Axes({0, 1}), {0, 2, 1}, {4}},
                      {Axes({-1, 0}), {0, 1, 2}, {3}},
                      {Axes(1), {1, 0, 2}, {2, 4}},
                      {Axes({0, 1, 2}), {0, 1, 2}, {}}};
  for (const Axis& a : all) BOOST_TEST_CONTEXT(a.order) {
      const Array gamma = spread(a.params, 0.5, 1.5, 1), beta = spread(a.params, -1, 1, 2);
      const Array var = spread(a.params, 0.5, 2, 4);
      const auto back = [&](const Variable& y) {
        Dims inverse = a.order;
        for (int k = 0; k < 3; ++k) inverse[int(a.order[k])] = k;
        return transpose(y, inverse).data();
      };
      const auto f = [&](const Variables& v) {
        return Variables{nn::batch_normalization(v[0], v[1], v[2], {.eps = 0.1, .axis = a.axes})};
      };
      const auto g = [&](const Variables& v) {
        return Variables{nn::fixed_batch_normalization(v[0], v[1], v[2], v[3], v[4], 0.1, a.axes)};
      };
      const Variable turned = transpose(Variable(x), a.order);
      BOOST_CHECK_NO_THROW(testing::assert_allclose(
          f({Variable(x), Variable(gamma), Variable(beta)})[0].data(),
          back(nn::batch_normalization(turned, Variable(gamma), Variable(beta), {.eps = 0.1})), 1e-12, 1e-12));
      BOOST_CHECK_NO_THROW(testing::assert_allclose(
          g({Variable(x), Variable(gamma), Variable(beta), Variable(beta), Variable(var)})[0].data(),
          back(nn::fixed_batch_normalization(turned, Variable(gamma), Variable(beta), Variable(beta), Variable(var),
                                             0.1)),
          1e-12, 1e-12));
      const test::DerivativeOptions loose{.atol16 = 1e-2, .rtol16 = 2e-2};
      test::check_derivatives("batch_normalization", f, {x, gamma, beta}, loose);
      test::check_derivatives("fixed_batch_normalization", g, {x, gamma, beta, beta, var}, loose);
    }
  const Variable v(x), four(arrays::ones({4}, Dtype::float64));
  BOOST_CHECK_THROW(nn::batch_normalization(v, four, four, {.axis = {0, 2}}), catena::InvalidType);
  BOOST_CHECK_THROW(nn::batch_normalization(v, four, four, {.axis = 3}), catena::InvalidType);
  BOOST_CHECK_THROW(nn::batch_normalization(v, four, four, {.axis = {0, 0}}), catena::ValueError);
}

// float32 parameters beside 16-bit images: everything is computed in float32 and rounded once.
BOOST_AUTO_TEST_CASE(wide_parameters_beside_narrow_images) {
  for (const Dtype t : {Dtype::float16, Dtype::bfloat16}) BOOST_TEST_CONTEXT(t) {
      const Array x = astype(spread({6, 3, 2}, 90, 110), t), gamma = astype(spread({3}, 0.5, 1.5, 1), Dtype::float32),
                  beta = astype(spread({3}, -1, 1, 2), Dtype::float32), gy = astype(spread({6, 3, 2}, -1, 1, 5), t);
      const auto run = [&](bool wide, bool second) {
        const auto as = [&](const Array& a) { return Variable(wide ? astype(a, Dtype::float64) : a); };
        Variable v[] = {as(x), as(gamma), as(beta)};
        auto [y, mean, var] = nn::batch_normalization(v[0], v[1], v[2], {}, nn::return_statistics);
        y.set_grad(wide ? astype(gy, Dtype::float64) : gy);
        y.backward({.enable_double_backprop = second});
        return Arrays{y.data(), mean, var, v[0].grad(), v[1].grad(), v[2].grad()};
      };
      const double rounding = t == Dtype::float16 ? 1e-3 : 8e-3;
      for (const bool second : {false, true}) {
        const Arrays narrow = run(false, second), exact = run(true, second);
        for (std::size_t k = 0; k < narrow.size(); ++k) {
          const bool image = k == 0 || k == 3;
          BOOST_CHECK(narrow[k].dtype() == (image ? t : Dtype::float32));
          BOOST_CHECK_NO_THROW(
              testing::assert_allclose(narrow[k], exact[k], image ? rounding : 1e-4, image ? rounding : 1e-4));
        }
      }
      const Variable fixed =
          nn::fixed_batch_normalization(Variable(x), Variable(gamma), Variable(beta), Variable(beta), Variable(gamma));
      BOOST_CHECK(fixed.dtype() == t);
      BOOST_CHECK_THROW(nn::batch_normalization(Variable(x), Variable(gamma), Variable(astype(beta, t))),
                        catena::InvalidType);
      BOOST_CHECK_THROW(nn::batch_normalization(Variable(astype(x, Dtype::float32)), Variable(astype(gamma, t)),
                                                Variable(astype(beta, t))),
                        catena::InvalidType);
    }
}

BOOST_AUTO_TEST_CASE(local_response_normalization_by_neighbours) {
  for (const Shape& shape :
       {Shape{2, 7}, Shape{2, 7, 3}, Shape{1, 4, 2, 3}, Shape{2, 1}, Shape{0, 3, 2}, Shape{2, 3, 0}})
    for (const int n : {5, 4, 1, 9}) BOOST_TEST_CONTEXT(shape << n) {
        const Array x = spread(shape, -2, 2);
        const std::vector<double> xs = to_vector<double>(x);
        const std::int64_t channels = shape[1], rest = xs.empty() ? 1 : x.size() / (shape[0] * channels);
        std::vector<double> expected;
        for (std::int64_t i = 0; i < x.size(); ++i) {
          const std::int64_t c = i / rest % channels;
          double s = 1.5;
          for (std::int64_t k = -(n / 2); k <= n / 2; ++k)
            if (c + k >= 0 && c + k < channels)
              s += 0.3 * xs[std::size_t(i + k * rest)] * xs[std::size_t(i + k * rest)];
          expected.push_back(xs[std::size_t(i)] * std::pow(s, -0.6));
        }
        const auto f = [&](const Variables& v) {
          return Variables{nn::local_response_normalization(v[0], n, 1.5, 0.3, 0.6)};
        };
        BOOST_CHECK_NO_THROW(
            testing::assert_allclose(f({Variable(x)})[0].data(), array(expected, shape), 1e-12, 1e-12));
        test::check_derivatives("local_response_normalization", f, {x});
      }
  const Variable x(arrays::ones({2, 3}));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(nn::local_response_normalization(x).data(),
                                                nn::local_response_normalization(x, {.n = 5}).data(), 0, 0));
  BOOST_CHECK_THROW(nn::local_response_normalization(Variable(arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::local_response_normalization(Variable(arrays::ones({2, 3}, Dtype::int32))),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::local_response_normalization(x, 0), catena::ValueError);
  // Squares beyond the range of float16.
  BOOST_TEST(double(nn::local_response_normalization(Variable(arrays::full({1, 1}, 300.0, Dtype::float16)), 1, 0, 1,
                                                     0.5)) == 1.0);
}

BOOST_AUTO_TEST_CASE(normalize_along_axes) {
  const Array x = spread({2, 3, 4}, -2, 2);
  for (const Axes& axis : {Axes(1), Axes(0), Axes(-1), Axes({0, 2}), Axes()}) {
    const Array norm = apply(catena::kernels::sqrt, {sum(x * x, axis, true)});
    const auto f = [&](const Variables& v) { return Variables{nn::normalize(v[0], 0.1, axis)}; };
    BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x)})[0].data(), x / (norm + 0.1), 1e-12, 1e-12));
    test::check_derivatives("normalize", f, {x});
  }
  for (const Shape& shape : {Shape{2, 1}, Shape{0, 3}, Shape{3, 0}})
    test::check_derivatives("normalize", [](const Variables& v) { return Variables{nn::normalize(v[0])}; },
                            {spread(shape, 0.5, 1)});
  // Of a vector of zeros.
  Variable zero(arrays::zeros({1, 2}));
  Variable y = nn::normalize(zero, 0.5);
  BOOST_TEST((to_vector<float>(y.data()) == std::vector<float>{0, 0}));
  y.set_grad(array<float>({1, -2}, {1, 2}));
  y.backward({.enable_double_backprop = true});
  BOOST_TEST((to_vector<float>(zero.grad()) == std::vector<float>{2, -4}));
  Variable g = zero.grad_variable();
  zero.cleargrad();
  g.set_grad(arrays::ones({1, 2}));
  g.backward();
  for (const float v : to_vector<float>(zero.grad())) BOOST_TEST(std::isfinite(v));
  BOOST_TEST(to_vector<float>(nn::normalize(Variable(arrays::full({1, 4}, 300.0, Dtype::float16))).data())[0] == 0.5f);
  BOOST_CHECK_THROW(nn::normalize(Variable(arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::normalize(Variable(arrays::ones({2, 3}, Dtype::int32))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(golden_values) {
  test::run_golden("normalization",
                   {{"batch_normalization",
                     [](const test::GoldenCall& c) {
                       const auto [y, mean, var] = nn::batch_normalization(c.x("x"), c.x("gamma"), c.x("beta"),
                                                                           {.eps = c.number("eps", 2e-5),
                                                                            .running_mean = c.array("running_mean"),
                                                                            .running_var = c.array("running_var"),
                                                                            .decay = c.number("decay", 0.9)},
                                                                           nn::return_statistics);
                       return Variables{y, Variable(mean), Variable(var)};
                     }},
                    {"fixed_batch_normalization",
                     [](const test::GoldenCall& c) {
                       return Variables{nn::fixed_batch_normalization(c.x("x"), c.x("gamma"), c.x("beta"), c.x("mean"),
                                                                      c.x("var"), c.number("eps", 2e-5))};
                     }},
                    {"local_response_normalization",
                     [](const test::GoldenCall& c) {
                       return Variables{nn::local_response_normalization(c.x("x"), {.n = int(c.integer("n", 5)),
                                                                                    .k = c.number("k", 2),
                                                                                    .alpha = c.number("alpha", 1e-4),
                                                                                    .beta = c.number("beta", 0.75)})};
                     }},
                    {"normalize",
                     [](const test::GoldenCall& c) {
                       return Variables{nn::normalize(c.x("x"), c.number("eps", 1e-5), int(c.integer("axis", 1)))};
                     }}},
                   {.once_only = {"batch_normalization"}});
}

BOOST_AUTO_TEST_SUITE_END()
