// Reductions and statistics: golden values, axes, outputs, dtypes, empty inputs, long axes, layouts.
#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/routines/reduction.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include <catena/ndarray/chainer_cuda/array_module.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/statistics.h>
#include <catena/ndarray/user_kernel/fusion.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::difference;
using test::message_of;
using test::same_bits;

struct Arguments {
  nd::Axes axis;
  std::optional<nd::Dtype> dtype;
  Array out;
  int ddof = 0;
  bool keepdims = false;
};
using Function = std::function<Array(const Array&, const Arguments&)>;

template <class Options> Options options_of(const Arguments& g) {
  Options o{.axis = g.axis, .out = g.out, .keepdims = g.keepdims};
  if constexpr (requires { o.dtype; }) o.dtype = g.dtype;
  return o;
}

const std::map<std::string, Function>& functions() {
// clang-format off
#define FUNCTION(name, ...) {#name, [](const Array& a, const Arguments& g) { return nd::name(a, __VA_ARGS__); }}
#define REDUCTION(name) FUNCTION(name, {.axis = g.axis, .dtype = g.dtype, .out = g.out, .keepdims = g.keepdims})
#define TEST(name) FUNCTION(name, {.axis = g.axis, .out = g.out, .keepdims = g.keepdims})
#define SPREAD(name) \
  FUNCTION(name, {.axis = g.axis, .dtype = g.dtype, .out = g.out, .ddof = g.ddof, .keepdims = g.keepdims})
  // clang-format on
  const Function running_sum = [](const Array& a, const Arguments& g) {
    const std::optional<int> axis = g.axis.given() ? std::optional<int>(int(g.axis.values()[0])) : std::nullopt;
    return nd::cumsum(a, {.axis = axis, .dtype = g.dtype, .out = g.out});
  };
  static std::map<std::string, Function> table = {
      {"cumsum", running_sum}, REDUCTION(sum),    REDUCTION(prod),   REDUCTION(amax), REDUCTION(amin),
      REDUCTION(mean),         REDUCTION(argmax), REDUCTION(argmin), TEST(any),       TEST(all),
      TEST(count_nonzero),     SPREAD(var),       SPREAD(std),       TEST(nanmax),    TEST(nanmin)};
// Reductions of the list without values of the reference.
#define CATENA_REDUCTION(name, Options) table.insert(FUNCTION(name, options_of<nd::Options>(g)));
#include <catena/kernels/lists/reductions.inc>
#undef CATENA_REDUCTION
#undef FUNCTION
#undef REDUCTION
#undef TEST
#undef SPREAD
  return table;
}

void check_bincount(const test::Golden& golden, const test::Json& c, std::mt19937& random) {
  std::vector<Array> in = test::arrays_of(golden, c["inputs"]);
  const Array expected = test::arrays_of(golden, c["outputs"])[0];
  nd::BincountOptions options;
  if (in.size() > 1) options.weights = in[1];
  if (const auto& least = c["args"]["minlength"]; !least.is_null()) options.minlength = least.get<std::int64_t>();
  CHECK_SAME(difference(nd::bincount(in[0], options), expected, c), c["name"].get<std::string>());
  if (in.size() > 1) options.weights = test::scattered(in[1], random);
  CHECK_SAME(difference(nd::bincount(test::scattered(in[0], random), options), expected, c),
             c["name"].get<std::string>() << " (scattered)");
}

// The warnings of a call.
template <class F> std::vector<std::string> warnings_of(F&& f) {
  static std::vector<std::string> texts;
  texts.clear();
  const nd::WarningHandler before = nd::set_warning_handler(
      [](std::string_view category, std::string_view text) { texts.push_back(catena::concat(category, ": ", text)); });
  f();
  nd::set_warning_handler(before);
  return texts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reduction)

