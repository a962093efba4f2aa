// sparsemax: the nearest point of the simplex.
#include <boost/test/unit_test.hpp>
#include <limits>

#include <catena/autograd/functions/array.h>
#include <catena/nn/functions/activation.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

// max(x - t, 0) with the t for which the sum is 1, found by bisection.
std::vector<double> nearest(const std::vector<double>& x) {
  double low = -1e6, high = 1e6;
  for (int step = 0; step < 200; ++step) {
    const double t = (low + high) / 2;
    double sum = 0;
    for (const double v : x) sum += std::max(v - t, 0.0);
    (sum > 1 ? low : high) = t;
  }
  std::vector<double> y;
  for (const double v : x) y.push_back(std::max(v - low, 0.0));
  return y;
}

std::vector<double> values(const Variable& v) { return autograd::to_vector<double>(v.data()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(sparsemax)

BOOST_AUTO_TEST_CASE(values_along_every_axis) {
  for (const double scale : {0.1, 1.0, 5.0}) {
    const Variable x(spread({3, 4, 5}, -scale, scale));
    for (int axis = -3; axis < 3; ++axis) {
      const int along = axis < 0 ? axis + 3 : axis;
      const Variable rows = autograd::moveaxis(x, {along}, {2}),
                     y = autograd::moveaxis(nn::sparsemax(x, axis), {along}, {2});
      const std::vector<double> given = values(rows), result = values(y);
      const std::size_t n = std::size_t(rows.shape(2));
      for (std::size_t i = 0; i < given.size(); i += n) {
        const std::vector<double> expected =
            nearest({given.begin() + std::ptrdiff_t(i), given.begin() + std::ptrdiff_t(i + n)});
        for (std::size_t k = 0; k < n; ++k) BOOST_TEST(std::abs(result[i + k] - expected[k]) < 1e-9);
      }
    }
  }
  BOOST_TEST(
      values(nn::sparsemax(Variable(autograd::array<double>({1, 1, 1, 1}, {1, 4})))) == std::vector<double>(4, 0.25),
      boost::test_tools::per_element());
  BOOST_TEST(values(nn::sparsemax(Variable(autograd::array<double>({7, 9}, {2, 1})))) == std::vector<double>(2, 1.0),
             boost::test_tools::per_element());
  const double inf = std::numeric_limits<double>::infinity();
  BOOST_TEST(values(nn::sparsemax(Variable(autograd::array<double>({0.25, -inf, 0.75}, {1, 3})))) ==
                 (std::vector<double>{0.25, 0, 0.75}),
             boost::test_tools::per_element());
  BOOST_TEST(nn::sparsemax(Variable(autograd::arrays::zeros({0, 3}))).shape() == Shape({0, 3}));
}

BOOST_AUTO_TEST_CASE(derivatives) {
  for (const double scale : {0.3, 2.0})
    check_derivatives("sparsemax", [](const Variables& x) { return Variables{nn::sparsemax(x[0])}; },
                      {spread({3, 5}, -scale, scale)}, {.atol16 = 4e-3, .rtol16 = 2e-2});
  check_derivatives("sparsemax of axis 0", [](const Variables& x) { return Variables{nn::sparsemax(x[0] * x[0], 0)}; },
                    {spread({4, 2})}, {.atol16 = 4e-3, .rtol16 = 2e-2});
}

BOOST_AUTO_TEST_CASE(errors) {
  BOOST_CHECK_THROW(nn::sparsemax(Variable(spread({3}))), catena::IndexError);
  BOOST_CHECK_THROW(nn::sparsemax(Variable(ints({1, 2})), 0), catena::TypeError);
  BOOST_CHECK_THROW(nn::sparsemax(Variable()), catena::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
