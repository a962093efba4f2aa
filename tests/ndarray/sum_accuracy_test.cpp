// Digits of long sums, means, variances and norms along every axis of an array, against sums of the same elements in
// long double; NaN and infinities in variances.
#include <catena/ndarray/routines/reduction.h>

#include <cmath>
#include <functional>

#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/statistics.h>
#include <catena/ndarray/user_kernel/reduction_kernel.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Dtype;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// A sum of which every rounding error is kept.
struct Total {
  long double sum = 0, rest = 0;
  void operator+=(long double v) {
    const long double next = sum + v;
    rest += std::abs(sum) >= std::abs(v) ? sum - next + v : v - next + sum;
    sum = next;
  }
  long double value() const { return sum + rest; }
};
struct Exact {
  long double sum = 0, squares = 0, var = 0;
};
Exact exact(const std::vector<double>& x) {
  const auto n = static_cast<long double>(x.size());
  Total sum, squares, distances, m2;
  for (double v : x) sum += v, squares += static_cast<long double>(v) * v;
  const long double mean = sum.value() / n;
  for (double v : x) distances += v - mean, m2 += (v - mean) * (v - mean);
  return {sum.value(), squares.value(), (m2.value() - distances.value() * distances.value() / n) / n};
}

double error(const Array& got, long double expected) {
  const auto value = static_cast<long double>(got.item<double>());
  return double(std::abs(value - expected) / (expected == 0 ? 1 : std::abs(expected)));
}

Array array_of(const std::vector<double>& x, Dtype dtype) {
  return nd::array(x, {static_cast<std::int64_t>(x.size())}, {.dtype = dtype});
}

// The same numbers in all rows of the results: `x` repeated along the axis that is kept, in several layouts.
struct Layout {
  const char* name;
  std::function<Array(const Array&)> make;  // of n numbers
  nd::Axes axes;
};
Array columns_of(const Array& x, std::int64_t columns) {
  return nd::ascontiguousarray(nd::broadcast_to(x.reshape({-1, 1}), {x.size(), columns}));
}
const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {"vector",
       [](const Array& x) {
         return x.reshape({1, -1});
       },
       1},
      {"every third number", [](const Array& x) { return columns_of(x, 3)(nd::Slice(), nd::Slice(0, 1)); }, 0},
      {"rows",
       [](const Array& x) {
         return nd::ascontiguousarray(nd::broadcast_to(x, {8, x.size()}));
       },
       1},
      {"three columns", [](const Array& x) { return columns_of(x, 3); }, 0},
      {"a repeated number",
       [](const Array& x) {
         return nd::broadcast_to(x, {3, x.size()});
       },
       1},
      {"the middle axis",
       [](const Array& x) {
         return nd::ascontiguousarray(nd::broadcast_to(x.reshape({1, -1, 1}), {2, x.size(), 5}));
       },
       1},
      {"all but the middle axis",
       [](const Array& x) {
         return nd::moveaxis(nd::stack({x, x}, 0).reshape({2, 64, -1}), 0, 1).copy();
       },
       nd::Axes{0, 2}},
  };
  return all;
}

// Many numbers for a CPU, fewer for a device that is simulated.
std::int64_t many() { return test::cases_take_turns() ? 1 << 18 : 1 << 21; }

std::vector<double> numbers(const std::string& kind, std::int64_t n, Dtype dtype) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (kind == "constant") x[i] = 0.3;
    else if (kind == "uniform") x[i] = uniform(random);
    else if (kind == "around 10000") x[i] = 1e4 + uniform(random);
    else x[i] = 1e4 + double(i) / double(n);  // a ramp
  }
  return array_of(x, dtype).to_vector<double>();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sum_accuracy)

