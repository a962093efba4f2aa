// Arrays as they are typed: positional arguments, numbers in and out, index lists, iteration, proxies, null arrays.
#include <array>
#include <complex>
#include <list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/ndarray/ndarray.h>

#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::_;
using nd::Array;

std::vector<std::int64_t> ints(const Array& a) { return a.to_vector<std::int64_t>(); }
using Ints = std::vector<std::int64_t>;

void check(const Array& a, const nd::Shape& shape, nd::Dtype dtype, const std::vector<double>& values) {
  BOOST_TEST(a.shape() == shape);
  BOOST_TEST(a.dtype() == dtype);
  BOOST_TEST(a.to_vector<double>() == values, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_CASE(axes_by_position) {
  const Array a = nd::arange(6).reshape(2, 3);
  check(a.sum(0), {3}, nd::int64, {3, 5, 7});
  check(a.sum(-1), {2}, nd::int64, {3, 12});
  check(a.sum({0, 1}), {}, nd::int64, {15});
  check(a.sum({1}), {2}, nd::int64, {3, 12});
  check(a.sum(0, nd::float32), {3}, nd::float32, {3, 5, 7});
  check(a.sum(1, {.keepdims = true}), {2, 1}, nd::int64, {3, 12});
  check(nd::sum(a, 1), {2}, nd::int64, {3, 12});
  check(nd::mean(a, {0, 1}), {}, nd::float64, {2.5});
  check(nd::mean(a, 0, nd::float32), {3}, nd::float32, {1.5, 2.5, 3.5});
  check(nd::var(a, 1), {2}, nd::float64, {2. / 3, 2. / 3});
  check(nd::std(2 * a, 0, {.keepdims = true}), {1, 3}, nd::float64, {3, 3, 3});
  check(nd::argmax(a, 1), {2}, nd::int64, {2, 2});
  check(a.argmin(0), {3}, nd::int64, {0, 0, 0});
  check(nd::max(a, 0), {3}, nd::int64, {3, 4, 5});
  check(a.min(1), {2}, nd::int64, {0, 3});
  check(nd::any(a, 0), {3}, nd::bool_, {1, 1, 1});
  check(a.all(1), {2}, nd::bool_, {0, 1});
  check(nd::count_nonzero(a, 1), {2}, nd::int64, {2, 3});
  check(nd::cumsum(a, 1), {2, 3}, nd::int64, {0, 1, 3, 3, 7, 12});
  check(a.cumsum(0), {2, 3}, nd::int64, {0, 1, 2, 3, 5, 7});
  check(a.cumsum(), {6}, nd::int64, {0, 1, 3, 6, 10, 15});
  check(nd::cumprod(a, 0, nd::float32), {2, 3}, nd::float32, {0, 1, 2, 0, 4, 10});
  const Array b = nd::array({{3, 1}, {2, 4}});
  check(nd::sort(b, 0), {2, 2}, nd::int64, {2, 1, 3, 4});
  check(nd::argsort(b, 1), {2, 2}, nd::int64, {1, 0, 0, 1});
  check(b.argsort(), {2, 2}, nd::int64, {1, 0, 0, 1});
  check(nd::take(b, {1, 0, 1}, 1), {2, 3}, nd::int64, {1, 3, 1, 4, 2, 4});
  check(b.take(0, 0), {2}, nd::int64, {3, 1});
  check(nd::partition(nd::array({3, 1, 2}), 0)(nd::Slice(0, 1)), {1}, nd::int64, {1});
  BOOST_CHECK_THROW(a.sum(2), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(sizes_and_dtypes_by_position) {
  const std::vector<float> v(4, 2.f);
  check(nd::full(3, 1), {3}, nd::int64, {1, 1, 1});
  check(nd::full({1, 2}, 1.5, nd::float32), {1, 2}, nd::float32, {1.5, 1.5});
  check(nd::zeros({v.size(), 1}), {4, 1}, nd::float64, {0, 0, 0, 0});
  check(nd::zeros(2, nd::int8), {2}, nd::int8, {0, 0});
  check(nd::ones({2}, {.dtype = nd::uint8}), {2}, nd::uint8, {1, 1});
  BOOST_TEST(nd::empty(v.size()).shape() == nd::Shape({4}));
  BOOST_TEST(nd::zeros(std::vector<std::size_t>{2, 3}).shape() == nd::Shape({2, 3}));
  check(nd::arange(3, nd::float32), {3}, nd::float32, {0, 1, 2});
  check(nd::arange(1, 3, nd::int16), {2}, nd::int16, {1, 2});
  check(nd::arange(0, 1, 0.5, nd::float32), {2}, nd::float32, {0, 0.5});
  check(nd::linspace(0, 1, 3, nd::float32), {3}, nd::float32, {0, 0.5, 1});
  check(nd::eye(2, 3, 1), {2, 3}, nd::float64, {0, 1, 0, 0, 0, 1});
  check(nd::eye(1, nd::int8), {1, 1}, nd::int8, {1});
  check(nd::array({1, 2}, nd::float32), {2}, nd::float32, {1, 2});
  check(nd::arange(6).reshape({v.size() / 2, 3}), {2, 3}, nd::int64, {0, 1, 2, 3, 4, 5});
}

BOOST_AUTO_TEST_CASE(sizes_of_random_arrays) {
  nd::random::seed(1);
  BOOST_TEST(nd::random::uniform({3}).shape() == nd::Shape({3}));
  BOOST_TEST(nd::random::uniform({3, 2}, nd::float32).dtype() == nd::float32);
  BOOST_TEST(nd::random::uniform(-1, 1, 4).shape() == nd::Shape({4}));
  BOOST_TEST(nd::random::uniform(-1, 1, {5, 6}, {.dtype = nd::float32}).shape() == nd::Shape({5, 6}));
  BOOST_TEST(nd::random::normal(0, 1, {5, 6}).shape() == nd::Shape({5, 6}));
  BOOST_TEST(nd::random::normal({2, 2}).shape() == nd::Shape({2, 2}));
  BOOST_TEST(nd::random::normal(nd::zeros({2, 1}), nd::ones(3)).shape() == nd::Shape({2, 3}));
  BOOST_TEST(nd::random::normal(0, 1, {2}, nd::float32).dtype() == nd::float32);
  BOOST_TEST(nd::random::randint(10, {3}).shape() == nd::Shape({3}));
  BOOST_TEST(nd::random::randint(5, 10, 3, nd::int32).dtype() == nd::int32);
  BOOST_TEST(nd::random::rand(2, 3).shape() == nd::Shape({2, 3}));
  BOOST_TEST(nd::random::randn({2, 3}, nd::float32).dtype() == nd::float32);
  nd::random::RandomState g(7);
  BOOST_TEST(g.gumbel(0, 1, 2).shape() == nd::Shape({2}));
  BOOST_TEST(g.lognormal(0, 1, {2}).shape() == nd::Shape({2}));
}

BOOST_AUTO_TEST_CASE(numbers_in) {
  const double plain[] = {1, 2};
  const std::array<float, 2> fixed{1, 2};
  const std::vector<std::vector<int>> nested{{1, 2}, {3, 4}};
  const std::list<short> linked{1, 2, 3};
  const std::vector<bool> flags{true, false};
  check(nd::array({1, 2.5}), {2}, nd::float64, {1, 2.5});
  check(nd::array({{1, 2.5}, {3, 4}}), {2, 2}, nd::float64, {1, 2.5, 3, 4});
  check(nd::array({true, 2}), {2}, nd::int64, {1, 2});
  check(nd::array(plain), {2}, nd::float64, {1, 2});
  check(nd::array(fixed), {2}, nd::float32, {1, 2});
  check(nd::array(std::span(plain)), {2}, nd::float64, {1, 2});
  check(nd::array(nested), {2, 2}, nd::int32, {1, 2, 3, 4});
  check(nd::array(linked), {3}, nd::int16, {1, 2, 3});
  check(nd::array(linked.begin(), linked.end()), {3}, nd::int16, {1, 2, 3});
  check(nd::array(plain, plain + 1, nd::float32), {1}, nd::float32, {1});
  check(nd::array(flags), {2}, nd::bool_, {1, 0});
  check(nd::array(nested, {4, 1}), {4, 1}, nd::int32, {1, 2, 3, 4});
  check(nd::array({1, 2}, {.dtype = nd::int8, .ndmin = 2}), {1, 2}, nd::int8, {1, 2});
  check(nd::array(2.5f), {}, nd::float32, {2.5});
  check(nd::array(nd::array({1}).item()), {}, nd::int64, {1});
  BOOST_TEST((nd::array({1.0, std::complex<double>(0, 1)}).dtype() == nd::complex128));
  BOOST_CHECK_THROW(nd::array(std::vector<std::vector<int>>{{1, 2}, {3}}), nd::ValueError);
  BOOST_CHECK_THROW(nd::array(nested, {3}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(numbers_out) {
  const Array a = nd::array({2.5});
  BOOST_TEST(double(a) == 2.5);
  BOOST_TEST(static_cast<int>(a) == 2);
  BOOST_TEST(double(a.item() + 1) == 3.5);
  BOOST_TEST((1 - a.item() == -1.5));
  BOOST_TEST((nd::arange(3).sum().item() == 3));
  BOOST_TEST((a.item() > 2));
  BOOST_TEST((nd::array(3).item() / 2 == 1.5));
  BOOST_TEST((nd::Scalar(INT64_MAX) + 1 == std::uint64_t(INT64_MAX) + 1));
  BOOST_TEST((-nd::Scalar(true) == -1));
  BOOST_CHECK_THROW((void)(nd::Scalar(std::complex<double>(0, 1)) < 1), nd::TypeError);
  BOOST_TEST(test::message_of<nd::TypeError>([] { (void)int(nd::arange(2)); }) ==
             "number: an array of shape (2,) has 2 elements, and only an array of one element is a number; to_vector() "
             "gives them all");
  BOOST_CHECK_THROW((void)double(nd::zeros({0, 3})), nd::TypeError);
  BOOST_CHECK_THROW(nd::arange(2).item<int>(), nd::ValueError);
  const auto [rows, columns] = nd::zeros({2, 3}).shape<2>();
  BOOST_TEST(rows == 2);
  BOOST_TEST(columns == 3);
  BOOST_CHECK_THROW(nd::zeros(2).shape<2>(), nd::ValueError);
  std::int64_t total = 0;
  for (const Array row : nd::arange(6).reshape(2, 3)) total = 10 * total + row.sum().item<std::int64_t>();
  BOOST_TEST(total == 42);
  for (Array row : a.reshape(1, 1)) row += 1;
  BOOST_TEST(double(a) == 3.5);
  BOOST_CHECK_THROW(nd::array(1).begin(), nd::TypeError);
  check(nd::round(nd::array({1.25, -0.75, 2.5}), 1), {3}, nd::float64, {1.2, -0.8, 2.5});
  check(nd::array({0.5, 1.5, 2.5}).round(), {3}, nd::float64, {0, 2, 2});
  check(nd::array({15, 25}).round(-1), {2}, nd::int64, {20, 20});
}

BOOST_AUTO_TEST_CASE(lists_of_indices) {
  Array a = nd::arange(12).reshape(3, 4);
  BOOST_TEST(ints(a({0, 2})) == Ints({0, 1, 2, 3, 8, 9, 10, 11}));
  BOOST_TEST(ints(a[{2}]) == Ints({8, 9, 10, 11}));
  BOOST_TEST(ints(a(_, {0, 3})) == Ints({0, 3, 4, 7, 8, 11}));
  BOOST_TEST(ints(a({0, 1}, {2, 3})) == Ints({2, 7}));
  BOOST_TEST(ints(a({0, 2}, _)(0)) == Ints({0, 1, 2, 3}));
  BOOST_TEST(ints(a(_, 1)) == Ints({1, 5, 9}));
  BOOST_TEST(ints(a(std::vector<int>{1})) == Ints({4, 5, 6, 7}));
  BOOST_TEST(ints(a(std::vector<std::size_t>{0}, std::vector<std::uint8_t>{3})) == Ints({3}));
  a({0, 1}) = 0;
  a(_, {0}) += 5;
  BOOST_TEST(ints(a) == Ints({5, 0, 0, 0, 5, 0, 0, 0, 13, 9, 10, 11}));
  nd::scatter_add(a, {_, std::vector<int>{1, 1}}, 1);
  BOOST_TEST(ints(a(_, 1)) == Ints({2, 2, 11}));
}

BOOST_AUTO_TEST_CASE(proxies_read_like_arrays) {
  Array a = nd::arange(6);
  const Array m = a > 2;
  BOOST_TEST(a(m).sum().item<int>() == 12);
  BOOST_TEST(ints(-a(m)) == Ints({-3, -4, -5}));
  BOOST_TEST(ints(a(m)(0)) == Ints({3}));
  BOOST_TEST(ints(a(m) * a(m)) == Ints({9, 16, 25}));
  BOOST_TEST(a(m).shape() == nd::Shape({3}));
  BOOST_TEST(a({1}).item<int>() == 1);
  BOOST_TEST(int(a({2})) == 2);
  BOOST_TEST(a(m).max(0).item<int>() == 5);
  for (const Array x : a({4, 5})) BOOST_TEST(x.item<int>() >= 4);
  a(m) |= 8;
  BOOST_TEST(ints(a) == Ints({0, 1, 2, 11, 12, 13}));
  a(m) <<= 1;
  a({0}) -= 1;
  BOOST_TEST(ints(a) == Ints({-1, 1, 2, 22, 24, 26}));
  auto p = a({1, 2});
  p += 10;  // of the copy
  BOOST_TEST(ints(p) == Ints({11, 12}));
  BOOST_TEST(ints(a({1, 2})) == Ints({1, 2}));
  const auto late = a({1});
  a += 1;
  BOOST_CHECK_THROW(late.sum(), nd::RuntimeError);
}

// Spellings that are refused at compile time.
static_assert(!std::is_constructible_v<Array, int>);
static_assert(!std::is_constructible_v<Array, std::nullptr_t>);
static_assert(!std::is_assignable_v<Array&, int>);
static_assert(std::is_assignable_v<Array&&, int>);
static_assert(!std::is_assignable_v<nd::IndexProxy&, int>);
template <class A>
concept adds_in_place = requires(A& a) {
  a += 1;
};
static_assert(adds_in_place<Array> && !adds_in_place<const Array>);

BOOST_AUTO_TEST_CASE(null_arrays_throw_from_every_member) {
  const Array null;
  Array moved = nd::zeros(2);
  const Array taken = std::move(moved);
  const auto throws = [&](const char* name, auto&& call) {
    for (const Array* a : {&null, static_cast<const Array*>(&moved)}) try {
        call(*a);
        BOOST_ERROR(std::string(name) + " did not throw");
      } catch (const nd::TypeError&) {
        BOOST_TEST_MESSAGE(name);
      }
  };
#define THROWS(...) throws(#__VA_ARGS__, [](const Array& a) { (void)(__VA_ARGS__); })
  THROWS(a.shape());
  THROWS(a.shape(0));
  THROWS(a.shape<1>());
  THROWS(a.strides());
  THROWS(a.ndim());
  THROWS(a.size());
  THROWS(a.dtype());
  THROWS(a.itemsize());
  THROWS(a.nbytes());
  THROWS(a.device());
  THROWS(a.is_c_contiguous());
  THROWS(a.is_f_contiguous());
  THROWS(a.owndata());
  THROWS(a.flags());
  THROWS(a.shares_memory(nd::zeros(1)));
  THROWS(nd::zeros(1).shares_memory(a));
  THROWS(a.len());
  THROWS(a.version());
  THROWS(a.data<double>());
  THROWS(a.item());
  THROWS(a.item<int>());
  THROWS(double(a));
  THROWS(a.to_vector<int>());
  THROWS((a.accessor<double, 1>()));
  THROWS(a.begin());
  THROWS(a.end());
  THROWS(a(0));
  THROWS(a[0]);
  THROWS(a(_, 0));
  THROWS(a({0}).get());
  THROWS(a({0}) = 1);
  THROWS(a(std::vector<bool>{true}).get());
  THROWS(a.reshape(1));
  THROWS(a.transpose());
  THROWS(a.transpose({0}));
  THROWS(a.T());
  THROWS(a.swapaxes(0, 0));
  THROWS(a.ravel());
  THROWS(a.flatten());
  THROWS(a.squeeze());
  THROWS(a.view());
  THROWS(a.view(nd::int8));
  THROWS(a.real());
  THROWS(a.imag());
  THROWS(a.copy());
  THROWS(a.astype(nd::int8));
  THROWS(a.to_device(nd::Device{}));
  THROWS((a.fill(1), 0));
  THROWS(a.sum());
  THROWS(a.sum(0));
  THROWS(a.prod());
  THROWS(a.mean());
  THROWS(a.max());
  THROWS(a.min());
  THROWS(a.var());
  THROWS(a.std());
  THROWS(a.argmax());
  THROWS(a.argmin());
  THROWS(a.any());
  THROWS(a.all());
  THROWS(a.cumsum());
  THROWS(a.cumprod());
  THROWS(a.clip(0, 1));
  THROWS(a.conjugate());
  THROWS(a.conj());
  THROWS(a.round());
  THROWS(a.dot(nd::zeros(1)));
  THROWS(nd::zeros(1).dot(a));
  THROWS(a.take({0}));
  THROWS(a.compress(nd::ones(1)));
  THROWS(a.diagonal());
  THROWS(a.trace());
  THROWS(a.repeat(1));
  THROWS(a.nonzero());
  THROWS(a.argsort());
  THROWS(a.argpartition(0));
  THROWS(a.searchsorted(1));
  THROWS((a.sort(), 0));
  THROWS(a + 1);
  THROWS(a == a);
  THROWS(-a);
  THROWS(~a);
  THROWS(+a);
  THROWS(a(nd::ellipsis) = 1);
  THROWS((Array(a) += 1));
#undef THROWS
  BOOST_CHECK_THROW(if (null){}, nd::Error);
}
