// Functions of elements that are called on the host: vectorize, sort, argsort, scan and reduce_by_key with lambdas.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

using nd::Array;
using test::check_values;
using test::message_of;

BOOST_AUTO_TEST_SUITE(host_functions)

namespace {

double plain(double x) { return x + 1; }

struct Counter {
  int calls = 0;
  float operator()(float x) { return x * float(++calls); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(arguments_broadcast_and_the_function_gives_the_dtype) {
  const std::vector<double> table{10, 20, 30};
  const auto look_up = nd::vectorize([&](std::int64_t i, double x) { return table[std::size_t(i)] + x; });
  const Array i = nd::array({{0}, {2}}), x = nd::array({0.5, 1.5, 2.5});
  const Array y = look_up(i, x);
  BOOST_TEST(y.dtype() == nd::float64);
  BOOST_TEST(y.shape() == nd::Shape({2, 3}));
  check_values<double>(y, {10.5, 11.5, 12.5, 30.5, 31.5, 32.5});
  check_values<double>(look_up(i.T(), 1.0), {11, 31});
  check_values<double>(look_up(1, x), {20.5, 21.5, 22.5});
  BOOST_TEST(look_up(1, 0.5).ndim() == 0);
  BOOST_TEST(y.device() == i.device());
}

BOOST_AUTO_TEST_CASE(functions_of_every_kind) {
  const Array a = nd::arange(6, nd::float32).reshape({2, 3});
  check_values<double>(nd::vectorize(plain)(a), {1, 2, 3, 4, 5, 6});
  check_values<double>(nd::vectorize(&plain)(a.T()), {1, 4, 2, 5, 3, 6});
  check_values<float>(nd::vectorize(Counter())(a), {0, 2, 6, 12, 20, 30});  // in C order
  const Array even = nd::vectorize([](int k) noexcept { return k % 2 == 0; })(nd::arange(4, nd::int32));
  BOOST_TEST(even.dtype() == nd::bool_);
  check_values<bool>(even, {true, false, true, false});
  check_values<double>(nd::vectorize([](double x, double y, double z) { return x + y * z; })(a, 2, 3),
                       {6, 7, 8, 9, 10, 11});
  BOOST_TEST(nd::vectorize([](double x) { return x; })(nd::zeros({0, 3})).shape() == nd::Shape({0, 3}));
  const auto half = nd::vectorize([](nd::float16_t x) { return float(x); });
  check_values<float>(half(nd::array({0.5, 2.0}, nd::float16)), {0.5f, 2.0f});
}

BOOST_AUTO_TEST_CASE(errors_of_vectorize) {
  const auto of_int = nd::vectorize([](int x) { return x; });
  BOOST_TEST(message_of<nd::TypeError>([&] { of_int(nd::array({0.5})); }) ==
             "vectorize: the function takes int32, and the array is float64, which the casting \"same_kind\" does not "
             "convert: write .astype(int32)");
  BOOST_TEST(message_of<nd::TypeError>([&] { of_int(Array()); }) == "vectorize: the array is null");
  const auto sum = nd::vectorize([](double x, double y) { return x + y; });
  BOOST_CHECK_THROW(sum(nd::ones({2}), nd::ones({3})), nd::ValueError);
  const auto fails = nd::vectorize([](double) -> double { throw std::string("text"); });
  BOOST_CHECK_THROW(fails(nd::ones({2})), std::string);
}

BOOST_AUTO_TEST_CASE(sorting_by_a_lambda_is_stable_on_every_axis) {
  const Array a = nd::array({{-3, 1, 2}, {2, -2, 3}}, nd::int32);
  const auto by_magnitude = [](int x, int y) { return std::abs(x) < std::abs(y); };
  const Array sorted = nd::sort(a, by_magnitude);
  BOOST_TEST(sorted.dtype() == nd::int32);
  check_values<int>(sorted, {1, 2, -3, 2, -2, 3});
  check_values<std::int64_t>(nd::argsort(a, by_magnitude), {1, 2, 0, 0, 1, 2});
  check_values<int>(nd::sort(a, by_magnitude, {.axis = 0}), {2, 1, 2, -3, -2, 3});
  check_values<int>(nd::sort(a.T(), by_magnitude, {.axis = {}}), {1, 2, -2, 2, -3, 3});
  // The array keeps its dtype where the parameters have another one.
  const Array wide = nd::sort(a, [](double x, double y) { return x > y; });
  BOOST_TEST(wide.dtype() == nd::int32);
  check_values<int>(wide, {2, 1, -3, 3, 2, -2});
  BOOST_TEST(nd::sort(nd::zeros({0}), [](double x, double y) { return x < y; }).size() == 0);
  BOOST_CHECK_THROW(nd::sort(a, by_magnitude, {.axis = 2}), nd::AxisError);
  BOOST_CHECK_THROW(nd::sort(Array(), by_magnitude), nd::TypeError);
  // Against std::stable_sort on many elements with equal keys.
  const Array many = nd::random::default_rng(3).integers(0, 50, 1000);
  std::vector<std::int64_t> at(1000), expected = many.to_vector<std::int64_t>();
  std::iota(at.begin(), at.end(), 0);
  std::stable_sort(at.begin(), at.end(),
                   [&](auto i, auto k) { return expected[std::size_t(i)] % 7 < expected[std::size_t(k)] % 7; });
  check_values<std::int64_t>(nd::argsort(many, [](std::int64_t x, std::int64_t y) { return x % 7 < y % 7; }), at);
}

BOOST_AUTO_TEST_CASE(scans_by_a_lambda) {
  const Array a = nd::array({{3.0, 1.0, 4.0}, {1.0, 5.0, 2.0}});
  const auto larger = [](double x, double y) { return x > y ? x : y; };
  check_values<double>(nd::scan(a, larger), {3, 3, 4, 4, 5, 5});
  BOOST_TEST(nd::scan(a, larger).shape() == nd::Shape{6});
  check_values<double>(nd::scan(a, larger, {.axis = 1}), {3, 3, 4, 1, 5, 5});
  check_values<double>(nd::scan(a, larger, {.axis = 0}), {3, 1, 4, 3, 5, 4});
  check_values<double>(nd::scan(a.T(), larger, {.axis = -1}), {3, 3, 1, 5, 4, 4});
  // Not commutative: the second one of two.
  check_values<double>(nd::scan(a, [](double, double y) { return y; }), {3, 1, 4, 1, 5, 2});
  BOOST_TEST(nd::scan(nd::zeros({2, 0}), larger, {.axis = 1}).shape() == nd::Shape({2, 0}));
  BOOST_CHECK_THROW(nd::scan(a, larger, {.axis = 2}), nd::AxisError);
}

BOOST_AUTO_TEST_CASE(reduction_of_runs_by_a_lambda) {
  const auto plus = [](double x, double y) { return x + y; };
  const Array k = nd::array({1, 1, 2, 2, 2, 1}), v = nd::array({1.0, 2.0, 3.0, 4.0, 5.0, 6.0});
  const auto [keys, sums] = nd::reduce_by_key(k, v, plus);
  check_values<std::int64_t>(keys, {1, 2, 1});
  check_values<double>(sums, {3, 12, 6});
  const auto [one, first] = nd::reduce_by_key(k(nd::Slice(0, 1)), v(nd::Slice(0, 1)), plus);
  check_values<std::int64_t>(one, {1});
  check_values<double>(first, {1});
  const auto [no_keys, no_sums] = nd::reduce_by_key(k(nd::Slice(0, 0)), v(nd::Slice(0, 0)), plus);
  BOOST_TEST(no_keys.size() + no_sums.size() == 0);
  BOOST_TEST(no_keys.dtype() == nd::int64);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::reduce_by_key(k, v(nd::Slice(1, {})), plus); }) ==
             "reduce_by_key: keys have the shape (6,) and values (5,); both must be one sequence of the same length");
  BOOST_CHECK_THROW(nd::reduce_by_key(Array(), v, plus), nd::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
