// Extreme elements whose gradient is divided among equal ones.
#include <catena/autograd/functions/extrema.h>

#include <boost/test/unit_test.hpp>
#include <limits>

#include <catena/autograd/backward.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;

namespace {

std::vector<double> values(const Array& a) { return to_vector<double>(a); }
#define CHECK_LIST(a, ...) BOOST_TEST(a == (std::vector<double> __VA_ARGS__), boost::test_tools::per_element())

Array gradient(Variable (*f)(const Variable&, const Axes&, bool), const Variable& x, const Axes& axes) {
  return grad({f(x, axes, false)}, {x})[0].data();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(extrema)

// PyTorch 2: torch.amax([[1, 3, 3], [2, 2, 2]], 1) and its gradient for [1, 6].
BOOST_AUTO_TEST_CASE(equal_elements_share) {
  const Variable x(array<double>({1, 3, 3, 2, 2, 2}, {2, 3}));
  const Variable y = amax(x, 1);
  CHECK_LIST(values(y.data()), {3, 2});
  const Variable weights(array<double>({1, 6}, {2}));
  CHECK_LIST(values(grad({y}, {x}, {weights})[0].data()), {0, 0.5, 0.5, 2, 2, 2});
  CHECK_LIST(values(grad({amin(x, 1)}, {x}, {weights})[0].data()), {1, 0, 0, 2, 2, 2});
  CHECK_LIST(values(grad({amax(x)}, {x})[0].data()), {0, 0.5, 0.5, 0, 0, 0});
  CHECK_LIST(values(grad({amin(x, {0, 1}, true)}, {x})[0].data()), {1, 0, 0, 0, 0, 0});
  BOOST_TEST(amax(x, 0, true).shape() == Shape({1, 3}));
  const Variable narrow(array<float>({5, 5, 1, 5}, {4}));
  CHECK_LIST(values(grad({amax(narrow)}, {narrow})[0].data()), {float(1) / 3, float(1) / 3, 0, float(1) / 3});
}

BOOST_AUTO_TEST_CASE(derivatives) {
  for (const Axes& axes : {Axes(), Axes(0), Axes(-1), Axes({0, 2})})
    for (const bool keepdims : {false, true}) {
      test::check_derivatives("amax", [&](const Variables& x) { return Variables{amax(x[0], axes, keepdims)}; },
                              {spread({3, 2, 4})});
      test::check_derivatives("amin", [&](const Variables& x) { return Variables{square(amin(x[0], axes, keepdims))}; },
                              {spread({3, 2, 4})});
    }
}

BOOST_AUTO_TEST_CASE(special_values_and_errors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Variable x(array<double>({nan, 3, nan, 2}, {4}));
  BOOST_TEST(values(amax(x).data())[0] != values(amax(x).data())[0]);
  CHECK_LIST(values(gradient(amax, x, {})), {0.5, 0, 0.5, 0});
  CHECK_LIST(values(gradient(amin, Variable(array<double>({7}, {})), {})), {1});
  BOOST_CHECK_THROW(amax(x, 1), catena::ValueError);
  BOOST_CHECK_THROW(amax(Variable(spread({0}))), catena::ValueError);
  const Variable whole(array<std::int32_t>({2, 7, 1}, {3}));
  BOOST_CHECK(amax(whole).dtype() == Dtype::int32);
  BOOST_TEST(amax(whole).item<int>() == 7);
  BOOST_TEST(amin(whole).item<int>() == 1);
  amax(whole).backward();
  BOOST_CHECK(!whole.grad());
}

BOOST_AUTO_TEST_SUITE_END()
