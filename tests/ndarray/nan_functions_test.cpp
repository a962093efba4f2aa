// nansum, nanprod, nanmean, nanvar, nanstd, nanargmax, nanargmin, nancumsum, nancumprod and nan_to_num as in NumPy:
// axes, dtypes, outputs, slices with only NaN; large arrays against sums on the host.
#include <cmath>
#include <complex>
#include <random>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(nan_functions)

BOOST_FIXTURE_TEST_CASE(sums_without_nan, test::NumpyScene) {
  NUMPY("np.nansum(h)", nd::nansum(h), "float64 () inf");
  NUMPY("np.nansum(h[:3])", nd::nansum(h(nd::Slice(3))), "float64 () 4");
  NUMPY("np.nansum(g, 0)", nd::nansum(g, 0), "float64 (3) 3 5 -inf");
  NUMPY("np.nansum(g, axis=1, keepdims=True)", nd::nansum(g, {.axis = 1, .keepdims = true}), "float64 (3, 1) 4 0 -inf");
  NUMPY("np.nansum(g, (0, 1), np.float32)", nd::nansum(g, {0, 1}, nd::float32), "float32 () -inf");
  NUMPY("np.nansum(g[1])", nd::nansum(g(1)), "float64 () 0");
  NUMPY("np.nansum(e)", nd::nansum(e), "float64 () 0");
  NUMPY("np.nansum(e3, 0)", nd::nansum(e3, 0), "float64 (3) 0 0 0");
  NUMPY("np.nansum(t, 0)", nd::nansum(t, 0), "float64 (2, 2) 6 38 54 86");
  NUMPY("np.nansum(zero)", nd::nansum(zero), "float64 () 2.5");
  NUMPY("[np.nansum(x, 0) for x in reals]", each(reals, [](auto& x) { return nd::nansum(x, 0); }),
        "int64 (4) 3 3 3 2 | int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | "
        "int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | float16 (4) 11 9 8 8 "
        "| float32 (4) 11 9 8 8 | float64 (4) 11 9 8 8");
  NUMPY("[np.nansum(np.where(x > 1, np.nan, x).astype(x.dtype)) for x in floats]",
        each(floats, [](auto& x) { return nd::nansum(nd::where(x > 1, nd::nan, x)); }),
        "float16 () 4.5 | float32 () 4.5 | float64 () 4.5");
  NUMPY("[np.nansum(x, 1) for x in complexes]", each(complexes, [](auto& x) { return nd::nansum(x, 1); }),
        "complex64 (3) 6 -28 16 -32 14 -12 | complex128 (3) 6 -28 16 -32 14 -12");
  NUMPY("np.nansum(np.array([1 + 2j, complex(np.nan, 1), complex(1, np.nan)]))",
        nd::nansum(nd::array({std::complex<double>(1, 2), std::complex<double>(NAN, 1), std::complex<double>(1, NAN)})),
        "complex128 () 1 2");
  NUMPY("np.nanprod(h[:3])", nd::nanprod(h(nd::Slice(3))), "float64 () 3");
  NUMPY("np.nanprod(g, 1)", nd::nanprod(g, 1), "float64 (3) 3 1 -inf");
  NUMPY("np.nanprod(g, axis=0, dtype=np.float32, keepdims=True)",
        nd::nanprod(g, {.axis = 0, .dtype = nd::float32, .keepdims = true}), "float32 (1, 3) 2 5 -inf");
  NUMPY("np.nanprod(e)", nd::nanprod(e), "float64 () 1");
  NUMPY("[np.nanprod(x, 1) for x in reals]", each(reals, [](auto& x) { return nd::nanprod(x, 1); }),
        "int64 (3) 0 1 1 | int64 (3) 0 140 72 | uint64 (3) 0 140 72 | int64 (3) 0 140 72 | uint64 (3) 0 140 72 | "
        "int64 (3) 0 140 72 | uint64 (3) 0 140 72 | int64 (3) 0 140 72 | uint64 (3) 0 140 72 | float16 (3) 0 140 72 "
        "| float32 (3) 0 140 72 | float64 (3) 0 140 72");
  NUMPY("[np.nanprod(x, 0) for x in complexes]", each(complexes, [](auto& x) { return nd::nanprod(x, 0); }),
        "complex64 (4) -343 -14 -332 -76 -208 16 -180 -90 | complex128 (4) -343 -14 -332 -76 -208 16 -180 -90");
  // numpy: out = np.zeros(3)
  const nd::Array out = nd::zeros(3);
  NUMPY("np.nansum(g, axis=1, out=out)", nd::nansum(g, 1, {.out = out}), "float64 (3) 4 0 -inf");
  NUMPY("out", out, "float64 (3) 4 0 -inf");
  NUMPY("np.nanprod(g, 1, None, out)", nd::nanprod(g, 1, {.out = out}), "float64 (3) 3 1 -inf");
  BOOST_TEST(test::text(nd::nansum(nd::where(v > 3, nd::nan, v).astype(nd::bfloat16))) == "bfloat16 () 6.5");
  NUMPY_RAISES("np.nansum(g, 2)", nd::nansum(g, 2), nd::ValueError);
  NUMPY_RAISES("np.nansum(g, out=np.zeros(2))", nd::nansum(g, {.out = nd::zeros(2)}), nd::ValueError);
  BOOST_CHECK_THROW(nd::nansum(nd::Array()), nd::TypeError);
  BOOST_CHECK_THROW(nd::nanprod(nd::Array()), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(cumulative_without_nan, test::NumpyScene) {
  NUMPY("np.nancumsum(g)", nd::nancumsum(g), "float64 (9) 1 1 4 4 4 4 6 11 -inf");
  NUMPY("np.nancumsum(g, 1)", nd::nancumsum(g, 1), "float64 (3, 3) 1 1 4 0 0 0 2 7 -inf");
  NUMPY("np.nancumsum(g, axis=0, dtype=np.float32)", nd::nancumsum(g, 0, nd::float32),
        "float32 (3, 3) 1 0 3 1 0 3 3 5 -inf");
  NUMPY("np.nancumprod(g, 1)", nd::nancumprod(g, 1), "float64 (3, 3) 1 1 3 1 1 1 2 10 -inf");
  NUMPY("np.nancumprod(h[:3])", nd::nancumprod(h(nd::Slice(3))), "float64 (3) 1 1 3");
  // numpy: out = np.zeros((3, 3))
  const nd::Array out = nd::zeros({3, 3});
  NUMPY("np.nancumsum(g, 1, out=out)", nd::nancumsum(g, {.axis = 1, .out = out}),
        "float64 (3, 3) 1 1 4 0 0 0 2 7 -inf");
  NUMPY("np.nancumprod(g, axis=0, dtype=np.float64, out=out)",
        nd::nancumprod(g, {.axis = 0, .dtype = nd::float64, .out = out}), "float64 (3, 3) 1 1 3 1 1 3 2 5 -inf");
  NUMPY("out", out, "float64 (3, 3) 1 1 3 1 1 3 2 5 -inf");
  NUMPY("[np.nancumsum(x, 0) for x in reals]", each(reals, [](auto& x) { return nd::nancumsum(x, 0); }),
        "int64 (3, 4) 1 1 1 0 2 2 2 1 3 3 3 2 | int64 (3, 4) 3 1 2 0 10 3 4 5 11 9 8 8 | uint64 (3, 4) 3 1 2 0 10 3 "
        "4 5 11 9 8 8 | int64 (3, 4) 3 1 2 0 10 3 4 5 11 9 8 8 | uint64 (3, 4) 3 1 2 0 10 3 4 5 11 9 8 8 | int64 (3, "
        "4) 3 1 2 0 10 3 4 5 11 9 8 8 | uint64 (3, 4) 3 1 2 0 10 3 4 5 11 9 8 8 | int64 (3, 4) 3 1 2 0 10 3 4 5 11 9 "
        "8 8 | uint64 (3, 4) 3 1 2 0 10 3 4 5 11 9 8 8 | float16 (3, 4) 3 1 2 0 10 3 4 5 11 9 8 8 | float32 (3, 4) 3 "
        "1 2 0 10 3 4 5 11 9 8 8 | float64 (3, 4) 3 1 2 0 10 3 4 5 11 9 8 8");
}

BOOST_FIXTURE_TEST_CASE(means_without_nan, test::NumpyScene) {
  NUMPY("np.nanmean(h)", nd::nanmean(h), "float64 () inf");
  NUMPY("np.nanmean(h[:3])", nd::nanmean(h(nd::Slice(3))), "float64 () 2");
  NUMPY("np.nanmean(g, 0)", nd::nanmean(g, 0), "float64 (3) 1.5 5 -inf");
  NUMPY("np.nanmean(g, 1)", nd::nanmean(g, 1), "float64 (3) 2 nan -inf");
  NUMPY("np.nanmean(g, axis=(0, 1), keepdims=True)", nd::nanmean(g, {.axis = {0, 1}, .keepdims = true}),
        "float64 (1, 1) -inf");
  NUMPY("np.nanmean(g[1])", nd::nanmean(g(1)), "float64 () nan");
  NUMPY("np.nanmean(e)", nd::nanmean(e), "float64 () nan");
  NUMPY("np.nanmean(e3, 0)", nd::nanmean(e3, 0), "float64 (3) nan nan nan");
  NUMPY("np.nanmean(e3, 1)", nd::nanmean(e3, 1), "float64 (0)");
  NUMPY("np.nanmean(zero)", nd::nanmean(zero), "float64 () 2.5");
  NUMPY("np.nanmean(t, (0, 2))", nd::nanmean(t, {0, 2}), "float64 (2) 5.5 17.5");
  NUMPY("[np.nanmean(x, 0) for x in reals]", each(reals, [](auto& x) { return nd::nanmean(x, 0); }),
        "float64 (4) 1 1 1 0.666666667 | float64 (4) 3.66666667 3 2.66666667 2.66666667 | float64 (4) 3.66666667 3 "
        "2.66666667 2.66666667 | float64 (4) 3.66666667 3 2.66666667 2.66666667 | float64 (4) 3.66666667 3 "
        "2.66666667 2.66666667 | float64 (4) 3.66666667 3 2.66666667 2.66666667 | float64 (4) 3.66666667 3 "
        "2.66666667 2.66666667 | float64 (4) 3.66666667 3 2.66666667 2.66666667 | float64 (4) 3.66666667 3 "
        "2.66666667 2.66666667 | float16 (4) 3.66601562 3 2.66601562 2.66601562 | float32 (4) 3.66666675 3 "
        "2.66666675 2.66666675 | float64 (4) 3.66666667 3 2.66666667 2.66666667");
  NUMPY("[np.nanmean(np.where(x > 1, np.nan, x).astype(x.dtype), 0) for x in floats]",
        each(floats, [](auto& x) { return nd::nanmean(nd::where(x > 1, nd::nan, x), 0); }),
        "float16 (4) 0.5 0.375 0.666503906 0.375 | float32 (4) 0.5 0.375 0.666666687 0.375 | float64 (4) 0.5 0.375 "
        "0.666666667 0.375");
  NUMPY("[np.nanmean(x, 1) for x in complexes]", each(complexes, [](auto& x) { return nd::nanmean(x, 1); }),
        "complex64 (3) 1.5 -7 4 -8 3.5 -3 | complex128 (3) 1.5 -7 4 -8 3.5 -3");
  NUMPY("np.nanmean(g[:2], 0, np.float32)", nd::nanmean(g(nd::Slice(2)), 0, nd::float32), "float32 (3) 1 nan 3");
  NUMPY("np.nanmean(d, dtype=np.float32)", nd::nanmean(d, {.dtype = nd::float32}), "float32 () 3");
  // numpy: out = np.zeros(3)
  const nd::Array out = nd::zeros(3);
  NUMPY("np.nanmean(g, axis=0, out=out)", nd::nanmean(g, 0, {.out = out}), "float64 (3) 1.5 5 -inf");
  NUMPY("out", out, "float64 (3) 1.5 5 -inf");
  // Half-precision sums do not overflow.
  BOOST_TEST(nd::nanmean(nd::full(4, 40000., nd::float16)).item<float>() == 40000);
  NUMPY_RAISES("np.nanmean(h, dtype=np.int64)", nd::nanmean(h, {.dtype = nd::int64}), nd::TypeError);
  NUMPY_RAISES("np.nanmean(g, 0, out=np.zeros(3, int))", nd::nanmean(g, 0, {.out = nd::zeros(3, nd::int64)}),
               nd::TypeError);
  NUMPY_RAISES("np.nanmean(g, 0, out=np.zeros(2))", nd::nanmean(g, 0, {.out = nd::zeros(2)}), nd::ValueError);
  NUMPY_RAISES("np.nanmean(g, 2)", nd::nanmean(g, 2), nd::ValueError);
  BOOST_CHECK_THROW(nd::nanmean(nd::Array()), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(variances_without_nan, test::NumpyScene) {
  NUMPY("np.nanvar(h[:3])", nd::nanvar(h(nd::Slice(3))), "float64 () 1");
  NUMPY("np.nanvar(h)", nd::nanvar(h), "float64 () nan");
  NUMPY("np.nanvar(g[:, :2], 0)", nd::nanvar(g(nd::_, nd::Slice(2)), 0), "float64 (2) 0.25 0");
  NUMPY("np.nanvar(g, 1)", nd::nanvar(g, 1), "float64 (3) 1 nan nan");
  NUMPY("np.nanvar(g[:, :2], axis=0, ddof=1, keepdims=True)",
        nd::nanvar(g(nd::_, nd::Slice(2)), {.axis = 0, .ddof = 1, .keepdims = true}), "float64 (1, 2) 0.5 nan");
  NUMPY("np.nanvar(b, axis=(0, 1), ddof=2)", nd::nanvar(b, {0, 1}, {.ddof = 2}), "float64 () 5.90416667");
  NUMPY("np.nanvar(one, ddof=1)", nd::nanvar(one, {.ddof = 1}), "float64 () nan");
  NUMPY("np.nanvar(e)", nd::nanvar(e), "float64 () nan");
  NUMPY("np.nanvar(zero)", nd::nanvar(zero), "float64 () 0");
  NUMPY("np.nanvar(b, 1, np.float32)", nd::nanvar(b, 1, nd::float32), "float32 (3) 2.296875 5.35546875 5.91796875");
  NUMPY("[np.nanvar(x, 0) for x in reals[:9]]",
        each({reals.begin(), reals.begin() + 9}, [](auto& x) { return nd::nanvar(x, 0); }),
        "float64 (4) 0 0 0 0.222222222 | float64 (4) 6.22222222 4.66666667 0.888888889 4.22222222 | float64 (4) "
        "6.22222222 4.66666667 0.888888889 4.22222222 | float64 (4) 6.22222222 4.66666667 0.888888889 4.22222222 | "
        "float64 (4) 6.22222222 4.66666667 0.888888889 4.22222222 | float64 (4) 6.22222222 4.66666667 0.888888889 "
        "4.22222222 | float64 (4) 6.22222222 4.66666667 0.888888889 4.22222222 | float64 (4) 6.22222222 4.66666667 "
        "0.888888889 4.22222222 | float64 (4) 6.22222222 4.66666667 0.888888889 4.22222222");
  NUMPY("[np.nanvar(np.where(x > 1, np.nan, x).astype(x.dtype), 1) for x in floats[1:]]",
        each({floats.begin() + 1, floats.end()}, [](auto& x) { return nd::nanvar(nd::where(x > 1, nd::nan, x), 1); }),
        "float32 (3) 0.078125 0 0.0972222313 | float64 (3) 0.078125 0 0.0972222222");
  NUMPY("[np.nanvar(x, 1) for x in complexes]", each(complexes, [](auto& x) { return nd::nanvar(x, 1); }),
        "float32 (3) 14.25 22.5 8.25 | float64 (3) 14.25 22.5 8.25");
  NUMPY("np.nanstd(h[:3])", nd::nanstd(h(nd::Slice(3))), "float64 () 1");
  NUMPY("np.nanstd(v)", nd::nanstd(v), "float64 () 1.5920811");
  NUMPY("np.nanstd(b, axis=1, ddof=1, keepdims=True)", nd::nanstd(b, {.axis = 1, .ddof = 1, .keepdims = true}),
        "float64 (3, 1) 1.75 2.67219479 2.80902563");
  NUMPY("np.nanstd(d, 0)", nd::nanstd(d, 0), "float64 (4) 2.49443826 2.1602469 0.942809042 2.05480467");
  NUMPY("np.nanstd(d, 0, np.float32)", nd::nanstd(d, 0, nd::float32),
        "float32 (4) 2.49443841 2.16024685 0.942808986 2.05480456");
  NUMPY("[np.nanstd(x, 0) for x in complexes]", each(complexes, [](auto& x) { return nd::nanstd(x, 0); }),
        "float32 (4) 5.57773352 4.83045912 2.10818505 4.59468317 | float64 (4) 5.57773351 4.83045892 2.10818511 "
        "4.59468292");
  // numpy: out = np.zeros(3)
  const nd::Array out = nd::zeros(3);
  NUMPY("np.nanvar(g[:2], 0, out=out)", nd::nanvar(g(nd::Slice(2)), 0, {.out = out}), "float64 (3) 0 nan 0");
  NUMPY("np.nanstd(b, axis=1, dtype=np.float64, out=out)", nd::nanstd(b, {.axis = 1, .dtype = nd::float64, .out = out}),
        "float64 (3) 1.51554446 2.31418857 2.43268756");
  NUMPY("out", out, "float64 (3) 1.51554446 2.31418857 2.43268756");
  // Computed in float32 and rounded once.
  const nd::Array half = nd::array({1., NAN, 2., 4.}, nd::float16);
  BOOST_TEST(nd::nanvar(half).item<float>() == nd::var(nd::array({1., 2., 4.}, nd::float16)).item<float>());
  BOOST_TEST(test::text(nd::nanstd(half.astype(nd::bfloat16))) == "bfloat16 () 1.25");
  NUMPY_RAISES("np.nanvar(h, dtype=np.int64)", nd::nanvar(h, {.dtype = nd::int64}), nd::TypeError);
  NUMPY_RAISES("np.nanstd(g, 2)", nd::nanstd(g, 2), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(positions_without_nan, test::NumpyScene) {
  NUMPY("np.nanargmax(h)", nd::nanargmax(h), "int64 () 3");
  NUMPY("np.nanargmin(h)", nd::nanargmin(h), "int64 () 0");
  NUMPY("np.nanargmax(g)", nd::nanargmax(g), "int64 () 7");
  NUMPY("np.nanargmin(g)", nd::nanargmin(g), "int64 () 8");
  NUMPY("np.nanargmax(g, 0)", nd::nanargmax(g, 0), "int64 (3) 2 2 0");
  NUMPY("np.nanargmin(g[::2], axis=1, keepdims=True)",
        nd::nanargmin(g(nd::Slice({}, {}, 2)), {.axis = 1, .keepdims = true}), "int64 (2, 1) 0 2");
  NUMPY("np.nanargmax(g, axis=0, keepdims=True)", nd::nanargmax(g, {.axis = 0, .keepdims = true}),
        "int64 (1, 3) 2 2 0");
  NUMPY("np.nanargmin(t, 0)", nd::nanargmin(t, 0), "int64 (2, 2) 3 3 3 3");
  NUMPY("np.nanargmin(zero)", nd::nanargmin(zero), "int64 () 0");
  NUMPY("[np.nanargmax(x, 1) for x in reals]", each(reals, [](auto& x) { return nd::nanargmax(x, 1); }),
        "int64 (3) 0 0 0 | int64 (3) 0 0 1 | int64 (3) 0 0 1 | int64 (3) 0 0 1 | int64 (3) 0 0 1 | int64 (3) 0 0 1 | "
        "int64 (3) 0 0 1 | int64 (3) 0 0 1 | int64 (3) 0 0 1 | int64 (3) 0 0 1 | int64 (3) 0 0 1 | int64 (3) 0 0 1");
  NUMPY("[np.nanargmin(np.where(x > 1, np.nan, x)) for x in floats]",
        each(floats, [](auto& x) { return nd::nanargmin(nd::where(x > 1, nd::nan, x)); }),
        "int64 () 3 | int64 () 3 | int64 () 3");
  // numpy: out = np.zeros(3, int)
  const nd::Array out = nd::zeros(3, nd::int64);
  NUMPY("np.nanargmax(g, axis=0, out=out)", nd::nanargmax(g, {.axis = 0, .out = out}), "int64 (3) 2 2 0");
  NUMPY("np.nanargmin(g, 0, out)", nd::nanargmin(g, 0, {.out = out}), "int64 (3) 0 2 2");
  NUMPY_RAISES("np.nanargmax(g, 1)", nd::nanargmax(g, 1), nd::ValueError);
  NUMPY_RAISES("np.nanargmin(g[1])", nd::nanargmin(g(1)), nd::ValueError);
  NUMPY_RAISES("np.nanargmax(e)", nd::nanargmax(e), nd::ValueError);
  NUMPY_RAISES("np.nanargmax(g, 2)", nd::nanargmax(g, 2), nd::ValueError);
  BOOST_CHECK_THROW(nd::nanargmax(nd::Array()), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(numbers_for_nan, test::NumpyScene) {
  NUMPY("np.nan_to_num(h)", nd::nan_to_num(h), "float64 (4) 1 0 3 1.79769313e+308");
  NUMPY("np.nan_to_num(-g)", nd::nan_to_num(-g), "float64 (3, 3) -1 0 -3 0 0 0 -2 -5 1.79769313e+308");
  NUMPY("np.nan_to_num(g, nan=-1)", nd::nan_to_num(g, {.nan = -1}),
        "float64 (3, 3) 1 -1 3 -1 -1 -1 2 5 -1.79769313e+308");
  NUMPY("np.nan_to_num(g, nan=1, posinf=2, neginf=-3.5)", nd::nan_to_num(g, {.nan = 1, .posinf = 2, .neginf = -3.5}),
        "float64 (3, 3) 1 1 3 1 1 1 2 5 -3.5");
  NUMPY("np.nan_to_num(-g, posinf=7)", nd::nan_to_num(-g, {.posinf = 7}), "float64 (3, 3) -1 0 -3 0 0 0 -2 -5 7");
  NUMPY("np.nan_to_num(h, nan=np.inf, posinf=np.nan)", nd::nan_to_num(h, {.nan = nd::inf, .posinf = nd::nan}),
        "float64 (4) 1 inf 3 nan");
  NUMPY("np.nan_to_num(h, True, 5, 6, 7)", nd::nan_to_num(h, true, 5, 6, 7), "float64 (4) 1 5 3 6");
  NUMPY("[np.nan_to_num(np.where(x > 1, np.inf, np.nan).astype(x.dtype)) for x in floats]",
        each(floats, [](auto& x) { return nd::nan_to_num(nd::where(x > 1, nd::inf, nd::nan).astype(x.dtype())); }),
        "float16 (3, 4) 0 0 0 0 65504 0 0 65504 0 65504 0 0 | float32 (3, 4) 0 0 0 0 3.40282347e+38 0 0 "
        "3.40282347e+38 0 3.40282347e+38 0 0 | float64 (3, 4) 0 0 0 0 1.79769313e+308 0 0 1.79769313e+308 0 "
        "1.79769313e+308 0 0");
  NUMPY("[np.nan_to_num(x) for x in reals]", each(reals, [](auto& x) { return nd::nan_to_num(x); }),
        "bool (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | int8 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | uint8 (3, 4) 3 1 2 0 7 2 2 5 1 "
        "6 4 3 | int16 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | uint16 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | int32 (3, 4) 3 1 2 0 "
        "7 2 2 5 1 6 4 3 | uint32 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | uint64 (3, "
        "4) 3 1 2 0 7 2 2 5 1 6 4 3 | float16 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | float32 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 "
        "3 | float64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3");
  NUMPY("np.nan_to_num(np.array([complex(np.nan, 1), complex(-np.inf, np.nan)], np.complex64), nan=2)",
        nd::nan_to_num(nd::array({std::complex<float>(NAN, 1), std::complex<float>(-INFINITY, NAN)}), {.nan = 2}),
        "complex64 (2) 2 1 -3.40282347e+38 2");
  NUMPY("np.nan_to_num(np.nan)", nd::nan_to_num(nd::nan), "float64 () 0");
  NUMPY("np.nan_to_num(-np.inf, neginf=1)", nd::nan_to_num(-nd::inf, {.neginf = 1}), "float64 () 1");
  NUMPY("np.nan_to_num(e3)", nd::nan_to_num(e3), "float64 (0, 3)");
  const float largest = float(nd::finfo(nd::bfloat16).max);
  BOOST_TEST(nd::nan_to_num(h.astype(nd::bfloat16)).to_vector<float>() == std::vector<float>({1, 0, 3, largest}));
  const nd::Array changed = g.copy(), view = changed(nd::_, nd::Slice({}, {}, -1));
  BOOST_TEST(nd::nan_to_num(view, {.copy = false}).get() == view.get());
  NUMPY("np.nan_to_num(g)", changed, "float64 (3, 3) 1 0 3 0 0 0 2 5 -1.79769313e+308");
  const nd::Array numbers = z + nd::array({NAN, 0., 0., INFINITY});
  nd::nan_to_num(numbers, false);
  NUMPY("np.nan_to_num(z + np.array([np.nan, 0, 0, np.inf]))", numbers,
        "complex128 (4) 0 1 1 2 2 0.5 1.79769313e+308 4");
  BOOST_TEST(nd::nan_to_num(n, false).get() == n.get());
  BOOST_TEST(!nd::nan_to_num(n).shares_memory(n));
  BOOST_CHECK_THROW(nd::nan_to_num(nd::Array()), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(large_arrays_without_nan) {
  std::mt19937 random(3);
  std::vector<double> values(300 * 70);
  for (double& x : values) x = random() % 5 == 0 ? NAN : double(random() % 2000) / 8 - 100;
  const nd::Array a = nd::array(values, {300, 70});
  std::vector<double> sums(70), means(70), variances(70);
  for (std::size_t j = 0; j < 70; ++j) {
    double count = 0, squares = 0;
    for (std::size_t i = 0; i < 300; ++i)
      if (!std::isnan(values[i * 70 + j])) sums[j] += values[i * 70 + j], ++count;
    means[j] = sums[j] / count;
    for (std::size_t i = 0; i < 300; ++i)
      if (!std::isnan(values[i * 70 + j])) squares += std::pow(values[i * 70 + j] - means[j], 2);
    variances[j] = squares / count;
  }
  BOOST_TEST(bool(nd::array_equal(nd::nansum(a, 0), nd::array(sums))));
  BOOST_TEST(bool(nd::allclose(nd::nanmean(a, 0), nd::array(means), 1e-14)));
  BOOST_TEST(bool(nd::allclose(nd::nanvar(a, 0), nd::array(variances), 1e-12)));
  BOOST_TEST(bool(nd::allclose(nd::nanvar(a.T(), 1), nd::array(variances), 1e-12)));
  const nd::Array best = nd::nanargmax(a, 0);
  BOOST_TEST(bool(nd::array_equal(nd::take_along_axis(a, best.reshape(1, 70), 0)(0), nd::nanmax(a, 0))));
}

BOOST_AUTO_TEST_SUITE_END()
