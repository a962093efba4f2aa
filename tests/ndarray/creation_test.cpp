// Creation: dtypes that are inferred, layouts, errors.
#include <catena/ndarray/routines/creation.h>

#include <limits>

#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::difference;
using test::message_of;

}  // namespace

BOOST_AUTO_TEST_SUITE(creation)

BOOST_AUTO_TEST_CASE(by_shape) {
  BOOST_TEST(nd::empty({2, 3}).dtype() == nd::float64);
  BOOST_TEST(nd::zeros(4, nd::int8).shape() == nd::Shape{4});
  BOOST_TEST(nd::ones({}).shape() == nd::Shape{});
  BOOST_TEST(nd::zeros({0, 5}).size() == 0);
  for (nd::Dtype t : test::kAllDtypes) {
    BOOST_TEST(nd::zeros(3, t).to_vector<double>() == std::vector<double>(3, 0));
    BOOST_TEST(nd::ones(3, t).to_vector<double>() == std::vector<double>(3, 1));
    BOOST_TEST(nd::full({3}, 1, {.dtype = t}).dtype() == t);
  }
  const Array f = nd::zeros({2, 3}, {.dtype = nd::float32, .order = nd::Order::F});
  BOOST_TEST(f.is_f_contiguous());
  BOOST_TEST(!f.is_c_contiguous());
  BOOST_TEST(f.strides() == (nd::Strides{4, 8}));
  BOOST_TEST(message_of<nd::ValueError>([] { nd::empty({2, -3}); }) == "empty: shape (2, -3) has a negative length");
  BOOST_TEST(message_of<nd::ValueError>([] { nd::zeros({2, -3}); }) == "zeros: shape (2, -3) has a negative length");
  BOOST_TEST(message_of<nd::ValueError>([] { nd::ones({-3}); }) == "ones: shape (-3,) has a negative length");
  BOOST_TEST(message_of<nd::OutOfMemoryError>([] {
               nd::zeros({std::int64_t(1) << 31, std::int64_t(1) << 31});
             }) == "zeros: shape (2147483648, 2147483648) of float64 needs more than 2^63 - 1 bytes");
  BOOST_TEST(
      message_of<nd::OutOfMemoryError>([] { nd::full({std::int64_t(1) << 62}, 1.5); }).starts_with("full: shape "));
  BOOST_TEST(message_of<nd::OutOfMemoryError>([] { nd::arange(std::int64_t(1) << 62); }).starts_with("arange: shape "));
  BOOST_TEST(message_of<nd::ValueError>([] { nd::eye(-1); }) == "eye: shape (-1, -1) has a negative length");
  BOOST_CHECK_THROW(nd::empty({std::int64_t(1) << 40, std::int64_t(1) << 40}), nd::ValueError);
  BOOST_CHECK_THROW(nd::empty({std::int64_t(1) << 62}), nd::OutOfMemoryError);
  BOOST_CHECK_THROW(nd::empty(nd::Shape::filled(33, 1)), nd::ValueError);
  BOOST_TEST(nd::ones(nd::Shape::filled(32, 1)).sum().item<int>() == 1);
}

BOOST_AUTO_TEST_CASE(dtype_of_the_value) {
  BOOST_TEST(nd::full({2}, 3).dtype() == nd::int64);
  BOOST_TEST(nd::full({2}, 3.0).dtype() == nd::float64);
  BOOST_TEST(nd::full({2}, 3.0f).dtype() == nd::float32);
  BOOST_TEST(nd::full({2}, true).dtype() == nd::bool_);
  BOOST_TEST(nd::full({2}, std::uint8_t(3)).dtype() == nd::uint8);
  BOOST_TEST(nd::full({2}, nd::Scalar(3.0)).dtype() == nd::float64);
  BOOST_TEST(nd::full({2}, -0.5, {.dtype = nd::uint8}).to_vector<int>() == (std::vector<int>{0, 0}));
  BOOST_CHECK_THROW(nd::full({2}, -1.5, {.dtype = nd::uint8}), nd::OverflowError);
}

