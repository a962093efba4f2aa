// autograd::tensor: dtypes, values and gradients of variables made of numbers, lists, containers and arrays.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include <catena/catena.h>
#include <catena/tests/support/message_of.h>

using autograd::tensor;
using autograd::Variable;

namespace {

std::vector<double> values(const Variable& v) { return nd::Array(v.data()).astype(nd::float64).to_vector<double>(); }
void check(const Variable& v, nd::Dtype dtype, const nd::Shape& shape, const std::vector<double>& expected) {
  BOOST_TEST(v.dtype() == dtype);
  BOOST_TEST(v.shape() == shape);
  BOOST_TEST(values(v) == expected, boost::test_tools::per_element());
  BOOST_TEST((v.creator() == nullptr));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tensors)

BOOST_AUTO_TEST_CASE(lists_and_numbers) {
  check(tensor({1.0, 2.5}), nd::float32, {2}, {1, 2.5});
  check(tensor({1.0f, 2.5f}), nd::float32, {2}, {1, 2.5});
  check(tensor({{1.0, 2.0}, {3.0, 4.0}}), nd::float32, {2, 2}, {1, 2, 3, 4});
  check(tensor({{{1.0}, {2.0}}}), nd::float32, {1, 2, 1}, {1, 2});
  check(tensor({1, 2.5}), nd::float32, {2}, {1, 2.5});
  check(tensor({1, 2}), nd::int64, {2}, {1, 2});
  check(tensor({true, false}), nd::bool_, {2}, {1, 0});
  check(tensor({3.0}), nd::float32, {1}, {3});
  check(tensor(3.0), nd::float32, {}, {3});
  check(tensor(3), nd::int64, {}, {3});
  check(tensor(true), nd::bool_, {}, {1});
  const Variable nan = tensor(std::numeric_limits<double>::quiet_NaN());
  BOOST_TEST(nan.dtype() == nd::float32);
  BOOST_TEST(std::isnan(values(nan)[0]));
  BOOST_CHECK_THROW(tensor({{1.0, 2.0}, {3.0}}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(containers_and_arrays_keep_their_dtype) {
  check(tensor(std::vector<double>{1, 2}), nd::float64, {2}, {1, 2});
  check(tensor(std::vector<std::vector<float>>{{1}, {2}}), nd::float32, {2, 1}, {1, 2});
  check(tensor(std::vector<float>{}), nd::float32, {0}, {});
  const nd::Array a = nd::arange(6, nd::float64).reshape({2, 3});
  check(tensor(a.T()), nd::float64, {3, 2}, {0, 3, 1, 4, 2, 5});
  check(tensor(autograd::Array(a)), nd::float64, {2, 3}, {0, 1, 2, 3, 4, 5});
  // A copy: a write to one does not show in the other.
  const Variable copied = tensor(a);
  nd::Array written = a;
  written(0, 0) = 9;
  BOOST_TEST(values(copied)[0] == 0);
}

BOOST_AUTO_TEST_CASE(options) {
  check(tensor({1, 2}, nd::float16), nd::float16, {2}, {1, 2});
  check(tensor({1.0, 2.0}, {.dtype = nd::float64}), nd::float64, {2}, {1, 2});
  check(tensor(3.7, {.dtype = nd::int32}), nd::int32, {}, {3});
  check(tensor(nd::arange(2), {.dtype = nd::float32, .device = nd::Device()}), nd::float32, {2}, {0, 1});
  const autograd::using_config scope({.dtype = nd::float64});
  check(tensor({1.0, 2.0}), nd::float64, {2}, {1, 2});
}

// Of the sum of x^2: 2 x.
BOOST_AUTO_TEST_CASE(gradients_on_request) {
  BOOST_TEST(!tensor({1.0}).requires_grad());
  const Variable x = tensor({1.0, -3.0}, {.requires_grad = true}), constant = tensor({2.0, 2.0});
  (x * x + constant).sum().backward();
  BOOST_TEST(nd::Array(x.grad()).to_vector<float>() == (std::vector<float>{2, -6}), boost::test_tools::per_element());
  BOOST_TEST(constant.grad().is_null());
  BOOST_TEST(tensor(nd::ones(2), {.requires_grad = true}).requires_grad());
  const std::string said = test::message_of<catena::TypeError>([] {
    static_cast<void>(tensor({1, 2}, {.requires_grad = true}));
  });
  BOOST_TEST(said.find("floating") != std::string::npos);
  BOOST_TEST(said.find("int64") != std::string::npos);
  BOOST_CHECK_THROW(tensor(true, {.requires_grad = true}), catena::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