BOOST_AUTO_TEST_CASE(golden_values_in_any_layout) {
  const auto golden = test::Golden::open("nd_reduction");
  std::mt19937 random(1);
  // On the software device a third of the cases of each function, in which axes and dtypes take turns, and of these a
  // third as views: every layout is a kernel of its own.
  test::Turns turns("golden cases of nd_reduction"), views("views of these");
  std::map<std::string, std::size_t> numbers;
  golden.for_each([&](const test::Json& c) -> std::string {
    const std::string name = c["name"], function = c["function"];
    if (function == "bincount") return check_bincount(golden, c, random), "";
    if (!functions().contains(function)) return function;
    const std::size_t at = numbers[function]++;
    if (!turns.count((at + at / 3) % 3 == 0)) return {};
    Arguments g;
    const auto& args = c["args"];
    if (args.contains("axis") && args["axis"].is_number()) g.axis = args["axis"].get<std::int64_t>();
    if (args.contains("axis") && args["axis"].is_array()) g.axis = args["axis"].get<std::vector<std::int64_t>>();
    if (args.contains("dtype") && args["dtype"].is_string())
      g.dtype = nd::dtype_from_name(args["dtype"].get<std::string>());
    g.ddof = args.value("ddof", 0);
    g.keepdims = args.value("keepdims", false);
    const Array a = test::arrays_of(golden, c["inputs"])[0], expected = test::arrays_of(golden, c["outputs"])[0];
    const Array result = functions().at(function)(a, g);
    CHECK_SAME(difference(result, expected, c), name);
    if (views.count(at / 9 % 3 == 0))
      BOOST_TEST(same_bits(functions().at(function)(test::scattered(a, random), g), result),
                 name << ": a view gives other bits");
    g.out = nd::empty(result.shape(), result.dtype());
    BOOST_TEST(functions().at(function)(a, g).get() == g.out.get(), name);
    BOOST_TEST(same_bits(g.out, result), name << ": an output gives other bits");
    return {};
  });
}

BOOST_AUTO_TEST_CASE(axes) {
  const Array a = nd::arange(24).reshape(2, 3, 4);
  BOOST_TEST(difference(nd::sum(a, {.axis = {0, -1}}), nd::array({60, 92, 124})) == "");
  BOOST_TEST(nd::sum(a, {.axis = 1, .keepdims = true}).shape() == (nd::Shape{2, 1, 4}));
  BOOST_TEST(nd::sum(a).shape() == nd::Shape{});
  BOOST_TEST(nd::sum(a, {.keepdims = true}).shape() == (nd::Shape{1, 1, 1}));
  BOOST_TEST(difference(nd::sum(a, {.axis = nd::Axes(nd::Dims{})}), a) == "");
  BOOST_TEST(nd::sum(nd::array(5)).item<int>() == 5);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::sum(a, {.axis = 3}); }) ==
             "sum: axis 3 is out of bounds for array of dimension 3");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::var(a, {.axis = -4}); }) ==
             "var: axis -4 is out of bounds for array of dimension 3");
  BOOST_CHECK_THROW(nd::sum(a, {.axis = {0, -3}}), nd::ValueError);
  BOOST_CHECK_THROW(nd::sum(Array()), nd::TypeError);
  BOOST_CHECK_THROW(nd::var(Array()), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(outputs) {
  const Array a = nd::arange(6).reshape(2, 3);
  Array out = nd::empty(3, nd::float32);
  const std::uint64_t version = out.version();
  BOOST_TEST(nd::sum(a, {.axis = 0, .out = out}).get() == out.get());
  BOOST_TEST(out.version() > version);
  BOOST_TEST(difference(out, nd::array({3.f, 5.f, 7.f})) == "");
  Array small = nd::empty(2, nd::int8);  // any dtype, cast unsafely
  nd::mean(a, {.axis = 1, .out = small});
  BOOST_TEST(difference(small, nd::array({1, 4}, {.dtype = nd::int8})) == "");
  Array strided = nd::zeros(6, nd::int64);
  nd::sum(a, {.axis = 0, .out = nd::internal::make_view(strided, {3}, {16})});
  BOOST_TEST(difference(strided, nd::array({3, 0, 5, 0, 7, 0})) == "");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::sum(a, {.axis = 1, .out = out}); }) ==
             "sum: the output has shape (3,), the result (2,)");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::std(a, {.axis = 1, .out = out}); }) ==
             "std: the output has shape (3,), the result (2,)");
  BOOST_TEST(difference(out, nd::array({3.f, 5.f, 7.f})) == "");
  // Into a part of the input.
  Array b = nd::arange(6).reshape(2, 3);
  nd::sum(b, {.axis = 0, .out = b(1)});
  BOOST_TEST(difference(b, nd::array({{0, 1, 2}, {3, 5, 7}})) == "");
  Array column = nd::arange(3).reshape(3, 1);
  nd::var(column, {.axis = 1, .out = column.reshape(3)});
  BOOST_TEST(difference(column, nd::zeros({3, 1}, nd::int64)) == "");
}

