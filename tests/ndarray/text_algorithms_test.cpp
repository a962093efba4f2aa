// Scans, sorts, reductions by key and histograms with an operation given as text, against loops on the host.
#include <catena/ndarray/user_kernel/text_algorithms.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Shape;
using test::check_values;
using test::contains;
using test::message_of;

// Lengths around the length of a chunk on each device, and around a chunk of chunks.
std::vector<std::int64_t> lengths() {
  const bool cuda = nd::current_device().kind == nd::Device::Kind::cuda;
  return cuda ? std::vector<std::int64_t>{1, 2, 31, 32, 33, 64, 1024, 1025, 3000}
              : std::vector<std::int64_t>{1, 2, 8191, 8192, 8193, 20000};
}

std::vector<std::int64_t> numbers(std::int64_t n, std::int64_t below, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int64_t> draw(0, below - 1);
  std::vector<std::int64_t> values(static_cast<std::size_t>(n));
  for (std::int64_t& v : values) v = draw(random);
  return values;
}

// The composition of functions x -> p x + q modulo 97, as p * 97 + q: associative, not commutative.
constexpr const char* kCompose = "(a / 97) * (b / 97) % 97 * 97 + ((a % 97) * (b / 97) + b % 97) % 97  // b after a";
std::int64_t compose(std::int64_t a, std::int64_t b) {
  const std::int64_t p = a / 97, q = a % 97, r = b / 97, s = b % 97;
  return p * r % 97 * 97 + (q * r + s) % 97;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(text_algorithms)

BOOST_AUTO_TEST_CASE(running_maxima) {
  check_values<int>(nd::scan(nd::array({3, 1, 4, 1, 5, 9, 2, 6}), "max(a, b)"), {3, 3, 4, 4, 5, 9, 9, 9});
  check_values<double>(nd::scan(nd::array({0.5, -1.0, 0.25}), "min(a, b)"), {0.5, -1, -1});
}

BOOST_AUTO_TEST_CASE(elements_are_combined_in_their_order) {
  for (const std::int64_t n : lengths()) {
    const auto values = numbers(n, 97 * 97, unsigned(n));
    std::vector<std::int64_t> expected(values.size());
    std::partial_sum(values.begin(), values.end(), expected.begin(), compose);
    const Array x = nd::array(values);
    BOOST_TEST(nd::scan(x, kCompose).to_vector<std::int64_t>() == expected, "length " << n);
    // Before the first element stands the identity x -> x.
    expected.insert(expected.begin(), 97);
    expected.pop_back();
    BOOST_TEST(nd::scan(x, kCompose, {.exclusive = true, .identity = "97 // x"}).to_vector<std::int64_t>() == expected,
               "length " << n);
  }
}

BOOST_AUTO_TEST_CASE(scans_along_axes) {
  const Array x = nd::array(numbers(2 * 3 * 70, 50, 1)).reshape(2, 3, 70).transpose({2, 0, 1});  // (70, 2, 3)
  for (const int axis : {0, 1, -1})
    CHECK_SAME(test::difference(nd::scan(x, "a + b", {.axis = axis}), nd::cumsum(x, axis), 0, 0), "");
  CHECK_SAME(test::difference(nd::scan(x, "a + b"), nd::cumsum(x), 0, 0), "");  // flattened in C order
  const Array before = nd::scan(x, "a + b", {.axis = 0, .exclusive = true, .identity = "0"});
  CHECK_SAME(test::difference(before, nd::cumsum(x, 0) - x, 0, 0), "");
}

BOOST_AUTO_TEST_CASE(scans_of_all_kinds_of_numbers) {
  for (const nd::Dtype d : {nd::bool_, nd::uint8, nd::float16, nd::bfloat16, nd::float64, nd::complex64}) {
    const Array y = nd::scan(nd::array({1, 0, 2, 1}).astype(d), d == nd::bool_ ? "a || b" : "a + b");
    BOOST_TEST((y.dtype() == d));
    if (d == nd::bool_) check_values<int>(y.astype(nd::int32), {1, 1, 1, 1});
    else check_values<double>(nd::real(y).astype(nd::float64), {1, 1, 3, 4});
  }
}

BOOST_AUTO_TEST_CASE(preambles_and_options) {
  const std::string preamble =
      "#ifndef LEAST\n#define LEAST 0\n#endif\n"
      "template <class V> __device__ V larger(V a, V b) { return a < b ? b : a + LEAST; }\n";
  const Array x = nd::array({2, 1, 3});
  check_values<int>(nd::scan(x, "larger(a, b)", {.preamble = preamble}), {2, 2, 3});
  check_values<int>(nd::scan(x, "larger(a, b)", {.preamble = preamble, .options = {"-DLEAST=1"}}), {2, 3, 4});
  check_values<int>(nd::sort(x, "larger(a, b) == a && a != b", {.preamble = preamble}), {3, 2, 1});
  check_values<int>(nd::argsort(x, "larger(a, b) > b", {.preamble = preamble, .options = {"-DLEAST=0"}}), {2, 0, 1});
}

BOOST_AUTO_TEST_CASE(nothing_and_single_elements) {
  for (const Shape& shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}}) {
    const Array none = nd::empty(shape, nd::float32);
    const Array scanned = nd::scan(none, "a + b", {.axis = -1}), sorted = nd::sort(none, "a < b");
    BOOST_TEST((scanned.shape() == shape && sorted.shape() == shape));
    BOOST_TEST((nd::argsort(none, "a < b").dtype() == nd::int64 && scanned.dtype() == nd::float32));
  }
  check_values<int>(nd::scan(nd::array({7}), "a + b"), {7});
  check_values<int>(nd::sort(nd::array({7}), "a < b"), {7});
  check_values<int>(nd::argsort(nd::array({7}), "a < b"), {0});
}

