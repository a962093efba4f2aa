// isclose, allclose, array_equal and array_equiv as in NumPy: tolerances, infinities, NaN, dtypes, broadcasting.
#include <complex>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(comparison)

BOOST_FIXTURE_TEST_CASE(close_elements, test::NumpyScene) {
  NUMPY("np.isclose(a, a + 1e-6)", nd::isclose(a, a + 1e-6), "bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1");
  NUMPY("np.isclose(a, a * (1 + 1.00001e-5))", nd::isclose(a, a * (1 + 1.00001e-5)),
        "bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1");
  NUMPY("np.isclose(a, b, 0.5)", nd::isclose(a, b, 0.5), "bool (3, 4) 0 0 0 1 0 1 0 0 0 0 1 0");
  NUMPY("np.isclose(a, b, rtol=0, atol=2.5)", nd::isclose(a, b, {.rtol = 0, .atol = 2.5}),
        "bool (3, 4) 1 1 1 1 0 1 1 0 0 0 1 0");
  NUMPY("np.isclose(h, h)", nd::isclose(h, h), "bool (4) 1 0 1 1");
  NUMPY("np.isclose(h, h, equal_nan=True)", nd::isclose(h, h, {.equal_nan = true}), "bool (4) 1 1 1 1");
  NUMPY("np.isclose(h, -h, 1e-5, 1e-8, True)", nd::isclose(h, -h, 1e-5, 1e-8, true), "bool (4) 0 1 0 0");
  NUMPY("np.isclose(1e10, 1.00001e10)", nd::isclose(1e10, 1.00001e10), "bool () 1");
  NUMPY("np.isclose(n, 3)", nd::isclose(n, 3), "bool (6) 1 0 0 0 0 1");
  NUMPY("np.isclose(q, t[0, 0, 0] + np.arange(4.))", nd::isclose(q, t(0, 0, 0) + nd::arange(4.)),
        "bool (2, 3, 4) 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
  NUMPY("np.isclose(z, z + 1e-9j)", nd::isclose(z, z + std::complex<double>(0, 1e-9)), "bool (4) 1 1 1 1");
  NUMPY("np.isclose(t, t.copy())", nd::isclose(t, t.copy()), "bool (4, 2, 2) 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1");
  NUMPY("np.isclose(e, e)", nd::isclose(e, e), "bool (0)");
  NUMPY("[np.isclose(x, 2) for x in reals]", each(reals, [](auto& x) { return nd::isclose(x, 2); }),
        "bool (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0 | bool (3, 4) 0 0 1 0 0 1 1 0 0 0 0 0 | bool (3, 4) 0 0 1 0 0 1 1 0 0 0 "
        "0 0 | bool (3, 4) 0 0 1 0 0 1 1 0 0 0 0 0 | bool (3, 4) 0 0 1 0 0 1 1 0 0 0 0 0 | bool (3, 4) 0 0 1 0 0 1 1 "
        "0 0 0 0 0 | bool (3, 4) 0 0 1 0 0 1 1 0 0 0 0 0 | bool (3, 4) 0 0 1 0 0 1 1 0 0 0 0 0 | bool (3, 4) 0 0 1 0 "
        "0 1 1 0 0 0 0 0 | bool (3, 4) 0 0 1 0 0 1 1 0 0 0 0 0 | bool (3, 4) 0 0 1 0 0 1 1 0 0 0 0 0 | bool (3, 4) 0 "
        "0 1 0 0 1 1 0 0 0 0 0");
  NUMPY("[np.isclose(x, x.dtype.type(0.5), 0, 0.26) for x in floats]",
        each(floats, [](auto& x) { return nd::isclose(x, nd::array(0.5, x.dtype()), 0, 0.26); }),
        "bool (3, 4) 1 1 1 0 0 1 1 0 1 0 0 1 | bool (3, 4) 1 1 1 0 0 1 1 0 1 0 0 1 | bool (3, 4) 1 1 1 0 0 1 1 0 1 0 "
        "0 1");
  NUMPY_RAISES("np.isclose(a, v)", nd::isclose(a, v), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(all_close, test::NumpyScene) {
  NUMPY("np.allclose(a, a + 1e-9)", nd::allclose(a, a + 1e-9), "bool () 1");
  NUMPY("np.allclose(a, b)", nd::allclose(a, b), "bool () 0");
  NUMPY("np.allclose(a, b, 0, 9)", nd::allclose(a, b, 0, 9), "bool () 1");
  NUMPY("np.allclose(h, h)", nd::allclose(h, h), "bool () 0");
  NUMPY("np.allclose(h, h, equal_nan=True)", nd::allclose(h, h, {.equal_nan = true}), "bool () 1");
  NUMPY("np.allclose(e, 1)", nd::allclose(e, 1), "bool () 1");
  BOOST_TEST(bool(nd::allclose(a, a + 1e-9)));
  BOOST_TEST(!bool(nd::allclose(a, a + 1e-3)));
}

BOOST_FIXTURE_TEST_CASE(equal_arrays, test::NumpyScene) {
  NUMPY("np.array_equal(a, a.copy())", nd::array_equal(a, a.copy()), "bool () 1");
  NUMPY("np.array_equal(a, a[:2])", nd::array_equal(a, a(nd::Slice(2))), "bool () 0");
  NUMPY("np.array_equal(a, a + m)", nd::array_equal(a, a + m), "bool () 0");
  NUMPY("np.array_equal(h, h)", nd::array_equal(h, h), "bool () 0");
  NUMPY("np.array_equal(h, h, equal_nan=True)", nd::array_equal(h, h, {.equal_nan = true}), "bool () 1");
  NUMPY("np.array_equal(n, n.astype(np.float32))", nd::array_equal(n, n.astype(nd::float32)), "bool () 1");
  NUMPY("np.array_equal(2.5, zero)", nd::array_equal(2.5, zero), "bool () 1");
  NUMPY("np.array_equal(one, zero)", nd::array_equal(one, zero), "bool () 0");
  NUMPY("np.array_equal(e, e)", nd::array_equal(e, e), "bool () 1");
  NUMPY("[np.array_equal(x, d) for x in reals]", each(reals, [&](auto& x) { return nd::array_equal(x, d); }),
        "bool () 0 | bool () 1 | bool () 1 | bool () 1 | bool () 1 | bool () 1 | bool () 1 | bool () 1 | bool () 1 | "
        "bool () 1 | bool () 1 | bool () 1");
  NUMPY("np.array_equiv(one, zero)", nd::array_equiv(one, zero), "bool () 1");
  NUMPY("np.array_equiv(q * 0, 0)", nd::array_equiv(q * 0, 0), "bool () 1");
  NUMPY("np.array_equiv(np.stack([a, a]), a)", nd::array_equiv(nd::stack({a, a}), a), "bool () 1");
  NUMPY("np.array_equiv(a, v)", nd::array_equiv(a, v), "bool () 0");
}

BOOST_AUTO_TEST_SUITE_END()
