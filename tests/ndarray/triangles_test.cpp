// tri, tril, triu, their indices, and diagonals as positions, as in NumPy: diagonals, shapes, dtypes, layouts, errors.
#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(triangles)

BOOST_FIXTURE_TEST_CASE(triangle_of_ones, test::NumpyScene) {
  NUMPY("np.tri(3)", nd::tri(3), "float64 (3, 3) 1 0 0 1 1 0 1 1 1");
  NUMPY("np.tri(3, 4)", nd::tri(3, 4), "float64 (3, 4) 1 0 0 0 1 1 0 0 1 1 1 0");
  NUMPY("np.tri(3, 5, 2, np.float32)", nd::tri(3, 5, 2, nd::float32), "float32 (3, 5) 1 1 1 0 0 1 1 1 1 0 1 1 1 1 1");
  NUMPY("np.tri(3, k=-1, dtype=int)", nd::tri(3, {.k = -1, .dtype = nd::int64}), "int64 (3, 3) 0 0 0 1 0 0 1 1 0");
  NUMPY("np.tri(3, dtype=bool)", nd::tri(3, nd::bool_), "bool (3, 3) 1 0 0 1 1 0 1 1 1");
  NUMPY("np.tri(2, M=5, k=1)", nd::tri(2, {.M = 5, .k = 1}), "float64 (2, 5) 1 1 0 0 0 1 1 1 0 0");
  NUMPY("np.tri(3, 2, 99)", nd::tri(3, 2, 99), "float64 (3, 2) 1 1 1 1 1 1");
  NUMPY("np.tri(3, 2, -99)", nd::tri(3, 2, -99), "float64 (3, 2) 0 0 0 0 0 0");
  NUMPY("np.tri(3, 2, -3)", nd::tri(3, 2, -3), "float64 (3, 2) 0 0 0 0 0 0");
  NUMPY("np.tri(3, 2, 1)", nd::tri(3, 2, 1), "float64 (3, 2) 1 1 1 1 1 1");
  NUMPY("np.tri(0)", nd::tri(0), "float64 (0, 0)");
  NUMPY("np.tri(0, 3)", nd::tri(0, 3), "float64 (0, 3)");
  NUMPY("np.tri(2, 0)", nd::tri(2, 0), "float64 (2, 0)");
  NUMPY("np.tri(1)", nd::tri(1), "float64 (1, 1) 1");
  NUMPY("np.tri(40, 60, -7)", nd::tri(40, 60, -7), "float64 (40, 60) # 561 960245");
  BOOST_CHECK_THROW(nd::tri(-1), nd::ValueError);
  BOOST_CHECK_THROW(nd::tri(3, -1), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(lower_triangle, test::NumpyScene) {
  NUMPY("np.tril(a)", nd::tril(a), "float64 (3, 4) 0.5 0 0 0 2.5 3 0 0 4.5 5 5.5 0");
  NUMPY("np.tril(a, 1)", nd::tril(a, 1), "float64 (3, 4) 0.5 1 0 0 2.5 3 3.5 0 4.5 5 5.5 6");
  NUMPY("np.tril(a, k=-1)", nd::tril(a, -1), "float64 (3, 4) 0 0 0 0 2.5 0 0 0 4.5 5 0 0");
  NUMPY("np.tril(a, -9)", nd::tril(a, -9), "float64 (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0");
  NUMPY("np.tril(a, 9)", nd::tril(a, 9), "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("np.tril(a.T)", nd::tril(a.T()), "float64 (4, 3) 0.5 0 0 1 3 0 1.5 3.5 5.5 2 4 6");
  NUMPY("np.tril(q)", nd::tril(q), "float64 (2, 3, 4) 0 0 0 0 4 5 0 0 8 9 10 0 12 0 0 0 16 17 0 0 20 21 22 0");
  NUMPY("np.tril(t, 1)", nd::tril(t, 1), "float64 (4, 2, 2) 3 11 15 23 2 10 14 22 1 9 13 21 0 8 12 20");
  NUMPY("np.tril(v)", nd::tril(v), "float64 (6, 6) # 54.5 1274");
  NUMPY("np.tril(g)", nd::tril(g), "float64 (3, 3) 1 0 0 nan nan 0 2 5 -inf");
  NUMPY("np.tril(m)", nd::tril(m), "bool (3, 4) 0 0 0 0 1 1 0 0 1 1 1 0");
  NUMPY("np.tril(e3)", nd::tril(e3), "float64 (0, 3)");
  NUMPY("np.tril(e)", nd::tril(e), "float64 (0, 0)");
  NUMPY("np.tril(one)", nd::tril(one), "float64 (1, 1) 2.5");
  NUMPY("[np.tril(x) for x in reals]", each(reals, [](auto& x) { return nd::tril(x); }),
        "bool (3, 4) 1 0 0 0 1 1 0 0 1 1 1 0 | int8 (3, 4) 3 0 0 0 7 2 0 0 1 6 4 0 | uint8 (3, 4) 3 0 0 0 7 2 0 0 1 "
        "6 4 0 | int16 (3, 4) 3 0 0 0 7 2 0 0 1 6 4 0 | uint16 (3, 4) 3 0 0 0 7 2 0 0 1 6 4 0 | int32 (3, 4) 3 0 0 0 "
        "7 2 0 0 1 6 4 0 | uint32 (3, 4) 3 0 0 0 7 2 0 0 1 6 4 0 | int64 (3, 4) 3 0 0 0 7 2 0 0 1 6 4 0 | uint64 (3, "
        "4) 3 0 0 0 7 2 0 0 1 6 4 0 | float16 (3, 4) 3 0 0 0 7 2 0 0 1 6 4 0 | float32 (3, 4) 3 0 0 0 7 2 0 0 1 6 4 "
        "0 | float64 (3, 4) 3 0 0 0 7 2 0 0 1 6 4 0");
  NUMPY("[np.tril(x) for x in floats]", each(floats, [](auto& x) { return nd::tril(x); }),
        "float16 (3, 4) 0.75 0 0 0 1.75 0.5 0 0 0.25 1.5 1 0 | float32 (3, 4) 0.75 0 0 0 1.75 0.5 0 0 0.25 1.5 1 0 | "
        "float64 (3, 4) 0.75 0 0 0 1.75 0.5 0 0 0.25 1.5 1 0");
  NUMPY("[np.tril(x) for x in complexes]", each(complexes, [](auto& x) { return nd::tril(x); }),
        "complex64 (3, 4) 3 -2 0 0 0 0 0 0 7 -14 2 -4 0 0 0 0 1 -6 6 -2 4 -4 0 0 | complex128 (3, 4) 3 -2 0 0 0 0 0 "
        "0 7 -14 2 -4 0 0 0 0 1 -6 6 -2 4 -4 0 0");
  // numpy: x = np.arange(35 * 41 * 2.).reshape(2, 35, 41)
  const nd::Array x = nd::arange(35 * 41 * 2.).reshape(2, 35, 41);
  NUMPY("np.tril(x, -3)", nd::tril(x, -3), "float64 (2, 35, 41) # 1793264 3.69723094e+09");
  NUMPY_RAISES("np.tril(zero)", nd::tril(zero), nd::ValueError);
  BOOST_TEST(nd::tril(a.astype(nd::bfloat16)).dtype() == nd::bfloat16);
  BOOST_TEST(bool((nd::tril(a.astype(nd::bfloat16)) == nd::tril(a)).all()));
}

BOOST_FIXTURE_TEST_CASE(upper_triangle, test::NumpyScene) {
  NUMPY("np.triu(a)", nd::triu(a), "float64 (3, 4) 0.5 1 1.5 2 0 3 3.5 4 0 0 5.5 6");
  NUMPY("np.triu(a, 1)", nd::triu(a, 1), "float64 (3, 4) 0 1 1.5 2 0 0 3.5 4 0 0 0 6");
  NUMPY("np.triu(a, -1)", nd::triu(a, -1), "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 0 5 5.5 6");
  NUMPY("np.triu(a, 9)", nd::triu(a, 9), "float64 (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0");
  NUMPY("np.triu(a, -9)", nd::triu(a, -9), "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("np.triu(t, 1)", nd::triu(t, 1), "float64 (4, 2, 2) 0 11 0 0 0 10 0 0 0 9 0 0 0 8 0 0");
  NUMPY("np.triu(q, 2)", nd::triu(q, 2), "float64 (2, 3, 4) 0 0 2 3 0 0 0 7 0 0 0 0 0 0 14 15 0 0 0 19 0 0 0 0");
  NUMPY("np.triu(v, 3)", nd::triu(v, 3), "float64 (6, 6) # 14.5 102");
  NUMPY("np.triu(e3)", nd::triu(e3), "float64 (0, 3)");
  NUMPY("[np.triu(x, 1) for x in reals]", each(reals, [](auto& x) { return nd::triu(x, 1); }),
        "bool (3, 4) 0 1 1 0 0 0 1 1 0 0 0 1 | int8 (3, 4) 0 1 2 0 0 0 2 5 0 0 0 3 | uint8 (3, 4) 0 1 2 0 0 0 2 5 0 "
        "0 0 3 | int16 (3, 4) 0 1 2 0 0 0 2 5 0 0 0 3 | uint16 (3, 4) 0 1 2 0 0 0 2 5 0 0 0 3 | int32 (3, 4) 0 1 2 0 "
        "0 0 2 5 0 0 0 3 | uint32 (3, 4) 0 1 2 0 0 0 2 5 0 0 0 3 | int64 (3, 4) 0 1 2 0 0 0 2 5 0 0 0 3 | uint64 (3, "
        "4) 0 1 2 0 0 0 2 5 0 0 0 3 | float16 (3, 4) 0 1 2 0 0 0 2 5 0 0 0 3 | float32 (3, 4) 0 1 2 0 0 0 2 5 0 0 0 "
        "3 | float64 (3, 4) 0 1 2 0 0 0 2 5 0 0 0 3");
  NUMPY_RAISES("np.triu(zero)", nd::triu(zero), nd::ValueError);
  BOOST_TEST(bool((nd::triu(a, INT64_MIN) == a).all()));
  BOOST_TEST(!bool(nd::triu(a, INT64_MAX).any()));
}

BOOST_FIXTURE_TEST_CASE(indices_of_triangles, test::NumpyScene) {
  NUMPY("np.tril_indices(3)", nd::tril_indices(3), "int64 (6) 0 1 1 2 2 2 | int64 (6) 0 0 1 0 1 2");
  NUMPY("np.tril_indices(3, 1)", nd::tril_indices(3, 1), "int64 (8) 0 0 1 1 1 2 2 2 | int64 (8) 0 1 0 1 2 0 1 2");
  NUMPY("np.tril_indices(3, k=-1, m=5)", nd::tril_indices(3, {.k = -1, .m = 5}), "int64 (3) 1 2 2 | int64 (3) 0 0 1");
  NUMPY("np.tril_indices(2, 0, 4)", nd::tril_indices(2, 0, 4), "int64 (3) 0 1 1 | int64 (3) 0 0 1");
  NUMPY("np.tril_indices(0)", nd::tril_indices(0), "int64 (0) | int64 (0)");
  NUMPY("np.triu_indices(4)", nd::triu_indices(4), "int64 (10) 0 0 0 0 1 1 1 2 2 3 | int64 (10) 0 1 2 3 1 2 3 2 3 3");
  NUMPY("np.triu_indices(4, 1)", nd::triu_indices(4, 1), "int64 (6) 0 0 0 1 1 2 | int64 (6) 1 2 3 2 3 3");
  NUMPY("np.triu_indices(2, 1, 4)", nd::triu_indices(2, 1, 4), "int64 (5) 0 0 0 1 1 | int64 (5) 1 2 3 2 3");
  NUMPY("np.triu_indices(3, m=2)", nd::triu_indices(3, {.m = 2}), "int64 (3) 0 0 1 | int64 (3) 0 1 1");
  NUMPY("np.triu_indices(50, 3)", nd::triu_indices(50, 3),
        "int64 (1128) # 17296 13789236 | int64 (1128) # 37976 23556212");
  NUMPY("np.tril_indices_from(a)", nd::tril_indices_from(a), "int64 (6) 0 1 1 2 2 2 | int64 (6) 0 0 1 0 1 2");
  NUMPY("np.tril_indices_from(a, 1)", nd::tril_indices_from(a, 1),
        "int64 (9) 0 0 1 1 1 2 2 2 2 | int64 (9) 0 1 0 1 2 0 1 2 3");
  NUMPY("np.triu_indices_from(a, k=1)", nd::triu_indices_from(a, 1), "int64 (6) 0 0 0 1 1 2 | int64 (6) 1 2 3 2 3 3");
  NUMPY("a[np.triu_indices_from(a)]", a(nd::triu_indices_from(a).first, nd::triu_indices_from(a).second),
        "float64 (9) 0.5 1 1.5 2 3 3.5 4 5.5 6");
  NUMPY_RAISES("np.tril_indices_from(q)", nd::tril_indices_from(q), nd::ValueError);
  NUMPY_RAISES("np.triu_indices_from(v)", nd::triu_indices_from(v), nd::ValueError);
  NUMPY("np.diag_indices(3)", nd::diag_indices(3), "int64 (3) 0 1 2 | int64 (3) 0 1 2");
  NUMPY("np.diag_indices(2, 3)", nd::diag_indices(2, 3), "int64 (2) 0 1 | int64 (2) 0 1 | int64 (2) 0 1");
  NUMPY("np.diag_indices(2, ndim=1)", nd::diag_indices(2, 1), "int64 (2) 0 1");
  NUMPY("np.diag_indices_from(s)", nd::diag_indices_from(s), "int64 (3) 0 1 2 | int64 (3) 0 1 2");
  NUMPY_RAISES("np.diag_indices_from(a)", nd::diag_indices_from(a), nd::ValueError);
  NUMPY_RAISES("np.diag_indices_from(v)", nd::diag_indices_from(v), nd::ValueError);
  NUMPY("np.mask_indices(3, np.triu)", nd::mask_indices(3, nd::triu), "int64 (6) 0 0 0 1 1 2 | int64 (6) 0 1 2 1 2 2");
  NUMPY("np.mask_indices(3, np.tril, -1)", nd::mask_indices(3, nd::tril, -1), "int64 (3) 1 2 2 | int64 (3) 0 0 1");
  NUMPY("np.mask_indices(3, lambda x, k: np.roll(np.tri(3), k))",
        nd::mask_indices(3, [](const nd::Array&, std::int64_t k) { return nd::roll(nd::tri(3), k); }),
        "int64 (6) 0 1 1 2 2 2 | int64 (6) 0 0 1 0 1 2");
  BOOST_CHECK_THROW(nd::diag_indices(-1), nd::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
