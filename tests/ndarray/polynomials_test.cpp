// Polynomials as in NumPy: arithmetic, values, derivatives, integrals, fits.
#include <complex>
#include <string>
#include <vector>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;

namespace {

std::vector<nd::Array> parts_of(const nd::PolyfitResult& r) {
  return {r.coefficients, r.residuals, nd::array(r.rank, nd::int32), r.singular_values};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(polynomials)

BOOST_FIXTURE_TEST_CASE(by_zeros, test::NumpyScene) {
  NUMPY("np.poly(v)", nd::poly(v), "float64 (7) 1 -15.5 92.5 -267.5 386.5 -257 60");
  NUMPY("np.poly([1, 2, 3])", nd::poly({1, 2, 3}), "float64 (4) 1 -6 11 -6");
  NUMPY("np.poly(z)", nd::poly(z), "complex128 (5) 1 0 -11 -7.5 23.5 56.5 24 -119.5 -65.5 66.5");
  NUMPY("np.poly([1 + 2j, 3, 1 - 2j])",
        nd::poly({std::complex<double>(1, 2), std::complex<double>(3), std::complex<double>(1, -2)}),
        "float64 (4) 1 -5 11 -15");
  NUMPY("np.poly(t[:, 1, 1])", nd::poly(t(nd::_, 1, 1)), "float64 (5) 1 -86 2771 -39646 212520");
  NUMPY("np.poly(one)", nd::poly(one), "float64 (2) 1 -2.5");
  NUMPY("[np.poly(x[1]) for x in reals]", each(reals, [](auto& x) { return nd::poly(x(1)); }),
        "float64 (5) 1 -4 6 -4 1 | float64 (5) 1 -16 87 -188 140 | float64 (5) 1 -16 87 -188 140 | float64 (5) 1 -16 "
        "87 -188 140 | float64 (5) 1 -16 87 -188 140 | float64 (5) 1 -16 87 -188 140 | float64 (5) 1 -16 87 -188 140 "
        "| float64 (5) 1 -16 87 -188 140 | float64 (5) 1 -16 87 -188 140 | float64 (5) 1 -16 87 -188 140 | float32 "
        "(5) 1 -16 87 -188 140 | float64 (5) 1 -16 87 -188 140");
  NUMPY("[np.poly(x[1]) for x in complexes]", each(complexes, [](auto& x) { return nd::poly(x(1)); }),
        "complex64 (5) 1 0 -16 32 -261 -348 2068 -376 -980 3360 | complex128 (5) 1 0 -16 32 -261 -348 2068 -376 -980 "
        "3360");
  NUMPY("np.sort(np.roots([1, -6, 11, -6]))", nd::sort(nd::roots({1, -6, 11, -6})), "float64 (3) 1 2 3");
  NUMPY("np.sort(np.roots([0, 2, -2, -4, 0, 0]))", nd::sort(nd::roots({0, 2, -2, -4, 0, 0})), "float64 (4) -1 0 0 2");
  NUMPY("np.sort(np.roots([1., 0, 1]).imag)", nd::sort(nd::roots({1., 0., 1.}).imag()), "float64 (2) -1 1");
  NUMPY("np.abs(np.poly(np.roots(v)) * v[0] - v) < 1e-12", nd::abs(nd::poly(nd::roots(v)) * v(0) - v) < 1e-12,
        "bool (6) 1 1 1 1 1 1");
  NUMPY("np.roots([2j, 4])", nd::roots({std::complex<double>(0, 2), std::complex<double>(4)}), "complex128 (1) -0 2");
  NUMPY("np.roots([5])", nd::roots({5}), "float64 (0)");
  NUMPY("np.roots([5, 0, 0])", nd::roots({5, 0, 0}), "float64 (2) 0 0");
  NUMPY("np.roots([0, 0])", nd::roots({0, 0}), "float64 (0)");
  NUMPY("np.roots(e)", nd::roots(e), "float64 (0)");
  NUMPY("np.sort(np.roots(np.float32([2, 1, -1])))", nd::sort(nd::roots(nd::array({2, 1, -1}, nd::float32))),
        "float32 (2) -1 0.5");
  NUMPY_RAISES("np.roots(b)", nd::roots(b), nd::ValueError);
  BOOST_TEST(test::text(nd::poly(e)) == "float64 (1) 1");
  NUMPY_RAISES("np.poly(b)", nd::poly(b), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(arithmetic, test::NumpyScene) {
  NUMPY("np.polyadd(v, i)", nd::polyadd(v, i), "float64 (6) 3 1 2 7 4 1.5");
  NUMPY("np.polyadd([1, 2], [9, 5, 4])", nd::polyadd({1, 2}, {9, 5, 4}), "int64 (3) 9 6 6");
  NUMPY("np.polyadd(v, 2)", nd::polyadd(v, 2), "float64 (6) 3 1 2 5 4 2.5");
  NUMPY("np.polysub(v, i)", nd::polysub(v, i), "float64 (6) 3 1 2 3 4 -0.5");
  NUMPY("np.polysub([2, 10, -2], [3, 10, -4])", nd::polysub({2, 10, -2}, {3, 10, -4}), "int64 (3) -1 0 2");
  NUMPY("np.polysub(i, v)", nd::polysub(i, v), "float64 (6) -3 -1 -2 -3 -4 0.5");
  NUMPY("np.polymul(v, i)", nd::polymul(v, i), "float64 (8) 6 2 7 11 10 6 4 0.5");
  NUMPY("np.polymul([1, 2, 3], [9, 5, 1])", nd::polymul({1, 2, 3}, {9, 5, 1}), "int64 (5) 9 23 38 17 3");
  NUMPY("np.polymul([0, 0, 2, 0], [0, 1, 3])", nd::polymul({0, 0, 2, 0}, {0, 1, 3}), "int64 (3) 2 6 0");
  NUMPY("np.polymul(v, [0, 0])", nd::polymul(v, {0, 0}), "float64 (6) 0 0 0 0 0 0");
  NUMPY("np.polymul(v, e)", nd::polymul(v, e), "float64 (6) 0 0 0 0 0 0");
  NUMPY("np.polymul(z, 2j)", nd::polymul(z, std::complex<double>(0, 2)), "complex128 (4) -2 6 -4 2 -1 4 -8 10");
  NUMPY("np.polydiv([3, 5, 2], [2, 1])", nd::polydiv({3, 5, 2}, {2, 1}), "float64 (2) 1.5 1.75 | float64 (1) 0.25");
  NUMPY("np.polydiv([1, -3, 2], [1, -1])", nd::polydiv({1, -3, 2}, {1, -1}), "float64 (2) 1 -2 | float64 (1) 0");
  NUMPY("np.polydiv(v, w[:3])", nd::polydiv(v, w(nd::Slice(3))),
        "float64 (4) 3 -5 10.5 -13.5 | float64 (2) 25.75 7.25");
  NUMPY("np.polydiv(i[:2], v)", nd::polydiv(i(nd::Slice(2)), v), "float64 (1) 0 | float64 (2) 2 0");
  NUMPY("np.polydiv(v, 2)", nd::polydiv(v, 2), "float64 (6) 1.5 0.5 1 2.5 2 0.25 | float64 (1) 0");
  NUMPY("np.polydiv(z, [1, 2])", nd::polydiv(z, {1, 2}), "complex128 (3) 3 1 -5 0 12 0.5 | complex128 (1) -19 3");
  NUMPY("[np.polyadd(x[0], x[1, :2]) for x in reals]",
        each(reals, [](auto& x) { return nd::polyadd(x(0), x(1, nd::Slice(2))); }),
        "bool (4) 1 1 1 1 | int8 (4) 3 1 9 2 | uint8 (4) 3 1 9 2 | int16 (4) 3 1 9 2 | uint16 (4) 3 1 9 2 | int32 "
        "(4) 3 1 9 2 | uint32 (4) 3 1 9 2 | int64 (4) 3 1 9 2 | uint64 (4) 3 1 9 2 | float16 (4) 3 1 9 2 | float32 "
        "(4) 3 1 9 2 | float64 (4) 3 1 9 2");
  NUMPY("[np.polysub(x[1, :2], x[0]) for x in reals[1:]]",
        each({reals.begin() + 1, reals.end()}, [](auto& x) { return nd::polysub(x(1, nd::Slice(2)), x(0)); }),
        "int8 (4) -3 -1 5 2 | uint8 (4) 253 255 5 2 | int16 (4) -3 -1 5 2 | uint16 (4) 65533 65535 5 2 | int32 (4) "
        "-3 -1 5 2 | uint32 (4) 4.29496729e+09 4.2949673e+09 5 2 | int64 (4) -3 -1 5 2 | uint64 (4) 1.84467441e+19 "
        "1.84467441e+19 5 2 | float16 (4) -3 -1 5 2 | float32 (4) -3 -1 5 2 | float64 (4) -3 -1 5 2");
  NUMPY("[np.polymul(x[1, :2], x[0]) for x in reals]",
        each(reals, [](auto& x) { return nd::polymul(x(1, nd::Slice(2)), x(0)); }),
        "bool (5) 1 1 1 1 0 | int8 (5) 21 13 16 4 0 | uint8 (5) 21 13 16 4 0 | int16 (5) 21 13 16 4 0 | uint16 (5) "
        "21 13 16 4 0 | int32 (5) 21 13 16 4 0 | uint32 (5) 21 13 16 4 0 | int64 (5) 21 13 16 4 0 | uint64 (5) 21 13 "
        "16 4 0 | float16 (5) 21 13 16 4 0 | float32 (5) 21 13 16 4 0 | float64 (5) 21 13 16 4 0");
  NUMPY("[np.polydiv(x[1], x[0, :2])[0] for x in reals]",
        each(reals, [](auto& x) { return nd::polydiv(x(1), x(0, nd::Slice(2))).first; }),
        "float64 (3) 1 0 1 | float64 (3) 2.33333333 -0.111111111 0.703703704 | float64 (3) 2.33333333 -0.111111111 "
        "0.703703704 | float64 (3) 2.33333333 -0.111111111 0.703703704 | float64 (3) 2.33333333 -0.111111111 "
        "0.703703704 | float64 (3) 2.33333333 -0.111111111 0.703703704 | float64 (3) 2.33333333 -0.111111111 "
        "0.703703704 | float64 (3) 2.33333333 -0.111111111 0.703703704 | float64 (3) 2.33333333 -0.111111111 "
        "0.703703704 | float16 (3) 2.33203125 -0.110656738 0.703613281 | float32 (3) 2.33333349 -0.111111164 "
        "0.703703761 | float64 (3) 2.33333333 -0.111111111 0.703703704");
  NUMPY("[np.polydiv(x[1], x[0, :2])[1] for x in complexes]",
        each(complexes, [](auto& x) { return nd::polydiv(x(1), x(0, nd::Slice(2))).second; }),
        "complex64 (4) 9.53674316e-07 0 1.90734863e-06 3.81469727e-06 0 0 421.800537 -367.647675 | complex128 (1) "
        "421.800637 -367.647701");
  NUMPY_RAISES("np.polymul(b, v)", nd::polymul(b, v), nd::ValueError);
  BOOST_CHECK_THROW(nd::polyadd(b, v), nd::ValueError);
  BOOST_CHECK_THROW(nd::polydiv(v, e), nd::ValueError);
  BOOST_CHECK_THROW(nd::polyadd(nd::Array(), v), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(values, test::NumpyScene) {
  NUMPY("np.polyval(v, w)", nd::polyval(v, w), "float64 (6) 15.5 156.5 4.15625 3552.5 52.34375 921.5");
  NUMPY("np.polyval([2, 1], v)", nd::polyval({2, 1}, v), "float64 (6) 7 3 5 11 9 2");
  NUMPY("np.polyval([3, 0, 1], 5)", nd::polyval({3, 0, 1}, 5), "int64 () 76");
  NUMPY("np.polyval([3, 0, 1], 0.5)", nd::polyval({3, 0, 1}, 0.5), "float64 () 1.75");
  NUMPY("np.polyval([3], a)", nd::polyval({3}, a), "float64 (3, 4) 3 3 3 3 3 3 3 3 3 3 3 3");
  NUMPY("np.polyval([3], h)", nd::polyval({3}, h), "float64 (4) 3 nan 3 nan");
  NUMPY("np.polyval([3, 1], h[:3])", nd::polyval({3, 1}, h(nd::Slice(3))), "float64 (3) 4 nan 10");
  NUMPY("np.polyval(i, a)", nd::polyval(i, a), "float64 (3, 4) 1.5 3 5.5 9 13.5 19 25.5 33 41.5 51 61.5 73");
  NUMPY("np.polyval(v, z)", nd::polyval(v, z), "complex128 (4) 80.5 1130 83.5 -114 88.1875 143.84375 -33108.5 -6020");
  NUMPY("np.polyval(z, v)", nd::polyval(z, v), "complex128 (6) 101 50.5 11 7.5 37 21 415 181.5 221 102 6.625 4.875");
  NUMPY("np.polyval(i, t)", nd::polyval(i, t),
        "float64 (4, 2, 2) 19 243 451 1059 9 201 393 969 3 163 339 883 1 129 289 801");
  NUMPY("np.polyval(t[:, 0, 0], a)", nd::polyval(t(nd::_, 0, 0), a),
        "float64 (3, 4) 1.375 6 16.125 34 61.875 102 156.625 228 318.375 430 565.125 726");
  NUMPY("np.polyval(e, a)", nd::polyval(e, a), "float64 (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0");
  NUMPY("np.polyval(v, e3)", nd::polyval(v, e3), "float64 (0, 3)");
  NUMPY("[np.polyval(i, x) for x in reals]", each(reals, [&](auto& x) { return nd::polyval(i, x); }),
        "int64 (3, 4) 3 3 3 1 3 3 3 3 3 3 3 3 | int64 (3, 4) 19 3 9 1 99 9 9 51 3 73 33 19 | int64 (3, 4) 19 3 9 1 "
        "99 9 9 51 3 73 33 19 | int64 (3, 4) 19 3 9 1 99 9 9 51 3 73 33 19 | int64 (3, 4) 19 3 9 1 99 9 9 51 3 73 33 "
        "19 | int64 (3, 4) 19 3 9 1 99 9 9 51 3 73 33 19 | int64 (3, 4) 19 3 9 1 99 9 9 51 3 73 33 19 | int64 (3, 4) "
        "19 3 9 1 99 9 9 51 3 73 33 19 | float64 (3, 4) 19 3 9 1 99 9 9 51 3 73 33 19 | float64 (3, 4) 19 3 9 1 99 9 "
        "9 51 3 73 33 19 | float64 (3, 4) 19 3 9 1 99 9 9 51 3 73 33 19 | float64 (3, 4) 19 3 9 1 99 9 9 51 3 73 33 "
        "19");
  NUMPY("[np.polyval(x[0], d) for x in reals]", each(reals, [&](auto& x) { return nd::polyval(x(0), d); }),
        "int64 (3, 4) 39 3 14 0 399 14 14 155 3 258 84 39 | int64 (3, 4) 96 6 32 0 1092 32 32 410 6 696 216 96 | "
        "int64 (3, 4) 96 6 32 0 1092 32 32 410 6 696 216 96 | int64 (3, 4) 96 6 32 0 1092 32 32 410 6 696 216 96 | "
        "int64 (3, 4) 96 6 32 0 1092 32 32 410 6 696 216 96 | int64 (3, 4) 96 6 32 0 1092 32 32 410 6 696 216 96 | "
        "int64 (3, 4) 96 6 32 0 1092 32 32 410 6 696 216 96 | int64 (3, 4) 96 6 32 0 1092 32 32 410 6 696 216 96 | "
        "float64 (3, 4) 96 6 32 0 1092 32 32 410 6 696 216 96 | float64 (3, 4) 96 6 32 0 1092 32 32 410 6 696 216 96 "
        "| float64 (3, 4) 96 6 32 0 1092 32 32 410 6 696 216 96 | float64 (3, 4) 96 6 32 0 1092 32 32 410 6 696 216 "
        "96");
  NUMPY("[np.polyval(x[0], x) for x in floats]", each(floats, [](auto& x) { return nd::polyval(x(0), x); }),
        "float16 (3, 4) 0.83203125 0.15234375 0.40625 0 5.66015625 0.40625 0.40625 2.48046875 0.15234375 3.84375 1.5 "
        "0.83203125 | float32 (3, 4) 0.83203125 0.15234375 0.40625 0 5.66015625 0.40625 0.40625 2.48046875 "
        "0.15234375 3.84375 1.5 0.83203125 | float64 (3, 4) 0.83203125 0.15234375 0.40625 0 5.66015625 0.40625 "
        "0.40625 2.48046875 0.15234375 3.84375 1.5 0.83203125");
  NUMPY("[np.polyval(x[0], x) for x in complexes]", each(complexes, [](auto& x) { return nd::polyval(x(0), x); }),
        "complex64 (3, 4) -268 -226 1566 7592 -800 2650 348 1062 -12544 11082 -464 322 -464 322 -4970 4234 -150 1190 "
        "-244 -1378 -1048 -206 96 -192 | complex128 (3, 4) -268 -226 1566 7592 -800 2650 348 1062 -12544 11082 -464 "
        "322 -464 322 -4970 4234 -150 1190 -244 -1378 -1048 -206 96 -192");
  BOOST_CHECK_THROW(nd::polyval(b, v), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(derivatives_and_integrals, test::NumpyScene) {
  NUMPY("np.polyder(v)", nd::polyder(v), "float64 (5) 15 4 6 10 4");
  NUMPY("np.polyder([1, 1, 1, 1])", nd::polyder({1, 1, 1, 1}), "int64 (3) 3 2 1");
  NUMPY("np.polyder(v, 2)", nd::polyder(v, 2), "float64 (4) 60 12 12 10");
  NUMPY("np.polyder(v, 0)", nd::polyder(v, 0), "float64 (6) 3 1 2 5 4 0.5");
  NUMPY("np.polyder(i, 3)", nd::polyder(i, 3), "int64 (0)");
  NUMPY("np.polyder(z)", nd::polyder(z), "complex128 (3) 9 3 2 4 2 0.5");
  NUMPY("np.polyint(v)", nd::polyint(v), "float64 (7) 0.5 0.2 0.5 1.66666667 2 0.5 0");
  NUMPY("np.polyint([1, 1, 1])", nd::polyint({1, 1, 1}), "float64 (4) 0.333333333 0.5 1 0");
  NUMPY("np.polyint(v, 2)", nd::polyint(v, 2),
        "float64 (8) 0.0714285714 0.0333333333 0.1 0.416666667 0.666666667 0.25 0 0");
  NUMPY("np.polyint(v, m=2, k=[6, 5])", nd::polyint(v, {.m = 2, .k = nd::array({6, 5})}),
        "float64 (8) 0.0714285714 0.0333333333 0.1 0.416666667 0.666666667 0.25 6 5");
  NUMPY("np.polyint(v, 3, k=2)", nd::polyint(v, {.m = 3, .k = 2}),
        "float64 (9) 0.00892857143 0.00476190476 0.0166666667 0.0833333333 0.166666667 0.0833333333 1 2 2");
  NUMPY("np.polyint(v, 3, [6, 5, 3])", nd::polyint(v, 3, {6, 5, 3}),
        "float64 (9) 0.00892857143 0.00476190476 0.0166666667 0.0833333333 0.166666667 0.0833333333 3 5 3");
  NUMPY("np.polyint(v, 0)", nd::polyint(v, 0), "float64 (6) 3 1 2 5 4 0.5");
  NUMPY("np.polyint(z, 1, 1j)", nd::polyint(z, 1, std::complex<double>(0, 1)),
        "complex128 (5) 0.75 0.25 0.333333333 0.666666667 1 0.25 5 4 0 1");
  NUMPY("[np.polyder(x[1]) for x in reals]", each(reals, [](auto& x) { return nd::polyder(x(1)); }),
        "int64 (3) 3 2 1 | int64 (3) 21 4 2 | int64 (3) 21 4 2 | int64 (3) 21 4 2 | int64 (3) 21 4 2 | int64 (3) 21 "
        "4 2 | int64 (3) 21 4 2 | int64 (3) 21 4 2 | float64 (3) 21 4 2 | float64 (3) 21 4 2 | float64 (3) 21 4 2 | "
        "float64 (3) 21 4 2");
  NUMPY("[np.polyint(x[1]) for x in reals]", each(reals, [](auto& x) { return nd::polyint(x(1)); }),
        "float64 (5) 0.25 0.333333333 0.5 1 0 | float64 (5) 1.75 0.666666667 1 5 0 | float64 (5) 1.75 0.666666667 1 "
        "5 0 | float64 (5) 1.75 0.666666667 1 5 0 | float64 (5) 1.75 0.666666667 1 5 0 | float64 (5) 1.75 "
        "0.666666667 1 5 0 | float64 (5) 1.75 0.666666667 1 5 0 | float64 (5) 1.75 0.666666667 1 5 0 | float64 (5) "
        "1.75 0.666666667 1 5 0 | float64 (5) 1.75 0.666666667 1 5 0 | float64 (5) 1.75 0.666666667 1 5 0 | float64 "
        "(5) 1.75 0.666666667 1 5 0");
  NUMPY_RAISES("np.polyder(v, -1)", nd::polyder(v, -1), nd::ValueError);
  NUMPY_RAISES("np.polyint(v, -1)", nd::polyint(v, -1), nd::ValueError);
  NUMPY_RAISES("np.polyint(v, 3, [1, 2])", nd::polyint(v, 3, {1, 2}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(fits, test::NumpyScene) {
  // numpy: y2 = np.stack([w, v * v, v], 1)
  const nd::Array y2 = nd::stack({w, v * v, v}, 1);
  NUMPY("np.polyfit(v, w, 1)", nd::polyfit(v, w, 1), "float64 (2) 0.164383562 1.57534247");
  NUMPY("np.polyfit(v, w, 3)", nd::polyfit(v, w, 3), "float64 (4) -0.00159665207 0.58677804 -2.97293675 4.33674653");
  NUMPY("np.polyfit(v, w, 0)", nd::polyfit(v, w, 0), "float64 (1) 2");
  NUMPY("np.polyfit([0, 1, 2, 4], [1, 3, 5, 9], 1)", nd::polyfit({0, 1, 2, 4}, {1, 3, 5, 9}, 1), "float64 (2) 2 1");
  NUMPY("np.polyfit(n, w, 2)", nd::polyfit(n, w, 2), "float64 (3) -0.133333333 0.3 2.03333333");
  NUMPY("np.polyfit(v, w, 2, w=w)", nd::Array(nd::polyfit(v, w, 2, {.w = w})),
        "float64 (3) 0.581970831 -2.98517773 4.3632813");
  NUMPY("np.polyfit(v, y2, 1, w=w)", nd::Array(nd::polyfit(v, y2, 1, {.w = w})),
        "float64 (2, 3) 0.264530116 5.58397031 1 2.36253718 -3.43787698 6.75307054e-16");
  NUMPY("np.polyfit(v, w, 2, full=True)[:4]", parts_of(nd::polyfit(v, w, 2, {.full = true})),
        "float64 (3) 0.573516767 -2.94282029 4.32115219 | float64 (1) 0.228718831 | int32 () 3 | float64 (3) "
        "1.64237955 0.542329028 0.0920252785");
  NUMPY("np.polyfit(v, w, 2, full=True)[4]", nd::polyfit(v, w, 2, {.full = true}).rcond, "float64 () 1.33226763e-15");
  NUMPY("np.polyfit(v, w, 2, 0.3, True)[:4]", parts_of(nd::polyfit(v, w, 2, {.rcond = 0.3, .full = true})),
        "float64 (3) 0.017482499 0.19203728 1.31748198 | float64 (0) | int32 () 2 | float64 (3) 1.64237955 "
        "0.542329028 0.0920252785");
  NUMPY("np.polyfit(v, y2, 2, full=True)[:4]", parts_of(nd::polyfit(v, y2, 2, {.full = true})),
        "float64 (3, 3) 0.573516767 1 -8.56821026e-17 -2.94282029 -1.28799463e-15 1 4.32115219 -4.63101321e-16 "
        "-1.92757356e-16 | float64 (3) 0.228718831 9.90706403e-30 3.8043954e-31 | int32 () 3 | float64 (3) "
        "1.64237955 0.542329028 0.0920252785");
  NUMPY("np.polyfit(v, w, 2, cov=True)[1]", nd::polyfit(v, w, 2, {.cov = true}).covariance,
        "float64 (3, 3) 0.00319030756 -0.0172844745 0.0152741437 -0.0172844745 0.0986569837 -0.0957026715 "
        "0.0152741437 -0.0957026715 0.119289096");
  NUMPY("np.polyfit(v, y2, 1, cov=True)[1] + 1", nd::polyfit(v, y2, 1, {.cov = true}).covariance + 1,
        "float64 (2, 2, 3) 1.13297054 1.39283168 1 0.656492775 -0.0148151623 1 0.656492775 -0.0148151623 1 "
        "2.22443704 4.61732501 1");
  NUMPY("np.polyfit(v.astype(np.float32), w.astype(np.float32), 1)",
        nd::polyfit(v.astype(nd::float32), w.astype(nd::float32), 1), "float64 (2) 0.164383562 1.57534247");
  NUMPY("np.polyfit(v[:4], z, 1)", nd::polyfit(v(nd::Slice(4)), z, 1),
        "complex128 (2) 1 0.614285714 4.81959188e-16 0.185714286");
  NUMPY_RAISES("np.polyfit(v, w, -1)", nd::polyfit(v, w, -1), nd::ValueError);
  NUMPY_RAISES("np.polyfit(b, w, 1)", nd::polyfit(b, w, 1), nd::TypeError);
  NUMPY_RAISES("np.polyfit(e, e, 1)", nd::polyfit(e, e, 1), nd::TypeError);
  NUMPY_RAISES("np.polyfit(v, 2, 1)", nd::polyfit(v, 2, 1), nd::TypeError);
  NUMPY_RAISES("np.polyfit(v, i, 1)", nd::polyfit(v, i, 1), nd::TypeError);
  NUMPY_RAISES("np.polyfit(v, w, 1, w=i)", nd::polyfit(v, w, 1, {.w = i}), nd::TypeError);
  NUMPY_RAISES("np.polyfit(v, w, 5, cov=True)", nd::polyfit(v, w, 5, {.cov = true}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(warning_of_low_rank, test::NumpyScene) {
  static std::string seen;
  seen.clear();
  const auto before = nd::set_warning_handler([](std::string_view category, std::string_view message) {
    seen = std::string(category) + ": " + std::string(message);
  });
  nd::polyfit(nd::ones(4), nd::ones(4), 1);
  nd::set_warning_handler(before);
  BOOST_TEST(seen.find("RuntimeWarning: polyfit: the rank is 1") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
