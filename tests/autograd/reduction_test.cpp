// Differentiable reductions and matrix products.
#include <catena/autograd/functions/reduction.h>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;

namespace {

struct Row {
  const char* name;
  Variable (*function)(const Variable&, const Axes&, bool);
  double (*combine)(double, double);
  bool average;
};
const Row kRows[] = {
    {"sum", sum, [](double a, double b) { return a + b; }, false},
    {"mean", mean, [](double a, double b) { return a + b; }, true},
    {"max", max, [](double a, double b) { return a > b ? a : b; }, false},
    {"min", min, [](double a, double b) { return a < b ? a : b; }, false},
};

// By a walk over all elements.
Array naive(const Row& row, const Array& x, const Dims& axes, bool keepdims) {
  const Shape kept = catena::reduced_shape(x.shape(), axes, true);
  std::vector<double> result(std::size_t(catena::size_of(kept)));
  std::vector<int> count(result.size());
  const std::vector<double> xs = to_vector<double>(x);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = i, at = 0, weight = 1;
    for (int a = x.ndim() - 1; a >= 0; --a) {
      const std::int64_t k = rest % x.shape(a);
      rest /= x.shape(a);
      if (kept[a] > 1) at += k * weight;
      weight *= kept[a];
    }
    double& r = result[std::size_t(at)];
    r = count[std::size_t(at)]++ == 0 ? xs[std::size_t(i)] : row.combine(r, xs[std::size_t(i)]);
  }
  if (row.average)
    for (std::size_t k = 0; k < result.size(); ++k) result[k] /= count[k];
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

BOOST_AUTO_TEST_CASE(every_extremum_gets_the_whole_gradient) {
  Variable x(array<float>({1, 3, 3, 2}, {4}));
  Variable y = max(x);
  y.set_grad(full({}, 5.0));
  y.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{0, 5, 5, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(errors) {
  for (const Row& row : kRows) {
    BOOST_CHECK_THROW(row.function(Variable(ones({2, 3})), 2, false), catena::InvalidType);
    BOOST_CHECK_THROW(row.function(Variable(ones({2, 3})), -3, false), catena::InvalidType);
    BOOST_CHECK_THROW(row.function(Variable(ones({2, 3})), {0, 0}, false), catena::ValueError);
    BOOST_CHECK_THROW(row.function(Variable(ones({2, 3})), {1, -1}, false), catena::ValueError);
    BOOST_CHECK_THROW(row.function(Variable(ones({2, 3}, Dtype::int32)), {}, false), catena::InvalidType);
  }
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
  BOOST_CHECK_THROW(matmul(Variable(ones({2, 3})), Variable(ones({2, 3}))), catena::InvalidType);
  BOOST_CHECK_THROW(matmul(Variable(ones({2, 3, 4})), Variable(ones({4, 3}))), catena::InvalidType);
}

BOOST_AUTO_TEST_SUITE_END()