// Few elements of contiguous memory, reduced to one: lengths on both sides of what is reduced at once.
BOOST_AUTO_TEST_CASE(one_result) {
  for (const std::int64_t n : {1, 2, 31, 100, 4096, 4097}) {
    const Array a = nd::arange(n).reshape(1, n, 1);
    const Array sum = nd::array(n * (n - 1) / 2);
    BOOST_TEST(difference(a.sum(), sum) == "");
    BOOST_TEST(difference(nd::sum(a, {.keepdims = true}), sum.reshape(1, 1, 1)) == "");
    BOOST_TEST(difference(nd::sum(a, {.axis = {0, 1, 2}}), sum) == "");
    BOOST_TEST(difference(nd::argmax(a), nd::array(n - 1)) == "");
    Array out = nd::zeros({}, nd::float32);
    const std::uint64_t version = out.version();
    nd::sum(a, {.out = out});
    BOOST_TEST(out.version() == version + 1);
    BOOST_TEST(difference(out, sum.astype(nd::float32)) == "");
    nd::amax(a, {.out = a.reshape(n)(0)});  // an element of the input
    BOOST_TEST(a.reshape(n)(0).item<std::int64_t>() == n - 1);
  }
  const Array zero_d = nd::array(2.5);
  BOOST_TEST(difference(zero_d.sum(), zero_d) == "");
  BOOST_TEST(difference(zero_d.astype(nd::float16).sum(), zero_d.astype(nd::float16)) == "");
}

BOOST_AUTO_TEST_CASE(every_dtype_argument) {
  const Array a = nd::array({1.5, 2.5, -3.25, 200.0});
  test::Turns turns("dtypes of results");
  for (nd::Dtype t : test::kAllDtypes) {
    if (!turns.take(1, t)) continue;
    const nd::Dtype result[] = {nd::sum(a, {.dtype = t}).dtype(), nd::prod(a, {.dtype = t}).dtype(),
                                nd::mean(a, {.dtype = t}).dtype(), nd::amax(a, {.dtype = t}).dtype(),
                                nd::var(a, {.dtype = t}).dtype()};
    for (nd::Dtype r : result) BOOST_TEST(r == t);
  }
  BOOST_TEST(nd::sum(a, {.dtype = nd::int32}).item<int>() == 1 + 2 - 3 + 200);
  BOOST_TEST(nd::sum(nd::array({200, 100}), {.dtype = nd::uint8}).item<int>() == 300 % 256);
  BOOST_TEST(nd::sum(a, {.dtype = nd::bool_}).item<bool>());
  BOOST_TEST(nd::argmax(a, {.dtype = nd::int8}).dtype() == nd::int8);
  BOOST_CHECK_THROW(nd::argmax(a, {.dtype = nd::float32}), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(nothing) {
  const Array none = nd::empty({0, 3});
  BOOST_TEST(difference(nd::sum(none, {.axis = 0}), nd::zeros(3)) == "");
  BOOST_TEST(difference(nd::prod(none, {.axis = 0}), nd::ones(3)) == "");
  BOOST_TEST(nd::all(none).item<bool>());
  BOOST_TEST(!nd::any(none).item<bool>());
  BOOST_TEST(nd::count_nonzero(none) == 0);
  BOOST_TEST(std::isnan(nd::mean(none).item<double>()));
  BOOST_TEST(difference(nd::mean(none, {.axis = 0}), nd::full({3}, std::nan(""))) == "");
  BOOST_TEST(std::isnan(nd::var(none).item<double>()));
  BOOST_TEST(nd::sum(none, {.axis = 1}).shape() == nd::Shape{0});
  BOOST_TEST(nd::amax(none, {.axis = 1}).shape() == nd::Shape{0});
  BOOST_TEST(nd::amin(none, {.axis = 1}).shape() == nd::Shape{0});
  BOOST_CHECK_THROW(nd::amax(none, {.axis = 0}), nd::ValueError);
  BOOST_CHECK_THROW(nd::amin(none, {.axis = 0}), nd::ValueError);
  BOOST_TEST(nd::argmax(none, {.axis = 1}).shape() == nd::Shape{0});
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::argmin(none); }) ==
             "argmin: shape (0, 3) has no elements along axes (0, 1), and the reduction of nothing has no value");
}