BOOST_AUTO_TEST_CASE(sorts_by_any_order_are_stable) {
  for (const std::int64_t n : lengths()) {
    const auto values = numbers(n, 41, unsigned(n) + 7);
    std::vector<std::int64_t> at(values.size());
    std::iota(at.begin(), at.end(), 0);
    const auto less = [&](std::int64_t a, std::int64_t b) {
      return std::abs(values[std::size_t(a)] - 20) < std::abs(values[std::size_t(b)] - 20);
    };
    std::stable_sort(at.begin(), at.end(), less);
    std::vector<std::int64_t> expected;
    for (const std::int64_t k : at) expected.push_back(values[std::size_t(k)]);
    const Array x = nd::array(values);
    constexpr const char* kText = "abs(a - 20) < abs(b - 20)  // by the distance from 20";
    BOOST_TEST(nd::sort(x, kText).to_vector<std::int64_t>() == expected, "length " << n);
    BOOST_TEST(nd::argsort(x, kText).to_vector<std::int64_t>() == at, "length " << n);
    BOOST_TEST(x.to_vector<std::int64_t>() == values);
  }
}

BOOST_AUTO_TEST_CASE(sorts_along_axes) {
  const Array x = nd::array(numbers(4 * 50, 30, 3)).reshape(50, 4).transpose();
  for (const int axis : {0, 1, -1}) {
    CHECK_SAME(test::difference(nd::sort(x, "a > b", {.axis = axis}), -nd::sort(-x, axis), 0, 0), "");
    CHECK_SAME(test::difference(nd::argsort(x, "a > b", {.axis = axis}), nd::argsort(-x, axis), 0, 0), "");
  }
  CHECK_SAME(
      test::difference(nd::sort(x, std::string("a < b"), {.axis = std::nullopt}), nd::sort(x, std::nullopt), 0, 0), "");
  for (const nd::Dtype d : {nd::float16, nd::uint8, nd::float64})
    CHECK_SAME(test::difference(nd::sort(x.astype(d), "a < b"), nd::sort(x.astype(d)), 0, 0), "");
}

