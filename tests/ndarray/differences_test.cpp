// diff, ediff1d, gradient, trapezoid, interp and unwrap as in NumPy.
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(differences)

BOOST_FIXTURE_TEST_CASE(of_neighbours, test::NumpyScene) {
  NUMPY("np.diff(v)", nd::diff(v), "float64 (5) -2 1 3 -1 -3.5");
  NUMPY("np.diff(a * a)", nd::diff(a * a), "float64 (3, 3) 0.75 1.25 1.75 2.75 3.25 3.75 4.75 5.25 5.75");
  NUMPY("np.diff(b, axis=0)", nd::diff(b, {.axis = 0}), "float64 (2, 4) -4.5 5 0.5 -2.75 4 -4.75 5 1.75");
  NUMPY("np.diff(b, 2)", nd::diff(b, 2), "float64 (3, 2) 4.5 1 -9.5 2.25 9 -10.75");
  NUMPY("np.diff(b, 2, 0)", nd::diff(b, 2, 0), "float64 (1, 4) 8.5 -9.75 4.5 4.5");
  NUMPY("np.diff(b, n=3, axis=-1)", nd::diff(b, {.n = 3, .axis = -1}), "float64 (3, 1) -3.5 11.75 -19.75");
  NUMPY("np.diff(b, n=0)", nd::diff(b, {.n = 0}), "float64 (3, 4) 2 -1 0.5 3 -2.5 4 1 0.25 1.5 -0.75 6 2");
  NUMPY("np.diff(v, 9)", nd::diff(v, 9), "float64 (0)");
  NUMPY("np.diff(v, prepend=0)", nd::diff(v, {.prepend = 0}), "float64 (6) 3 -2 1 3 -1 -3.5");
  NUMPY("np.diff(b, prepend=0, append=b[:, :2])", nd::diff(b, {.prepend = 0, .append = b(nd::_, nd::Slice(2))}),
        "float64 (3, 6) 2 -3 1.5 2.5 -1 -3 -2.5 6.5 -3 -0.75 -2.75 6.5 1.5 -2.25 6.75 -4 -0.5 -2.25");
  NUMPY("np.diff(b, axis=0, append=7.5)", nd::diff(b, {.axis = 0, .append = 7.5}),
        "float64 (3, 4) -4.5 5 0.5 -2.75 4 -4.75 5 1.75 6 8.25 1.5 5.5");
  NUMPY("np.diff(f, prepend=1)", nd::diff(f, {.prepend = 1}), "float64 (2, 2) 0 1 2 1");
  NUMPY("np.diff(v, 2, prepend=[1, 2])", nd::diff(v, {.n = 2, .prepend = nd::array({1, 2})}),
        "float64 (6) 0 -3 3 2 -4 -2.5");
  NUMPY("np.diff([1, 4, 9])", nd::diff({1, 4, 9}), "int64 (2) 3 5");
  NUMPY("np.diff(t)", nd::diff(t), "float64 (4, 2, 1) 8 8 8 8 8 8 8 8");
  NUMPY("np.diff(t, axis=0)", nd::diff(t, {.axis = 0}), "float64 (3, 2, 2) -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1");
  NUMPY("np.diff(h)", nd::diff(h), "float64 (3) nan nan inf");
  NUMPY("np.diff(z)", nd::diff(z), "complex128 (3) -2 1 1 -1.5 3 3.5");
  NUMPY("np.diff(e)", nd::diff(e), "float64 (0)");
  NUMPY("np.diff(e3)", nd::diff(e3), "float64 (0, 2)");
  NUMPY("np.diff(one)", nd::diff(one), "float64 (0)");
  NUMPY("np.diff(m)", nd::diff(m), "bool (3, 3) 0 0 0 0 0 0 0 0 0");
  NUMPY("np.diff(m, 2, 0)", nd::diff(m, 2, 0), "bool (1, 4) 1 1 1 1");
  NUMPY("[np.diff(x) for x in reals]", each(reals, [](auto& x) { return nd::diff(x); }),
        "bool (3, 3) 0 0 1 0 0 0 0 0 0 | int8 (3, 3) -2 1 -2 -5 0 3 5 -2 -1 | uint8 (3, 3) 254 1 254 251 0 3 5 254 "
        "255 | int16 (3, 3) -2 1 -2 -5 0 3 5 -2 -1 | uint16 (3, 3) 65534 1 65534 65531 0 3 5 65534 65535 | int32 (3, "
        "3) -2 1 -2 -5 0 3 5 -2 -1 | uint32 (3, 3) 4.29496729e+09 1 4.29496729e+09 4.29496729e+09 0 3 5 "
        "4.29496729e+09 4.2949673e+09 | int64 (3, 3) -2 1 -2 -5 0 3 5 -2 -1 | uint64 (3, 3) 1.84467441e+19 1 "
        "1.84467441e+19 1.84467441e+19 0 3 5 1.84467441e+19 1.84467441e+19 | float16 (3, 3) -2 1 -2 -5 0 3 5 -2 -1 | "
        "float32 (3, 3) -2 1 -2 -5 0 3 5 -2 -1 | float64 (3, 3) -2 1 -2 -5 0 3 5 -2 -1");
  NUMPY("[np.diff(x, 2) for x in floats]", each(floats, [](auto& x) { return nd::diff(x, 2); }),
        "float16 (3, 2) 0.75 -0.75 1.25 0.75 -1.75 0.25 | float32 (3, 2) 0.75 -0.75 1.25 0.75 -1.75 0.25 | float64 "
        "(3, 2) 0.75 -0.75 1.25 0.75 -1.75 0.25");
  NUMPY("[np.diff(x, axis=0) for x in complexes]", each(complexes, [](auto& x) { return nd::diff(x, {.axis = 0}); }),
        "complex64 (2, 4) 4 -12 1 8 0 4 5 -4 -6 8 4 2 2 0 -2 10 | complex128 (2, 4) 4 -12 1 8 0 4 5 -4 -6 8 4 2 2 0 "
        "-2 10");
  BOOST_TEST(test::text(nd::diff(nd::array({1, 4}, nd::bfloat16))) == test::text(nd::array({3}, nd::bfloat16)));
  NUMPY_RAISES("np.diff(v, -1)", nd::diff(v, -1), nd::ValueError);
  NUMPY_RAISES("np.diff(zero)", nd::diff(zero), nd::ValueError);
  NUMPY_RAISES("np.diff(v, axis=1)", nd::diff(v, {.axis = 1}), nd::ValueError);
  NUMPY_RAISES("np.diff(b, prepend=v)", nd::diff(b, {.prepend = v}), nd::ValueError);
  BOOST_CHECK_THROW(nd::diff(nd::Array()), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(of_flattened_arrays, test::NumpyScene) {
  NUMPY("np.ediff1d(v)", nd::ediff1d(v), "float64 (5) -2 1 3 -1 -3.5");
  NUMPY("np.ediff1d(b)", nd::ediff1d(b), "float64 (11) -3 1.5 2.5 -5.5 6.5 -3 -0.75 1.25 -2.25 6.75 -4");
  NUMPY("np.ediff1d(v, to_begin=-99, to_end=[88, 99])",
        nd::ediff1d(v, {.to_end = nd::array({88, 99}), .to_begin = -99}), "float64 (8) -99 -2 1 3 -1 -3.5 88 99");
  NUMPY("np.ediff1d(v, [88, 99])", nd::ediff1d(v, std::vector<int>{88, 99}), "float64 (7) -2 1 3 -1 -3.5 88 99");
  NUMPY("np.ediff1d(v, 88, b)", nd::ediff1d(v, 88, b),
        "float64 (18) 2 -1 0.5 3 -2.5 4 1 0.25 1.5 -0.75 6 2 -2 1 3 -1 -3.5 88");
  NUMPY("np.ediff1d(t)", nd::ediff1d(t), "float64 (15) 8 4 8 -21 8 4 8 -21 8 4 8 -21 8 4 8");
  NUMPY("np.ediff1d(e)", nd::ediff1d(e), "float64 (0)");
  NUMPY("np.ediff1d(e, 1)", nd::ediff1d(e, 1), "float64 (1) 1");
  NUMPY("np.ediff1d(3)", nd::ediff1d(3), "int64 (0)");
  NUMPY("[np.ediff1d(x) for x in reals[1:]]",
        each({reals.begin() + 1, reals.end()}, [](auto& x) { return nd::ediff1d(x); }),
        "int8 (11) -2 1 -2 7 -5 0 3 -4 5 -2 -1 | uint8 (11) 254 1 254 7 251 0 3 252 5 254 255 | int16 (11) -2 1 -2 7 "
        "-5 0 3 -4 5 -2 -1 | uint16 (11) 65534 1 65534 7 65531 0 3 65532 5 65534 65535 | int32 (11) -2 1 -2 7 -5 0 3 "
        "-4 5 -2 -1 | uint32 (11) 4.29496729e+09 1 4.29496729e+09 7 4.29496729e+09 0 3 4.29496729e+09 5 "
        "4.29496729e+09 4.2949673e+09 | int64 (11) -2 1 -2 7 -5 0 3 -4 5 -2 -1 | uint64 (11) 1.84467441e+19 1 "
        "1.84467441e+19 7 1.84467441e+19 0 3 1.84467441e+19 5 1.84467441e+19 1.84467441e+19 | float16 (11) -2 1 -2 7 "
        "-5 0 3 -4 5 -2 -1 | float32 (11) -2 1 -2 7 -5 0 3 -4 5 -2 -1 | float64 (11) -2 1 -2 7 -5 0 3 -4 5 -2 -1");
  NUMPY("[np.ediff1d(x, 1) for x in floats]", each(floats, [](auto& x) { return nd::ediff1d(x, 1); }),
        "float16 (12) -0.5 0.25 -0.5 1.75 -1.25 0 0.75 -1 1.25 -0.5 -0.25 1 | float32 (12) -0.5 0.25 -0.5 1.75 -1.25 "
        "0 0.75 -1 1.25 -0.5 -0.25 1 | float64 (12) -0.5 0.25 -0.5 1.75 -1.25 0 0.75 -1 1.25 -0.5 -0.25 1");
  NUMPY("[np.ediff1d(x, 1) for x in complexes]", each(complexes, [](auto& x) { return nd::ediff1d(x, 1); }),
        "complex64 (12) -2 -10 1 4 -2 2 7 -8 -5 10 0 0 3 -6 -4 4 5 4 -2 -2 -1 4 1 0 | complex128 (12) -2 -10 1 4 -2 "
        "2 7 -8 -5 10 0 0 3 -6 -4 4 5 4 -2 -2 -1 4 1 0");
  NUMPY_RAISES("np.ediff1d(n, 1.5)", nd::ediff1d(n, 1.5), nd::TypeError);
  NUMPY_RAISES("np.ediff1d(m)", nd::ediff1d(m), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(derivatives, test::NumpyScene) {
  // numpy: x = np.array([0., 1., 1.5, 3.5, 4., 6.])
  const nd::Array x = nd::array({0., 1., 1.5, 3.5, 4., 6.});
  NUMPY("np.gradient(v)", nd::gradient(v), "float64 (6) -2 -0.5 2 1 -2.25 -3.5");
  NUMPY("np.gradient(v, 2)", nd::gradient(v, 2), "float64 (6) -1 -0.25 1 0.5 -1.125 -1.75");
  NUMPY("np.gradient(v, zero)", nd::gradient(v, zero), "float64 (6) -0.8 -0.2 0.8 0.4 -0.9 -1.4");
  NUMPY("np.gradient(v, x)", nd::gradient(v, x), "float64 (6) -2 0.666666667 1.9 -1.3 -1.95 -1.75");
  NUMPY("np.gradient(v, edge_order=2)", nd::gradient(v, {.edge_order = 2}), "float64 (6) -3.5 -0.5 2 1 -2.25 -4.75");
  NUMPY("np.gradient(v, 0.5, edge_order=2)", nd::gradient(v, 0.5, {.edge_order = 2}),
        "float64 (6) -7 -1 4 2 -4.5 -9.5");
  NUMPY("np.gradient(v, x, edge_order=2)", nd::gradient(v, x, {.edge_order = 2}),
        "float64 (6) -4.66666667 0.666666667 1.9 -1.3 -1.95 -1.55");
  NUMPY("np.gradient(v, x.astype(int) + np.arange(6))", nd::gradient(v, x.astype(nd::int64) + nd::arange(6)),
        "float64 (6) -1 0.333333333 1 0.1 -0.766666667 -1.16666667");
  NUMPY("np.gradient(b)", nd::gradient(b).arrays(),
        "float64 (3, 4) -4.5 5 0.5 -2.75 -0.25 0.125 2.75 -0.5 4 -4.75 5 1.75 | float64 (3, 4) -3 -0.75 2 2.5 6.5 "
        "1.75 -1.875 -0.75 -2.25 2.25 1.375 -4");
  NUMPY("np.gradient(b, 2)", nd::gradient(b, 2).arrays(),
        "float64 (3, 4) -2.25 2.5 0.25 -1.375 -0.125 0.0625 1.375 -0.25 2 -2.375 2.5 0.875 | float64 (3, 4) -1.5 "
        "-0.375 1 1.25 3.25 0.875 -0.9375 -0.375 -1.125 1.125 0.6875 -2");
  NUMPY("np.gradient(b, 2, 0.5)", nd::gradient(b, 2, 0.5).arrays(),
        "float64 (3, 4) -2.25 2.5 0.25 -1.375 -0.125 0.0625 1.375 -0.25 2 -2.375 2.5 0.875 | float64 (3, 4) -6 -1.5 "
        "4 5 13 3.5 -3.75 -1.5 -4.5 4.5 2.75 -8");
  NUMPY("np.gradient(b, 2, x[:4])", nd::gradient(b, 2, x(nd::Slice(4))).arrays(),
        "float64 (3, 4) -2.25 2.5 0.25 -1.375 -0.125 0.0625 1.375 -0.25 2 -2.375 2.5 0.875 | float64 (3, 4) -3 1 "
        "2.65 1.25 6.5 -1.83333333 -4.875 -0.375 -2.25 8.25 10.4 -2");
  NUMPY("np.gradient(b, axis=1)", nd::gradient(b, {.axis = 1}),
        "float64 (3, 4) -3 -0.75 2 2.5 6.5 1.75 -1.875 -0.75 -2.25 2.25 1.375 -4");
  NUMPY("np.gradient(b, x[:3], axis=0)", nd::gradient(b, x(nd::Slice(3)), {.axis = 0}),
        "float64 (3, 4) -4.5 5 0.5 -2.75 3.83333333 -4.66666667 6.83333333 1.41666667 8 -9.5 10 3.5");
  NUMPY("np.gradient(b, 2, 3, axis=(1, 0), edge_order=2)",
        nd::gradient(b, 2, 3, {.axis = {1, 0}, .edge_order = 2}).arrays(),
        "float64 (3, 4) -2.625 -0.375 1 1.5 5.625 0.875 -0.9375 0.1875 -3.375 1.125 0.6875 -4.6875 | float64 (3, 4) "
        "-2.91666667 3.29166667 -0.583333333 -1.66666667 -0.0833333333 0.0416666667 0.916666667 -0.166666667 2.75 "
        "-3.20833333 2.41666667 1.33333333");
  NUMPY("np.gradient(b * b, 2, x[:4], edge_order=2)",
        nd::gradient(b * b, 2, x(nd::Slice(4)), {.edge_order = 2}).arrays(),
        "float64 (3, 4) 2.6875 15.109375 -8.1875 -7.6875 -0.4375 -0.109375 8.9375 -1.25 -3.5625 -15.328125 26.0625 "
        "5.1875 | float64 (3, 4) -4 -2 -0.325 9.075 36.25 -16.75 -24.09375 23.15625 -50.0625 46.6875 53.5 -85.5");
  NUMPY("np.gradient(q * q, 1, 2, 3)", nd::gradient(q * q, 1, 2, 3).arrays(),
        "float64 (2, 3, 4) 144 168 192 216 240 264 288 312 336 360 384 408 144 168 192 216 240 264 288 312 336 360 "
        "384 408 | float64 (2, 3, 4) 8 12 16 20 16 20 24 28 24 28 32 36 56 60 64 68 64 68 72 76 72 76 80 84 | "
        "float64 (2, 3, 4) 0.333333333 0.666666667 1.33333333 1.66666667 3 3.33333333 4 4.33333333 5.66666667 6 "
        "6.66666667 7 8.33333333 8.66666667 9.33333333 9.66666667 11 11.3333333 12 12.3333333 13.6666667 14 "
        "14.6666667 15");
  NUMPY("np.gradient(t * t)", nd::gradient(t * t).arrays(),
        "float64 (4, 2, 2) -5 -21 -29 -45 -4 -20 -28 -44 -2 -18 -26 -42 -1 -17 -25 -41 | float64 (4, 2, 2) 216 408 "
        "216 408 192 384 192 384 168 360 168 360 144 336 144 336 | float64 (4, 2, 2) 112 112 304 304 96 96 288 288 "
        "80 80 272 272 64 64 256 256");
  NUMPY("np.gradient([1, 4, 9, 16])", nd::gradient({1, 4, 9, 16}), "float64 (4) 3 4 6 7");
  NUMPY("np.gradient(v[:2])", nd::gradient(v(nd::Slice(2))), "float64 (2) -2 -2");
  NUMPY("np.gradient(z, 2)", nd::gradient(z, 2), "complex128 (4) -1 0.5 -0.25 -0.125 1 0.5 1.5 1.75");
  NUMPY("[np.gradient(x, axis=0) for x in reals[1:]]",
        each({reals.begin() + 1, reals.end()}, [](auto& r) { return nd::gradient(r, {.axis = 0}); }),
        "float64 (3, 4) 4 1 0 5 -1 2.5 1 1.5 -6 4 2 -2 | float64 (3, 4) 4 1 0 5 -1 2.5 1 1.5 -6 4 2 -2 | float64 (3, "
        "4) 4 1 0 5 -1 2.5 1 1.5 -6 4 2 -2 | float64 (3, 4) 4 1 0 5 -1 2.5 1 1.5 -6 4 2 -2 | float64 (3, 4) 4 1 0 5 "
        "-1 2.5 1 1.5 -6 4 2 -2 | float64 (3, 4) 4 1 0 5 -1 2.5 1 1.5 -6 4 2 -2 | float64 (3, 4) 4 1 0 5 -1 2.5 1 "
        "1.5 -6 4 2 -2 | float64 (3, 4) 4 1 0 5 -1 2.5 1 1.5 -6 4 2 -2 | float16 (3, 4) 4 1 0 5 -1 2.5 1 1.5 -6 4 2 "
        "-2 | float32 (3, 4) 4 1 0 5 -1 2.5 1 1.5 -6 4 2 -2 | float64 (3, 4) 4 1 0 5 -1 2.5 1 1.5 -6 4 2 -2");
  NUMPY("[np.gradient(x, 0.5, axis=1, edge_order=2) for x in floats]",
        each(floats, [](auto& r) { return nd::gradient(r, 0.5, {.axis = 1, .edge_order = 2}); }),
        "float16 (3, 4) -1.75 -0.25 -0.25 -1.75 -3.75 -1.25 0.75 2.25 4.25 0.75 -0.75 -0.25 | float32 (3, 4) -1.75 "
        "-0.25 -0.25 -1.75 -3.75 -1.25 0.75 2.25 4.25 0.75 -0.75 -0.25 | float64 (3, 4) -1.75 -0.25 -0.25 -1.75 "
        "-3.75 -1.25 0.75 2.25 4.25 0.75 -0.75 -0.25");
  NUMPY("[np.gradient(x, [0, 1, 3], axis=0) for x in complexes]",
        each(complexes,
             [](auto& r) {
               return nd::gradient(r, std::vector<int>{0, 1, 3}, {.axis = 0});
             }),
        "complex64 (3, 4) 4 -12 1 8 0 4 5 -4 1.66666663 -6.66666651 1.33333337 5.66666651 0.333333343 2.66666675 3 "
        "-1 -3 4 2 1 1 0 -1 5 | complex128 (3, 4) 4 -12 1 8 0 4 5 -4 1.66666667 -6.66666667 1.33333333 5.66666667 "
        "0.333333333 2.66666667 3 -1 -3 4 2 1 1 0 -1 5");
  const auto [rows, columns] = nd::gradient(b);
  BOOST_TEST(test::text(rows) == test::text(nd::gradient(b, {.axis = 0})));
  BOOST_TEST(test::text(columns) == test::text(nd::gradient(b, {.axis = 1})));
  BOOST_TEST(test::text(nd::gradient(v) + 1) == test::text(nd::Array(nd::gradient(v)) + 1));
  NUMPY_RAISES("np.gradient(one)", nd::gradient(one), nd::ValueError);
  NUMPY_RAISES("np.gradient(v[:2], edge_order=2)", nd::gradient(v(nd::Slice(2)), {.edge_order = 2}), nd::ValueError);
  NUMPY_RAISES("np.gradient(v, edge_order=3)", nd::gradient(v, {.edge_order = 3}), nd::ValueError);
  NUMPY_RAISES("np.gradient(v, x[:3])", nd::gradient(v, x(nd::Slice(3))), nd::ValueError);
  NUMPY_RAISES("np.gradient(v, b)", nd::gradient(v, b), nd::ValueError);
  NUMPY_RAISES("np.gradient(v, 1, 2)", nd::gradient(v, 1, 2), nd::TypeError);
  NUMPY_RAISES("np.gradient(v, axis=1)", nd::gradient(v, {.axis = 1}), nd::ValueError);
  NUMPY_RAISES("np.gradient(b, axis=(0, 0))", nd::gradient(b, {.axis = {0, 0}}), nd::ValueError);
  NUMPY_RAISES("np.gradient(m)", nd::gradient(m), nd::TypeError);
  BOOST_CHECK_THROW(nd::Array(nd::gradient(b)), nd::TypeError);
  BOOST_CHECK_THROW(nd::gradient(v).get<0>(), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(integrals, test::NumpyScene) {
  NUMPY("np.trapezoid(v)", nd::trapezoid(v), "float64 () 13.75");
  NUMPY("np.trapezoid(v, dx=0.5)", nd::trapezoid(v, {.dx = 0.5}), "float64 () 6.875");
  NUMPY("np.trapezoid(v, w)", nd::trapezoid(v, w), "float64 () 4.125");
  NUMPY("np.trapezoid(b, axis=0)", nd::trapezoid(b, {.axis = 0}), "float64 (4) -0.75 3.125 4.25 2.75");
  NUMPY("np.trapezoid(b, [1, 2, 4], axis=0)", nd::trapezoid(b, {.x = nd::array({1, 2, 4}), .axis = 0}),
        "float64 (4) -1.25 4.75 7.75 3.875");
  NUMPY("np.trapezoid(b, a)", nd::trapezoid(b, {.x = a}), "float64 (3) 1 1.9375 3.5");
  NUMPY("np.trapezoid(b, a, 1.0, 0)", nd::trapezoid(b, a, 1.0, 0), "float64 (4) -1.5 6.25 8.5 5.5");
  NUMPY("np.trapezoid(b, n[:4])", nd::trapezoid(b, n(nd::Slice(4))), "float64 (3) -3 0.375 -2.125");
  NUMPY("np.trapezoid([1, 2, 4])", nd::trapezoid({1, 2, 4}), "float64 () 4.5");
  NUMPY("np.trapezoid(t)", nd::trapezoid(t), "float64 (4, 2) 7 19 6 18 5 17 4 16");
  NUMPY("np.trapezoid(t, axis=0)", nd::trapezoid(t, {.axis = 0}), "float64 (2, 2) 4.5 28.5 40.5 64.5");
  NUMPY("np.trapezoid(h)", nd::trapezoid(h), "float64 () nan");
  NUMPY("np.trapezoid([np.inf, 1, 2])", nd::trapezoid({nd::inf, 1., 2.}), "float64 () inf");
  NUMPY("np.trapezoid(one)", nd::trapezoid(one), "float64 () 0");
  NUMPY("np.trapezoid(v[:2])", nd::trapezoid(v(nd::Slice(2))), "float64 () 2");
  NUMPY("np.trapezoid(e)", nd::trapezoid(e), "float64 () 0");
  NUMPY("np.trapezoid(e3)", nd::trapezoid(e3), "float64 (0)");
  NUMPY("np.trapezoid(e3, axis=0)", nd::trapezoid(e3, {.axis = 0}), "float64 (3) 0 0 0");
  NUMPY("[np.trapezoid(x) for x in reals]", each(reals, [](auto& x) { return nd::trapezoid(x); }),
        "float64 (3) 1.5 1.5 1.5 | float64 (3) 4.5 10 12 | float64 (3) 4.5 10 12 | float64 (3) 4.5 10 12 | float64 "
        "(3) 4.5 10 12 | float64 (3) 4.5 10 12 | float64 (3) 4.5 10 12 | float64 (3) 4.5 10 12 | float64 (3) 4.5 10 "
        "12 | float16 (3) 4.5 10 12 | float32 (3) 4.5 10 12 | float64 (3) 4.5 10 12");
  NUMPY("[np.trapezoid(x, dx=2) for x in floats]", each(floats, [](auto& x) { return nd::trapezoid(x, {.dx = 2}); }),
        "float16 (3) 2.25 5 6 | float32 (3) 2.25 5 6 | float64 (3) 2.25 5 6");
  NUMPY("[np.trapezoid(x, n[:4]) for x in floats]",
        each(floats, [&](auto& x) { return nd::trapezoid(x, n(nd::Slice(4))); }),
        "float64 (3) -0.875 -2.625 -1.375 | float64 (3) -0.875 -2.625 -1.375 | float64 (3) -0.875 -2.625 -1.375");
  NUMPY("[np.trapezoid(x) for x in complexes]", each(complexes, [](auto& x) { return nd::trapezoid(x); }),
        "complex64 (3) 4.5 -24 10 -20 12 -9 | complex128 (3) 4.5 -24 10 -20 12 -9");
  NUMPY_RAISES("np.trapezoid(zero)", nd::trapezoid(zero), nd::ValueError);
  NUMPY_RAISES("np.trapezoid(b, axis=2)", nd::trapezoid(b, {.axis = 2}), nd::ValueError);
  NUMPY_RAISES("np.trapezoid(v, w[:3])", nd::trapezoid(v, w(nd::Slice(3))), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(interpolation, test::NumpyScene) {
  // numpy: xp = np.array([1., 2, 3, 5]); fp = np.array([1., -1, 0, 4]); same = np.array([1., 2, 2, 5])
  const nd::Array xp = nd::array({1., 2., 3., 5.}), fp = nd::array({1., -1., 0., 4.}),
                  same = nd::array({1., 2., 2., 5.});
  // numpy: x = np.array([0, 1, 1.25, 2, 2.5, 3, 4, 5, 6]); r = np.arange(13) / 2
  const nd::Array x = nd::array({0., 1., 1.25, 2., 2.5, 3., 4., 5., 6.}), r = nd::arange(13) / 2;
  // numpy: inf = np.inf; i4 = np.array([1, inf, 0, 4.]); k4 = np.array([np.nan, -1, -1, -inf])
  const nd::Array i4 = nd::array({1., nd::inf, 0., 4.}), k4 = nd::array({nd::nan, -1., -1., -nd::inf});
  NUMPY("np.interp(x, xp, fp)", nd::interp(x, xp, fp), "float64 (9) 1 1 0.5 -1 -0.5 0 2 4 4");
  NUMPY("np.interp(2.5, [1, 2, 3], [3, 2, 0])", nd::interp(2.5, {1, 2, 3}, {3, 2, 0}), "float64 () 1");
  NUMPY("np.interp(v, [1., 2.], [3., 4.])", nd::interp(v, {1., 2.}, {3., 4.}), "float64 (6) 4 3 4 4 4 3");
  NUMPY("np.interp(x, xp, fp, left=-9)", nd::interp(x, xp, fp, {.left = -9}), "float64 (9) -9 1 0.5 -1 -0.5 0 2 4 4");
  NUMPY("np.interp(x, xp, fp, right=9.5)", nd::interp(x, xp, fp, {.right = 9.5}),
        "float64 (9) 1 1 0.5 -1 -0.5 0 2 4 9.5");
  NUMPY("np.interp(x, xp, fp, -9, 9)", nd::interp(x, xp, fp, -9, 9), "float64 (9) -9 1 0.5 -1 -0.5 0 2 4 9");
  NUMPY("np.interp(x, xp, fp, period=4.5)", nd::interp(x, xp, fp, {.period = 4.5}),
        "float64 (9) 3 1 0.5 -1 -0.5 0 2 4 0");
  NUMPY("np.interp(x, xp[::-1], fp, period=-3)", nd::interp(x, xp(nd::Slice({}, {}, -1)), fp, {.period = -3}),
        "float64 (9) -1 4 3.25 0 -0.5 -1 4 0 -1");
  NUMPY("np.interp(h, xp, fp)", nd::interp(h, xp, fp), "float64 (4) 1 nan 0 4");
  NUMPY("np.interp(-h, xp, fp, 7, 8)", nd::interp(-h, xp, fp, 7, 8), "float64 (4) 7 nan 7 7");
  NUMPY("np.interp(r, xp, i4)", nd::interp(r, xp, i4), "float64 (13) 1 1 1 inf inf inf 0 1 2 3 4 4 4");
  NUMPY("np.interp(r, xp, k4)", nd::interp(r, xp, k4),
        "float64 (13) nan nan nan nan -1 -1 -1 -inf -inf -inf -inf -inf -inf");
  NUMPY("np.interp(r, xp, [inf, inf, -inf, 1])", nd::interp(r, xp, {nd::inf, nd::inf, -nd::inf, 1.}),
        "float64 (13) inf inf inf inf inf nan -inf -inf -inf -inf 1 1 1");
  NUMPY("np.interp(r, same, fp)", nd::interp(r, same, fp),
        "float64 (13) 1 1 1 0 0 0.666666667 1.33333333 2 2.66666667 3.33333333 4 4 4");
  NUMPY("np.interp(x, xp, z)", nd::interp(x, xp, z),
        "complex128 (9) 3 1 3 1 2.5 1.25 1 2 1.5 1.25 2 0.5 3.5 2.25 5 4 5 4");
  NUMPY("np.interp(x, xp, z, left=1j, right=2)", nd::interp(x, xp, z, {.left = std::complex<double>(0, 1), .right = 2}),
        "complex128 (9) 0 1 3 1 2.5 1.25 1 2 1.5 1.25 2 0.5 3.5 2.25 5 4 2 0");
  NUMPY("np.interp(x, xp, z, period=3)", nd::interp(x, xp, z, {.period = 3}),
        "complex128 (9) 2 0.5 3 1 2.5 1.25 5 4 3.5 2.25 2 0.5 3 1 5 4 2 0.5");
  NUMPY("np.interp(h, xp, z)", nd::interp(h, xp, z), "complex128 (4) 3 1 nan 0 2 0.5 5 4");
  NUMPY("np.interp([-inf, 0, inf], xp, fp)", nd::interp({-nd::inf, 0., nd::inf}, xp, fp), "float64 (3) 1 1 4");
  NUMPY("np.interp(x, one, [4])", nd::interp(x, one, {4}), "float64 (9) 4 4 4 4 4 4 4 4 4");
  NUMPY("np.interp(t, xp, fp)", nd::interp(t, xp, fp), "float64 (4, 2, 2) 0 4 4 4 -1 4 4 4 1 4 4 4 1 4 4 4");
  NUMPY("np.interp(e, xp, fp)", nd::interp(e, xp, fp), "float64 (0)");
  NUMPY("np.interp(r, xp[::-1][::-1], t[:, 1, 0])", nd::interp(r, xp, t(nd::_, 1, 0)),
        "float64 (13) 15 15 15 14.5 14 13.5 13 12.75 12.5 12.25 12 12 12");
  NUMPY("[np.interp(x, xp, fp) for x in reals]", each(reals, [&](auto& y) { return nd::interp(y, xp, fp); }),
        "float64 (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | float64 (3, 4) 0 1 -1 1 4 -1 -1 4 1 4 2 0 | float64 (3, 4) 0 1 -1 "
        "1 4 -1 -1 4 1 4 2 0 | float64 (3, 4) 0 1 -1 1 4 -1 -1 4 1 4 2 0 | float64 (3, 4) 0 1 -1 1 4 -1 -1 4 1 4 2 0 "
        "| float64 (3, 4) 0 1 -1 1 4 -1 -1 4 1 4 2 0 | float64 (3, 4) 0 1 -1 1 4 -1 -1 4 1 4 2 0 | float64 (3, 4) 0 "
        "1 -1 1 4 -1 -1 4 1 4 2 0 | float64 (3, 4) 0 1 -1 1 4 -1 -1 4 1 4 2 0 | float64 (3, 4) 0 1 -1 1 4 -1 -1 4 1 "
        "4 2 0 | float64 (3, 4) 0 1 -1 1 4 -1 -1 4 1 4 2 0 | float64 (3, 4) 0 1 -1 1 4 -1 -1 4 1 4 2 0");
  NUMPY("[np.interp(d, xp, x[1]) for x in reals]", each(reals, [&](auto& y) { return nd::interp(d, xp, y(1)); }),
        "float64 (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | float64 (3, 4) 2 7 2 7 5 2 2 5 7 5 3.5 2 | float64 (3, 4) 2 7 2 7 "
        "5 2 2 5 7 5 3.5 2 | float64 (3, 4) 2 7 2 7 5 2 2 5 7 5 3.5 2 | float64 (3, 4) 2 7 2 7 5 2 2 5 7 5 3.5 2 | "
        "float64 (3, 4) 2 7 2 7 5 2 2 5 7 5 3.5 2 | float64 (3, 4) 2 7 2 7 5 2 2 5 7 5 3.5 2 | float64 (3, 4) 2 7 2 "
        "7 5 2 2 5 7 5 3.5 2 | float64 (3, 4) 2 7 2 7 5 2 2 5 7 5 3.5 2 | float64 (3, 4) 2 7 2 7 5 2 2 5 7 5 3.5 2 | "
        "float64 (3, 4) 2 7 2 7 5 2 2 5 7 5 3.5 2 | float64 (3, 4) 2 7 2 7 5 2 2 5 7 5 3.5 2");
  NUMPY_RAISES("np.interp(x, xp, fp[:2])", nd::interp(x, xp, fp(nd::Slice(2))), nd::ValueError);
  NUMPY_RAISES("np.interp(x, b, b)", nd::interp(x, b, b), nd::ValueError);
  NUMPY_RAISES("np.interp(x, [], [])", nd::interp(x, e, e), nd::ValueError);
  NUMPY_RAISES("np.interp(x, xp, fp, period=0)", nd::interp(x, xp, fp, {.period = 0}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(angles_without_jumps, test::NumpyScene) {
  // numpy: p = np.array([0, 3.5, -3, 0.5, 6.5, 0.1]); k = np.array([0, 5, -2, 130, 3, 181], np.int16); pi = np.pi
  const nd::Array angles = nd::array({0., 3.5, -3., 0.5, 6.5, 0.1});
  const nd::Array k = nd::array({0, 5, -2, 130, 3, 181}, nd::int16);
  NUMPY("np.unwrap(p)", nd::unwrap(angles), "float64 (6) 0 -2.78318531 -3 -5.78318531 -6.06637061 -6.18318531");
  NUMPY("np.unwrap(p, discont=5)", nd::unwrap(angles, {.discont = 5}),
        "float64 (6) 0 3.5 3.28318531 6.78318531 6.5 6.38318531");
  NUMPY("np.unwrap(p, 4.)", nd::unwrap(angles, 4.), "float64 (6) 0 3.5 3.28318531 6.78318531 6.5 6.38318531");
  NUMPY("np.unwrap(p, period=4)", nd::unwrap(angles, {.period = 4}), "float64 (6) 0 -0.5 1 0.5 2.5 4.1");
  NUMPY("np.unwrap(b * 2, axis=0)", nd::unwrap(b * 2, {.axis = 0}),
        "float64 (3, 4) 4 -2 1 6 1.28318531 -4.56637061 2 6.78318531 3 -1.5 -0.566370614 4");
  NUMPY("np.unwrap(b * 2, 3.5, 0)", nd::unwrap(b * 2, 3.5, 0),
        "float64 (3, 4) 4 -2 1 6 1.28318531 -4.56637061 2 6.78318531 3 -1.5 -0.566370614 4");
  NUMPY("np.unwrap([0, pi, -pi, 2 * pi])", nd::unwrap({0., nd::pi, -nd::pi, 2 * nd::pi}),
        "float64 (4) 0 3.14159265 3.14159265 6.28318531");
  NUMPY("np.unwrap(n)", nd::unwrap(n), "float64 (6) 3 1 2 1 0 3");
  NUMPY("np.unwrap(n * 3, period=4)", nd::unwrap(n * 3, {.period = 4}), "int64 (6) 9 7 6 7 8 9");
  NUMPY("np.unwrap(n * 3, period=5)", nd::unwrap(n * 3, {.period = 5}), "int64 (6) 9 8 6 8 10 9");
  NUMPY("np.unwrap(k, period=255)", nd::unwrap(k, {.period = 255}), "int16 (6) 0 5 -2 -125 -252 -329");
  NUMPY("np.unwrap(t, axis=0)", nd::unwrap(t, {.axis = 0}),
        "float64 (4, 2, 2) 3 11 15 23 2 10 14 22 1 9 13 21 0 8 12 20");
  NUMPY("np.unwrap(e)", nd::unwrap(e), "float64 (0)");
  NUMPY("np.unwrap(one)", nd::unwrap(one), "float64 (1) 2.5");
  NUMPY("np.unwrap(h)", nd::unwrap(h), "float64 (4) 1 nan nan nan");
  NUMPY("[np.unwrap(x * 4) for x in floats]", each(floats, [](auto& x) { return nd::unwrap(x * 4); }),
        "float16 (3, 4) 3 1 2 0 7 8.28125 8.28125 11.28125 1 -0.28125 -2.28125 -3.28125 | float32 (3, 4) 3 1 2 0 7 "
        "8.28318501 8.28318501 11.283185 1 -0.283185005 -2.28318501 -3.28318501 | float64 (3, 4) 3 1 2 0 7 "
        "8.28318531 8.28318531 11.2831853 1 -0.283185307 -2.28318531 -3.28318531");
  NUMPY("[np.unwrap(x, period=3) for x in reals[5:9:2]]",
        each({reals[5], reals[7]}, [](auto& x) { return nd::unwrap(x, {.period = 3}); }),
        "int32 (3, 4) 3 4 5 6 7 8 8 8 1 0 1 0 | int64 (3, 4) 3 4 5 6 7 8 8 8 1 0 1 0");
  NUMPY_RAISES("np.unwrap(b, axis=2)", nd::unwrap(b, {.axis = 2}), nd::ValueError);
  NUMPY_RAISES("np.unwrap(zero)", nd::unwrap(zero), nd::ValueError);
}

// Many numbers between many points, one by one.
BOOST_AUTO_TEST_CASE(interpolation_of_many_numbers) {
  std::vector<double> xp, fp, x, expected;
  for (int k = 0; k < 500; ++k) {
    xp.push_back(k + 0.3 * std::sin(k));
    fp.push_back(std::cos(0.1 * k));
  }
  for (int k = 0; k < 20000; ++k) x.push_back(250 + 300 * std::sin(1.7 * k));
  for (const double at : x) {
    const auto above = std::upper_bound(xp.begin(), xp.end(), at);
    const std::size_t k = static_cast<std::size_t>(above - xp.begin());
    expected.push_back(k == 0           ? fp[0]
                       : k == xp.size() ? fp.back()
                                        : fp[k - 1] + (fp[k] - fp[k - 1]) * (at - xp[k - 1]) / (xp[k] - xp[k - 1]));
  }
  const std::vector<double> result = nd::interp(nd::array(x), nd::array(xp), nd::array(fp)).to_vector<double>();
  double worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) worst = std::max(worst, std::abs(result[k] - expected[k]));
  BOOST_TEST(worst < 1e-13);
}

BOOST_AUTO_TEST_SUITE_END()
