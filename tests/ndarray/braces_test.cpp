// Braces have one meaning: options where there are names, a list of as many axes as there are levels.
// Every options struct whose function also takes a list, or a class made of a number, in the same place.
#include <cmath>
#include <concepts>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/testing/assertions.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Shape;
using test::same_bits;

template <class T> using List3 = std::initializer_list<std::initializer_list<std::initializer_list<T>>>;
template <class T> using List6 = List3<List3<T>>;

// Whether an array can be made of a list of so many levels.
template <class List>
concept MakesValues = std::constructible_from<nd::Values, List>;
template <class List>
concept MakesArrayLike = std::constructible_from<nd::ArrayLike, List>;

}  // namespace

BOOST_AUTO_TEST_SUITE(braces)

BOOST_AUTO_TEST_CASE(options_of_array) {
  const std::vector<int> vector{1, 2, 3};
  const int numbers[] = {1, 2, 3};
  const Array a = nd::array(vector);
  const Shape expected{1, 1, 3};
  BOOST_TEST(nd::array({1, 2, 3}, {.ndmin = 3}).shape() == expected);
  BOOST_TEST(nd::array({1., 2., 3.}, {.ndmin = 3}).shape() == expected);
  BOOST_TEST(nd::array({1, 2.5, 3}, {.ndmin = 3}).shape() == expected);
  BOOST_TEST(nd::array(vector, {.ndmin = 3}).shape() == expected);
  BOOST_TEST(nd::array(numbers, {.ndmin = 3}).shape() == expected);
  BOOST_TEST(nd::array(a, {.ndmin = 3}).shape() == expected);
  BOOST_TEST(nd::array({1, 2, 3}, {.copy = true, .ndmin = 3}).shape() == expected);
  BOOST_TEST(nd::array({1, 2, 3}, {3}, {.ndmin = 3}).shape() == expected);
  BOOST_TEST(nd::array(numbers, {3}, {.ndmin = 3}).shape() == expected);
  BOOST_TEST(nd::array(&numbers[0], 3, {.ndmin = 3}).shape() == expected);
  BOOST_TEST(nd::array(vector.begin(), vector.end(), {.ndmin = 3}).shape() == expected);
  BOOST_TEST(nd::array({{1, 2}, {3, 4}}, {.ndmin = 3}).shape() == Shape({1, 2, 2}));
  BOOST_TEST(nd::array(7, {.ndmin = 2}).shape() == Shape({1, 1}));
}

BOOST_AUTO_TEST_CASE(shapes_of_array) {
  const std::vector<int> vector{1, 2, 3, 4};
  const std::vector<std::int64_t> lengths{2, 2};
  const Shape square{2, 2};
  const std::size_t n = 2;
  BOOST_TEST(nd::array(vector, {2, 2}).shape() == square);
  BOOST_TEST(nd::array(vector, {n, 2}).shape() == square);
  BOOST_TEST(nd::array(vector, square).shape() == square);
  BOOST_TEST(nd::array(vector, lengths).shape() == square);
  BOOST_TEST(nd::array(vector, 4).shape() == Shape{4});
  BOOST_TEST(nd::array(vector, {4}).shape() == Shape{4});
  BOOST_TEST(nd::array({1, 2, 3, 4}, {2, 2}).shape() == square);
  BOOST_TEST((nd::array({1, 2, 3, 4}, {2, 2}, nd::float32).dtype() == nd::float32));
  BOOST_TEST((nd::array(vector, square, {.dtype = nd::float32}).dtype() == nd::float32));
  BOOST_TEST(nd::array(vector.data(), {2, 2}).shape() == square);
  BOOST_TEST(nd::array(vector.data(), square).shape() == square);
  BOOST_TEST(nd::array(vector.data(), 4).shape() == Shape{4});
  BOOST_TEST((nd::array(vector, nd::float32).dtype() == nd::float32));
}

