// Results in which NumPy 2 differs from its earlier versions or from what is near at hand. The values are NumPy 2.4's.
#include <cmath>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Shape;
using test::same_bits;

Array ints(const std::vector<int>& v) { return nd::array(v, nd::int64); }

}  // namespace

BOOST_AUTO_TEST_SUITE(numpy2)

BOOST_AUTO_TEST_CASE(digitize_counts_edges) {
  const Array x = nd::array({-1, 0, 1, 3, 5, 8, 9}), floats = x.astype(nd::float64);
  const auto check = [&](const Array& bins, const std::vector<int>& open, const std::vector<int>& closed) {
    for (const Array& values : {x, floats, x.astype(nd::float16)})
      for (const Array& edges : {bins, bins.astype(nd::float32)}) {
        BOOST_TEST(same_bits(nd::digitize(values, edges), ints(open)));
        BOOST_TEST(same_bits(nd::digitize(values, edges, {.right = true}), ints(closed)));
      }
  };
  check(nd::array({8, 3, 0}), {3, 2, 2, 1, 1, 0, 0}, {3, 3, 2, 2, 1, 1, 0});
  check(nd::array({8, 3, 3, 0}), {4, 3, 3, 1, 1, 0, 0}, {4, 4, 3, 3, 1, 1, 0});
  check(nd::array({0, 3, 8}), {0, 1, 1, 2, 2, 3, 3}, {0, 0, 1, 1, 2, 2, 3});
  check(nd::array({3}), {0, 0, 0, 1, 1, 1, 1}, {0, 0, 0, 0, 1, 1, 1});
  check(nd::array({3, 3}), {0, 0, 0, 2, 2, 2, 2}, {0, 0, 0, 0, 2, 2, 2});
  BOOST_TEST(nd::digitize(3, nd::array({8, 3, 0})).item<int>() == 1);
  BOOST_TEST(nd::digitize(3, nd::array({8, 3, 0}), {.right = true}).item<int>() == 2);
}

// NaN is the greatest number, so bins that increase may end with it.
BOOST_AUTO_TEST_CASE(digitize_takes_nan_bins_at_the_end) {
  const double nan = std::nan("");
  const Array x = nd::array({-5., -2., 0., 1., 7., nan});
  for (nd::Dtype t : {nd::float64, nd::float32, nd::float16}) {
    const Array values = x.astype(t);
    BOOST_TEST(same_bits(nd::digitize(values, nd::array({-2., 1., nan}).astype(t)), ints({0, 1, 1, 2, 2, 3})));
    BOOST_TEST(same_bits(nd::digitize(values, nd::array({-2., 1., nan, nan}).astype(t), {.right = true}),
                         ints({0, 0, 1, 1, 2, 2})));
    BOOST_CHECK_THROW(nd::digitize(values, nd::array({nan, 1., 2.}).astype(t)), nd::ValueError);
    BOOST_CHECK_THROW(nd::digitize(values, nd::array({3., nan, 2.}).astype(t)), nd::ValueError);
  }
}

BOOST_AUTO_TEST_CASE(ranges_of_integers) {
  BOOST_TEST(same_bits(nd::linspace(0, -10, 4, nd::int64), ints({0, -4, -7, -10})));
  BOOST_TEST(same_bits(nd::linspace(-2.5, 2.5, 3, nd::int32), nd::array({-3, 0, 2}, nd::int32)));
  BOOST_TEST(same_bits(nd::linspace(-1.5, 1.5, 4, {.endpoint = false, .dtype = nd::int8}),
                       nd::array({-2, -1, 0, 0}, nd::int8)));
  BOOST_TEST(same_bits(nd::linspace(-0.5, 0.5, 3, nd::bool_), nd::array({true, false, true})));
  BOOST_TEST(same_bits(nd::arange(0.5, 3, 0.5, nd::int64), ints({0, 1, 2, 3, 4})));
  BOOST_TEST(same_bits(nd::arange(-1.5, 2, 1, nd::int64), ints({-1, 0, 1, 2})));
  BOOST_TEST(same_bits(nd::arange(-2.5, 2, 1.5, nd::int64), ints({-2, -1, 0})));
  BOOST_TEST(same_bits(nd::arange(5, 0, -2, nd::uint8), nd::array({5, 3, 1}, nd::uint8)));
  BOOST_TEST(same_bits(nd::arange(250, 258, nd::uint8), nd::array({250, 251, 252, 253, 254, 255, 0, 1}, nd::uint8)));
  BOOST_CHECK_THROW(nd::arange(300, 302, nd::uint8), nd::OverflowError);
  BOOST_CHECK_THROW(nd::arange(-1, 2, nd::uint8), nd::OverflowError);
  BOOST_TEST(nd::arange(300, 300, nd::uint8).size() == 0);
}