BOOST_AUTO_TEST_CASE(positions_of_equals_and_nans) {
  const double nan = std::nan("");
  BOOST_TEST(nd::argmax(nd::array({1.0, 3.0, 3.0, 2.0})).item<int>() == 1);
  BOOST_TEST(nd::argmin(nd::array({1.0, nan, -3.0, nan})).item<int>() == 1);
  BOOST_TEST(nd::argmax(nd::array({1.0, nan, 3.0, nan})).item<int>() == 1);
  BOOST_TEST(std::isnan(nd::amax(nd::array({1.0, nan, 3.0})).item<double>()));
  BOOST_TEST(nd::argmax(nd::arange(12).reshape(3, 4).T()).item<int>() == 11);
  BOOST_TEST(nd::argmax(nd::full({100}, -std::numeric_limits<double>::infinity())).item<int>() == 0);
  BOOST_TEST(nd::amin(nd::array({true, true})).item<bool>());
}

// Columns of a part of each row, which is narrower than several vectors.
BOOST_AUTO_TEST_CASE(positions_in_parts_of_rows) {
  std::mt19937 random(31);
  for (const nd::Dtype t : {nd::int8, nd::int32, nd::float32, nd::float64}) {
    std::vector<double> values(300 * 100);
    for (double& v : values) v = random() % 50 == 0 && catena::is_floating(t) ? NAN : double(random() % 90) - 40;
    const Array a = nd::array(values, {300, 100}).astype(t);
    for (std::int64_t width = 1; width < 70; ++width) {
      const std::int64_t first = random() % 30;
      const auto places = nd::argmax(a(nd::Slice(), nd::Slice(first, first + width)), 0).to_vector<std::int64_t>();
      for (std::int64_t j = 0; j < width; ++j) {
        std::int64_t best = 0;
        const auto at = [&](std::int64_t i) { return values[std::size_t(i * 100 + first + j)]; };
        for (std::int64_t i = 1; i < 300 && !std::isnan(at(best)); ++i)
          if (at(i) > at(best) || std::isnan(at(i))) best = i;
        BOOST_TEST(places[std::size_t(j)] == best, t << " column " << j << " of " << width);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(extremes_without_nans) {
  const double nan = std::nan(""), inf = HUGE_VAL;
  const Array a = nd::array({{nan, 1.0, -2.0}, {nan, nan, nan}, {-inf, nan, inf}});
  Array low, high;
  const auto warned = warnings_of([&] {
    low = nd::nanmin(a, 1);
    high = nd::nanmax(a, 1);
  });
  BOOST_TEST(difference(low, nd::array({-2.0, nan, -inf})) == "");
  BOOST_TEST(difference(high, nd::array({1.0, nan, inf})) == "");
  BOOST_TEST(warned == (std::vector<std::string>{"RuntimeWarning: nanmin: a slice has no elements but NaN",
                                                 "RuntimeWarning: nanmax: a slice has no elements but NaN"}),
             boost::test_tools::per_element());
  // No warning where every slice has a number, or nothing can be NaN.
  BOOST_TEST(warnings_of([&] {
               BOOST_TEST(difference(nd::nanmin(a, 0), nd::array({-inf, 1.0, -2.0})) == "");
               BOOST_TEST(nd::nanmax(a).item<double>() == inf);
               BOOST_TEST(nd::nanmin(nd::arange(5)).item<int>() == 0);
             }).empty());
  // Infinities alone are no NaN; outputs have any dtype.
  BOOST_TEST(nd::nanmax(nd::full(100, -inf)).item<double>() == -inf);
  BOOST_TEST(nd::nanmin(nd::full(100, inf)).item<double>() == inf);
  const Array out = nd::zeros({1, 3}, nd::int8);
  BOOST_TEST(nd::nanmax(a(nd::Slice(0, 1)), 0, {.out = out, .keepdims = true}).get() == out.get());
  BOOST_TEST(difference(out, nd::array({{0, 1, -2}}, nd::int8)) == "");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::nanmin(a, 0, {.out = out}); }) ==
             "nanmin: the output has shape (1, 3), the result (3,)");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::nanmax(nd::empty({0, 3}), 0);
             }) == "nanmax: shape (0, 3) has no elements along axes (0,), and the reduction of nothing has no value");
  BOOST_TEST(nd::nanmax(nd::empty({0, 3}), 1).shape() == nd::Shape{0});
  BOOST_CHECK_THROW(nd::nanmin(Array()), nd::TypeError);
}

