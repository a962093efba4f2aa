// Differentiable reductions and matrix products.
#include <catena/autograd/functions/reduction.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <catena/autograd/function.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

using Numbers = std::vector<double>;

struct Row {
  const char* name;
  Variable (*function)(const Variable&, const Axes&, bool);
  double (*value)(const Numbers& elements);
};
double sum_of(const Numbers& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double mean_of(const Numbers& v) { return sum_of(v) / double(v.size()); }
double variance_of(const Numbers& v) {
  double squares = 0;
  for (const double x : v) squares += (x - mean_of(v)) * (x - mean_of(v));
  return squares / double(v.size());
}
const Row kRows[] = {
    {"sum", sum, sum_of},
    {"mean", mean, mean_of},
    {"prod", prod, [](const Numbers& v) { return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>()); }},
    {"var", var, variance_of},
    {"std", autograd::std, [](const Numbers& v) { return std::sqrt(variance_of(v)); }},
    {"max", max, [](const Numbers& v) { return *std::max_element(v.begin(), v.end()); }},
    {"min", min, [](const Numbers& v) { return *std::min_element(v.begin(), v.end()); }},
};

// By a walk over all elements.
Array naive(const Row& row, const Array& x, const Dims& axes, bool keepdims) {
  const Shape kept = catena::reduced_shape(x.shape(), axes, true);
  std::vector<Numbers> elements(std::size_t(catena::size_of(kept)));
  const Numbers xs = to_vector<double>(x);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = i, at = 0, weight = 1;
    for (int a = x.ndim() - 1; a >= 0; --a) {
      const std::int64_t k = rest % x.shape(a);
      rest /= x.shape(a);
      if (kept[a] > 1) at += k * weight;
      weight *= kept[a];
    }
    elements[std::size_t(at)].push_back(xs[std::size_t(i)]);
  }
  Numbers result;
  for (const Numbers& v : elements) result.push_back(row.value(v));
  return array(result, catena::reduced_shape(x.shape(), axes, keepdims));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reduction)

BOOST_AUTO_TEST_CASE(values_and_derivatives) {
  struct Case {
    Shape shape;
    Axes axes;
  };
  const Case cases[] = {{{3, 4}, {}},   {{3, 4}, 0}, {{3, 4}, -1}, {{2, 3, 4}, {0, 2}},
                        {{2, 3, 4}, 1}, {{1}, 0},    {{}, {}},     {{5}, {}}};
  for (const Row& row : kRows)
    for (const Case& c : cases)
      for (const bool keepdims : {false, true}) BOOST_TEST_CONTEXT(row.name << c.shape << c.axes.values() << keepdims) {
          const Array x = spread(c.shape);
          const auto f = [&](const Variables& v) { return Variables{row.function(v[0], c.axes, keepdims)}; };
          const Array expected = naive(row, x, catena::normalize_axes("test", c.axes, c.shape.size()), keepdims);
          BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x)})[0].data(), expected, 1e-12, 1e-12));
          test::check_derivatives(row.name, f, {x}, {.atol16 = 2e-3});
        }
}

// A line of autograd/reductions.inc gives the members of Variable and Outputs and the label, too.
BOOST_AUTO_TEST_CASE(members_and_labels) {
  const Variable x(spread({2, 3, 4}));
  const Outputs only{Variables{x}};
  std::size_t lines = 0;
#define CATENA_REDUCTION_RULE(name, label_of_node, ...)                                                   \
  {                                                                                                       \
    const Variable y = autograd::name(x, {0, -1}, true);                                                  \
    BOOST_TEST(y.creator()->label() == label_of_node);                                                    \
    BOOST_CHECK(y.shape() == (Shape{1, 3, 1}));                                                           \
    for (const Variable& v : {x.name({0, -1}, true), only.name({0, -1}, true)}) {                         \
      BOOST_TEST(to_vector<double>(v.data()) == to_vector<double>(y.data()), #name);                      \
      BOOST_CHECK(v.shape() == y.shape());                                                                \
    }                                                                                                     \
    BOOST_TEST(to_vector<double>(x.name().data()) == to_vector<double>(autograd::name(x).data()), #name); \
    ++lines;                                                                                              \
  }
#include <catena/autograd/reductions.inc>
#undef CATENA_REDUCTION_RULE
  BOOST_TEST(lines == std::size(kRows));
}

BOOST_AUTO_TEST_CASE(every_extremum_gets_the_whole_gradient) {
  Variable x(array<float>({1, 3, 3, 2}, {4}));
  Variable y = max(x);
  y.set_grad(arrays::full({}, 5.0));
  y.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{0, 5, 5, 0}), boost::test_tools::per_element());
}