BOOST_AUTO_TEST_CASE(likes) {
  const Array a = nd::ones({3, 2}, nd::int16).T();
  for (const Array& b : {nd::empty_like(a), nd::zeros_like(a), nd::ones_like(a), nd::full_like(a, 7)}) {
    BOOST_TEST(b.shape() == (nd::Shape{2, 3}));
    BOOST_TEST(b.dtype() == nd::int16);
    BOOST_TEST(b.is_c_contiguous());
  }
  BOOST_TEST(nd::full_like(a, 7).sum().item<int>() == 42);
  BOOST_TEST(nd::zeros_like(a, nd::float32).dtype() == nd::float32);
}

BOOST_AUTO_TEST_CASE(nested_lists) {
  BOOST_TEST(nd::array({1.0, 2.0}).dtype() == nd::float64);
  BOOST_TEST(nd::array({1, 2}).dtype() == nd::int64);
  BOOST_TEST(nd::array({1.f, 2.f}).dtype() == nd::float32);
  BOOST_TEST(nd::array({true, false}).dtype() == nd::bool_);
  BOOST_TEST(nd::array({1, 2}, {.dtype = nd::float16}).dtype() == nd::float16);
  const Array m = nd::array({{1, 2, 3}, {4, 5, 6}});
  BOOST_TEST(m.shape() == (nd::Shape{2, 3}));
  BOOST_TEST(m.to_vector<int>() == (std::vector<int>{1, 2, 3, 4, 5, 6}));
  const Array t = nd::array({{{1.0, 2.0}}, {{3.0, 4.0}}, {{5.0, 6.0}}});
  BOOST_TEST(t.shape() == (nd::Shape{3, 1, 2}));
  BOOST_TEST(nd::array({{true}, {false}}).to_vector<bool>() == (std::vector<bool>{true, false}));
  BOOST_TEST(nd::array(5).shape() == nd::Shape{});
  BOOST_TEST(nd::array(5, {.ndmin = 2}).shape() == (nd::Shape{1, 1}));
  BOOST_TEST(message_of<nd::ValueError>([] {
               nd::array({{1, 2}, {3}});
             }) == "array: nested lists have different lengths, 2 and 1");
  BOOST_CHECK_THROW(nd::array({{{1}, {2}}, {{3}}}), nd::ValueError);
  BOOST_CHECK_THROW(nd::array({{{1}, {2, 3}}}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(host_data) {
  const std::vector<std::int32_t> v = {1, 2, 3, 4};
  BOOST_TEST(nd::array(v).dtype() == nd::int32);
  BOOST_TEST(nd::array(v, nd::Shape{2, 2}).shape() == (nd::Shape{2, 2}));
  BOOST_TEST(nd::array(v.data(), {2}).to_vector<int>() == (std::vector<int>{1, 2}));
  BOOST_TEST(nd::array(std::vector<bool>{true, false}).dtype() == nd::bool_);
  BOOST_TEST(nd::array(std::vector<double>{}).shape() == nd::Shape{0});
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::array(v, nd::Shape{3}); }) ==
             "array: 4 values do not fill the shape (3,) of 3 elements");
}

BOOST_AUTO_TEST_CASE(from_arrays) {
  const Array a = nd::arange(6).reshape(2, 3);
  BOOST_TEST(!nd::array(a).shares_memory(a));
  BOOST_TEST(nd::array(a, {.copy = false}).get() == a.get());
  const Array wide = nd::array(a, {.copy = false, .ndmin = 4});
  BOOST_TEST(wide.shape() == (nd::Shape{1, 1, 2, 3}));
  BOOST_TEST(wide.shares_memory(a));
  BOOST_TEST(a.ndim() == 2);
  BOOST_TEST(nd::asarray(a).get() == a.get());
  BOOST_TEST(nd::asanyarray(a, nd::int64).get() == a.get());
  BOOST_TEST(nd::asarray(a, nd::float32).dtype() == nd::float32);
  BOOST_TEST(nd::ascontiguousarray(a).get() == a.get());
  BOOST_TEST(nd::ascontiguousarray(a.T()).is_c_contiguous());
  BOOST_TEST(test::same_bits(nd::ascontiguousarray(a.T()), a.T()));
  BOOST_TEST(nd::ascontiguousarray(nd::array(1)).ndim() == 0);
}