// NaNs of all bits, beside numbers of both signs: a result is the same NaN in every order of combination.
BOOST_AUTO_TEST_CASE(one_nan_of_many) {
  std::mt19937 random(25);
  const int threads = catena::max_threads();
  for (const nd::Shape& shape : {nd::Shape{2, 3}, nd::Shape{3, 70}, nd::Shape{70, 5}, nd::Shape{41, 300}})
    for (const nd::Dtype t : {nd::float32, nd::float64}) {
      const std::int64_t n = shape[0] * shape[1];
      std::vector<std::uint64_t> bits(std::size_t(n * std::int64_t(catena::itemsize(t)) / 8 + 1));
      for (auto& b : bits) b = (std::uint64_t(random()) << 32 | random()) | 0x7ff0'0000'7f80'0001;
      const Array a = nd::array(bits).view(t)(nd::Slice({}, n)).reshape(shape).copy();
      const Array number = nd::arange(shape[0]).reshape(-1, 1) + nd::arange(shape[1]);
      for (const bool alone : {true, false}) {
        const Array x = alone ? a : nd::where(number % 2 == 0, a, nd::full({}, -2.5, t));
        for (const bool largest : {true, false})
          for (const int threads_now : {1, 2}) {
            catena::set_max_threads(threads_now);
            const auto bytes_of_extremum = [&](const Array& v, const nd::Axes& axes) {
              return test::bytes_of(largest ? nd::amax(v, {.axis = axes}) : nd::amin(v, {.axis = axes}));
            };
            const auto wanted = bytes_of_extremum(nd::array({NAN, 1.0}, t), {});
            for (const Array& layout : {x, nd::asfortranarray(x)})
              for (const int axis : {0, 1}) {
                const auto bytes = bytes_of_extremum(layout, axis);
                for (std::size_t k = 0; k < bytes.size(); ++k)
                  if (bytes[k] != wanted[k % wanted.size()])
                    BOOST_ERROR(t << ' ' << shape << " axis " << axis << " byte " << k);
              }
            BOOST_TEST((bytes_of_extremum(x, {}) == wanted));
          }
      }
    }
  catena::set_max_threads(threads);
}

