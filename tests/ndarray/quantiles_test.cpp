// median, quantile and percentile and their forms without NaN as in NumPy: methods, axes, fractions as numbers and
// lists, weights, dtypes; large rows against sorted ones.
#include <algorithm>
#include <cmath>
#include <random>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;

namespace {

const std::vector<const char*> kQuantileMethods = {"inverted_cdf",
                                                   "averaged_inverted_cdf",
                                                   "closest_observation",
                                                   "interpolated_inverted_cdf",
                                                   "hazen",
                                                   "weibull",
                                                   "linear",
                                                   "median_unbiased",
                                                   "normal_unbiased",
                                                   "lower",
                                                   "higher",
                                                   "midpoint",
                                                   "nearest"};

template <class F> std::vector<nd::Array> by_each_method(F&& f) {
  std::vector<nd::Array> results;
  for (const char* method : kQuantileMethods) results.push_back(f(method));
  return results;
}

// Random numbers of which some are equal and, if asked for, some are NaN.
nd::Array random_numbers(const nd::Shape& shape, bool with_nans, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> values(static_cast<std::size_t>(catena::size_of(shape)));
  for (double& x : values) {
    x = double(random() % 100000) / 16 - 3000;
    if (with_nans && random() % 4 == 0) x = NAN;
  }
  return nd::array(values, shape);
}

// Rows of an array of rank 2, sorted on the host and without NaN.
std::vector<std::vector<double>> sorted_rows(const nd::Array& a) {
  std::vector<std::vector<double>> rows;
  for (const nd::Array& row : a) {
    std::vector<double> numbers = row.to_vector<double>();
    std::erase_if(numbers, [](double x) { return std::isnan(x); });
    std::sort(numbers.begin(), numbers.end());
    rows.push_back(numbers);
  }
  return rows;
}
double linear_quantile(const std::vector<double>& sorted, double q) {
  const double p = q * double(sorted.size() - 1), below = std::floor(p);
  const auto k = std::size_t(below);
  return k + 1 < sorted.size() ? sorted[k] + (p - below) * (sorted[k + 1] - sorted[k]) : sorted.back();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantiles)

BOOST_FIXTURE_TEST_CASE(medians, test::NumpyScene) {
  NUMPY("np.median(b)", nd::median(b), "float64 () 1.25");
  NUMPY("np.median(b, 0)", nd::median(b, 0), "float64 (4) 1.5 -0.75 1 2");
  NUMPY("np.median(b, axis=-1, keepdims=True)", nd::median(b, {.axis = -1, .keepdims = true}),
        "float64 (3, 1) 1.25 0.625 1.75");
  NUMPY("np.median(q, (0, 2))", nd::median(q, {0, 2}), "float64 (3) 7.5 11.5 15.5");
  NUMPY("np.median(q, (2, 0), keepdims=True)", nd::median(q, {2, 0}, {.keepdims = true}),
        "float64 (1, 3, 1) 7.5 11.5 15.5");
  NUMPY("np.median(q, keepdims=True)", nd::median(q, {.keepdims = true}), "float64 (1, 1, 1) 11.5");
  NUMPY("np.median(t, 1)", nd::median(t, 1), "float64 (4, 2) 9 17 8 16 7 15 6 14");
  NUMPY("np.median(t, (0, 1))", nd::median(t, {0, 1}), "float64 (2) 7.5 15.5");
  NUMPY("np.median(h)", nd::median(h), "float64 () nan");
  NUMPY("np.median(g, 1)", nd::median(g, 1), "float64 (3) nan nan 2");
  NUMPY("np.median(h[2:])", nd::median(h(nd::Slice(2, {}))), "float64 () inf");
  NUMPY("np.median(one)", nd::median(one), "float64 () 2.5");
  NUMPY("np.median(zero)", nd::median(zero), "float64 () 2.5");
  NUMPY("np.median(e)", nd::median(e), "float64 () nan");
  NUMPY("np.median(e3, 0)", nd::median(e3, 0), "float64 (3) nan nan nan");
  NUMPY("np.median(e3, 1)", nd::median(e3, 1), "float64 (0)");
  NUMPY("[np.median(x) for x in reals]", each(reals, [](auto& x) { return nd::median(x); }),
        "float64 () 1 | float64 () 2.5 | float64 () 2.5 | float64 () 2.5 | float64 () 2.5 | float64 () 2.5 | float64 "
        "() 2.5 | float64 () 2.5 | float64 () 2.5 | float16 () 2.5 | float32 () 2.5 | float64 () 2.5");
  NUMPY("[np.median(x, 1) for x in reals]", each(reals, [](auto& x) { return nd::median(x, 1); }),
        "float64 (3) 1 1 1 | float64 (3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5 | float64 "
        "(3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5 | float64 (3) "
        "1.5 3.5 3.5 | float16 (3) 1.5 3.5 3.5 | float32 (3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5");
  NUMPY("[np.median(x, 0) for x in floats]", each(floats, [](auto& x) { return nd::median(x, 0); }),
        "float16 (4) 0.75 0.5 0.5 0.75 | float32 (4) 0.75 0.5 0.5 0.75 | float64 (4) 0.75 0.5 0.5 0.75");
  BOOST_TEST(test::text(nd::median(b.astype(nd::bfloat16), 1)) == "bfloat16 (3) 1.25 0.625 1.75");
  NUMPY("np.median(b.copy(), overwrite_input=True)", nd::median(b, {.overwrite_input = true}), "float64 () 1.25");
  // numpy: out = np.zeros(4, np.float32)
  const nd::Array out = nd::zeros(4, nd::float32);
  NUMPY("np.median(b, 0, out)", nd::median(b, 0, {.out = out}), "float32 (4) 1.5 -0.75 1 2");
  NUMPY("out", out, "float32 (4) 1.5 -0.75 1 2");
  NUMPY_RAISES("np.median(b, 2)", nd::median(b, 2), nd::ValueError);
  NUMPY_RAISES("np.median(b, (0, 0))", nd::median(b, {0, 0}), nd::ValueError);
  BOOST_CHECK_THROW(nd::median(z), nd::TypeError);
  BOOST_CHECK_THROW(nd::median(nd::Array()), nd::TypeError);
  BOOST_CHECK_THROW(nd::median(b, {.out = nd::zeros(3)}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(medians_without_nan, test::NumpyScene) {
  NUMPY("np.nanmedian(h)", nd::nanmedian(h), "float64 () 3");
  NUMPY("np.nanmedian(g)", nd::nanmedian(g), "float64 () 2");
  NUMPY("np.nanmedian(g, 0)", nd::nanmedian(g, 0), "float64 (3) 1.5 5 -inf");
  NUMPY("np.nanmedian(g, axis=1, keepdims=True)", nd::nanmedian(g, {.axis = 1, .keepdims = true}),
        "float64 (3, 1) 2 nan 2");
  NUMPY("np.nanmedian(g.T, (0, 1))", nd::nanmedian(g.T(), {0, 1}), "float64 () 2");
  NUMPY("np.nanmedian(g[1])", nd::nanmedian(g(1)), "float64 () nan");
  NUMPY("np.nanmedian(b, 0)", nd::nanmedian(b, 0), "float64 (4) 1.5 -0.75 1 2");
  NUMPY("np.nanmedian(e)", nd::nanmedian(e), "float64 () nan");
  NUMPY("np.nanmedian(e3, 0)", nd::nanmedian(e3, 0), "float64 (3) nan nan nan");
  NUMPY("np.nanmedian(zero)", nd::nanmedian(zero), "float64 () 2.5");
  NUMPY("[np.nanmedian(x, 1) for x in reals]", each(reals, [](auto& x) { return nd::nanmedian(x, 1); }),
        "float64 (3) 1 1 1 | float64 (3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5 | float64 "
        "(3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5 | float64 (3) "
        "1.5 3.5 3.5 | float16 (3) 1.5 3.5 3.5 | float32 (3) 1.5 3.5 3.5 | float64 (3) 1.5 3.5 3.5");
  NUMPY("[np.nanmedian(np.where(x > 1, np.nan, x).astype(x.dtype), 0) for x in floats]",
        each(floats, [](auto& x) { return nd::nanmedian(nd::where(x > 1, nd::nan, x), 0); }),
        "float16 (4) 0.5 0.375 0.5 0.375 | float32 (4) 0.5 0.375 0.5 0.375 | float64 (4) 0.5 0.375 0.5 0.375");
  const nd::Array out = nd::zeros(3);
  // numpy: out = np.zeros(3)
  NUMPY("np.nanmedian(g, 1, out)", nd::nanmedian(g, 1, {.out = out}), "float64 (3) 2 nan 2");
  NUMPY("np.nanmedian(b.copy(), overwrite_input=True)", nd::nanmedian(b, {.overwrite_input = true}), "float64 () 1.25");
  NUMPY_RAISES("np.nanmedian(g, 2)", nd::nanmedian(g, 2), nd::ValueError);
  BOOST_CHECK_THROW(nd::nanmedian(z), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(fractions, test::NumpyScene) {
  NUMPY("np.quantile(b, 0.3)", nd::quantile(b, 0.3), "float64 () 0.325");
  NUMPY("np.quantile(b, 0.3, 0)", nd::quantile(b, 0.3, 0), "float64 (4) -0.1 -0.85 0.8 1.3");
  NUMPY("np.quantile(b, [0.1, 0.5, 0.9])", nd::quantile(b, {0.1, 0.5, 0.9}), "float64 (3) -0.975 1.25 3.9");
  NUMPY("np.quantile(b, [0.1, 0.9], 1)", nd::quantile(b, {0.1, 0.9}, 1),
        "float64 (2, 3) -0.55 -1.675 -0.075 2.7 3.1 4.8");
  NUMPY("np.quantile(b, [0.1, 0.9], axis=0, keepdims=True)", nd::quantile(b, {0.1, 0.9}, {.axis = 0, .keepdims = true}),
        "float64 (2, 1, 4) -1.7 -0.95 0.6 0.6 1.9 3.05 5 2.8");
  NUMPY("np.quantile(b, [[0.1], [0.9]], -1)", nd::quantile(b, {{0.1}, {0.9}}, -1),
        "float64 (2, 1, 3) -0.55 -1.675 -0.075 2.7 3.1 4.8");
  NUMPY("np.quantile(q, 0.25, (0, 2))", nd::quantile(q, 0.25, {0, 2}), "float64 (3) 1.75 5.75 9.75");
  NUMPY("np.quantile(q, [0.25, 0.5], (1, 2), keepdims=True)", nd::quantile(q, {0.25, 0.5}, {1, 2}, {.keepdims = true}),
        "float64 (2, 2, 1, 1) 2.75 14.75 5.5 17.5");
  NUMPY("np.quantile(t, [0.25, 0.8], 0)", nd::quantile(t, {0.25, 0.8}, 0),
        "float64 (2, 2, 2) 0.75 8.75 12.75 20.75 2.4 10.4 14.4 22.4");
  NUMPY("np.quantile(b, w / 4, 1)", nd::quantile(b, w / 4, 1),
        "float64 (6, 3) 0.125 -0.4375 0.9375 1.25 0.625 1.75 -0.4375 -1.46875 0.09375 3 4 6 0.6875 0.34375 1.5625 "
        "2.25 1.75 3");
  NUMPY("np.quantile(b, 0)", nd::quantile(b, 0), "float64 () -2.5");
  NUMPY("np.quantile(d, 1)", nd::quantile(d, 1), "int64 () 7");
  NUMPY("np.quantile(d, [0, 1], 1)", nd::quantile(d, {0, 1}, 1), "int64 (2, 3) 0 2 1 3 7 6");
  NUMPY("np.quantile(b, [])", nd::quantile(b, std::vector<double>()), "float64 (0)");
  NUMPY("np.quantile(g, [0.2, 0.6], 1)", nd::quantile(g, {0.2, 0.6}, 1), "float64 (2, 3) nan nan nan nan nan 2.6");
  NUMPY("np.quantile(g, 0.2, 0)", nd::quantile(g, 0.2, 0), "float64 (3) nan nan nan");
  NUMPY("np.quantile(h, 0.2, method='lower')", nd::quantile(h, 0.2, {.method = "lower"}), "float64 () nan");
  NUMPY("np.quantile(h[2:], [0., 0.2])", nd::quantile(h(nd::Slice(2, {})), {0., 0.2}), "float64 (2) nan inf");
  NUMPY("np.quantile(one, [0.2, 0.3])", nd::quantile(one, {0.2, 0.3}), "float64 (2) 2.5 2.5");
  NUMPY("np.quantile(zero, 0.2)", nd::quantile(zero, 0.2), "float64 () 2.5");
  NUMPY("np.quantile(e3, 0.2, 1)", nd::quantile(e3, 0.2, 1), "float64 (0)");
  NUMPY("np.quantile(e3, [0.2, 0.4], 1)", nd::quantile(e3, {0.2, 0.4}, 1), "float64 (2, 0)");
  NUMPY("np.percentile(b, 30)", nd::percentile(b, 30), "float64 () 0.325");
  NUMPY("np.percentile(b, [10, 99.5], 0)", nd::percentile(b, {10, 99.5}, 0),
        "float64 (2, 4) -1.7 -0.95 0.6 0.6 1.995 3.9525 5.95 2.99");
  NUMPY("np.percentile(d, 100)", nd::percentile(d, 100), "float64 () 7");
  NUMPY("np.percentile(b, [10, 20, 30], axis=(0, 1), keepdims=True)",
        nd::percentile(b, {10, 20, 30}, {.axis = {0, 1}, .keepdims = true}), "float64 (3, 1, 1) -0.975 -0.55 0.325");
  NUMPY("np.percentile(b.copy(), 30, overwrite_input=True)", nd::percentile(b, 30, {.overwrite_input = true}),
        "float64 () 0.325");
  const nd::Array out = nd::zeros({2, 4}, nd::float32);
  // numpy: out = np.zeros((2, 4))
  NUMPY("np.percentile(b, [10, 20], 0, out).astype(np.float32)", nd::percentile(b, {10, 20}, 0, {.out = out}),
        "float32 (2, 4) -1.70000005 -0.949999988 0.600000024 0.600000024 -0.899999976 -0.899999976 0.699999988 "
        "0.949999988");
  NUMPY("np.quantile(b, [0.1, 0.2], 0, out).astype(np.float32)", nd::quantile(b, {0.1, 0.2}, 0, {.out = out}),
        "float32 (2, 4) -1.70000005 -0.949999988 0.600000024 0.600000024 -0.899999976 -0.899999976 0.699999988 "
        "0.949999988");
  NUMPY("np.quantile(b.copy(), 0.3, None, None, True)", nd::quantile(b, 0.3, {}, {.overwrite_input = true}),
        "float64 () 0.325");
}

BOOST_FIXTURE_TEST_CASE(methods, test::NumpyScene) {
  // numpy: names = ["inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf"]
  // numpy: names += ["hazen", "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher"]
  // numpy: names += ["midpoint", "nearest"]
  NUMPY("[np.quantile(v, 0.3, method=x) for x in names]",
        by_each_method([&](auto x) { return nd::quantile(v, 0.3, {.method = x}); }),
        "float64 () 1 | float64 () 1 | float64 () 1 | float64 () 0.9 | float64 () 1.3 | float64 () 1.1 | float64 () "
        "1.5 | float64 () 1.23333333 | float64 () 1.25 | float64 () 1 | float64 () 2 | float64 () 1.5 | float64 () 2");
  NUMPY("[np.quantile(v, np.arange(13) / 12, method=x) for x in names]",
        by_each_method([&](auto x) { return nd::quantile(v, nd::arange(13) / 12, {.method = x}); }),
        "float64 (13) 0.5 0.5 0.5 1 1 2 2 3 3 4 4 5 5 | float64 (13) 0.5 0.5 0.75 1 1.5 2 2.5 3 3.5 4 4.5 5 5 | "
        "float64 (13) 0.5 0.5 0.5 1 1 1 2 3 3 3 4 5 5 | float64 (13) 0.5 0.5 0.5 0.75 1 1.5 2 2.5 3 3.5 4 4.5 5 | "
        "float64 (13) 0.5 0.5 0.75 1 1.5 2 2.5 3 3.5 4 4.5 5 5 | float64 (13) 0.5 0.5 0.583333333 0.875 1.33333333 "
        "1.91666667 2.5 3.08333333 3.66666667 4.25 4.83333333 5 5 | float64 (13) 0.5 0.708333333 0.916666667 1.25 "
        "1.66666667 2.08333333 2.5 2.91666667 3.33333333 3.75 4.16666667 4.58333333 5 | float64 (13) 0.5 0.5 "
        "0.694444444 0.958333333 1.44444444 1.97222222 2.5 3.02777778 3.55555556 4.08333333 4.61111111 5 5 | float64 "
        "(13) 0.5 0.5 0.708333333 0.96875 1.45833333 1.97916667 2.5 3.02083333 3.54166667 4.0625 4.58333333 5 5 | "
        "float64 (13) 0.5 0.5 0.5 1 1 2 2 2 3 3 4 4 5 | float64 (13) 0.5 1 1 2 2 3 3 3 4 4 5 5 5 | float64 (13) 0.5 "
        "0.75 0.75 1.5 1.5 2.5 2.5 2.5 3.5 3.5 4.5 4.5 5 | float64 (13) 0.5 0.5 1 1 2 2 2 3 3 4 4 5 5");
  NUMPY("[np.quantile(b, [0, 0.25, 0.4, 0.75, 1], 1, method=x) for x in names]", by_each_method([&](auto x) {
          return nd::quantile(b, {0, 0.25, 0.4, 0.75, 1}, 1, {.method = x});
        }),
        "float64 (5, 3) -1 -2.5 -0.75 -1 -2.5 -0.75 0.5 0.25 1.5 2 1 2 3 4 6 | float64 (5, 3) -1 -2.5 -0.75 -0.25 "
        "-1.125 0.375 0.5 0.25 1.5 2.5 2.5 4 3 4 6 | float64 (5, 3) -1 -2.5 -0.75 -1 -2.5 -0.75 0.5 0.25 1.5 2 1 2 3 "
        "4 6 | float64 (5, 3) -1 -2.5 -0.75 -1 -2.5 -0.75 -0.1 -0.85 0.6 2 1 2 3 4 6 | float64 (5, 3) -1 -2.5 -0.75 "
        "-0.25 -1.125 0.375 0.65 0.325 1.55 2.5 2.5 4 3 4 6 | float64 (5, 3) -1 -2.5 -0.75 -0.625 -1.8125 -0.1875 "
        "0.5 0.25 1.5 2.75 3.25 5 3 4 6 | float64 (5, 3) -1 -2.5 -0.75 0.125 -0.4375 0.9375 0.8 0.4 1.6 2.25 1.75 3 "
        "3 4 6 | float64 (5, 3) -1 -2.5 -0.75 -0.375 -1.35416667 0.1875 0.6 0.3 1.53333333 2.58333333 2.75 "
        "4.33333333 3 4 6 | float64 (5, 3) -1 -2.5 -0.75 -0.34375 -1.296875 0.234375 0.6125 0.30625 1.5375 2.5625 "
        "2.6875 4.25 3 4 6 | float64 (5, 3) -1 -2.5 -0.75 -1 -2.5 -0.75 0.5 0.25 1.5 2 1 2 3 4 6 | float64 (5, 3) -1 "
        "-2.5 -0.75 0.5 0.25 1.5 2 1 2 3 4 6 3 4 6 | float64 (5, 3) -1 -2.5 -0.75 -0.25 -1.125 0.375 1.25 0.625 1.75 "
        "2.5 2.5 4 3 4 6 | float64 (5, 3) -1 -2.5 -0.75 0.5 0.25 1.5 0.5 0.25 1.5 2 1 2 3 4 6");
  NUMPY("[np.percentile(d, [25, 60], 0, method=x) for x in names]", by_each_method([&](auto x) {
          return nd::percentile(d, {25, 60}, 0, {.method = x});
        }),
        "int64 (2, 4) 1 1 2 0 3 2 2 3 | float64 (2, 4) 1 1 2 0 3 2 2 3 | int64 (2, 4) 1 1 2 0 3 2 2 3 | float64 (2, "
        "4) 1 1 2 0 2.6 1.8 2 2.4 | float64 (2, 4) 1.5 1.25 2 0.75 4.2 3.2 2.6 3.6 | float64 (2, 4) 1 1 2 0 4.6 3.6 "
        "2.8 3.8 | float64 (2, 4) 2 1.5 2 1.5 3.8 2.8 2.4 3.4 | float64 (2, 4) 1.33333333 1.16666667 2 0.5 "
        "4.33333333 3.33333333 2.66666667 3.66666667 | float64 (2, 4) 1.375 1.1875 2 0.5625 4.3 3.3 2.65 3.65 | "
        "int64 (2, 4) 1 1 2 0 3 2 2 3 | int64 (2, 4) 3 2 2 3 7 6 4 5 | float64 (2, 4) 2 1.5 2 1.5 5 4 3 4 | int64 "
        "(2, 4) 1 1 2 0 3 2 2 3");
  NUMPY("[np.nanquantile(np.maximum(g, -9), [0, 0.25, 0.5, 0.9], 0, method=x) for x in names]",
        by_each_method([&](auto x) {
          return nd::nanquantile(nd::maximum(g, -9), {0, 0.25, 0.5, 0.9}, 0, {.method = x});
        }),
        "float64 (4, 3) 1 5 -9 1 5 -9 1 5 -9 2 5 3 | float64 (4, 3) 1 5 -9 1 5 -9 1.5 5 -3 2 5 3 | float64 (4, 3) 1 "
        "5 -9 1 5 -9 1 5 -9 2 5 3 | float64 (4, 3) 1 5 -9 1 5 -9 1 5 -9 1.8 5 0.6 | float64 (4, 3) 1 5 -9 1 5 -9 1.5 "
        "5 -3 2 5 3 | float64 (4, 3) 1 5 -9 1 5 -9 1.5 5 -3 2 5 3 | float64 (4, 3) 1 5 -9 1.25 5 -6 1.5 5 -3 1.9 5 "
        "1.8 | float64 (4, 3) 1 5 -9 1 5 -9 1.5 5 -3 2 5 3 | float64 (4, 3) 1 5 -9 1 5 -9 1.5 5 -3 2 5 3 | float64 "
        "(4, 3) 1 5 -9 1 5 -9 1 5 -9 1 5 -9 | float64 (4, 3) 1 5 -9 2 5 3 2 5 3 2 5 3 | float64 (4, 3) 1 5 -9 1.5 5 "
        "-3 1.5 5 -3 1.5 5 -3 | float64 (4, 3) 1 5 -9 1 5 -9 1 5 -9 2 5 3");
  NUMPY("[np.nanpercentile(h[:3], 40, method=x) for x in names]",
        by_each_method([&](auto x) { return nd::nanpercentile(h(nd::Slice(3)), 40, {.method = x}); }),
        "float64 () 1 | float64 () 1 | float64 () 1 | float64 () 1 | float64 () 1.6 | float64 () 1.4 | float64 () "
        "1.8 | float64 () 1.53333333 | float64 () 1.55 | float64 () 1 | float64 () 3 | float64 () 2 | float64 () 1");
  NUMPY_RAISES("np.quantile(v, 0.3, method='middle')", nd::quantile(v, 0.3, {.method = "middle"}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(dtypes_of_quantiles, test::NumpyScene) {
  NUMPY("[np.quantile(x, 0.3, 1) for x in reals[1:]]",
        each({reals.begin() + 1, reals.end()}, [](auto& x) { return nd::quantile(x, 0.3, 1); }),
        "float64 (3) 0.9 2 2.8 | float64 (3) 0.9 2 2.8 | float64 (3) 0.9 2 2.8 | float64 (3) 0.9 2 2.8 | float64 (3) "
        "0.9 2 2.8 | float64 (3) 0.9 2 2.8 | float64 (3) 0.9 2 2.8 | float64 (3) 0.9 2 2.8 | float16 (3) 0.899902344 "
        "2 2.80078125 | float32 (3) 0.899999976 2 2.79999995 | float64 (3) 0.9 2 2.8");
  NUMPY("[np.quantile(x, [0.3, 0.5]) for x in reals[1:]]",
        each({reals.begin() + 1, reals.end()},
             [](auto& x) {
               return nd::quantile(x, {0.3, 0.5});
             }),
        "float64 (2) 2 2.5 | float64 (2) 2 2.5 | float64 (2) 2 2.5 | float64 (2) 2 2.5 | float64 (2) 2 2.5 | float64 "
        "(2) 2 2.5 | float64 (2) 2 2.5 | float64 (2) 2 2.5 | float64 (2) 2 2.5 | float64 (2) 2 2.5 | float64 (2) 2 "
        "2.5");
  NUMPY("[np.quantile(x, 0.3, method='nearest') for x in reals]",
        each(reals, [](auto& x) { return nd::quantile(x, 0.3, {.method = "nearest"}); }),
        "bool () 1 | int8 () 2 | uint8 () 2 | int16 () 2 | uint16 () 2 | int32 () 2 | uint32 () 2 | int64 () 2 | "
        "uint64 () 2 | float16 () 2 | float32 () 2 | float64 () 2");
  NUMPY("[np.percentile(x, [30, 50], 0, method='higher') for x in reals]",
        each(reals,
             [](auto& x) {
               return nd::percentile(x, {30, 50}, 0, {.method = "higher"});
             }),
        "bool (2, 4) 1 1 1 1 1 1 1 1 | int8 (2, 4) 3 2 2 3 3 2 2 3 | uint8 (2, 4) 3 2 2 3 3 2 2 3 | int16 (2, 4) 3 2 "
        "2 3 3 2 2 3 | uint16 (2, 4) 3 2 2 3 3 2 2 3 | int32 (2, 4) 3 2 2 3 3 2 2 3 | uint32 (2, 4) 3 2 2 3 3 2 2 3 "
        "| int64 (2, 4) 3 2 2 3 3 2 2 3 | uint64 (2, 4) 3 2 2 3 3 2 2 3 | float16 (2, 4) 3 2 2 3 3 2 2 3 | float32 "
        "(2, 4) 3 2 2 3 3 2 2 3 | float64 (2, 4) 3 2 2 3 3 2 2 3");
  NUMPY("[np.quantile(x, 0.75, 0) for x in floats]", each(floats, [](auto& x) { return nd::quantile(x, 0.75, 0); }),
        "float16 (4) 1.25 1 0.75 1 | float32 (4) 1.25 1 0.75 1 | float64 (4) 1.25 1 0.75 1");
  NUMPY("[np.quantile(x, [0.25, 0.75], 0) for x in floats]",
        each(floats,
             [](auto& x) {
               return nd::quantile(x, {0.25, 0.75}, 0);
             }),
        "float64 (2, 4) 0.5 0.375 0.5 0.375 1.25 1 0.75 1 | float64 (2, 4) 0.5 0.375 0.5 0.375 1.25 1 0.75 1 | "
        "float64 (2, 4) 0.5 0.375 0.5 0.375 1.25 1 0.75 1");
  NUMPY("[np.nanquantile(np.where(x > 1, np.nan, x).astype(x.dtype), 0.25, 0) for x in floats]",
        each(floats, [](auto& x) { return nd::nanquantile(nd::where(x > 1, nd::nan, x), 0.25, 0); }),
        "float16 (4) 0.375 0.3125 0.5 0.1875 | float32 (4) 0.375 0.3125 0.5 0.1875 | float64 (4) 0.375 0.3125 0.5 "
        "0.1875");
  NUMPY("[np.nanquantile(np.where(x > 1, np.nan, x).astype(x.dtype), [0.25, 0.5], 0) for x in floats]",
        each(floats,
             [](auto& x) {
               return nd::nanquantile(nd::where(x > 1, nd::nan, x), {0.25, 0.5}, 0);
             }),
        "float64 (2, 4) 0.375 0.3125 0.5 0.1875 0.5 0.375 0.5 0.375 | float64 (2, 4) 0.375 0.3125 0.5 0.1875 0.5 "
        "0.375 0.5 0.375 | float64 (2, 4) 0.375 0.3125 0.5 0.1875 0.5 0.375 0.5 0.375");
  BOOST_TEST(nd::quantile(nd::array({-100, 100}, nd::int8), 0.75).item<double>() == 50);  // no overflow
  BOOST_TEST(test::text(nd::quantile(v.astype(nd::bfloat16), 0.5)) == "bfloat16 () 2.5");
  NUMPY_RAISES("np.quantile(m, 0.3)", nd::quantile(m, 0.3), nd::TypeError);
  NUMPY_RAISES("np.quantile(z, 0.3)", nd::quantile(z, 0.3), nd::TypeError);
  NUMPY_RAISES("np.nanquantile(z, 0.3)", nd::nanquantile(z, 0.3), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(quantiles_without_nan, test::NumpyScene) {
  NUMPY("np.nanquantile(h, 0.3)", nd::nanquantile(h, 0.3), "float64 () 2.2");
  NUMPY("np.nanquantile(g, 0.3, 0)", nd::nanquantile(g, 0.3, 0), "float64 (3) 1.3 5 nan");
  NUMPY("np.nanquantile(g, [0.3, 0.5], 0)", nd::nanquantile(g, {0.3, 0.5}, 0), "float64 (2, 3) 1.3 5 nan 1.5 5 -inf");
  NUMPY("np.nanquantile(g[:2], [0.3, 0.5], 1, keepdims=True)",
        nd::nanquantile(g(nd::Slice(2)), {0.3, 0.5}, 1, {.keepdims = true}), "float64 (2, 2, 1) 1.6 nan 2 nan");
  NUMPY("np.nanquantile(g[:2], [[0.3, 0.5]])", nd::nanquantile(g(nd::Slice(2)), {{0.3, 0.5}}), "float64 (1, 2) 1.6 2");
  NUMPY("np.nanquantile(g[1], [0.3, 0.5])", nd::nanquantile(g(1), {0.3, 0.5}), "float64 (2) nan nan");
  NUMPY("np.nanquantile(np.stack([g[:2], g[:2]]), 0.3, (0, 2))",
        nd::nanquantile(nd::stack({g(nd::Slice(2)), g(nd::Slice(2))}), 0.3, {0, 2}), "float64 (2) 1 nan");
  NUMPY("np.nanpercentile(g[:2], 30)", nd::nanpercentile(g(nd::Slice(2)), 30), "float64 () 1.6");
  NUMPY("np.nanpercentile(g, [30, 60], axis=0, method='lower', keepdims=True)",
        nd::nanpercentile(g, {30, 60}, {.axis = 0, .method = "lower", .keepdims = true}),
        "float64 (2, 1, 3) 1 5 -inf 1 5 -inf");
  NUMPY("np.nanpercentile(b, [30, 60], 0)", nd::nanpercentile(b, {30, 60}, 0),
        "float64 (2, 4) -0.1 -0.85 0.8 1.3 1.6 0.2 2 2.2");
  NUMPY("np.nanquantile(d, 0.3, 0)", nd::nanquantile(d, 0.3, 0), "float64 (4) 2.2 1.6 2 1.8");
  NUMPY("np.nanquantile(e, 0.5)", nd::nanquantile(e, 0.5), "float64 () nan");
  NUMPY("np.nanquantile(e3, 0.5, 0)", nd::nanquantile(e3, 0.5, 0), "float64 (3) nan nan nan");
  const nd::Array out = nd::zeros(3);
  // numpy: out = np.zeros(3)
  NUMPY("np.nanquantile(g, 0.3, 0, out)", nd::nanquantile(g, 0.3, 0, {.out = out}), "float64 (3) 1.3 5 nan");
  NUMPY("np.nanpercentile(g.copy(), 30, 0, out, True)",
        nd::nanpercentile(g, 30, 0, {.out = out, .overwrite_input = true}), "float64 (3) 1.3 5 nan");
  NUMPY_RAISES("np.nanquantile(g, 1.5)", nd::nanquantile(g, 1.5), nd::ValueError);
  NUMPY_RAISES("np.nanpercentile(g, -1)", nd::nanpercentile(g, -1), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(weights_of_quantiles, test::NumpyScene) {
  NUMPY("np.quantile(v, 0.5, weights=w, method='inverted_cdf')",
        nd::quantile(v, 0.5, {.method = "inverted_cdf", .weights = w}), "float64 () 3");
  NUMPY("np.quantile(v, np.arange(9) / 8, weights=w, method='inverted_cdf')",
        nd::quantile(v, nd::arange(9) / 8, {.method = "inverted_cdf", .weights = w}),
        "float64 (9) 0.5 0.5 0.5 1 3 4 5 5 5");
  NUMPY("np.quantile(v, [0., 0.2, 1.], weights=n, method='inverted_cdf')",
        nd::quantile(v, {0., 0.2, 1.}, {.method = "inverted_cdf", .weights = n}), "float64 (3) 0.5 0.5 5");
  NUMPY("np.quantile(d, [0.3, 0.6], axis=1, weights=np.abs(b), method='inverted_cdf')",
        nd::quantile(d, {0.3, 0.6}, {.axis = 1, .method = "inverted_cdf", .weights = nd::abs(b)}),
        "int64 (2, 3) 0 2 3 1 2 4");
  NUMPY("np.percentile(b, 40, axis=0, weights=np.array([1, 2, 0]), method='inverted_cdf', keepdims=True)",
        nd::percentile(b, 40, {.axis = 0, .method = "inverted_cdf", .keepdims = true, .weights = nd::array({1, 2, 0})}),
        "float64 (1, 4) -2.5 4 1 0.25");
  NUMPY("np.percentile(q, 40, axis=(2, 0), weights=np.arange(8.).reshape(4, 2), method='inverted_cdf')",
        nd::percentile(q, 40, {.axis = {2, 0}, .method = "inverted_cdf", .weights = nd::arange(8.).reshape(4, 2)}),
        "float64 (3) 3 7 11");
  NUMPY("np.quantile(g, 0.5, axis=1, weights=np.ones((3, 3)), method='inverted_cdf')",
        nd::quantile(g, 0.5, {.axis = 1, .method = "inverted_cdf", .weights = nd::ones({3, 3})}),
        "float64 (3) nan nan 2");
  NUMPY("np.nanquantile(g[:, :2], [0.3, 0.9], weights=a[:3, 1:3], method='inverted_cdf')",
        nd::nanquantile(g(nd::_, nd::Slice(2)), {0.3, 0.9},
                        {.method = "inverted_cdf", .weights = a(nd::_, nd::Slice(1, 3))}),
        "float64 (2) 2 5");
  NUMPY("np.nanpercentile(g, [30, 90], axis=0, weights=a[:, :3], method='inverted_cdf')",
        nd::nanpercentile(g, {30, 90}, {.axis = 0, .method = "inverted_cdf", .weights = a(nd::_, nd::Slice(3))}),
        "float64 (2, 3) 2 5 -inf 2 5 3");
  NUMPY_RAISES("np.quantile(v, 0.5, weights=w)", nd::quantile(v, 0.5, {.weights = w}), nd::ValueError);
  NUMPY_RAISES("np.quantile(v, 0.5, weights=-w, method='inverted_cdf')",
               nd::quantile(v, 0.5, {.method = "inverted_cdf", .weights = -w}), nd::ValueError);
  NUMPY_RAISES("np.quantile(v, 0.5, weights=w * 0, method='inverted_cdf')",
               nd::quantile(v, 0.5, {.method = "inverted_cdf", .weights = w * 0}), nd::ValueError);
  NUMPY_RAISES("np.quantile(v, 0.5, weights=w / 0, method='inverted_cdf')",
               nd::quantile(v, 0.5, {.method = "inverted_cdf", .weights = w / 0.}), nd::ValueError);
  NUMPY_RAISES("np.quantile(v, 0.5, weights=w[:4], method='inverted_cdf')",
               nd::quantile(v, 0.5, {.method = "inverted_cdf", .weights = w(nd::Slice(4))}), nd::TypeError);
  NUMPY_RAISES("np.quantile(b, 0.5, axis=0, weights=w, method='inverted_cdf')",
               nd::quantile(b, 0.5, {.axis = 0, .method = "inverted_cdf", .weights = w}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(errors_of_quantiles, test::NumpyScene) {
  NUMPY_RAISES("np.quantile(v, 1.01)", nd::quantile(v, 1.01), nd::ValueError);
  NUMPY_RAISES("np.quantile(v, [0.1, -0.1])", nd::quantile(v, {0.1, -0.1}), nd::ValueError);
  NUMPY_RAISES("np.quantile(v, np.nan)", nd::quantile(v, nd::nan), nd::ValueError);
  NUMPY_RAISES("np.percentile(v, 100.5)", nd::percentile(v, 100.5), nd::ValueError);
  NUMPY_RAISES("np.quantile(v, np.zeros((1, 1, 1)))", nd::quantile(v, nd::zeros({1, 1, 1})), nd::ValueError);
  NUMPY_RAISES("np.quantile(v, 0.5, 1)", nd::quantile(v, 0.5, 1), nd::ValueError);
  NUMPY_RAISES("np.quantile(e, 0.5)", nd::quantile(e, 0.5), nd::ValueError);
  NUMPY_RAISES("np.quantile(e3, 0.5, 0)", nd::quantile(e3, 0.5, 0), nd::ValueError);
  const nd::Array out = nd::full(3, 7.);
  NUMPY_RAISES("np.quantile(b, 0.5, 0, np.zeros(3))", nd::quantile(b, 0.5, 0, {.out = out}), nd::ValueError);
  BOOST_TEST(out.to_vector<double>() == std::vector<double>(3, 7.));
  BOOST_CHECK_THROW(nd::quantile(nd::Array(), 0.5), nd::TypeError);
  BOOST_CHECK_THROW(nd::quantile(v, nd::Array()), nd::TypeError);
}

// Rows of lengths around the limits of the CPU's sorting algorithms.
BOOST_AUTO_TEST_CASE(random_rows) {
  for (const bool with_nans : {false, true})
    for (const std::int64_t n : {1, 2, 3, 33, 257, 1000, 4097}) {
      if (n > 257 && nd::current_device() != nd::cpu_device) continue;
      const nd::Array a = random_numbers({5, n}, with_nans, std::uint32_t(n));
      std::vector<double> medians, lows;
      for (const auto& row : sorted_rows(a)) {
        medians.push_back(row.empty() ? NAN : (row[(row.size() - 1) / 2] + row[row.size() / 2]) / 2);
        lows.push_back(row.empty() ? NAN : linear_quantile(row, 0.15));
      }
      const nd::Array expected = nd::array(medians), low = nd::array(lows);
      BOOST_TEST(bool(nd::array_equal(nd::nanmedian(a, 1), expected, {.equal_nan = true})), "nanmedian of " << n);
      BOOST_TEST(bool(nd::allclose(nd::nanquantile(a, 0.15, 1), low, {.rtol = 1e-12, .equal_nan = true})),
                 "nanquantile of " << n);
      BOOST_TEST(bool(nd::allclose(nd::nanquantile(a.T(), {0.15}, 0)(0), low, {.rtol = 1e-12, .equal_nan = true})),
                 "nanquantile of columns of " << n);
      const nd::Array poisoned = nd::isnan(a).any(1);
      BOOST_TEST(bool(nd::array_equal(nd::median(a, 1), nd::where(poisoned, nd::nan, expected), {.equal_nan = true})),
                 "median of " << n);
      BOOST_TEST(bool(nd::allclose(nd::quantile(a, 0.15, 1), nd::where(poisoned, nd::nan, low),
                                   {.rtol = 1e-12, .equal_nan = true})),
                 "quantile of " << n);
    }
}

BOOST_AUTO_TEST_SUITE_END()
