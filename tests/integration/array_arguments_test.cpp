// Functions of autograd that take arrays of the array library in the place of variables, where Array has them as well.
#include <catena/catena.h>
#include <catena/tests/support/training_fixtures.h>

using autograd::Variable;
namespace F = nn::functional;

namespace {

void check(const Variable& y, const nd::Shape& shape, const std::vector<double>& expected) {
  BOOST_TEST(y.shape() == shape);
  BOOST_TEST(test::values(y.data()) == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_CASE(shapes) {
  const nd::Array x = nd::array({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  check(F::reshape(x, {3, 2}), {3, 2}, {1, 2, 3, 4, 5, 6});
  check(F::transpose(x), {3, 2}, {1, 4, 2, 5, 3, 6});
  check(F::transpose(x, {1, 0}), {3, 2}, {1, 4, 2, 5, 3, 6});
  check(F::swapaxes(x, 0, 1), {3, 2}, {1, 4, 2, 5, 3, 6});
  check(F::expand_dims(x, 0), {1, 2, 3}, {1, 2, 3, 4, 5, 6});
  check(F::squeeze(nd::array({{7.0}})), {}, {7});
  check(F::squeeze(nd::array({{7.0, 8.0}}), 0), {2}, {7, 8});
  check(F::broadcast_to(nd::array({1.0, 2.0}), {2, 2}), {2, 2}, {1, 2, 1, 2});
}

BOOST_AUTO_TEST_CASE(reductions_products_and_selection) {
  const nd::Array x = nd::array({{1.0, 2.0}, {4.0, 3.0}});
  check(autograd::amax(x, 0), {2}, {4, 3});
  check(autograd::amin(x, 1, true), {2, 1}, {1, 3});
  check(F::sum(x, {.axis = 1, .keepdims = true}), {2, 1}, {3, 7});
  check(F::mean(x, {.dim = 0}), {2}, {2.5, 2.5});
  check(F::matmul(x, x), {2, 2}, {9, 8, 16, 17});
  check(F::where(x > 2.0, x, x * 10), {2, 2}, {10, 20, 4, 3});
  check(F::where(x > 2.0, x, 0.0), {2, 2}, {0, 0, 4, 3});
  check(F::where(x > 2.0, 1, x), {2, 2}, {1, 2, 1, 1});
}
