// average, ptp, cov and corrcoef as in NumPy: weights, axes, variables in rows and columns, divisors, dtypes.
#include <complex>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(correlation)

BOOST_FIXTURE_TEST_CASE(averages, test::NumpyScene) {
  NUMPY("np.average(a)", nd::average(a), "float64 () 3.25");
  NUMPY("np.average(a, 0)", nd::average(a, 0), "float64 (4) 2.5 3 3.5 4");
  NUMPY("np.average(v, weights=w)", nd::average(v, {.weights = w}), "float64 () 2.79166667");
  NUMPY("np.average(v, None, w)", nd::average(v, std::nullopt, w), "float64 () 2.79166667");
  NUMPY("np.average(a, 1, b)", nd::average(a, 1, b), "float64 (3) 1.5 3.72727273 5.48571429");
  NUMPY("np.average(a, axis=1, weights=[1, 2, 0, 1], keepdims=True)",
        nd::average(a, {.axis = 1, .weights = nd::array({1, 2, 0, 1}), .keepdims = true}),
        "float64 (3, 1) 1.125 3.125 5.125");
  NUMPY("np.average(q, axis=(0, 2), weights=np.arange(8.).reshape(2, 4))",
        nd::average(q, {0, 2}, {.weights = nd::arange(8.).reshape(2, 4)}),
        "float64 (3) 11.2857143 15.2857143 19.2857143");
  NUMPY("np.average(q, axis=(2, 0), weights=np.arange(8.).reshape(4, 2))",
        nd::average(q, {2, 0}, {.weights = nd::arange(8.).reshape(4, 2)}),
        "float64 (3) 9.07142857 13.0714286 17.0714286");
  NUMPY("np.average(t, axis=0, weights=np.arange(4))", nd::average(t, 0, nd::arange(4)),
        "float64 (2, 2) 0.666666667 8.66666667 12.6666667 20.6666667");
  NUMPY("np.average(a, (0, 1), keepdims=True)", nd::average(a, {0, 1}, {.keepdims = true}), "float64 (1, 1) 3.25");
  NUMPY("np.average(zero)", nd::average(zero), "float64 () 2.5");
  NUMPY("np.average(e)", nd::average(e), "float64 () nan");
  NUMPY("np.average(h, weights=[1, 0, 1, 1])", nd::average(h, {.weights = nd::array({1, 0, 1, 1})}), "float64 () nan");
  NUMPY("np.average(z, weights=w[:4])", nd::average(z, {.weights = w(nd::Slice(4))}),
        "complex128 () 3.46666667 2.83333333");
  NUMPY("[np.average(x, 0) for x in reals]", each(reals, [](auto& x) { return nd::average(x, 0); }),
        "float64 (4) 1 1 1 0.666666667 | float64 (4) 3.66666667 3 2.66666667 2.66666667 | float64 (4) 3.66666667 3 "
        "2.66666667 2.66666667 | float64 (4) 3.66666667 3 2.66666667 2.66666667 | float64 (4) 3.66666667 3 "
        "2.66666667 2.66666667 | float64 (4) 3.66666667 3 2.66666667 2.66666667 | float64 (4) 3.66666667 3 "
        "2.66666667 2.66666667 | float64 (4) 3.66666667 3 2.66666667 2.66666667 | float64 (4) 3.66666667 3 "
        "2.66666667 2.66666667 | float16 (4) 3.66601562 3 2.66601562 2.66601562 | float32 (4) 3.66666675 3 "
        "2.66666675 2.66666675 | float64 (4) 3.66666667 3 2.66666667 2.66666667");
  NUMPY("[np.average(x, 0, np.array([1, 2, 1], np.int8)) for x in reals]",
        each(reals,
             [](auto& x) {
               return nd::average(x, 0, nd::array({1, 2, 1}, nd::int8));
             }),
        "float64 (4) 1 1 1 0.75 | float64 (4) 4.5 2.75 2.5 3.25 | float64 (4) 4.5 2.75 2.5 3.25 | float64 (4) 4.5 "
        "2.75 2.5 3.25 | float64 (4) 4.5 2.75 2.5 3.25 | float64 (4) 4.5 2.75 2.5 3.25 | float64 (4) 4.5 2.75 2.5 "
        "3.25 | float64 (4) 4.5 2.75 2.5 3.25 | float64 (4) 4.5 2.75 2.5 3.25 | float16 (4) 4.5 2.75 2.5 3.25 | "
        "float32 (4) 4.5 2.75 2.5 3.25 | float64 (4) 4.5 2.75 2.5 3.25");
  NUMPY("[np.average(x, 0, f[0, :1].repeat(3)) for x in floats]",
        each(floats, [&](auto& x) { return nd::average(x, 0, f(0, nd::Slice(1)).repeat(3)); }),
        "float32 (4) 0.916666687 0.75 0.666666687 0.666666687 | float32 (4) 0.916666687 0.75 0.666666687 0.666666687 "
        "| float64 (4) 0.916666667 0.75 0.666666667 0.666666667");
  NUMPY("np.average(v, weights=w, returned=True)", nd::average_returned(v, {.weights = w}),
        "float64 () 2.79166667 | float64 () 12");
  NUMPY("np.average(a, axis=0, weights=b, returned=True)", nd::average_returned(a, {.axis = 0, .weights = b}),
        "float64 (4) 1.5 3.22222222 4.96666667 3.61904762 | float64 (4) 1 2.25 7.5 5.25");
  NUMPY("np.average(a, axis=0, weights=[1, 2, 3], returned=True)",
        nd::average_returned(a, 0, {.weights = nd::array({1, 2, 3})}),
        "float64 (4) 3.16666667 3.66666667 4.16666667 4.66666667 | float64 (4) 6 6 6 6");
  NUMPY("np.average(a, 0, returned=True)", nd::average_returned(a, 0), "float64 (4) 2.5 3 3.5 4 | float64 (4) 3 3 3 3");
  NUMPY("np.average(d, returned=True)", nd::average_returned(d), "float64 () 3 | float64 () 12");
  BOOST_TEST(test::text(nd::average(v.astype(nd::bfloat16), {.weights = w.astype(nd::bfloat16)})) ==
             "bfloat16 () 2.796875");
  NUMPY_RAISES("np.average(v, weights=v * 0)", nd::average(v, {.weights = v * 0}), nd::ValueError);
  NUMPY_RAISES("np.average(a, weights=w)", nd::average(a, {.weights = w}), nd::TypeError);
  NUMPY_RAISES("np.average(a, 0, w)", nd::average(a, 0, w), nd::ValueError);
  NUMPY_RAISES("np.average(a, 2)", nd::average(a, 2), nd::ValueError);
  NUMPY_RAISES("np.average(a, 2, w)", nd::average(a, 2, w), nd::ValueError);
  BOOST_CHECK_THROW(nd::average(nd::Array()), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(ranges, test::NumpyScene) {
  NUMPY("np.ptp(b)", nd::ptp(b), "float64 () 8.5");
  NUMPY("np.ptp(b, 0)", nd::ptp(b, 0), "float64 (4) 4.5 5 5.5 2.75");
  NUMPY("np.ptp(b, axis=1, keepdims=True)", nd::ptp(b, {.axis = 1, .keepdims = true}), "float64 (3, 1) 4 6.5 6.75");
  NUMPY("np.ptp(q, (0, 2))", nd::ptp(q, {0, 2}), "float64 (3) 15 15 15");
  NUMPY("np.ptp(t, 0)", nd::ptp(t, 0), "float64 (2, 2) 3 3 3 3");
  NUMPY("np.ptp(h)", nd::ptp(h), "float64 () nan");
  NUMPY("np.ptp(zero)", nd::ptp(zero), "float64 () 0");
  NUMPY("np.ptp(e3, 1)", nd::ptp(e3, 1), "float64 (0)");
  NUMPY("[np.ptp(x, 1) for x in reals[1:]]",
        each({reals.begin() + 1, reals.end()}, [](auto& x) { return nd::ptp(x, 1); }),
        "int8 (3) 3 5 5 | uint8 (3) 3 5 5 | int16 (3) 3 5 5 | uint16 (3) 3 5 5 | int32 (3) 3 5 5 | uint32 (3) 3 5 5 "
        "| int64 (3) 3 5 5 | uint64 (3) 3 5 5 | float16 (3) 3 5 5 | float32 (3) 3 5 5 | float64 (3) 3 5 5");
  NUMPY("np.ptp(np.array([-100, 100], np.int8))", nd::ptp(nd::array({-100, 100}, nd::int8)), "int8 () -56");
  // numpy: out = np.zeros(3)
  const nd::Array out = nd::zeros(3);
  NUMPY("np.ptp(b, 1, out)", nd::ptp(b, 1, {.out = out}), "float64 (3) 4 6.5 6.75");
  NUMPY("out", out, "float64 (3) 4 6.5 6.75");
  NUMPY_RAISES("np.ptp(e)", nd::ptp(e), nd::ValueError);
  NUMPY_RAISES("np.ptp(m)", nd::ptp(m), nd::TypeError);
  NUMPY_RAISES("np.ptp(b, 2)", nd::ptp(b, 2), nd::ValueError);
  NUMPY_RAISES("np.ptp(b, 0, np.zeros(2))", nd::ptp(b, 0, {.out = nd::zeros(2)}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(covariances, test::NumpyScene) {
  NUMPY("np.cov(b)", nd::cov(b),
        "float64 (3, 3) 3.0625 -3.61458333 0.96875 -3.61458333 7.140625 -2.08854167 0.96875 -2.08854167 7.890625");
  NUMPY("np.cov(b, a)", nd::cov(b, a), "float64 (6, 6) # 21.375 395.291667");
  NUMPY("np.cov(b, rowvar=False)", nd::cov(b, {.rowvar = false}),
        "float64 (4, 4) 6.08333333 -6.9375 2.5 3.3125 -6.9375 7.9375 -3.3125 -3.71875 2.5 -3.3125 9.25 0.3125 3.3125 "
        "-3.71875 0.3125 1.9375");
  NUMPY("np.cov(b, None, False)", nd::cov(b, {}, false),
        "float64 (4, 4) 6.08333333 -6.9375 2.5 3.3125 -6.9375 7.9375 -3.3125 -3.71875 2.5 -3.3125 9.25 0.3125 3.3125 "
        "-3.71875 0.3125 1.9375");
  NUMPY("np.cov(v, w)", nd::cov(v, w), "float64 (2, 2) 3.04166667 0.5 0.5 1.7");
  NUMPY("np.cov(v)", nd::cov(v), "float64 () 3.04166667");
  NUMPY("np.cov(b, b[0])", nd::cov(b, b(0)),
        "float64 (4, 4) 3.0625 -3.61458333 0.96875 3.0625 -3.61458333 7.140625 -2.08854167 -3.61458333 0.96875 "
        "-2.08854167 7.890625 0.96875 3.0625 -3.61458333 0.96875 3.0625");
  NUMPY("np.cov(b, b[:, 0], rowvar=False)", nd::cov(b, b(nd::_, 0), {.rowvar = false}),
        "float64 (5, 5) # 25.5208333 440.520833");
  NUMPY("np.cov(b, b[:, :1].T, rowvar=False)", nd::cov(b, b(nd::_, nd::Slice(1)).T(), {.rowvar = false}),
        "float64 (5, 5) # 25.5208333 440.520833");
  NUMPY("np.cov(b, bias=True)", nd::cov(b, {.bias = true}),
        "float64 (3, 3) 2.296875 -2.7109375 0.7265625 -2.7109375 5.35546875 -1.56640625 0.7265625 -1.56640625 "
        "5.91796875");
  NUMPY("np.cov(b, ddof=2)", nd::cov(b, {.ddof = 2}),
        "float64 (3, 3) 4.59375 -5.421875 1.453125 -5.421875 10.7109375 -3.1328125 1.453125 -3.1328125 11.8359375");
  NUMPY("np.cov(b, None, True, True, 1)", nd::cov(b, {}, true, true, 1),
        "float64 (3, 3) 3.0625 -3.61458333 0.96875 -3.61458333 7.140625 -2.08854167 0.96875 -2.08854167 7.890625");
  NUMPY("np.cov(b, ddof=4)", nd::cov(b, {.ddof = 4}), "float64 (3, 3) inf -inf inf -inf inf -inf inf -inf inf");
  NUMPY("np.cov(t[:, 0])", nd::cov(t(nd::_, 0)), "float64 (4, 4) 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32");
  NUMPY("np.cov(b, fweights=[1, 2, 0, 3])", nd::cov(b, {.fweights = nd::array({1, 2, 0, 3})}),
        "float64 (3, 3) 3.9 -4.025 2.7 -4.025 6.38541667 -2.9 2.7 -2.9 1.875");
  NUMPY("np.cov(b, fweights=[1., 2, 0, 3], ddof=0)", nd::cov(b, {.ddof = 0, .fweights = nd::array({1., 2., 0., 3.})}),
        "float64 (3, 3) 3.25 -3.35416667 2.25 -3.35416667 5.32118056 -2.41666667 2.25 -2.41666667 1.5625");
  NUMPY("np.cov(b, aweights=w[:4])", nd::cov(b, {.aweights = w(nd::Slice(4))}),
        "float64 (3, 3) 4.73928571 -4.53928571 2.57857143 -4.53928571 6.95714286 -3.21785714 2.57857143 -3.21785714 "
        "4.55178571");
  NUMPY("np.cov(b, aweights=w[:4], bias=True)", nd::cov(b, {.bias = true, .aweights = w(nd::Slice(4))}),
        "float64 (3, 3) 2.94888889 -2.82444444 1.60444444 -2.82444444 4.32888889 -2.00222222 1.60444444 -2.00222222 "
        "2.83222222");
  NUMPY("np.cov(b, fweights=[1, 2, 0, 3], aweights=w[:4])",
        nd::cov(b, {.fweights = nd::array({1, 2, 0, 3}), .aweights = w(nd::Slice(4))}),
        "float64 (3, 3) 3.51724138 -3.29741379 2.41810345 -3.29741379 4.02909483 -2.31465517 2.41810345 -2.31465517 "
        "1.66487069");
  NUMPY("np.cov(b, a, True, False, None, np.array([1, 2, 0, 3]), w[:4])",
        nd::cov(b, a, true, false, {}, nd::array({1, 2, 0, 3}), w(nd::Slice(4))),
        "float64 (6, 6) # 11.5387931 202.582974");
  NUMPY("np.cov(b, dtype=np.float32)", nd::cov(b, {.dtype = nd::float32}),
        "float32 (3, 3) 3.0625 -3.61458325 0.96875 -3.61458325 7.140625 -2.08854175 0.96875 -2.08854175 7.890625");
  NUMPY("np.cov(np.stack([z, z.conj() * 2j]))", nd::cov(nd::stack({z, nd::conj(z) * std::complex<double>(0, 2)})),
        "complex128 (2, 2) 5.3125 0 7.16666667 -1.04166667 7.16666667 1.04166667 21.25 0");
  NUMPY("[np.cov(x) for x in reals]", each(reals, [](auto& x) { return nd::cov(x); }),
        "float64 (3, 3) 0.25 0 0 0 0 0 0 0 0 | float64 (3, 3) 1.66666667 1 -1.33333333 1 6 -4.66666667 -1.33333333 "
        "-4.66666667 4.33333333 | float64 (3, 3) 1.66666667 1 -1.33333333 1 6 -4.66666667 -1.33333333 -4.66666667 "
        "4.33333333 | float64 (3, 3) 1.66666667 1 -1.33333333 1 6 -4.66666667 -1.33333333 -4.66666667 4.33333333 | "
        "float64 (3, 3) 1.66666667 1 -1.33333333 1 6 -4.66666667 -1.33333333 -4.66666667 4.33333333 | float64 (3, 3) "
        "1.66666667 1 -1.33333333 1 6 -4.66666667 -1.33333333 -4.66666667 4.33333333 | float64 (3, 3) 1.66666667 1 "
        "-1.33333333 1 6 -4.66666667 -1.33333333 -4.66666667 4.33333333 | float64 (3, 3) 1.66666667 1 -1.33333333 1 "
        "6 -4.66666667 -1.33333333 -4.66666667 4.33333333 | float64 (3, 3) 1.66666667 1 -1.33333333 1 6 -4.66666667 "
        "-1.33333333 -4.66666667 4.33333333 | float64 (3, 3) 1.66666667 1 -1.33333333 1 6 -4.66666667 -1.33333333 "
        "-4.66666667 4.33333333 | float64 (3, 3) 1.66666667 1 -1.33333333 1 6 -4.66666667 -1.33333333 -4.66666667 "
        "4.33333333 | float64 (3, 3) 1.66666667 1 -1.33333333 1 6 -4.66666667 -1.33333333 -4.66666667 4.33333333");
  NUMPY("[np.cov(x, aweights=w[:4]) for x in complexes]",
        each(complexes, [&](auto& x) { return nd::cov(x, {.aweights = w(nd::Slice(4))}); }),
        "complex128 (3, 3) 18.7285714 7.61295788e-18 -17.0142857 9.25714286 -2.78571429 -4.97142857 -17.0142857 "
        "-9.25714286 24.0714286 3.02826547e-16 -3.12857143 9.25714286 -2.78571429 4.97142857 -3.12857143 -9.25714286 "
        "11.2714286 7.61295788e-18 | complex128 (3, 3) 18.7285714 7.61295788e-18 -17.0142857 9.25714286 -2.78571429 "
        "-4.97142857 -17.0142857 -9.25714286 24.0714286 3.02826547e-16 -3.12857143 9.25714286 -2.78571429 4.97142857 "
        "-3.12857143 -9.25714286 11.2714286 7.61295788e-18");
  NUMPY("np.cov(zero)", nd::cov(zero), "float64 () nan");
  NUMPY("np.cov(e3)", nd::cov(e3), "float64 (0, 0)");
  NUMPY("np.cov(e3.T)", nd::cov(e3.T()), "float64 (3, 3) nan nan nan nan nan nan nan nan nan");
  NUMPY("np.cov(g)", nd::cov(g), "float64 (3, 3) nan nan nan nan nan nan nan nan nan");
  BOOST_TEST(test::text(nd::cov(v.astype(nd::bfloat16), w.astype(nd::bfloat16))) == test::text(nd::cov(v, w)));
  const nd::Array c = nd::cov(nd::sin(nd::arange(9000.)).reshape(30, 300));
  BOOST_TEST(bool(nd::array_equal(c, c.T())));
  NUMPY_RAISES("np.cov(q)", nd::cov(q), nd::ValueError);
  NUMPY_RAISES("np.cov(b, q)", nd::cov(b, q), nd::ValueError);
  NUMPY_RAISES("np.cov(b, v)", nd::cov(b, v), nd::ValueError);
  NUMPY_RAISES("np.cov(b, fweights=[1, 2, 0, 0.5])", nd::cov(b, {.fweights = nd::array({1., 2., 0., 0.5})}),
               nd::TypeError);
  NUMPY_RAISES("np.cov(b, fweights=[1, 2, 0, -1])", nd::cov(b, {.fweights = nd::array({1, 2, 0, -1})}), nd::ValueError);
  NUMPY_RAISES("np.cov(b, aweights=[1, 2, 0, -1])", nd::cov(b, {.aweights = nd::array({1, 2, 0, -1})}), nd::ValueError);
  NUMPY_RAISES("np.cov(b, aweights=w)", nd::cov(b, {.aweights = w}), nd::ValueError);
  NUMPY_RAISES("np.cov(b, aweights=b)", nd::cov(b, {.aweights = b}), nd::ValueError);
  BOOST_CHECK_THROW(nd::cov(nd::Array()), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(correlations, test::NumpyScene) {
  NUMPY("np.corrcoef(b)", nd::corrcoef(b),
        "float64 (3, 3) 1 -0.772951208 0.197068842 -0.772951208 1 -0.278239849 0.197068842 -0.278239849 1");
  NUMPY("np.corrcoef(a, b)", nd::corrcoef(a, b), "float64 (6, 6) # 16.0803685 221.004222");
  NUMPY("np.corrcoef(v, w)", nd::corrcoef(v, w), "float64 (2, 2) 1 0.219882028 0.219882028 1");
  NUMPY("np.corrcoef(b, rowvar=False)", nd::corrcoef(b, {.rowvar = false}),
        "float64 (4, 4) 1 -0.998367236 0.333271622 0.964859827 -0.998367236 1 -0.386583356 -0.948274907 0.333271622 "
        "-0.386583356 1 0.0738173244 0.964859827 -0.948274907 0.0738173244 1");
  NUMPY("np.corrcoef(b, a, False)", nd::corrcoef(b, a, false), "float64 (8, 8) # 21.9813749 974.319029");
  NUMPY("np.corrcoef(b, dtype=np.float32)", nd::corrcoef(b, {.dtype = nd::float32}),
        "float32 (3, 3) 1 -0.772951245 0.19706884 -0.772951186 1 -0.278239876 0.19706884 -0.278239876 1");
  NUMPY("np.corrcoef(v)", nd::corrcoef(v), "float64 () 1");
  NUMPY("np.corrcoef(zero)", nd::corrcoef(zero), "float64 () nan");
  NUMPY("np.corrcoef(np.stack([z, z.conj() * 2j + v[:4]]))",
        nd::corrcoef(nd::stack({z, nd::conj(z) * std::complex<double>(0, 2) + v(nd::Slice(4))})),
        "complex128 (2, 2) 1 0 0.781540257 0.0581310935 0.781540257 -0.0581310935 1 0");
  NUMPY("[np.corrcoef(x) for x in reals[1:]]",
        each({reals.begin() + 1, reals.end()}, [](auto& x) { return nd::corrcoef(x); }),
        "float64 (3, 3) 1 0.316227766 -0.496138938 0.316227766 1 -0.915208631 -0.496138938 -0.915208631 1 | float64 "
        "(3, 3) 1 0.316227766 -0.496138938 0.316227766 1 -0.915208631 -0.496138938 -0.915208631 1 | float64 (3, 3) 1 "
        "0.316227766 -0.496138938 0.316227766 1 -0.915208631 -0.496138938 -0.915208631 1 | float64 (3, 3) 1 "
        "0.316227766 -0.496138938 0.316227766 1 -0.915208631 -0.496138938 -0.915208631 1 | float64 (3, 3) 1 "
        "0.316227766 -0.496138938 0.316227766 1 -0.915208631 -0.496138938 -0.915208631 1 | float64 (3, 3) 1 "
        "0.316227766 -0.496138938 0.316227766 1 -0.915208631 -0.496138938 -0.915208631 1 | float64 (3, 3) 1 "
        "0.316227766 -0.496138938 0.316227766 1 -0.915208631 -0.496138938 -0.915208631 1 | float64 (3, 3) 1 "
        "0.316227766 -0.496138938 0.316227766 1 -0.915208631 -0.496138938 -0.915208631 1 | float64 (3, 3) 1 "
        "0.316227766 -0.496138938 0.316227766 1 -0.915208631 -0.496138938 -0.915208631 1 | float64 (3, 3) 1 "
        "0.316227766 -0.496138938 0.316227766 1 -0.915208631 -0.496138938 -0.915208631 1 | float64 (3, 3) 1 "
        "0.316227766 -0.496138938 0.316227766 1 -0.915208631 -0.496138938 -0.915208631 1");
  const nd::Array r = nd::corrcoef(nd::stack({a.ravel(), a.ravel() * 3 + 0.1, -a.ravel() / 7}));
  BOOST_TEST(r.max().item<double>() <= 1);
  BOOST_TEST(r.min().item<double>() >= -1);
  NUMPY_RAISES("np.corrcoef(b, v)", nd::corrcoef(b, v), nd::ValueError);
  BOOST_CHECK_THROW(nd::corrcoef(nd::Array()), nd::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