BOOST_AUTO_TEST_CASE(rounding_leaves_integers) {
  for (nd::Dtype t :
       {nd::bool_, nd::int8, nd::uint8, nd::int16, nd::uint16, nd::int32, nd::uint32, nd::int64, nd::uint64}) {
    const Array a = nd::array({1, 0, 1}).astype(t);
    for (const Array& y : {nd::floor(a), nd::ceil(a), nd::trunc(a), nd::fix(a)})
      BOOST_TEST(same_bits(y, a), nd::name_of(t));
    BOOST_TEST(catena::is_floating(nd::rint(a).dtype()));
  }
  const Array limits = nd::array(std::vector<std::int64_t>{INT64_MIN, INT64_MAX});
  BOOST_TEST(same_bits(nd::floor(limits), limits));
  BOOST_TEST(same_bits(nd::floor(nd::array({-1, 1}), {.dtype = nd::float32}), nd::array({-1.f, 1.f})));
  BOOST_TEST((nd::round(nd::array({true})).dtype() == nd::float16));
  BOOST_TEST(same_bits(nd::floor(nd::array({-1.5, 1.5})), nd::array({-2., 1.})));
  BOOST_TEST(same_bits(nd::fix(nd::array({-1.5f, 1.5f})), nd::array({-1.f, 1.f})));
}

BOOST_AUTO_TEST_CASE(axes_of_a_number) {
  const Array a = nd::array(5.), axis = nd::array({5.});
  for (int k : {0, -1}) {
    for (const Array& y : {a.sum(k), a.prod(k), a.max(k), a.min(k), nd::sum(a, k), nd::nanmax(a, k), nd::nanmin(a, k),
                           nd::sum(a, {.axis = k}), nd::sum(a, {.axis = k, .keepdims = true})})
      BOOST_TEST(same_bits(y, a));
    BOOST_TEST((a.any(k).item<bool>() && a.all(k).item<bool>() && a.any(k).ndim() == 0));
    BOOST_TEST((a.argmax(k).item<int>() == 0 && nd::argmin(a, k).ndim() == 0));
    BOOST_TEST(nd::count_nonzero(a, k).item<int>() == 1);
    BOOST_TEST(same_bits(nd::cumsum(a, {.axis = k}), axis));
    BOOST_TEST(same_bits(nd::cumprod(a, {.axis = k}), axis));
    BOOST_TEST(same_bits(nd::nancumsum(a, {.axis = k}), axis));
    BOOST_TEST(same_bits(nd::argsort(a, {.axis = k}), ints({0})));
    BOOST_TEST(same_bits(nd::argpartition(a, 0, {.axis = k}), ints({0})));
    // Not of these, nor where the axis is not one number.
    BOOST_CHECK_THROW(nd::mean(a, k), nd::ValueError);
    BOOST_CHECK_THROW(nd::var(a, k), nd::ValueError);
    BOOST_CHECK_THROW(nd::std(a, k), nd::ValueError);
    BOOST_CHECK_THROW(nd::sort(a, {.axis = k}), nd::ValueError);
    BOOST_CHECK_THROW(nd::partition(a, 0, {.axis = k}), nd::ValueError);
  }
  BOOST_CHECK_THROW(a.sum(1), nd::ValueError);
  BOOST_CHECK_THROW(a.sum({0}), nd::ValueError);
  BOOST_CHECK_THROW(nd::argmax(a, -2), nd::ValueError);
  BOOST_CHECK_THROW(nd::cumsum(a, {.axis = 1}), nd::ValueError);
  BOOST_CHECK_THROW(nd::argsort(a, {.axis = 1}), nd::ValueError);
  BOOST_TEST(same_bits(nd::mean(a), a));
}

BOOST_AUTO_TEST_CASE(solve_takes_two_axes_for_matrices) {
  const Array a = nd::stack({nd::eye(2), 2 * nd::eye(2)}), b = nd::array({{1., 2.}, {3., 4.}});
  BOOST_TEST(same_bits(nd::linalg::solve(a, b), nd::array({{{1., 2.}, {3., 4.}}, {{.5, 1.}, {1.5, 2.}}})));
  BOOST_TEST(same_bits(nd::linalg::solve(a, b(0)), nd::array({{1., 2.}, {.5, 1.}})));
  BOOST_TEST(
      same_bits(nd::linalg::solve(a, b(nd::ellipsis, nd::newaxis)).squeeze(-1), nd::array({{1., 2.}, {1.5, 2.}})));
  const Array threes = nd::stack({nd::eye(3), nd::eye(3)});
  BOOST_CHECK_THROW(nd::linalg::solve(threes, nd::ones({2, 3})), nd::ValueError);
  BOOST_TEST(nd::linalg::solve(threes, nd::ones({3, 2})).shape() == Shape({2, 3, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