// Every place of one number among NaNs, in lengths on both sides of the lanes, along both axes.
BOOST_AUTO_TEST_CASE(one_number_among_nans) {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 65}) {
    Array a = nd::full({n, n}, float(NAN));
    nd::fill_diagonal(a, 7);
    for (const Array& x : {a, a.T(), a.astype(nd::float16)})
      for (const int axis : {0, 1}) {
        CHECK_SAME(difference(nd::nanmin(x, axis), nd::full(n, 7, x.dtype())), n);
        CHECK_SAME(difference(nd::nanmax(x, axis), nd::full(n, 7, x.dtype())), n);
      }
  }
}

BOOST_AUTO_TEST_CASE(counts_of_numbers) {
  std::mt19937 random(11);
  test::Turns turns("dtypes of bincount");
  for (const nd::Dtype t : test::kAllDtypes) {
    if (catena::is_floating(t) || !turns.take(0, t)) continue;
    std::vector<std::int64_t> numbers(5000), expected(t == nd::bool_ ? 2 : 100);
    std::vector<double> weights(numbers.size()), sums(expected.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = std::int64_t(random() % expected.size());
      weights[i] = double(random() % 1000) / 7;
      ++expected[std::size_t(numbers[i])];
      sums[std::size_t(numbers[i])] += weights[i];
    }
    const Array x = nd::array(numbers, t);
    CHECK_SAME(difference(nd::bincount(x), nd::array(expected)), t);
    CHECK_SAME(difference(nd::bincount(x, nd::array(weights)), nd::array(sums), 0, 1e-12), t);
    CHECK_SAME(difference(nd::bincount(x, nd::array(weights, nd::float32)), nd::array(sums), 0, 1e-5), t);
    BOOST_TEST(nd::bincount(x, {.minlength = 300}).shape() == nd::Shape{300});
    BOOST_TEST(nd::bincount(nd::zeros(0, t)).shape() == nd::Shape{0});
    CHECK_SAME(difference(nd::bincount(nd::zeros(0, t), nd::zeros(0), 3), nd::zeros(3)), t);
  }
  const Array x = nd::array({3, -2, 1});
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::bincount(x); }) ==
             "bincount: the negative number -2 cannot be counted");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::bincount(nd::zeros({2, 2}, nd::int64));
             }) == "bincount: an array of shape (2, 2) has rank 2, must have rank 1");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::bincount(nd::arange(3), nd::zeros(4)); }) ==
             "bincount: the weights have shape (4,), the numbers (3,)");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::bincount(nd::arange(3), {.minlength = 0}); }) ==
             "bincount: minlength is 0, must be positive");
  BOOST_CHECK_THROW(nd::bincount(nd::zeros(3)), nd::TypeError);
  BOOST_CHECK_THROW(nd::bincount(nd::array({std::uint64_t(-1)})), nd::ValueError);
  BOOST_CHECK_THROW(nd::bincount(nd::arange(2), nd::zeros(2, nd::complex64)), nd::TypeError);
  // Counts are exact beyond the integers of float32.
  BOOST_TEST(nd::bincount(nd::zeros((1 << 24) + 3, nd::int8)).item<std::int64_t>() == (1 << 24) + 3);
}

// The quotient is rounded once: sums of squares of these numbers are exact, the means of most of them are not.
BOOST_AUTO_TEST_CASE(divisors_round_once) {
  BOOST_TEST(nd::var(nd::array({1, 2, 3, 6}), {.ddof = 1}).item<double>() == 14.0 / 3);
  std::mt19937_64 random(5);
  for (int n = 2; n <= 60; ++n) {
    // Pairs of opposite numbers and perhaps a 0 have the mean 0.
    std::vector<double> x;
    double squares = 0;
    while (int(x.size()) + 2 <= n) {
      const double v = double(random() % 1000);
      x.insert(x.end(), {v, -v});
      squares += 2 * v * v;
    }
    if (n % 2) x.push_back(0);
    const Array a = nd::array(x), rows = nd::array({a, a});
    for (int ddof : {-1, 1, n - 1}) {
      const double expected = squares / (n - ddof);
      BOOST_TEST(a.var({.ddof = ddof}).item<double>() == expected, n << " numbers, ddof " << ddof);
      BOOST_TEST(rows.var(1, {.ddof = ddof}).item<double>(1) == expected);
      BOOST_TEST(rows.T().var(0, {.ddof = ddof}).item<double>(0) == expected);
      BOOST_TEST(a.astype(nd::float32).var({.ddof = ddof}).item<float>() == float(expected));
      BOOST_TEST(a.std({.ddof = ddof}).item<double>() == std::sqrt(expected));
    }
  }
  const Array many = nd::arange(200000) % 2;  // several parts: n / 4 for an even number of elements
  BOOST_TEST(many.var({.ddof = 1}).item<double>() == 50000.0 / 199999);
}