// The gradient of an element is the product of the others, also if it or another one is 0.
BOOST_AUTO_TEST_CASE(products_of_zeros) {
  const auto f = [](const Variables& v) { return Variables{prod(v[0], 1)}; };
  const Array x = array<double>({0, 2, 3, 0, 5, 0, 1, 2, 4}, {3, 3});
  test::check_derivatives("prod of zeros", f, {x});
  Variable v(x);
  prod(v, 1).sum().backward();
  BOOST_TEST(to_vector<double>(v.grad()) == (Numbers{6, 0, 0, 0, 0, 0, 8, 4, 2}), boost::test_tools::per_element());
  test::check_derivatives("prod of nothing", f, {spread({3, 0})});
  test::check_derivatives("prod of seven", f, {spread({2, 7}, 0.5, 1.5)}, {.atol16 = 4e-3, .rtol16 = 2e-2});
}

BOOST_AUTO_TEST_CASE(divisors_of_variances) {
  const Variable x(array<double>({1, 2, 3, 6}, {4}));
  BOOST_TEST(double(var(x)) == 3.5);
  BOOST_TEST(std::fabs(double(var(x, {}, {.ddof = 1})) - 14.0 / 3) < 1e-14);
  BOOST_TEST(std::fabs(double(autograd::std(x, 0, {.ddof = 1})) - std::sqrt(14.0 / 3)) < 1e-14);
  BOOST_CHECK(var(x, 0, {.ddof = 1, .keepdims = true}).shape() == (Shape{1}));
  BOOST_TEST(std::isnan(double(var(Variable(arrays::ones({1})), 0, {.ddof = 1}))));
  // Equal elements have the gradient 0.
  Variable equal(arrays::full({3}, 2.0));
  autograd::std(equal).backward();
  BOOST_TEST(to_vector<float>(equal.grad()) == (std::vector<float>{0, 0, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(golden_values) {
  test::GoldenFunctions f;
  f["prod"] = [](const test::GoldenCall& c) {
    return Variables{prod(c.x(0), c.axes("axis"), c.flag("keepdims", false))};
  };
  const auto options = [](const test::GoldenCall& c) {
    return VarianceOptions{.ddof = c.number("ddof", 0), .keepdims = c.flag("keepdims", false)};
  };
  f["var"] = [options](const test::GoldenCall& c) { return Variables{var(c.x(0), c.axes("axis"), options(c))}; };
  f["std"] = [options](const test::GoldenCall& c) {
    return Variables{autograd::std(c.x(0), c.axes("axis"), options(c))};
  };
  test::run_golden("torch_statistics", f);
}

BOOST_AUTO_TEST_CASE(errors) {
  for (const Row& row : kRows) {
    BOOST_CHECK_THROW(row.function(Variable(arrays::ones({2, 3})), 2, false), catena::InvalidType);
    BOOST_CHECK_THROW(row.function(Variable(arrays::ones({2, 3})), -3, false), catena::InvalidType);
    BOOST_CHECK_THROW(row.function(Variable(arrays::ones({2, 3})), {0, 0}, false), catena::ValueError);
    BOOST_CHECK_THROW(row.function(Variable(arrays::ones({2, 3})), {1, -1}, false), catena::ValueError);
  }
}

// ---- integers and bools -------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(integers_and_bools) {
  using Integers = std::vector<std::int64_t>;
  const Integers given{3, 0, 2, 1, 0, 5};
  const auto is = [](const Variable& y, Dtype dtype, const Shape& shape, const Integers& expected) {
    BOOST_CHECK_EQUAL(y.dtype(), dtype);
    BOOST_CHECK_EQUAL(y.shape(), shape);
    BOOST_TEST(to_vector<std::int64_t>(y.data()) == expected, boost::test_tools::per_element());
  };
  for (const Dtype t : {Dtype::int8, Dtype::int32, Dtype::int64, Dtype::uint8, Dtype::uint64}) {
    const Variable x(astype(array(given, {2, 3}), t));
    const Dtype wide = t == Dtype::uint8 || t == Dtype::uint64 ? Dtype::uint64 : Dtype::int64;
    is(sum(x), wide, {}, {11});
    is(sum(x, 0), wide, {3}, {4, 0, 7});
    is(sum(x.transpose(), 0), wide, {2}, {5, 6});
    is(x.prod({.dim = 1, .keepdim = true}), wide, {2, 1}, {0, 0});
    is(prod(x, 0), wide, {3}, {3, 0, 10});
    is(max(x, Axes(1)), t, {2}, {3, 5});
    is(min(x), t, {}, {0});
    is(x.cumsum(1), wide, {2, 3}, {3, 3, 5, 1, 1, 6});
    is(argmax(x, 1), Dtype::int32, {2}, {0, 2});
    is(argmin(x), Dtype::int32, {}, {1});
    const auto [values, indices] = x.max(1);
    is(values, t, {2}, {3, 5});
    is(indices, Dtype::int32, {2}, {0, 2});
  }
  const Variable truth(astype(array(given, {2, 3}), Dtype::bool_));
  is(sum(truth), Dtype::int64, {}, {4});
  is(prod(truth, 0), Dtype::int64, {3}, {1, 0, 1});
  is(max(truth, Axes(0)), Dtype::bool_, {3}, {1, 0, 1});
  // More than int32 holds.
  is(sum(Variable(arrays::full({3}, 2000000000, Dtype::int32))), Dtype::int64, {}, {6000000000});
  // Of no element: as for floating dtypes.
  is(sum(Variable(arrays::zeros({0, 2}, Dtype::int32)), 0), Dtype::int64, {2}, {0, 0});
  is(prod(Variable(arrays::zeros({0}, Dtype::int32))), Dtype::int64, {}, {1});
  BOOST_CHECK_THROW(max(Variable(arrays::zeros({0}, Dtype::int32))), catena::ValueError);
  BOOST_CHECK_THROW(sum(truth, 2), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(integers_get_no_gradient) {
  const Variable x(array<double>({1, 2, 3}, {3})), k(array<std::int32_t>({4, 5, 6}, {3}));
  Variable y = sum(x) * sum(k).astype(Dtype::float64) + max(k).astype(Dtype::float64) + prod(k).to(Dtype::float64);
  BOOST_TEST(double(y) == 6 * 15 + 6 + 120);
  y.backward();
  BOOST_TEST(to_vector<double>(x.grad()) == (Numbers{15, 15, 15}), boost::test_tools::per_element());
  BOOST_CHECK(!k.grad());
  const Variable n = sum(k);
  n.backward();
  BOOST_CHECK(!k.grad());
}

BOOST_AUTO_TEST_CASE(means_of_integers_are_refused) {
  const Variable k(arrays::ones({2, 3}, Dtype::int32));
  Variable (*const functions[])(const Variable&, const Axes&, bool) = {mean, var, autograd::std};
  for (const auto& f : functions)
    BOOST_CHECK_EXCEPTION(f(k, {}, false), catena::InvalidType, [](const catena::InvalidType& e) {
      return std::string(e.what()).find("x is int32: x.astype(float32)") != std::string::npos;
    });
  BOOST_TEST(k.to(Dtype::float32).mean().item() == 1);
}

BOOST_AUTO_TEST_CASE(matmul_values_and_derivatives) {
  struct Case {
    Shape a, b;
    bool transa, transb;
  };
  const Case cases[] = {{{3, 4}, {4, 5}, false, false}, {{4, 3}, {4, 5}, true, false}, {{3, 4}, {5, 4}, false, true},
                        {{4, 3}, {5, 4}, true, true},   {{4}, {4}, true, false},       {{4}, {4}, false, true},
                        {{3, 4}, {4}, false, false},    {{1, 1}, {1, 1}, false, false}};
  for (const Case& c : cases) BOOST_TEST_CONTEXT(c.a << c.b << c.transa << c.transb) {
      const auto f = [&](const Variables& v) {
        return Variables{matmul(v[0], v[1], {.transa = c.transa, .transb = c.transb})};
      };
      const Array a = spread(c.a), b = spread(c.b, -1, 1, 1);
      const auto matrix = [](const Array& m, bool transposed) {
        const Array two = m.ndim() == 1 ? reshape(m, {m.size(), 1}) : m;
        return transposed ? transpose(two) : two;
      };
      const Array ma = matrix(a, c.transa), mb = matrix(b, c.transb);
      const std::vector<double> as = to_vector<double>(ma), bs = to_vector<double>(mb);
      std::vector<double> expected;
      const std::int64_t n = ma.shape(0), k = ma.shape(1), m = mb.shape(1);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < m; ++j) {
          double s = 0;
          for (std::int64_t l = 0; l < k; ++l) s += as[std::size_t(i * k + l)] * bs[std::size_t(l * m + j)];
          expected.push_back(s);
        }
      BOOST_CHECK_NO_THROW(
          testing::assert_allclose(f({Variable(a), Variable(b)})[0].data(), array(expected, {n, m}), 1e-12, 1e-12));
      test::check_derivatives("matmul", f, {a, b}, {.atol16 = 1e-2, .rtol16 = 5e-2});
    }
  BOOST_CHECK_THROW(matmul(Variable(arrays::ones({2, 3})), Variable(arrays::ones({2, 3}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(weighted_means) {
  const Array x = spread({2, 3, 4}), gy = spread({2, 4});
  struct Case {
    Axes axes;
    Shape weights;
    Dims order;  // the axis of x of each axis of the weights
  };
  const Case cases[] = {{{}, {2, 3, 4}, {0, 1, 2}}, {1, {3}, {1}}, {-1, {4}, {2}}, {{2, 0}, {4, 2}, {2, 0}}};
  for (const Case& c : cases)
    for (const bool keepdims : {false, true}) BOOST_TEST_CONTEXT(c.weights << keepdims) {
        const Array w = spread(c.weights, 0.2, 1.5, 3);
        // The sums of x w and of w, by a walk over x.
        const std::vector<double> xs = to_vector<double>(x), ws = to_vector<double>(w);
        double total = 0;
        for (const double v : ws) total += v;
        const Dims axes = catena::normalize_axes("test", c.axes, 3);
        const Shape kept = catena::reduced_shape(x.shape(), axes, true);
        std::vector<double> expected(std::size_t(catena::size_of(kept)));
        for (std::int64_t i = 0; i < x.size(); ++i) {
          const std::int64_t at[] = {i / 12, i / 4 % 3, i % 4};
          std::int64_t to = 0, weight = 0;
          for (int a = 0; a < 3; ++a) to = to * kept[a] + (kept[a] == 1 ? 0 : at[a]);
          for (int a = 0; a < c.order.size(); ++a) weight = weight * c.weights[a] + at[c.order[a]];
          expected[std::size_t(to)] += xs[std::size_t(i)] * ws[std::size_t(weight)] / total;
        }
        const auto f = [&](const Variables& v) { return Variables{average(v[0], c.axes, v[1], keepdims)}; };
        BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x), Variable(w)})[0].data(),
                                                      array(expected, catena::reduced_shape(x.shape(), axes, keepdims)),
                                                      1e-12, 1e-12));
        BOOST_CHECK_NO_THROW(testing::assert_allclose(mean(Variable(x), c.axes, Variable(w), keepdims).data(),
                                                      f({Variable(x), Variable(w)})[0].data(), 0, 0));
        test::check_derivatives("average", f, {x, w}, {.atol16 = 2e-3, .rtol16 = 1e-2});
      }
  BOOST_CHECK_NO_THROW(testing::assert_allclose(average(Variable(x), 1).data(), mean(x, 1), 0, 0));
  // The sums do not fit float16, the mean does.
  const Variable many(arrays::full({100000}, 3.0, Dtype::float16)), twos(arrays::full({100000}, 2.0, Dtype::float16));
  BOOST_TEST(average(many, {}, twos).item<double>() == 3.0);
  const Variable v(x);
  BOOST_CHECK_THROW(average(v, {}, Variable(arrays::ones({3}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_THROW(average(v, 1, Variable(arrays::ones({4}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_THROW(average(v, 1, Variable(arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(average(v, 3, Variable(arrays::ones({3}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_THROW(average(v, {1, -2}, Variable(arrays::ones({3, 3}, Dtype::float64))), catena::ValueError);
  BOOST_CHECK_THROW(average(Variable(arrays::ones({3}, Dtype::int32)), 0, Variable(arrays::ones({3}, Dtype::int32))),
                    catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(logarithms_of_sums_of_exponentials) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto f = [](const Axes& axes, bool keepdims) {
    return [axes, keepdims](const Variables& v) { return Variables{logsumexp(v[0], axes, keepdims)}; };
  };
  const Array x = spread({2, 3, 4}, -3, 3);
  const std::vector<double> xs = to_vector<double>(x);
  std::vector<double> expected(8);
  for (std::size_t i = 0; i < xs.size(); ++i) expected[i / 12 * 4 + i % 4] += std::exp(xs[i]);
  for (double& v : expected) v = std::log(v);
  testing::assert_allclose(f(1, false)({Variable(x)})[0].data(), array(expected, {2, 4}), 1e-12, 1e-12);
  BOOST_CHECK(f(-2, true)({Variable(x)})[0].shape() == (Shape{2, 1, 4}));
  for (const Axes& axes : {Axes(), Axes(1), Axes({0, 2}), Axes(-1)})
    for (const bool keepdims : {false, true}) test::check_derivatives("logsumexp", f(axes, keepdims), {x});
  test::check_derivatives("logsumexp of a number", f({}, false), {spread({})});
  test::check_derivatives("logsumexp of one", f(0, false), {spread({1})});
  // Far from the range of exp, and where nothing or an infinity is summed.
  Variable far(array<double>({1000, 1000, -1000, -1000.5, -inf, -inf, inf, 0, -inf, 2}, {5, 2}));
  Variable y = logsumexp(far, 1);
  const std::vector<double> sums = to_vector<double>(y.data());
  BOOST_TEST(std::fabs(sums[0] - (1000 + std::log(2.0))) < 1e-12);
  BOOST_TEST(std::fabs(sums[1] - (-1000 + std::log1p(std::exp(-0.5)))) < 1e-12);
  BOOST_TEST(sums[2] == -inf);
  BOOST_TEST(sums[3] == inf);
  BOOST_TEST(sums[4] == 2);
  y.set_grad(ones_like(y.data()));
  y.backward({.enable_double_backprop = true});
  const std::vector<double> g = to_vector<double>(far.grad());
  BOOST_TEST(std::fabs(g[0] - 0.5) < 1e-12);
  BOOST_TEST(std::fabs(g[2] - 1 / (1 + std::exp(-0.5))) < 1e-12);
  BOOST_TEST(g[4] == 0);
  BOOST_TEST(g[5] == 0);
  BOOST_TEST(g[8] == 0);
  BOOST_TEST(g[9] == 1);
  Variable second = sum(far.grad_variable()(Slice(0, 3)) * Variable(spread({3, 2})));
  far.cleargrad();
  second.backward();
  const std::vector<double> gg = to_vector<double>(far.grad());
  for (const std::size_t i : {0u, 1u, 2u, 3u, 4u, 5u}) BOOST_TEST(std::isfinite(gg[i]));
  // A y rounded to float16 would be off by up to 8 here, and exp(x - y) by a factor of 2000.
  Variable half(arrays::full({4}, 30000.0, Dtype::float16));
  Variable z = logsumexp(half);
  z.backward();
  for (const double v : to_vector<double>(half.grad())) BOOST_TEST(std::fabs(v - 0.25) < 1e-3);
  BOOST_CHECK_THROW(logsumexp(Variable(x), 3), catena::InvalidType);
  BOOST_CHECK_THROW(logsumexp(Variable(x), {0, 0}), catena::ValueError);
  BOOST_CHECK_THROW(logsumexp(Variable(arrays::ones({2}, Dtype::int32))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(sums_of_squares_of_a_batch) {
  const auto f = [](const Variables& v) { return Variables{batch_l2_norm_squared(v[0])}; };
  const Array x = spread({2, 3, 2});
  const std::vector<double> xs = to_vector<double>(x);
  std::vector<double> expected(2);
  for (std::size_t i = 0; i < xs.size(); ++i) expected[i / 6] += xs[i] * xs[i];
  testing::assert_allclose(f({Variable(x)})[0].data(), array(expected, {2}), 1e-12, 1e-12);
  for (const Array& a : {x, spread({3, 1}), spread({0, 2}), Array(spread({2, 0}))})
    test::check_derivatives("batch_l2_norm_squared", f, {a}, {.atol16 = 2e-3});
  // 4096 ones: a sum in float16 stays at 2048.
  BOOST_TEST(batch_l2_norm_squared(Variable(arrays::ones({1, 4096}, Dtype::float16))).item<double>() == 4096);
  BOOST_CHECK_THROW(batch_l2_norm_squared(Variable(arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(batch_l2_norm_squared(Variable(arrays::ones({3, 2}, Dtype::int32))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(positions_of_extrema) {
  const Array x = array<double>({3, 1, 3, 0, 5, 5, 0, 2, 1, 0, 0, 9}, {3, 4});
  for (const Dtype t : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    const Variable v(astype(x, t));
    const auto is = [](const Variable& y, const Shape& shape, const std::vector<int>& expected) {
      BOOST_CHECK(y.dtype() == Dtype::int32);
      BOOST_CHECK_EQUAL(y.shape(), shape);
      BOOST_TEST(to_vector<int>(y.data()) == expected, boost::test_tools::per_element());
    };
    is(argmax(v), {}, {11});
    is(argmin(v), {}, {3});
    is(argmax(v, 1), {3}, {0, 0, 3});
    is(argmin(v, -1), {3}, {3, 2, 1});
    is(argmax(v, 0), {4}, {1, 1, 0, 2});
    is(argmin(v, 0), {4}, {2, 2, 1, 0});
    is(argmax(Variable(transpose(v.data())), 0), {3}, {0, 0, 3});
    is(argmax(Variable(slice(v.data(), 1, 3, -5, -1))), {}, {8});
  }
  for (const bool greatest : {true, false}) {
    Variable v(x), number(arrays::full({}, 2));
    Variable y = greatest ? argmax(v, 1) : argmin(v, 1);
    y.set_grad(ones_like(y.data()));
    y.backward();
    BOOST_CHECK(!v.grad());
    BOOST_TEST((greatest ? argmax(number) : argmin(number)).item<int>() == 0);
    const auto f = [&](const Variable& of, std::optional<int> axis) {
      return greatest ? argmax(of, axis) : argmin(of, axis);
    };
    BOOST_CHECK_THROW(f(v, 2), catena::InvalidType);
    BOOST_CHECK_THROW(f(Variable(arrays::zeros({0, 2})), 0), catena::ValueError);
    BOOST_CHECK_THROW(f(Variable(arrays::zeros({0})), {}), catena::ValueError);
    BOOST_CHECK(f(Variable(arrays::zeros({0, 2})), 1).shape() == (Shape{0}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
