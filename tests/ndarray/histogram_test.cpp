// histogram, histogram_bin_edges, histogramdd, histogram2d and digitize as in NumPy: bins by number, edges and rule,
// ranges, weights, densities, dtypes; large arrays against counts on the host.
#include <cmath>
#include <complex>
#include <random>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;

namespace {

std::vector<nd::Array> parts(const nd::Histogram2d& h) { return {h.H, h.xedges, h.yedges}; }
std::vector<nd::Array> parts(const std::pair<nd::Array, std::vector<nd::Array>>& h) {
  std::vector<nd::Array> all{h.first};
  all.insert(all.end(), h.second.begin(), h.second.end());
  return all;
}

const std::vector<const char*> kRules = {"auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"};

}  // namespace

BOOST_AUTO_TEST_SUITE(histogram)

BOOST_FIXTURE_TEST_CASE(counts, test::NumpyScene) {
  NUMPY("np.histogram(v)", nd::histogram(v),
        "int64 (10) 1 1 0 1 0 1 0 1 0 1 | float64 (11) 0.5 0.95 1.4 1.85 2.3 2.75 3.2 3.65 4.1 4.55 5");
  NUMPY("np.histogram(v, 4)", nd::histogram(v, 4), "int64 (4) 2 1 1 2 | float64 (5) 0.5 1.625 2.75 3.875 5");
  NUMPY("np.histogram(b, 5)", nd::histogram(b, 5), "int64 (5) 2 3 4 2 1 | float64 (6) -2.5 -0.8 0.9 2.6 4.3 6");
  NUMPY("np.histogram(t, 3)", nd::histogram(t, 3), "int64 (3) 4 8 4 | float64 (4) 0 7.66666667 15.3333333 23");
  NUMPY("np.histogram(b, bins=3)", nd::histogram(b, {.bins = 3}),
        "int64 (3) 4 6 2 | float64 (4) -2.5 0.333333333 3.16666667 6");
  NUMPY("np.histogram(b, [-3, 0, 2, 2.5])", nd::histogram(b, {-3, 0, 2, 2.5}),
        "int64 (3) 3 4 2 | float64 (4) -3 0 2 2.5");
  NUMPY("np.histogram(d, [0, 1, 2, 4])", nd::histogram(d, {0, 1, 2, 4}), "int64 (3) 1 2 6 | int64 (4) 0 1 2 4");
  NUMPY("np.histogram(d, np.array([0, 1.5, 3]))", nd::histogram(d, nd::array({0, 1.5, 3})),
        "int64 (2) 3 5 | float64 (3) 0 1.5 3");
  NUMPY("np.histogram(d, [0, 2, 2, 5, 7, 7])", nd::histogram(d, {0, 2, 2, 5, 7, 7}),
        "int64 (5) 3 0 6 2 1 | int64 (6) 0 2 2 5 7 7");
  NUMPY("np.histogram(v, 4, (1, 4))", nd::histogram(v, 4, {1, 4}), "int64 (4) 1 1 1 1 | float64 (5) 1 1.75 2.5 3.25 4");
  NUMPY("np.histogram(v, bins=4, range=(1, 4.5))", nd::histogram(v, 4, {.range = {1, 4.5}}),
        "int64 (4) 1 1 1 1 | float64 (5) 1 1.875 2.75 3.625 4.5");
  NUMPY("np.histogram(h, 3, (0, 3))", nd::histogram(h, 3, {0, 3}), "int64 (3) 0 1 1 | float64 (4) 0 1 2 3");
  NUMPY("np.histogram(h, [0, 2, np.inf])", nd::histogram(h, {0., 2., nd::inf}), "int64 (2) 1 2 | float64 (3) 0 2 inf");
  NUMPY("np.histogram(-h, [-np.inf, -2, 0])", nd::histogram(-h, {-nd::inf, -2., 0.}),
        "int64 (2) 2 1 | float64 (3) -inf -2 0");
  NUMPY("np.histogram(one, 2)", nd::histogram(one, 2), "int64 (2) 0 1 | float64 (3) 2 2.5 3");
  NUMPY("np.histogram(zero, 3, (2.5, 2.5))", nd::histogram(zero, 3, {2.5, 2.5}),
        "int64 (3) 0 1 0 | float64 (4) 2 2.33333333 2.66666667 3");
  NUMPY("np.histogram(e, 3)", nd::histogram(e, 3), "int64 (3) 0 0 0 | float64 (4) 0 0.333333333 0.666666667 1");
  NUMPY("np.histogram(e3, [1, 2])", nd::histogram(e3, {1, 2}), "int64 (1) 0 | int64 (2) 1 2");
  NUMPY("np.histogram(v, [1])", nd::histogram(v, {1}), "int64 (0) | int64 (1) 1");
  NUMPY("np.histogram(v, np.array([1., 3.], np.float32))", nd::histogram(v, nd::array({1., 3.}, nd::float32)),
        "int64 (1) 3 | float32 (2) 1 3");
  for (std::size_t k = 0; k < reals.size(); ++k)
    BOOST_TEST(bool(nd::array_equal(nd::histogram(reals[k], 3, {0, 6}).first,
                                    nd::array(k == 0 ? std::vector{12, 0, 0} : std::vector{3, 5, 3}))));
  NUMPY("[np.histogram(x, 3)[0] for x in reals]", each(reals, [](auto& x) { return nd::histogram(x, 3).first; }),
        "int64 (3) 1 0 11 | int64 (3) 6 3 3 | int64 (3) 6 3 3 | int64 (3) 6 3 3 | int64 (3) 6 3 3 | int64 (3) 6 3 3 "
        "| int64 (3) 6 3 3 | int64 (3) 6 3 3 | int64 (3) 6 3 3 | int64 (3) 6 3 3 | int64 (3) 6 3 3 | int64 (3) 6 3 3");
  NUMPY("[np.histogram(x, 3)[1] for x in reals]", each(reals, [](auto& x) { return nd::histogram(x, 3).second; }),
        "float64 (4) 0 0.333333333 0.666666667 1 | float64 (4) 0 2.33333333 4.66666667 7 | float64 (4) 0 2.33333333 "
        "4.66666667 7 | float64 (4) 0 2.33333333 4.66666667 7 | float64 (4) 0 2.33333333 4.66666667 7 | float64 (4) "
        "0 2.33333333 4.66666667 7 | float64 (4) 0 2.33333333 4.66666667 7 | float64 (4) 0 2.33333333 4.66666667 7 | "
        "float64 (4) 0 2.33333333 4.66666667 7 | float16 (4) 0 2.33398438 4.66796875 7 | float32 (4) 0 2.33333325 "
        "4.66666651 7 | float64 (4) 0 2.33333333 4.66666667 7");
  NUMPY("[np.histogram(x, 4, (0.1, 1))[0] for x in floats]",
        each(floats,
             [](auto& x) {
               return nd::histogram(x, 4, {0.1, 1}).first;
             }),
        "int64 (4) 2 3 2 1 | int64 (4) 2 3 2 1 | int64 (4) 2 3 2 1");
  NUMPY("np.histogram(np.array([-128, 127, 0], np.int8), 2)", nd::histogram(nd::array({-128, 127, 0}, nd::int8), 2),
        "int64 (2) 1 2 | float64 (3) -128 -0.5 127");
  BOOST_TEST(test::text(nd::histogram(v.astype(nd::bfloat16), 3)) == "int64 (3) 2 2 2 | bfloat16 (4) 0.5 2 3.5 5");
}