BOOST_AUTO_TEST_CASE(values_of_neighbouring_equal_keys) {
  const auto [keys, sums] =
      nd::reduce_by_key(nd::array({1, 1, 2, 2, 2, 1}), nd::array({0.5, 1.0, 2.0, 4.0, 8.0, 16.0}), "a + b");
  check_values<int>(keys, {1, 2, 1});
  check_values<double>(sums, {1.5, 14, 16});
  for (const std::int64_t n : lengths()) {
    for (const std::int64_t below : {std::int64_t(2), std::int64_t(1)}) {  // short runs, and one long one
      const auto k = numbers(n, below, unsigned(n)), v = numbers(n, 97 * 97, unsigned(n) + 1);
      std::vector<std::int64_t> runs, totals;
      for (std::size_t i = 0; i < k.size(); ++i) {
        if (i == 0 || k[i] != k[i - 1]) runs.push_back(k[i]), totals.push_back(v[i]);
        else totals.back() = compose(totals.back(), v[i]);
      }
      const auto made = nd::reduce_by_key(nd::array(k), nd::array(v), kCompose);
      BOOST_TEST(made.first.to_vector<std::int64_t>() == runs, "length " << n);
      BOOST_TEST(made.second.to_vector<std::int64_t>() == totals, "length " << n);
    }
  }
}

BOOST_AUTO_TEST_CASE(keys_that_are_equal_in_another_sense) {
  const Array keys = nd::array({-1.0, 1.0, 2.0, -2.0, 3.0}), values = nd::array({1, 2, 3, 4, 5});
  const auto [first, largest] = nd::reduce_by_key(
      keys, values, "max(a, b)", {.equal = "same(a, b)", .preamble = "#define same(x, y) (abs(x) == abs(y))\n"});
  check_values<double>(first, {-1, 2, 3});
  check_values<int>(largest, {2, 4, 5});
  const auto none = nd::reduce_by_key(nd::empty({0}, nd::int32), nd::empty({0}, nd::float32), "a + b");
  BOOST_TEST((none.first.dtype() == nd::int32 && none.second.dtype() == nd::float32 && none.second.size() == 0));
  const Array strided = nd::array({1, 9, 1, 9, 2, 9})(nd::Slice({}, {}, 2));
  check_values<int>(nd::reduce_by_key(strided, strided, "a + b", {.options = {"-DNOTHING"}}).second, {2, 2});
}

BOOST_AUTO_TEST_CASE(weights_of_elements) {
  const Array x = nd::array({0.5, 1.5, 1.75, 3.0});
  const auto [h, edges] = nd::weighted_histogram(
      x, "twice(x) * x", {.bins = 3, .range = {0, 3}, .preamble = "#define twice(v) (2 * (v))\n"});
  check_values<double>(h, {0.5, 2 * 1.5 * 1.5 + 2 * 1.75 * 1.75, 18});
  check_values<double>(edges, {0, 1, 2, 3});
  const auto [d, same] =
      nd::weighted_histogram(x, "1", {.bins = 3, .range = {0, 3}, .density = true, .options = {"-DNOTHING"}});
  check_values<double>(d, {0.25, 0.5, 0.25});
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  const Array x = nd::array({1, 2});
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::scan(x, " \n"); }) == "scan: the text of the combination is empty");
  BOOST_TEST(contains(message_of<nd::ValueError>([&] { nd::scan(x, "a + b", {.exclusive = true}); }),
                      "scan: the text of the identity"));
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::sort(x, ""); }) == "sort: the text of the order is empty");
  BOOST_TEST(contains(message_of<nd::ValueError>([&] { nd::argsort(x, "a < b", {.axis = 1}); }), "argsort: axis 1"));
  BOOST_TEST(contains(message_of<nd::ValueError>([&] { nd::scan(x, "a + b", {.axis = -2}); }), "scan: axis -2"));
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::sort(Array(), "a < b"); }) == "sort: the array is null");
  BOOST_TEST(contains(message_of<nd::ValueError>([&] { nd::reduce_by_key(x, nd::array({1}), "a"); }),
                      "reduce_by_key: the keys have shape (2,) and the values (1,)"));
  BOOST_CHECK_THROW(nd::reduce_by_key(x, x, "a", {.equal = ""}), nd::ValueError);
  BOOST_CHECK_THROW(nd::reduce_by_key(x, Array(), "a"), nd::TypeError);
  BOOST_CHECK_THROW(nd::weighted_histogram(x, ""), nd::ValueError);
  BOOST_CHECK_THROW(nd::weighted_histogram(Array(), "x"), nd::TypeError);
  BOOST_CHECK_THROW(nd::scan(x, "a + nonsense"), nd::CompileError);
  if (nd::current_device().kind == nd::Device::Kind::cuda)
    BOOST_CHECK_THROW(nd::reduce_by_key(x, x.to_device(nd::cpu_device), "a + b"), nd::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
