// Spellings that users try first: selections by index arrays as values, lists of numbers as operands, elements by
// reference, orders by letter.
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/ndarray/ndarray.h>

#include <catena/tests/support/message_of.h>
#include <catena/tests/support/ndarray_values.h>

using nd::Array;

namespace {

std::vector<double> numbers(const Array& a) { return a.to_vector<double>(); }
void check_values(const Array& a, const std::vector<double>& values) {
  BOOST_TEST(numbers(a) == values, boost::test_tools::per_element());
}
auto returned_selection(const Array& a, const Array& i) { return a(i); }

}  // namespace

BOOST_AUTO_TEST_SUITE(first_spellings)

BOOST_AUTO_TEST_CASE(selections_are_arrays_where_they_are_values) {
  const Array a = nd::array({10., 20., 30., 40.}), i = nd::array({3, 0}), m = nd::array({true, false, true, true});
  auto p = a(i);
  auto q = p;  // a copy is an array of its own
  const auto captured = [p] { return p.sum().item<double>(); };
  p = p * 2;  // rebound, as a named array
  check_values(p, {80, 20});
  check_values(q, {40, 10});
  BOOST_TEST(captured() == 50);
  q += 1;
  check_values(q, {41, 11});
  check_values(a, {10, 20, 30, 40});
  check_values(returned_selection(a, i), {40, 10});
  check_values(a(i(nd::array({1}))), {10});  // as a key
  check_values(nd::take(a, i(nd::array({1, 1}))), {10, 10});
  check_values(a(nd::array({0, 1, 2, 3})(m)), {10, 30, 40});
  std::map<int, Array> stored;
  stored[0] = a(i);
  stored.emplace(1, a(m));
  check_values(stored.at(0), {40, 10});
  check_values(stored.at(1), {10, 30, 40});
  const std::function<Array(const Array&)> twice = [](const Array& x) { return x + x; };
  check_values(twice(a(i)), {80, 20});
  const auto squared = [](auto x) { return x * x; };
  check_values(squared(a(i)), {1600, 100});
  auto moved = std::move(q);
  check_values(moved, {41, 11});
}

BOOST_AUTO_TEST_CASE(temporaries_still_write) {
  Array a = nd::array({1., 2., 3., 4.});
  const Array i = nd::array({3, 0});
  a(i) = {7, 8};
  check_values(a, {8, 2, 3, 7});
  a(i) += 1;
  check_values(a, {9, 2, 3, 8});
  a(a > 5.) = a(nd::array({1, 2}));
  check_values(a, {2, 2, 3, 3});
}

BOOST_AUTO_TEST_CASE(lists_are_arrays) {
  const Array braces{1., 2., 3.}, ints{1, 2}, floats{1.5f}, bools{true, false};
  check_values(braces, {1, 2, 3});
  BOOST_TEST(ints.dtype() == nd::int64);
  BOOST_TEST(floats.dtype() == nd::float32);
  BOOST_TEST(floats.shape() == nd::Shape{1});
  BOOST_TEST(bools.dtype() == nd::bool_);
  Array a;
  a = {4, 5, 6};
  BOOST_TEST(a.dtype() == nd::int64);
  check_values(nd::dot(braces, {1., 0., 2.}), {7});
  check_values(nd::linalg::solve(nd::array({{2., 0.}, {0., 4.}}), {2., 2.}), {1, 0.5});
  check_values(nd::searchsorted(braces, {1.5, 9.}), {1, 3});
  check_values(nd::concatenate({braces, {9., 8.}}), {1, 2, 3, 9, 8});
  check_values(nd::add(braces, {1, 2, 3}), {2, 4, 6});
  check_values(nd::maximum({1, 5}, 2), {2, 5});
  check_values(braces + std::vector<double>{1, 2, 3}, {2, 4, 6});
  check_values(std::vector<int>{1, 2, 3} * braces, {1, 4, 9});
  check_values(nd::where(nd::array({true, false}), {1, 2}, {3, 4}), {1, 4});
  BOOST_CHECK_THROW(nd::add(braces, {1, 2}), nd::ValueError);
  BOOST_TEST((!std::is_constructible_v<Array, int>));
  BOOST_TEST(Array{}.is_null());
}

BOOST_AUTO_TEST_CASE(elements_by_reference) {
  if (nd::current_device() != nd::cpu_device) {
    const Array elsewhere = nd::zeros({2, 3});
    BOOST_CHECK_THROW(elsewhere.at<double>(0, 0), nd::ValueError);
  }
  const nd::DeviceScope host(nd::cpu_device);
  Array a = nd::zeros({2, 3});
  a.at<double>(0, 1) = 3;
  a.at<double>(-1, -1) += 2;
  check_values(a, {0, 3, 0, 0, 0, 2});
  BOOST_TEST(a.T().at<double>(1, 0) == 3);
  BOOST_TEST((a(1, nd::Slice({}, {}, -1)).at<const double>(0)) == 2);
  BOOST_TEST(nd::array(2.5).at<double>() == 2.5);
  const std::uint64_t before = a.version();
  static_cast<void>(a.at<const double>(0, 0));
  BOOST_TEST(a.version() == before);
  a.at<double>(0, 0) = 1;
  BOOST_TEST(a.version() > before);
  BOOST_CHECK_THROW(a.at<float>(0, 0), nd::TypeError);
  BOOST_CHECK_THROW(a.at<double>(0), nd::ValueError);
  BOOST_CHECK_THROW(a.at<double>(2, 0), nd::IndexError);
  BOOST_CHECK_THROW(a.at<double>(0, -4), nd::IndexError);
  BOOST_CHECK_THROW(Array().at<double>(0), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(orders_by_letter) {
  BOOST_TEST(nd::zeros({3, 4}, {.order = 'F'}).is_f_contiguous());
  const Array a = nd::array({{1., 2.}, {3., 4.}});
  check_values(a.ravel('F'), {1, 3, 2, 4});
  check_values(nd::ravel(a.T(), 'K'), {1, 2, 3, 4});
  BOOST_TEST(a.copy('F').is_f_contiguous());
  check_values(a.reshape({4}, 'F'), {1, 3, 2, 4});
  BOOST_CHECK_THROW(a.ravel('X'), nd::ValueError);
  BOOST_TEST(a.tobytes().size() == 32u);
  const std::string bytes = a.tobytes('F');
  BOOST_TEST(reinterpret_cast<const double*>(bytes.data())[1] == 3.);
}

BOOST_AUTO_TEST_CASE(infinities_of_c_are_doubles) {
  BOOST_TEST(nd::full(3, NAN).dtype() == nd::float64);
  BOOST_TEST(nd::array(INFINITY).dtype() == nd::float64);
  BOOST_TEST(nd::full(3, 1.5f).dtype() == nd::float32);
  BOOST_TEST(nd::full(3, NAN, nd::float32).dtype() == nd::float32);
  BOOST_TEST((nd::zeros(2, nd::float32) + NAN).dtype() == nd::float32);
}

BOOST_AUTO_TEST_SUITE_END()