BOOST_AUTO_TEST_CASE(divisors) {
  const Array a = nd::array({{1.0, 2.0, 4.0}, {0.0, 0.0, 3.0}});
  BOOST_TEST(difference(nd::var(a, {.axis = 1, .ddof = 1}), nd::array({7.0 / 3, 3.0}), 0, 1e-14) == "");
  BOOST_TEST(
      difference(nd::std(a, {.axis = 1, .ddof = 1}), nd::array({std::sqrt(7.0 / 3), std::sqrt(3.0)}), 0, 1e-14) == "");
  BOOST_TEST(std::isinf(nd::var(a, {.ddof = 6}).item<double>()));
  BOOST_TEST(std::isinf(nd::var(a, {.ddof = 9}).item<double>()));
  BOOST_TEST(std::isnan(nd::var(nd::ones(1), {.ddof = 1}).item<double>()));
  // Around a large mean, and in float16 without float16 sums.
  BOOST_TEST(difference(nd::var(nd::array({1e9, 1e9 + 1, 1e9 + 2})), nd::array(2.0 / 3), 0, 1e-12) == "");
  BOOST_TEST(nd::var(nd::full({5000}, nd::float16_t(100.f))).item<float>() == 0.f);
  BOOST_TEST(nd::mean(nd::full({5000}, nd::float16_t(100.f))).item<float>() == 100.f);
}

BOOST_AUTO_TEST_CASE(lengths_around_powers_of_two) {
  std::mt19937 random(2);
  for (int k = 1; k <= 9; ++k) {
    for (int n : {(1 << k) - 1, 1 << k, (1 << k) + 1}) {
      const Array a = test::random_array({n, 1000}, nd::int32, random);
      const auto v = a.to_vector<std::int64_t>();
      std::vector<std::int64_t> first(1000, 0);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < 1000; ++j) first[std::size_t(j)] += v[std::size_t(i * 1000 + j)];
      BOOST_TEST(difference(nd::sum(a, {.axis = 0}), nd::array(first)) == "", n);
      BOOST_TEST(difference(nd::sum(a.T(), {.axis = 1}), nd::array(first)) == "", n);
      BOOST_TEST(difference(nd::sum(a.T().copy(), {.axis = 1}), nd::array(first)) == "", n);
    }
  }
  BOOST_TEST(nd::sum(nd::ones({(1 << 24) + 3}, nd::int8)).item<std::int64_t>() == (1 << 24) + 3);
  BOOST_TEST(nd::sum(nd::ones({(1 << 24) + 3}, nd::float32)).item<double>() ==
             double((1 << 24) + 4));  // the nearest float
}

BOOST_AUTO_TEST_CASE(all_dtypes_in_random_layouts) {
  std::mt19937 random(3);
  std::size_t number = 0;
  test::Turns turns("pairs of function and dtype");
  for (const auto& [name, f] : functions()) {
    ++number;
    for (nd::Dtype t : test::kAllDtypes) {
      if (!turns.take(number, t)) continue;
      nd::Shape shape;
      Arguments g;
      for (int rank = 1 + int(random() % 4); rank > 0; --rank) shape.push_back(1 + int(random() % 40));
      std::vector<std::int64_t> axes;
      for (int i = 0; i < shape.size(); ++i)
        if (random() % 2) axes.push_back(i);
      if (!axes.empty()) g.axis = axes;
      g.keepdims = random() % 2;
      const Array a = test::random_array(shape, t, random);
      const Array r = f(a, g);
      BOOST_TEST(test::same_reduction(f(test::scattered(a, random), g), r), name << " of " << t << " at " << shape);
      BOOST_TEST(same_bits(f(a, g), r));
    }
  }
}