BOOST_AUTO_TEST_CASE(options_beside_an_axis_or_a_number) {
  const Array m = nd::array({{1., 5.}, {2., 9.}, {4., 10.}}), x = m(nd::Slice(), 0);
  for (const Array& y : {nd::var(x, {.ddof = 1}), x.var({.ddof = 1}), nd::square(nd::std(x, {.ddof = 1})),
                         nd::square(x.std({.ddof = 1}))})
    BOOST_TEST(std::abs(y.item<double>() - 7. / 3) < 1e-14);
  BOOST_TEST(nd::sum(m, {.axis = 1}).shape() == Shape{3});
  BOOST_TEST(m.sum({.axis = 1}).shape() == Shape{3});
  BOOST_TEST(nd::sum(m, {.keepdims = true}).shape() == Shape({1, 1}));
  BOOST_TEST(m.max({.keepdims = true}).shape() == Shape({1, 1}));
  BOOST_TEST(nd::argmax(m, {.keepdims = true}).shape() == Shape({1, 1}));
  BOOST_TEST(nd::any(m, {.axis = 1}).shape() == Shape{3});
  BOOST_TEST(nd::count_nonzero(m, {.keepdims = true}).shape() == Shape({1, 1}));
  BOOST_TEST(nd::linalg::norm(m, {.axis = 1}).shape() == Shape{3});
  BOOST_TEST(nd::linalg::norm(m, {.ord = 1}).item<double>() == 24);
  BOOST_TEST(nd::linalg::norm(m, {.keepdims = true}).shape() == Shape({1, 1}));
  BOOST_TEST(same_bits(nd::sort(m, {.axis = 0}), m));
  BOOST_TEST(same_bits(nd::argsort(m, {.axis = 0}), nd::array({{0, 0}, {1, 1}, {2, 2}})));
  BOOST_TEST(same_bits(nd::partition(m, 1, {.axis = 0}), m));
  BOOST_TEST(nd::argpartition(m, 1, {.axis = 0}).shape() == m.shape());
  BOOST_TEST(nd::cumsum(m, {.axis = 0}).shape() == m.shape());
  BOOST_TEST(nd::bincount(nd::array({1, 1}), {.minlength = 6}).shape() == Shape{6});
  BOOST_TEST(nd::take(m, {0}, {.axis = 1}).shape() == Shape({3, 1}));
  BOOST_TEST(m.take({0}, {.axis = 1}).shape() == Shape({3, 1}));
  BOOST_TEST(nd::compress(nd::array({false, true}), m, {.axis = 1}).shape() == Shape({3, 1}));
  BOOST_TEST(m.compress(nd::array({false, true}), {.axis = 1}).shape() == Shape({3, 1}));
  BOOST_TEST(nd::eye(3, {.k = 1}).sum().item<double>() == 2);
  BOOST_TEST(nd::eye(3, {.M = 4}).shape() == Shape({3, 4}));
  BOOST_TEST(nd::logspace(0, 1, 2, {.base = 2})(1).item<double>() == 2);
  BOOST_TEST(nd::random::choice(m, {4}, {.axis = 1}).shape() == Shape({3, 4}));
  BOOST_TEST((nd::searchsorted(x, 2, {.side = "right"}).item<int>() == 2));
}

BOOST_AUTO_TEST_CASE(levels_are_axes) {
  BOOST_TEST(nd::array({5}).shape() == Shape{1});
  BOOST_TEST(nd::array({{5}}).shape() == Shape({1, 1}));
  BOOST_TEST(nd::array({{{5}}}).shape() == Shape({1, 1, 1}));
  BOOST_TEST(nd::array({{{{5}}}}).shape() == Shape({1, 1, 1, 1}));
  BOOST_TEST(nd::array({{{{{5}}}}}).shape() == Shape({1, 1, 1, 1, 1}));
  BOOST_TEST(nd::array({{{{{{5}}}}}}).shape() == Shape({1, 1, 1, 1, 1, 1}));
  const Array image = nd::array({{{{1, 2}, {3, 4}}}});
  BOOST_TEST(image.shape() == Shape({1, 1, 2, 2}));
  BOOST_TEST((image.to_vector<int>() == std::vector<int>{1, 2, 3, 4}));
  BOOST_TEST(nd::array({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}).shape() == Shape({2, 2, 2}));
  BOOST_TEST(nd::array({{{{1, 2, 3}}, {{4, 5, 6}}}}).shape() == Shape({1, 2, 1, 3}));
  BOOST_TEST(nd::array({{{{{1., 2.}, {3., 4.}}}}}, nd::float32).shape() == Shape({1, 1, 1, 2, 2}));
  // Numbers of several types at any depth.
  BOOST_TEST(nd::array({{{1, 2.5}}}).shape() == Shape({1, 1, 2}));
  BOOST_TEST(nd::array({{{{1, 2.5}, {3, 4}}}}).shape() == Shape({1, 1, 2, 2}));
  BOOST_TEST((nd::array({{{1, 2.5}}}).dtype() == nd::float64));
  BOOST_TEST(nd::array({{1}, {2.5}}).shape() == Shape({2, 1}));
  BOOST_TEST(nd::array({{1, 2.5}}).shape() == Shape({1, 2}));
  BOOST_CHECK_THROW(nd::array({{{1, 2}, {3}}}), nd::ValueError);
  BOOST_CHECK_THROW(nd::array({{{1, 2.5}, {3}}}), nd::ValueError);
  // Arguments that are arrays or lists.
  nd::testing::assert_array_equal(image, {{{{1, 2}, {3, 4}}}});
  nd::testing::assert_array_equal(nd::array({{{1, 2.5}}}), {{{1, 2.5}}});
  BOOST_CHECK_THROW(nd::testing::assert_array_equal(image, {{{1, 2}, {3, 4}}}), nd::AssertionError);
  BOOST_TEST(nd::asnumpy({{{{1, 2}, {3, 4}}}}).shape() == image.shape());
}

BOOST_AUTO_TEST_CASE(more_levels_than_there_are_do_not_compile) {
  BOOST_TEST(MakesValues<List6<int>>);
  BOOST_TEST(MakesArrayLike<List6<double>>);
  BOOST_TEST(!MakesValues<std::initializer_list<List6<int>>>);
  BOOST_TEST(!MakesValues<std::initializer_list<List6<nd::internal::Number>>>);
  BOOST_TEST(!MakesArrayLike<std::initializer_list<List6<int>>>);
}

BOOST_AUTO_TEST_SUITE_END()