BOOST_AUTO_TEST_CASE(long_sums_of_single_precision_in_every_layout) {
  for (const std::string kind : {"constant", "uniform", "ramp"}) {
    const auto values = numbers(kind, many(), nd::float32);
    const Exact e = exact(values);
    const auto n = static_cast<long double>(values.size());
    const Array x = array_of(values, nd::float32);
    for (const Layout& l : layouts()) {
      const Array a = l.make(x);
      const long double times = l.axes.values().size() == 2 ? 2 * e.sum : e.sum;
      const auto first = [&](const Array& r) { return r.reshape(-1)(0); };
      if (l.axes.values().size() == 2) {
        BOOST_TEST(error(a.sum({.axis = l.axes}).sum(), times) < 3e-7, kind << ' ' << l.name);
        continue;
      }
      BOOST_TEST(error(first(a.sum({.axis = l.axes})), times) < 3e-7, kind << ' ' << l.name);
      BOOST_TEST(error(first(a.mean({.axis = l.axes})), e.sum / n) < 3e-7, kind << ' ' << l.name);
      BOOST_TEST(error(first(nd::linalg::norm(a, {.axis = l.axes})), std::sqrt(e.squares)) < 3e-7,
                 kind << ' ' << l.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(long_variances_around_a_large_mean) {
  for (const std::string kind : {"around 10000", "ramp", "constant"}) {
    const auto values = numbers(kind, many(), nd::float32);
    const Exact e = exact(values);
    const Array x = array_of(values, nd::float32);
    for (const Layout& l : layouts()) {
      if (l.axes.values().size() == 2) continue;
      const Array a = l.make(x);
      BOOST_TEST(error(a.var({.axis = l.axes}).reshape(-1)(0), e.var) < 3e-7, kind << ' ' << l.name);
      BOOST_TEST(error(a.std({.axis = l.axes}).reshape(-1)(0), std::sqrt(e.var)) < 3e-7, kind << ' ' << l.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(variances_of_few_numbers_far_from_zero) {
  for (const std::int64_t n : {2, 10, 33, 600, 5000}) {
    std::vector<double> x(std::size_t(n), 16777216.0);
    x[std::size_t(n) / 2] += 2;
    const Exact e = exact(x);
    BOOST_TEST(error(array_of(x, nd::float32).var(), e.var) < 1e-6, n);
    for (double& v : x) v *= 536870912.0;  // 2^53 and its neighbour
    BOOST_TEST(error(array_of(x, nd::float64).var(), exact(x).var) < 1e-14, n);
    // A pivot far from all others.
    x.assign(std::size_t(n), 1);
    x[0] = 1e10;
    for (std::size_t i = 1; i < x.size(); ++i) x[i] = double(i % 7);
    BOOST_TEST(error(array_of(x, nd::float64).var(), exact(x).var) < 1e-12, n);
  }
}

BOOST_AUTO_TEST_CASE(other_dtypes) {
  const std::int64_t n = many();
  for (const auto& [dtype, bound] : {std::pair(nd::float16, 0x1p-11), std::pair(nd::bfloat16, 0x1p-8),
                                     std::pair(nd::float64, 2e-15), std::pair(nd::complex64, 3e-7)}) {
    const auto values = numbers("constant", n, dtype == nd::complex64 ? nd::float32 : dtype);
    const Exact e = exact(values);
    Array x = array_of(values, dtype == nd::complex64 ? nd::float32 : dtype);
    if (dtype == nd::complex64) x = (x.astype(nd::complex64) * nd::array(nd::complex128_t(1, -1)).astype(dtype));
    const auto part = [&](const Array& r) { return dtype == nd::complex64 ? -r.imag().copy() : r; };
    BOOST_TEST(error(part(x.mean()), e.sum / n) <= bound, dtype);
    BOOST_TEST(error(part(columns_of(x, 3).mean({.axis = 0})(1)), e.sum / n) <= bound, dtype);
    if (catena::itemsize(dtype) > 2) BOOST_TEST(error(part(x.sum()), e.sum) <= bound, dtype);
  }
  const Array bytes = nd::full({n}, 3, {.dtype = nd::int8});
  BOOST_TEST(bytes.mean().item<double>() == 3);
  BOOST_TEST(bytes.sum().item<std::int64_t>() == 3 * n);
  BOOST_TEST(bytes.var().item<double>() == 0);
}

BOOST_AUTO_TEST_CASE(kernels_given_as_text) {
  const auto values = numbers("constant", many(), nd::float32);
  const Exact e = exact(values);
  const Array x = array_of(values, nd::float32);
  const nd::ReductionKernel total("T x", "T y", "x", "a + b", "y = a", "0", "accurate_total");
  for (const Layout& l : layouts()) {
    if (l.axes.values().size() == 2) continue;
    BOOST_TEST(error(total(l.make(x), {.axis = l.axes}).single_output().reshape(-1)(0), e.sum) < 3e-7, l.name);
  }
}

BOOST_AUTO_TEST_CASE(nan_and_infinities_reach_the_variance) {
  const std::vector<std::vector<double>> rows = {{kNaN},    {kInf},    {-kInf},      {1, kNaN},    {kNaN, 1},
                                                 {kInf, 1}, {1, kInf}, {kInf, kInf}, {-kInf, kInf}};
  for (const Dtype t : {nd::float16, nd::float32, nd::float64})
    for (const std::vector<double>& row : rows)
      for (const std::size_t n : {row.size(), std::size_t(40), std::size_t(9000)}) {
        std::vector<double> x = row;
        x.resize(n, 2);
        std::rotate(x.begin(), x.begin() + std::ptrdiff_t(n / 3), x.end());
        const Array a = array_of(x, t);
        const Array many_rows = nd::stack({a, nd::zeros_like(a)}, 0);
        BOOST_TEST((std::isnan(a.var().item<double>()) && std::isnan(a.std().item<double>())), t << ' ' << n);
        const auto of_rows = many_rows.var({.axis = 1}).to_vector<double>();
        BOOST_TEST((std::isnan(of_rows[0]) && of_rows[1] == 0), t << ' ' << n);
        const auto of_columns = many_rows.T().copy().var({.axis = 0}).to_vector<double>();
        BOOST_TEST((std::isnan(of_columns[0]) && of_columns[1] == 0), t << ' ' << n);
        const auto of_elements = a.reshape({-1, 1}).var({.axis = 1}).to_vector<double>();
        for (std::size_t i = 0; i < n; ++i)
          BOOST_TEST_REQUIRE((std::isfinite(x[i]) ? of_elements[i] == 0 : std::isnan(of_elements[i])));
      }
  // Finite numbers whose squares are not.
  BOOST_TEST(nd::array({1e200, -1e200, 3.0}).var().item<double>() == kInf);
  BOOST_TEST(nd::array({3.0, -1e200, 1e200}).std().item<double>() == kInf);
  BOOST_TEST(array_of({3e38, -3e38}, nd::float32).var().item<float>() == std::numeric_limits<float>::infinity());
}

BOOST_AUTO_TEST_SUITE_END()
