// Short forms of calls: lists instead of arrays, lengths by place, names of dtypes, constants, further names of
// functions.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <catena/ndarray/ndarray.h>

#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::_;
using nd::Array;
using test::difference;

void check(const Array& a, const nd::Shape& shape, nd::Dtype dtype, const std::vector<double>& values) {
  BOOST_TEST(a.shape() == shape);
  BOOST_TEST(a.dtype() == dtype);
  BOOST_TEST(a.to_vector<double>() == values, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_CASE(lengths_and_types_of_new_arrays) {
  check(nd::zeros(1, 2), {1, 2}, nd::float64, {0, 0});
  check(nd::ones(2u, std::size_t(1), 1), {2, 1, 1}, nd::float64, {1, 1});
  BOOST_TEST(nd::empty(2, 0, 4).shape() == (nd::Shape{2, 0, 4}));
  BOOST_CHECK_THROW(nd::zeros(2, -1), nd::ValueError);
  check(nd::zeros<float>({1, 2}), {1, 2}, nd::float32, {0, 0});
  check(nd::ones<int>(2), {2}, nd::int32, {1, 1});
  check(nd::zeros(2, "float32"), {2}, nd::float32, {0, 0});
  check(nd::full({2}, 3, std::string("i2")), {2}, nd::int16, {3, 3});
  check(nd::array({1, 2}, "complex64").real(), {2}, nd::float32, {1, 2});
  check(nd::arange(3, "f2"), {3}, nd::float16, {0, 1, 2});
  check(nd::ones_like(nd::zeros(2), "<u4"), {2}, nd::uint32, {1, 1});
  BOOST_CHECK_THROW(nd::zeros(2, "float31"), nd::TypeError);
  BOOST_TEST(nd::dtype("f4") == nd::float32);
  BOOST_TEST(nd::dtype("=f8") == nd::float64);
  BOOST_TEST(nd::dtype("b1") == nd::bool_);
  BOOST_TEST(nd::dtype("c16") == nd::complex128);
  BOOST_TEST(nd::dtype("i") == nd::int32);
  for (const char* name : {"f3", ">f4", "<", "f", "4f", "f44", ""})
    if (std::string(name) != "f") BOOST_CHECK_THROW(nd::dtype(name), nd::TypeError);
  check(nd::array({1.5, 2.5}).astype("int8"), {2}, nd::int8, {1, 2});
  check(nd::array({1.5, 2.5}).astype<int>(), {2}, nd::int32, {1, 2});
  check(nd::linspace(0, 1, 4, false), {4}, nd::float64, {0, .25, .5, .75});
}

BOOST_AUTO_TEST_CASE(arrays_of_lists_and_arrays) {
  const Array a = nd::arange(3), b = a + 10;
  check(nd::array({a, b}), {2, 3}, nd::int64, {0, 1, 2, 10, 11, 12});
  check(nd::array(std::vector<Array>{a}), {1, 3}, nd::int64, {0, 1, 2});
  BOOST_CHECK_THROW(nd::array({a, nd::zeros(2)}), nd::ValueError);
  check(nd::asarray({1}), {1}, nd::int64, {1});
  check(nd::asarray({1, 2.5}, nd::float32), {2}, nd::float32, {1, 2.5});
  check(nd::asarray(std::vector<float>{3, 4}), {2}, nd::float32, {3, 4});
  const auto [x, y] = nd::meshgrid(a, nd::arange(2));
  check(x, {2, 3}, nd::int64, {0, 1, 2, 0, 1, 2});
  check(y, {2, 3}, nd::int64, {0, 0, 0, 1, 1, 1});
  BOOST_TEST(nd::broadcast_arrays(a, nd::zeros({2, 1}))[0].shape() == (nd::Shape{2, 3}));
  BOOST_TEST(nd::broadcast({a, nd::zeros({2, 1})}).shape() == (nd::Shape{2, 3}));
  BOOST_TEST(nd::broadcast({a, 1}).shape() == (nd::Shape{3}));

  std::vector<double> memory{1, 2, 3, 4, 5, 6, 7};
  nd::wrap(memory, {2, 3})(1) = 0;
  BOOST_TEST(memory == (std::vector<double>{1, 2, 3, 0, 0, 0, 7}), boost::test_tools::per_element());
  BOOST_TEST(nd::wrap(memory).shape() == (nd::Shape{7}));
  BOOST_CHECK_THROW(nd::wrap(memory, {2, 4}), nd::ValueError);
  std::array<float, 2> pair{1, 2};
  nd::wrap(pair) += 1;
  BOOST_TEST(pair[1] == 3.f);
  nd::wrap(std::span(memory).first(2)).fill(9);
  BOOST_TEST(memory[1] == 9.);
}

BOOST_AUTO_TEST_CASE(lists_are_assigned) {
  Array a = nd::zeros({2, 3});
  a(0) = {1, 2, 3};
  a(1) = std::vector<float>{4, 5, 6};
  check(a, {2, 3}, nd::float64, {1, 2, 3, 4, 5, 6});
  a(_, nd::Slice(0, 2)) = {{7, 8.5}, {9, 10}};
  check(a, {2, 3}, nd::float64, {7, 8.5, 3, 9, 10, 6});
  a(0) = {1};
  check(a(0), {3}, nd::float64, {1, 1, 1});
  a(_, {0, 2}) = {5, 6};
  check(a, {2, 3}, nd::float64, {5, 1, 6, 5, 10, 6});
  a(a > 5) = {-1, -2, -3};
  check(a, {2, 3}, nd::float64, {5, 1, -1, 5, -2, -3});
  BOOST_CHECK_THROW(a(0) = (std::vector<int>{1, 2}), nd::ValueError);
  check(a, {2, 3}, nd::float64, {5, 1, -1, 5, -2, -3});
}

BOOST_AUTO_TEST_CASE(elements_by_position) {
  const Array a = nd::arange(6, nd::float32).reshape(2, 3).T();
  BOOST_TEST(a.item<double>(2, 1) == 5.);
  BOOST_TEST(a.item<int>(-1, 0) == 2);
  BOOST_TEST(a.item<int>(1) == 3);  // of the flattened array, whatever its layout
  BOOST_TEST(a.item<int>(-1) == 5);
  BOOST_TEST(a.item(0, 1).to<float>() == 3.f);
  BOOST_TEST(nd::arange(3).item<int>(2) == 2);
  BOOST_CHECK_THROW(a.item<int>(6), nd::IndexError);
  BOOST_CHECK_THROW(a.item<int>(-7), nd::IndexError);
  BOOST_CHECK_THROW(a.item<int>(0, 2), nd::IndexError);
  BOOST_CHECK_THROW(a.item<int>(0, 0, 0), nd::ValueError);
  BOOST_CHECK_THROW(nd::zeros(0).item<int>(0), nd::IndexError);
  BOOST_TEST(a({0, 2}).item<int>(1, 1) == 5);
}

BOOST_AUTO_TEST_CASE(index_lists) {
  const Array v = nd::zeros(4);
  nd::scatter_add(v, {0, 0, 1}, 1);
  check(v, {4}, nd::float64, {2, 1, 0, 0});
  v.scatter_add({3, 3}, {10});
  check(v, {4}, nd::float64, {2, 1, 0, 20});
  nd::scatter_add(v, {2}, 5);
  check(v, {4}, nd::float64, {2, 1, 5, 20});
  const Array m = nd::zeros({2, 2}), i = nd::array({0, 0}), j = nd::array({1, 1});
  nd::scatter_add(m, {i, j}, 1);  // a list of keys
  m.scatter_add({_, {0, 0}}, 3);
  check(m, {2, 2}, nd::float64, {6, 2, 6, 0});
  const std::vector<int> list{3, 0};
  check(v(std::span<const int>(list)), {2}, nd::float64, {20, 2});
  check(v(std::array{1, -1}), {2}, nd::float64, {1, 20});
  check(nd::take(v, std::array{1, 1}), {2}, nd::float64, {1, 1});
  check(v(nd::Slice(2)), {2}, nd::float64, {2, 1});
  check(v(nd::Slice(-2, nd::None)), {2}, nd::float64, {5, 20});
  check(v(nd::Slice(nd::None, nd::None, -2)), {2}, nd::float64, {20, 1});
  BOOST_TEST(v(nd::None, nd::Slice::all()).shape() == (nd::Shape{1, 4}));
  check(m.sum(nd::None), {}, nd::float64, {14});
  BOOST_TEST(nd::len(m) == 2);
}

BOOST_AUTO_TEST_CASE(several_axes_and_named_options) {
  const Array a = nd::arange(6).reshape(2, 3);
  check(nd::flip(a), {2, 3}, nd::int64, {5, 4, 3, 2, 1, 0});
  check(nd::flip(a, {1}), {2, 3}, nd::int64, {2, 1, 0, 5, 4, 3});
  check(nd::flip(a, {0, -1}), {2, 3}, nd::int64, {5, 4, 3, 2, 1, 0});
  BOOST_TEST(nd::flip(a).shares_memory(a));
  BOOST_CHECK_THROW(nd::flip(a, {0, 0}), nd::ValueError);
  check(nd::roll(a, {1, 1}, {0, 1}), {2, 3}, nd::int64, {5, 3, 4, 2, 0, 1});
  check(nd::roll(a, 1, {0, 1}), {2, 3}, nd::int64, {5, 3, 4, 2, 0, 1});
  check(nd::roll(a, {1, 1}, 1), {2, 3}, nd::int64, {1, 2, 0, 4, 5, 3});
  check(nd::roll(a, {2, 3}, {0, 1}), {2, 3}, nd::int64, {0, 1, 2, 3, 4, 5});
  BOOST_TEST(!nd::roll(a, {2, 3}, {0, 1}).shares_memory(a));
  BOOST_CHECK_THROW(nd::roll(a, {1, 1, 1}, {0, 1}), nd::ValueError);
  BOOST_CHECK_THROW(nd::roll(a, {1, 1}, {0, 2}), nd::ValueError);
  check(nd::concatenate({a, a}, {.axis = 1}), {2, 6}, nd::int64, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  check(nd::concatenate({a, nd::zeros(2)}, {.axis = {}, .dtype = nd::float32}), {8}, nd::float32,
        {0, 1, 2, 3, 4, 5, 0, 0});
  BOOST_CHECK_THROW(nd::concatenate({Array()}, {.axis = 0}), nd::TypeError);
  check(nd::pad(nd::arange(2), 1, {.constant_values = 5}), {4}, nd::int64, {5, 0, 1, 5});
  check(nd::clip(a, {}, 2), {2, 3}, nd::int64, {0, 1, 2, 2, 2, 2});
  check(a.clip(3, {}), {2, 3}, nd::int64, {3, 3, 3, 3, 4, 5});
  check(nd::clip(a, 1, 4), {2, 3}, nd::int64, {1, 1, 2, 3, 4, 4});
  BOOST_CHECK_THROW(nd::clip(a, {}, {}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(further_names) {
  const Array x = nd::array({0.25, 0.5});
  BOOST_TEST(difference(nd::asin(x), nd::arcsin(x)) == "");
  BOOST_TEST(difference(nd::acos(x), nd::arccos(x)) == "");
  BOOST_TEST(difference(nd::atan(x), nd::arctan(x)) == "");
  BOOST_TEST(difference(nd::asinh(x), nd::arcsinh(x)) == "");
  BOOST_TEST(difference(nd::acosh(x + 1), nd::arccosh(x + 1)) == "");
  BOOST_TEST(difference(nd::atanh(x), nd::arctanh(x)) == "");
  BOOST_TEST(difference(nd::atan2(x, 2), nd::arctan2(x, 2)) == "");
  check(nd::pow(nd::arange(4), 2), {4}, nd::int64, {0, 1, 4, 9});
  BOOST_TEST(nd::ufunc("atan2").name() == "arctan2");
  check(nd::fabs(nd::array({-1, 2})), {2}, nd::float64, {1, 2});
  check(nd::fabs(nd::array({-1, 2}, nd::int8)), {2}, nd::float16, {1, 2});
  check(nd::fabs(nd::array({-1, 2}, nd::int16)), {2}, nd::float32, {1, 2});
  check(nd::fabs(nd::array({-1.5f})), {1}, nd::float32, {1.5});
  check(nd::fabs(-2), {}, nd::float64, {2});
  BOOST_CHECK_THROW(nd::fabs(nd::zeros(2, nd::complex64)), nd::TypeError);
  const auto f = nd::fuse([](auto p, auto q) { return nd::atan2(nd::asin(p), q) + nd::pow(q, 2) + nd::divide(1, q); });
  BOOST_TEST(difference(f(x, x), nd::arctan2(nd::arcsin(x), x) + nd::power(x, 2) + 1 / x) == "");
  BOOST_TEST(nd::issubdtype(nd::float32, nd::floating));
  BOOST_TEST(!nd::issubdtype(nd::uint8, nd::signedinteger));
  BOOST_TEST(nd::array2string(x) == nd::array_str(x));
  BOOST_TEST(std::abs(nd::sin(nd::array(nd::pi)).item<double>()) < 1e-15);
  BOOST_TEST(nd::e == std::exp(1.0));
  BOOST_TEST(std::isnan(nd::full({1}, nd::nan).item<double>()));
  BOOST_TEST(nd::full({1}, -nd::inf).item<double>() == -HUGE_VAL);
  nd::random::RandomState g(3), same(3);
  BOOST_TEST(difference(g.randn(2, 3), same.randn({2, 3})) == "");
  BOOST_TEST(difference(g.rand(2, 3), same.rand({2, 3})) == "");
  nd::synchronize();
}

BOOST_AUTO_TEST_CASE(allocators_by_cupys_rules) {
  struct Restore {
    ~Restore() { nd::set_allocator(nd::pool_allocator()); }
  } const restore;
  const auto from_pool = [] {
    const std::size_t before = nd::memory_pool().used_bytes();
    const Array a = nd::zeros(100000);
    return nd::memory_pool().used_bytes() > before;
  };
  BOOST_TEST((nd::get_allocator() == nd::pool_allocator()));
  BOOST_TEST(from_pool());
  for (const auto& set : {+[] { nd::set_allocator(nullptr); }, +[] { nd::cuda::set_allocator(); },
                          +[] { nd::cuda::set_allocator(nullptr); }}) {
    set();
    BOOST_TEST((nd::get_allocator() == nd::raw_allocator()));
    BOOST_TEST(!from_pool());
    nd::set_allocator(nd::pool_allocator());
    BOOST_TEST(from_pool());
  }
}