// Every dtype and step, against the formulas on the host.
BOOST_AUTO_TEST_CASE(values_of_ranges) {
  for (const nd::Dtype t : test::kAllDtypes) {
    if (t == nd::bool_) continue;
    nd::visit_real_dtype("arange", t, [&](auto tag) {
      using E = typename decltype(tag)::type;
      using C = decltype(catena::load(E()));
      for (const double step : {1.0, 3.0, -2.0}) {
        const std::int64_t n = 3001;
        const Array a = nd::arange(5, 5 + n * step, step, t);
        BOOST_REQUIRE(a.size() == n);
        const auto values = a.to_vector<E>();
        bool right = true;
        for (std::int64_t k = 0; k < n; ++k) {
          E expected;
          if constexpr (std::is_integral_v<E>)
            expected = E(std::uint64_t(E(5)) + std::uint64_t(k) * std::uint64_t(std::int64_t(step)));
          else expected = E(C(5) + C(k) * C(step));
          const E value = values[std::size_t(k)];
          right &= std::memcmp(&value, &expected, sizeof(E)) == 0;
        }
        BOOST_TEST(right, t << " by " << step);
      }
      for (const bool endpoint : {false, true}) {
        const std::int64_t n = 1001, div = endpoint ? n - 1 : n;
        const Array a = nd::linspace(-3.7, 90.1, n, {.endpoint = endpoint, .dtype = t});
        const auto values = a.to_vector<E>();
        const double step = (90.1 - -3.7) / double(div);
        bool right = true;
        for (std::int64_t k = 0; k < n; ++k) {
          const double v = endpoint && k == n - 1 ? 90.1 : -3.7 + double(k) * step;
          const E expected = catena::convert<E>(std::is_integral_v<E> ? std::floor(v) : v);
          const E value = values[std::size_t(k)];
          right &= std::memcmp(&value, &expected, sizeof(E)) == 0;
        }
        BOOST_TEST(right, t << " endpoint " << endpoint);
      }
    });
  }
  BOOST_TEST(nd::linspace(3, 9, 1).to_vector<double>() == std::vector<double>{3});
  BOOST_TEST(nd::linspace(3, 9, 1, {.endpoint = false}).to_vector<double>() == std::vector<double>{3});
  BOOST_TEST(nd::linspace(3, 9, 0).size() == 0);
  BOOST_TEST((nd::linspace(0, 1, 3, nd::complex64).dtype() == nd::complex64));
  // A step that underflows: the elements still differ.
  const double least = std::numeric_limits<double>::denorm_min();
  BOOST_TEST(nd::linspace(0, 2 * least, 5).to_vector<double>() ==
             (std::vector<double>{0, 0, least, 2 * least, 2 * least}));
  BOOST_CHECK_THROW(nd::arange(3, nd::complex64), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(experimental_features_warn) {
  static std::vector<std::string> warnings;
  warnings.clear();
  const auto previous = nd::set_warning_handler([](std::string_view category, std::string_view message) {
    warnings.push_back(catena::concat(category, ": ", message));
  });
  nd::experimental("nd::my_function");
  BOOST_TEST(!nd::disable_experimental_feature_warning());
  nd::set_disable_experimental_feature_warning(true);
  BOOST_TEST(nd::disable_experimental_feature_warning());
  nd::experimental("nd::my_function");
  nd::set_disable_experimental_feature_warning(false);
  nd::set_warning_handler(previous);
  BOOST_TEST(warnings ==
             (std::vector<std::string>{
                 "FutureWarning: nd::my_function is experimental. The interface can change in the future."}));
}

BOOST_AUTO_TEST_CASE(ranges) {
  BOOST_TEST(nd::arange(3, {.dtype = nd::float16}).dtype() == nd::float16);
  BOOST_TEST(nd::arange(0.0, 1.0, 0.1).size() == 10);
  BOOST_TEST(nd::arange(2, {.dtype = nd::bool_}).to_vector<bool>() == (std::vector<bool>{false, true}));
  BOOST_TEST(message_of<nd::TypeError>([] { nd::arange(3, {.dtype = nd::bool_}); }) ==
             "arange: a range of 3 bools; at most two make sense");
  BOOST_TEST(message_of<nd::ValueError>([] { nd::arange(0, 3, 0); }) == "arange: the step is 0");
  BOOST_CHECK_THROW(nd::arange(0.0, std::nan("")), nd::ValueError);
  BOOST_CHECK_THROW(nd::arange(0.0, std::numeric_limits<double>::infinity()), nd::ValueError);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  BOOST_TEST(nd::arange(most - 2, most).to_vector<std::int64_t>() == (std::vector<std::int64_t>{most - 2, most - 1}));
  BOOST_CHECK_THROW(nd::arange(300, 302, {.dtype = nd::uint8}), nd::OverflowError);
  BOOST_TEST(nd::arange(100000).sum().item<std::int64_t>() == 4999950000);
  BOOST_TEST(nd::linspace(0, 1, 3).to_vector<double>() == (std::vector<double>{0, 0.5, 1}));
  BOOST_TEST(nd::linspace(0, 1).size() == 50);
  BOOST_CHECK_THROW(nd::linspace(0, 1, -1), nd::ValueError);
  for (const bool endpoint : {true, false})
    for (const std::int64_t n : {0, 1}) {
      const auto [a, step] = nd::linspace_retstep(3, 5, n, {.endpoint = endpoint});
      BOOST_TEST(a.to_vector<double>() == std::vector<double>(std::size_t(n), 3));
      BOOST_TEST(std::isnan(step), n << " points have no step");
    }
  BOOST_TEST(nd::linspace_retstep(0, 1, 2, {.endpoint = false}).second == 0.5);
  const double tiny = std::numeric_limits<double>::denorm_min();
  BOOST_TEST(nd::linspace(0, tiny, 5).to_vector<double>().back() == tiny);
}

BOOST_AUTO_TEST_CASE(dtypes_that_do_not_exist) {
  const auto none = static_cast<nd::Dtype>(200);
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::empty({3}, none); }) == "empty: there is no dtype number 200");
  BOOST_CHECK_THROW(nd::zeros({3}, none), nd::TypeError);
  BOOST_CHECK_THROW(nd::full({3}, 1, {.dtype = none}), nd::TypeError);
  BOOST_CHECK_THROW(nd::ones(2).astype(none), nd::TypeError);
  BOOST_CHECK_THROW(nd::ones(2).view(none), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(matrices) {
  Array m = nd::arange(9).reshape(3, 3);
  Array d = nd::diag(m, 1);
  BOOST_TEST(d.shares_memory(m));
  d.fill(0);
  BOOST_TEST(m.to_vector<int>() == (std::vector<int>{0, 0, 2, 3, 4, 0, 6, 7, 8}));
  BOOST_TEST(nd::diag(m.T(), -1).to_vector<int>() == (std::vector<int>{0, 0}));
  BOOST_TEST(nd::diag(m, 100).size() == 0);
  BOOST_TEST(nd::diag(m, std::numeric_limits<std::int64_t>::min()).size() == 0);
  BOOST_TEST(nd::diag(std::vector<double>{1, 2}).shape() == (nd::Shape{2, 2}));
  BOOST_TEST(nd::diagflat(m).shape() == (nd::Shape{9, 9}));
  BOOST_TEST(nd::diagflat(std::vector<int>{3, 4}).to_vector<int>() == (std::vector<int>{3, 0, 0, 4}));
  BOOST_TEST(message_of<nd::ValueError>([] { nd::diag(nd::array(1)); }) ==
             "diag: the array has rank 0, must be 1-D or 2-D");
  BOOST_CHECK_THROW(nd::diag(nd::ones({2, 2, 2})), nd::ValueError);
  BOOST_TEST(nd::eye(3, {.k = 1, .dtype = nd::int8}).sum().item<int>() == 2);
  BOOST_CHECK_THROW(nd::eye(-1), nd::ValueError);
  BOOST_TEST(nd::meshgrid({}).empty());
  BOOST_TEST(nd::meshgrid({d})[0].get() == d.get());
  BOOST_CHECK_THROW(nd::meshgrid({m, m}), nd::ValueError);
  BOOST_CHECK_THROW(nd::meshgrid({d, d}, {.indexing = "yx"}), nd::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