// A line of kernels/lists/reductions.inc gives a member, a function of modules and a fused reduction, too.
BOOST_AUTO_TEST_CASE(members_modules_and_fused_reductions) {
  std::mt19937 random(9);
  const Array a = test::random_array({4, 5, 6}, nd::float32, random), rows = nd::array({0, 2, 3});
  const nd::ArrayModule xp = nd::get_array_module(a);
  const auto itself = [](auto x) { return x; };
#define CATENA_REDUCTION(name, Options)                                                                         \
  {                                                                                                             \
    const Array y = nd::name(a, {.axis = {0, 2}, .keepdims = true}), of_rows = nd::name(nd::Array(a(rows)), 1); \
    BOOST_TEST(y.shape() == (nd::Shape{1, 5, 1}));                                                              \
    BOOST_TEST(same_bits(nd::name(a, {0, 2}, {.keepdims = true}), y), #name);                                   \
    BOOST_TEST(same_bits(a.name({0, 2}, {.keepdims = true}), y), #name);                                        \
    BOOST_TEST(same_bits(a.name({.axis = {0, 2}, .keepdims = true}), y), #name);                                \
    BOOST_TEST(same_bits(a.name(), nd::name(a)), #name);                                                        \
    BOOST_TEST(same_bits(a(rows).name(1), of_rows), #name);                                                     \
    BOOST_TEST(same_bits(xp.name(a, nd::Axes{0, 2}).reshape(1, 5, 1), y), #name);                               \
    const auto fused = nd::fuse(itself, {.reduce = nd::Reduction::name});                                       \
    BOOST_TEST(test::same_reduction(fused(a, {.axis = {0, 2}, .keepdims = true}), y), #name);                   \
  }
#include <catena/kernels/lists/reductions.inc>
#undef CATENA_REDUCTION
}

BOOST_AUTO_TEST_CASE(methods) {
  const Array a = nd::array({{3.0, 1.0, 2.0}, {0.0, 5.0, 4.0}});
  BOOST_TEST(a.sum().item<double>() == 15);
  BOOST_TEST(a.prod().item<double>() == 0);
  BOOST_TEST(a.mean().item<double>() == 2.5);
  BOOST_TEST(a.max().item<double>() == 5);
  BOOST_TEST(a.min().item<double>() == 0);
  BOOST_TEST(a.argmax().item<int>() == 4);
  BOOST_TEST(a.argmin({.axis = 1}).to_vector<int>() == (std::vector<int>{1, 0}));
  BOOST_TEST(test::close(a.var({.ddof = 1}).item<double>(), 3.5, 0, 1e-15));
  BOOST_TEST(test::close(a.std({.ddof = 1}).item<double>(), std::sqrt(3.5), 0, 1e-15));
  BOOST_TEST(a.any().item<bool>());
  BOOST_TEST(!a.all().item<bool>());
  BOOST_TEST(difference(a.all({.axis = 0, .keepdims = true}), nd::array({{false, true, true}})) == "");
  BOOST_TEST(nd::count_nonzero(a) == 5);
  BOOST_TEST(difference(nd::count_nonzero(a, {.axis = 1}), nd::array({3, 2})) == "");
  BOOST_TEST(difference(nd::max(a, {.axis = 0}), nd::array({3.0, 5.0, 4.0})) == "");
  BOOST_TEST(difference(nd::min(a, {.axis = 0}), nd::array({0.0, 1.0, 2.0})) == "");
}

BOOST_AUTO_TEST_SUITE_END()