BOOST_FIXTURE_TEST_CASE(weights_and_densities, test::NumpyScene) {
  NUMPY("np.histogram(v, 3, weights=w)", nd::histogram(v, 3, {.weights = w}),
        "float64 (3) 5 1.5 5.5 | float64 (4) 0.5 2 3.5 5");
  NUMPY("np.histogram(a, [1, 3, 6], weights=b)", nd::histogram(a, {1, 3, 6}, {.weights = b}),
        "float64 (2) 0 14 | int64 (3) 1 3 6");
  NUMPY("np.histogram(a, 3, weights=d)", nd::histogram(a, 3, {.weights = d}),
        "int64 (3) 6 16 14 | float64 (4) 0.5 2.33333333 4.16666667 6");
  NUMPY("np.histogram(v, 3, (1, 4), weights=w.astype(np.float32))",
        nd::histogram(v, 3, {1, 4}, {.weights = w.astype(nd::float32)}), "float32 (3) 2 0.5 2.5 | float64 (4) 1 2 3 4");
  NUMPY("np.histogram(v, [0, 2, 5], weights=w * (1 + 2j))",
        nd::histogram(v, {0, 2, 5}, {.weights = w * std::complex<double>(1, 2)}),
        "complex128 (2) 5 10 7 14 | int64 (3) 0 2 5");
  NUMPY("np.histogram(v, 3, density=True)", nd::histogram(v, 3, {.density = true}),
        "float64 (3) 0.222222222 0.222222222 0.222222222 | float64 (4) 0.5 2 3.5 5");
  NUMPY("np.histogram(v, [0, 1, 5], density=True)", nd::histogram(v, {0, 1, 5}, {.density = true}),
        "float64 (2) 0.166666667 0.208333333 | int64 (3) 0 1 5");
  NUMPY("np.histogram(v, 3, (0, 6), True)", nd::histogram(v, 3, {0, 6}, true),
        "float64 (3) 0.166666667 0.166666667 0.166666667 | float64 (4) 0 2 4 6");
  NUMPY("np.histogram(v, 3, None, True, w)", nd::histogram(v, 3, std::nullopt, true, w),
        "float64 (3) 0.277777778 0.0833333333 0.305555556 | float64 (4) 0.5 2 3.5 5");
  NUMPY("np.histogram(e, 2, density=True)", nd::histogram(e, 2, {.density = true}),
        "float64 (2) nan nan | float64 (3) 0 0.5 1");
  NUMPY_RAISES("np.histogram(v, 3, weights=a)", nd::histogram(v, 3, {.weights = a}), nd::ValueError);
  NUMPY_RAISES("np.histogram(v, 'auto', weights=w)", nd::histogram(v, "auto", {.weights = w}), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(rules, test::NumpyScene) {
  // numpy: names = ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"]
  // numpy: x = np.sin(np.arange(300.)) ** 3
  const nd::Array x = nd::power(nd::sin(nd::arange(300.)), 3);
  std::vector<nd::Array> counted, edges, whole;
  for (const char* rule : kRules) {
    counted.push_back(nd::histogram(x, rule).first);
    edges.push_back(nd::histogram_bin_edges(x, rule, {-0.5, 2}));
    whole.push_back(nd::histogram(d, rule).first);
  }
  NUMPY("[np.histogram(x, k)[0] for k in names]", counted,
        "int64 (10) 37 17 16 20 54 65 21 16 18 36 | int64 (10) 37 17 16 20 54 65 21 16 18 36 | int64 (10) 37 17 16 "
        "20 54 65 21 16 18 36 | int64 (7) 43 24 28 108 28 24 45 | int64 (85) # 300 12956 | int64 (14) 29 14 12 12 14 "
        "14 49 59 16 12 13 11 15 30 | int64 (10) 37 17 16 20 54 65 21 16 18 36 | int64 (18) 26 13 8 8 11 10 10 15 43 "
        "53 14 11 10 10 9 9 13 27");
  NUMPY("[np.histogram_bin_edges(x, k, (-0.5, 2)) for k in names]", edges,
        "float64 (16) -0.5 -0.333333333 -0.166666667 0 0.166666667 0.333333333 0.5 0.666666667 0.833333333 1 "
        "1.16666667 1.33333333 1.5 1.66666667 1.83333333 2 | float64 (15) -0.5 -0.321428571 -0.142857143 "
        "0.0357142857 0.214285714 0.392857143 0.571428571 0.75 0.928571429 1.10714286 1.28571429 1.46428571 "
        "1.64285714 1.82142857 2 | float64 (20) -0.5 -0.368421053 -0.236842105 -0.105263158 0.0263157895 0.157894737 "
        "0.289473684 0.421052632 0.552631579 0.684210526 0.815789474 0.947368421 1.07894737 1.21052632 1.34210526 "
        "1.47368421 1.60526316 1.73684211 1.86842105 2 | float64 (12) -0.5 -0.272727273 -0.0454545455 0.181818182 "
        "0.409090909 0.636363636 0.863636364 1.09090909 1.31818182 1.54545455 1.77272727 2 | float64 (157) # 117.75 "
        "14470.1667 | float64 (22) -0.5 -0.380952381 -0.261904762 -0.142857143 -0.0238095238 0.0952380952 "
        "0.214285714 0.333333333 0.452380952 0.571428571 0.69047619 0.80952381 0.928571429 1.04761905 1.16666667 "
        "1.28571429 1.4047619 1.52380952 1.64285714 1.76190476 1.88095238 2 | float64 (16) -0.5 -0.333333333 "
        "-0.166666667 0 0.166666667 0.333333333 0.5 0.666666667 0.833333333 1 1.16666667 1.33333333 1.5 1.66666667 "
        "1.83333333 2 | float64 (27) # 20.25 441");
  NUMPY("[np.histogram(d, k)[0] for k in names]", whole,
        "int64 (5) 3 3 3 1 2 | int64 (4) 3 5 2 2 | int64 (6) 3 3 2 1 1 2 | int64 (3) 6 3 3 | int64 (1) 12 | int64 "
        "(5) 3 3 3 1 2 | int64 (5) 3 3 3 1 2 | int64 (4) 3 5 2 2");
  NUMPY("np.histogram_bin_edges(one, 'auto')", nd::histogram_bin_edges(one, "auto"), "float64 (2) 2 3");
  NUMPY("np.histogram_bin_edges(e, 'fd')", nd::histogram_bin_edges(e, "fd"), "float64 (2) 0 1");
  NUMPY("np.histogram_bin_edges(one, 'doane')", nd::histogram_bin_edges(one, "doane"), "float64 (2) 2 3");
  NUMPY("np.histogram_bin_edges(one, 'stone')", nd::histogram_bin_edges(one, "stone"), "float64 (2) 2 3");
  NUMPY("np.histogram_bin_edges(v)", nd::histogram_bin_edges(v),
        "float64 (11) 0.5 0.95 1.4 1.85 2.3 2.75 3.2 3.65 4.1 4.55 5");
  NUMPY("np.histogram_bin_edges(v, 4, (0, 1), w)", nd::histogram_bin_edges(v, 4, {0, 1}, {.weights = w}),
        "float64 (5) 0 0.25 0.5 0.75 1");
  NUMPY("np.histogram_bin_edges(v, [1, 2, 4])", nd::histogram_bin_edges(v, {1, 2, 4}), "int64 (3) 1 2 4");
  NUMPY_RAISES("np.histogram(v, 'best')", nd::histogram(v, "best"), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(errors_of_histograms, test::NumpyScene) {
  NUMPY_RAISES("np.histogram(v, 0)", nd::histogram(v, 0), nd::ValueError);
  NUMPY_RAISES("np.histogram(v, 2.5)", nd::histogram(v, 2.5), nd::TypeError);
  NUMPY_RAISES("np.histogram(v, [1, 3, 2])", nd::histogram(v, {1, 3, 2}), nd::ValueError);
  NUMPY_RAISES("np.histogram(v, a)", nd::histogram(v, a), nd::ValueError);
  NUMPY_RAISES("np.histogram(v, 3, (2, 1))", nd::histogram(v, 3, {2, 1}), nd::ValueError);
  NUMPY_RAISES("np.histogram(v, 3, (2, np.inf))", nd::histogram(v, 3, {2., nd::inf}), nd::ValueError);
  NUMPY_RAISES("np.histogram(h, 3)", nd::histogram(h, 3), nd::ValueError);
  NUMPY_RAISES("np.histogram(np.array([1, 1 + 1e-15]), 100)", nd::histogram(nd::array({1, 1 + 1e-15}), 100),
               nd::ValueError);
  BOOST_CHECK_THROW(nd::histogram(z, 3), nd::TypeError);
  BOOST_CHECK_THROW(nd::histogram(nd::Array(), 3), nd::TypeError);
  BOOST_CHECK_THROW(nd::histogram_bin_edges(z, 3), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(points, test::NumpyScene) {
  // numpy: flat = lambda h: (h[0], *h[1])
  NUMPY("flat(np.histogramdd(b, 2))", parts(nd::histogramdd(b, 2)),
        "float64 (2, 2, 2, 2) 0 0 0 0 1 0 0 0 0 1 0 1 0 0 0 0 | float64 (3) -2.5 -0.25 2 | float64 (3) -1 1.5 4 | "
        "float64 (3) 0.5 3.25 6 | float64 (3) 0.25 1.625 3");
  NUMPY("flat(np.histogramdd(b[:, :2]))[1:]", nd::histogramdd(b(nd::_, nd::Slice(2))).second,
        "float64 (11) -2.5 -2.05 -1.6 -1.15 -0.7 -0.25 0.2 0.65 1.1 1.55 2 | float64 (11) -1 -0.5 0 0.5 1 1.5 2 2.5 "
        "3 3.5 4");
  NUMPY("np.histogramdd(b[:, :2])[0].sum()", nd::histogramdd(b(nd::_, nd::Slice(2))).first.sum(), "float64 () 3");
  NUMPY("flat(np.histogramdd(b.T, [1, 2, 3]))", parts(nd::histogramdd(b.T(), {1, 2, 3})),
        "float64 (1, 2, 3) 0 2 0 1 0 1 | float64 (2) -1 3 | float64 (3) -2.5 0.75 4 | float64 (4) -0.75 1.5 3.75 6");
  NUMPY("flat(np.histogramdd([v, w], ([0, 2, 5], [0, 1, 2, 5])))",
        parts(nd::histogramdd({v, w}, {{0, 2, 5}, {0, 1, 2, 5}})),
        "float64 (2, 3) 0 0 2 1 2 1 | int64 (3) 0 2 5 | int64 (4) 0 1 2 5");
  NUMPY("flat(np.histogramdd([v, w], (2, [0, 1, 4]), [(0, 4), None]))",
        parts(nd::histogramdd({v, w}, {.bins = {2, {0, 1, 4}}, .range = {{0, 4}, {}}})),
        "float64 (2, 2) 0 2 1 2 | float64 (3) 0 2 4 | int64 (3) 0 1 4");
  NUMPY("flat(np.histogramdd([v, w], 2, density=True))", parts(nd::histogramdd({v, w}, 2, {.density = true})),
        "float64 (2, 2) 0.0846560847 0.0423280423 0.0846560847 0.0423280423 | float64 (3) 0.5 2.75 5 | float64 (3) "
        "0.5 2.25 4");
  NUMPY("flat(np.histogramdd([v, w], 2, weights=n))", parts(nd::histogramdd({v, w}, 2, {.weights = n})),
        "float64 (2, 2) 3 3 3 1 | float64 (3) 0.5 2.75 5 | float64 (3) 0.5 2.25 4");
  NUMPY("flat(np.histogramdd([v, w], 2, None, True, w))",
        parts(nd::histogramdd({v, w}, 2, {.density = true, .weights = w})),
        "float64 (2, 2) 0.0529100529 0.0634920635 0.0529100529 0.0846560847 | float64 (3) 0.5 2.75 5 | float64 (3) "
        "0.5 2.25 4");
  NUMPY("flat(np.histogramdd(v, 3))", parts(nd::histogramdd(v, 3)), "float64 (3) 2 2 2 | float64 (4) 0.5 2 3.5 5");
  NUMPY("flat(np.histogramdd(f, 2))", parts(nd::histogramdd(f, 2)),
        "float64 (2, 2) 1 0 0 1 | float32 (3) 1 2 3 | float32 (3) 2 3 4");
  NUMPY("flat(np.histogramdd(e3, 2))", parts(nd::histogramdd(e3, 2)),
        "float64 (2, 2, 2) 0 0 0 0 0 0 0 0 | float64 (3) 0 0.5 1 | float64 (3) 0 0.5 1 | float64 (3) 0 0.5 1");
  NUMPY("flat(np.histogramdd(d, [2, 1, 1, 2]))", parts(nd::histogramdd(d, {2, 1, 1, 2})),
        "float64 (2, 1, 1, 2) 1 1 0 1 | float64 (3) 1 4 7 | float64 (2) 1 6 | float64 (2) 2 4 | float64 (3) 0 2.5 5");
  NUMPY_RAISES("np.histogramdd(b, [2, 3])", nd::histogramdd(b, {2, 3}), nd::ValueError);
  NUMPY_RAISES("np.histogramdd(b, 0)", nd::histogramdd(b, 0), nd::ValueError);
  NUMPY_RAISES("np.histogramdd(b, 2, [(0, 1)])", nd::histogramdd(b, {.bins = 2, .range = {{0, 1}}}), nd::ValueError);
  NUMPY_RAISES("np.histogramdd(b, 2, weights=w)", nd::histogramdd(b, 2, {.weights = w}), nd::ValueError);
  NUMPY_RAISES("np.histogramdd([v, w[:3]])", nd::histogramdd({v, w(nd::Slice(3))}), nd::ValueError);
  NUMPY_RAISES("np.histogramdd([v, w], 'auto')", nd::histogramdd({v, w}, {"auto", "auto"}), nd::ValueError);
  BOOST_CHECK_THROW(nd::histogramdd(q), nd::ValueError);

  NUMPY("np.histogram2d(v, w)[0].sum(0)", nd::histogram2d(v, w).H.sum(0), "float64 (10) 1 1 1 0 1 0 0 1 0 1");
  NUMPY("np.histogram2d(v, w, 3)", parts(nd::histogram2d(v, w, 3)),
        "float64 (3, 3) 0 1 1 2 0 0 1 0 1 | float64 (4) 0.5 2 3.5 5 | float64 (4) 0.5 1.66666667 2.83333333 4");
  NUMPY("np.histogram2d(v, w, [2, 3])", parts(nd::histogram2d(v, w, {2, 3})),
        "float64 (2, 3) 1 1 1 2 0 1 | float64 (3) 0.5 2.75 5 | float64 (4) 0.5 1.66666667 2.83333333 4");
  NUMPY("np.histogram2d(v, w, [0, 1, 3, 5])", parts(nd::histogram2d(v, w, {0, 1, 3, 5})),
        "float64 (3, 3) 0 0 1 1 1 0 0 2 1 | int64 (4) 0 1 3 5 | int64 (4) 0 1 3 5");
  NUMPY("np.histogram2d(v, w, np.arange(4.))", parts(nd::histogram2d(v, w, nd::arange(4.))),
        "float64 (3, 3) 0 0 1 0 0 1 1 1 0 | float64 (4) 0 1 2 3 | float64 (4) 0 1 2 3");
  NUMPY("np.histogram2d(v, w, [[0, 2, 5], 2])", parts(nd::histogram2d(v, w, {{0, 2, 5}, 2})),
        "float64 (2, 2) 1 1 3 1 | int64 (3) 0 2 5 | float64 (3) 0.5 2.25 4");
  NUMPY("np.histogram2d(v, w, [v[1:4], w[:2]])", parts(nd::histogram2d(v, w, {v(nd::Slice(1, 4)), w(nd::Slice(2))})),
        "float64 (2, 1) 1 2 | float64 (3) 1 2 5 | float64 (2) 1 2");
  NUMPY("np.histogram2d(v, w, bins=2, range=[[0, 4], [0, 3]], density=True, weights=n)",
        parts(nd::histogram2d(v, w, {.bins = 2, .range = {{0, 4}, {0, 3}}, .density = true, .weights = n})),
        "float64 (2, 2) 0 0.148148148 0.185185185 0 | float64 (3) 0 2 4 | float64 (3) 0 1.5 3");
  NUMPY_RAISES("np.histogram2d(v, w[:3])", nd::histogram2d(v, w(nd::Slice(3))), nd::ValueError);
  NUMPY_RAISES("np.histogram2d(v, w, [3, 1, 2])", nd::histogram2d(v, w, {3, 1, 2}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(bin_numbers, test::NumpyScene) {
  NUMPY("np.digitize(v, [1, 3])", nd::digitize(v, nd::array({1, 3})), "int64 (6) 2 1 1 2 2 0");
  NUMPY("np.digitize(v, [1, 3], True)", nd::digitize(v, nd::array({1, 3}), {true}), "int64 (6) 1 0 1 2 2 0");
  NUMPY("np.digitize(b, [3., 1., 0.], right=True)", nd::digitize(b, nd::array({3., 1., 0.}), {.right = true}),
        "int64 (3, 4) 1 3 2 1 3 0 2 2 1 3 0 1");
  NUMPY("np.digitize(2.5, v[1:4])", nd::digitize(2.5, v(nd::Slice(1, 4))), "int64 () 2");
  NUMPY_RAISES("np.digitize(v, v)", nd::digitize(v, v), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(large_histograms) {
  std::mt19937 random(5);
  std::vector<double> values(50000), weights(values.size());
  for (double& x : values) x = double(random() % 4000) / 16 - 20;
  for (double& x : weights) x = double(random() % 16);
  const nd::Array a = nd::array(values), w = nd::array(weights);
  for (const int bins : {1, 7, 64, 1000}) {
    const auto [counts, edges] = nd::histogram(a, bins, {-10, 200});
    const std::vector<double> limits = edges.to_vector<double>();
    std::vector<std::int64_t> expected(std::size_t(bins), 0);
    std::vector<double> sums(std::size_t(bins), 0);
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t k = 0; k < std::size_t(bins); ++k)
        if (values[i] >= limits[k] &&
            (values[i] < limits[k + 1] || (k + 1 == std::size_t(bins) && values[i] == limits[k + 1]))) {
          ++expected[k];
          sums[k] += weights[i];
        }
    BOOST_TEST(counts.to_vector<std::int64_t>() == expected, boost::test_tools::per_element());
    BOOST_TEST(nd::histogram(a, bins, {-10, 200}, {.weights = w}).first.to_vector<double>() == sums,
               boost::test_tools::per_element());
    BOOST_TEST(nd::histogram(a, edges).first.to_vector<std::int64_t>() == expected, boost::test_tools::per_element());
  }
}

// The reciprocal of the width of these bins is infinite.
BOOST_AUTO_TEST_CASE(bins_of_subnormal_width) {
  for (const std::int64_t bins : {10, 100}) {
    const nd::Array edges = nd::histogram_bin_edges(nd::zeros(1), bins, {0.0, 1e-320});
    const nd::Array counts = nd::histogram(edges(nd::Slice({}, -1)), bins, {0.0, 1e-320}).first;
    BOOST_TEST(counts.to_vector<std::int64_t>() == std::vector<std::int64_t>(std::size_t(bins), 1));
  }
}

// Numbers on and beside the edges, infinities and NaN, in both dtypes and from strided memory.
BOOST_AUTO_TEST_CASE(numbers_beside_the_edges) {
  for (const nd::Dtype dtype : {nd::float32, nd::float64})
    for (const std::int64_t bins : {1, 3, 100, 2000}) {
      const nd::Array edges = nd::histogram_bin_edges(nd::zeros(1, dtype), bins, {-0.1, 0.7});
      const nd::Array special = nd::array({nd::inf, -nd::inf, nd::nan, 5.0, -5.0, 0.0}).astype(dtype);
      const nd::Array x = nd::concatenate({edges, nd::nextafter(edges, nd::full_like(edges, nd::inf)),
                                           nd::nextafter(edges, nd::full_like(edges, -nd::inf)), special});
      const std::vector<double> values = x.to_vector<double>(), limits = edges.to_vector<double>();
      std::vector<std::int64_t> expected(std::size_t(bins), 0);
      for (const double v : values)
        for (std::size_t k = 0; k < std::size_t(bins); ++k)
          expected[k] += v >= limits[k] && (v < limits[k + 1] || (k + 1 == std::size_t(bins) && v == limits[k + 1]));
      const nd::Array wide = nd::stack({x, x}, {.axis = 1});
      BOOST_TEST(nd::histogram(x, bins, {-0.1, 0.7}).first.to_vector<std::int64_t>() == expected);
      BOOST_TEST(nd::histogram(wide(nd::Slice(), 0), bins, {-0.1, 0.7}).first.to_vector<std::int64_t>() == expected);
    }
}

BOOST_AUTO_TEST_SUITE_END()
