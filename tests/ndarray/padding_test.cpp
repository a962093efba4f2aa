// pad in all modes as in NumPy: widths, keywords, several periods, dtypes, layouts, errors.
#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(padding)

BOOST_FIXTURE_TEST_CASE(constant_and_empty, test::NumpyScene) {
  NUMPY("np.pad(a, 1)", nd::pad(a, 1), "float64 (5, 6) # 39 708");
  NUMPY("np.pad(a, ((1, 0), (0, 2)), 'constant', constant_values=((1, 2), (3, 4)))",
        nd::pad(a, {{1, 0}, {0, 2}}, "constant", {.constant_values = {{1, 2}, {3, 4}}}),
        "float64 (4, 6) 1 1 1 1 4 4 0.5 1 1.5 2 4 4 2.5 3 3.5 4 4 4 4.5 5 5.5 6 4 4");
  NUMPY("np.pad(v, (1, 2), constant_values=9)", nd::pad(v, {1, 2}, {.constant_values = 9}),
        "float64 (9) 9 3 1 2 5 4 0.5 9 9");
  NUMPY("np.pad(v, (1, 2), mode='empty')[1:-2]", nd::pad(v, {1, 2}, "empty")(nd::Slice(1, -2)),
        "float64 (6) 3 1 2 5 4 0.5");
  NUMPY("np.pad(e3, ((1, 0), (0, 1)), 'empty').shape", nd::pad(e3, {{1, 0}, {0, 1}}, "empty").shape(), "(1, 4)");
}

BOOST_FIXTURE_TEST_CASE(edges, test::NumpyScene) {
  NUMPY("np.pad(v, 2, mode='edge')", nd::pad(v, 2, "edge"), "float64 (10) 3 3 3 1 2 5 4 0.5 0.5 0.5");
  NUMPY("np.pad(a, 1, 'edge')", nd::pad(a, 1, "edge"), "float64 (5, 6) # 97.5 1974.5");
  NUMPY("np.pad(a, ((0, 2), (1, 0)), 'edge')", nd::pad(a, {{0, 2}, {1, 0}}, "edge"), "float64 (5, 5) # 97.5 1537.5");
  NUMPY("np.pad(t, ((1, 0), (0, 0), (2, 1)), 'edge')", nd::pad(t, {{1, 0}, {0, 0}, {2, 1}}, "edge"),
        "float64 (5, 2, 5) # 550 14215");
  NUMPY("np.pad(h, 1, 'edge')", nd::pad(h, 1, "edge"), "float64 (6) 1 1 nan 3 inf inf");
  NUMPY("np.pad(one, 3, 'edge')", nd::pad(one, 3, "edge"), "float64 (7) 2.5 2.5 2.5 2.5 2.5 2.5 2.5");
  NUMPY("np.pad(zero, 3, 'edge')", nd::pad(zero, 3, "edge"), "float64 () 2.5");
  NUMPY("np.pad(e3, ((0, 0), (1, 2)), 'edge')", nd::pad(e3, {{0, 0}, {1, 2}}, "edge"), "float64 (0, 6)");
  NUMPY("[np.pad(x, 1, 'edge') for x in reals]", each(reals, [](auto& x) { return nd::pad(x, 1, "edge"); }),
        "bool (5, 6) # 26 431 | int8 (5, 6) # 82 1416 | uint8 (5, 6) # 82 1416 | int16 (5, 6) # 82 1416 | uint16 (5, "
        "6) # 82 1416 | int32 (5, 6) # 82 1416 | uint32 (5, 6) # 82 1416 | int64 (5, 6) # 82 1416 | uint64 (5, 6) # "
        "82 1416 | float16 (5, 6) # 82 1416 | float32 (5, 6) # 82 1416 | float64 (5, 6) # 82 1416");
  NUMPY("[np.pad(x, 1, 'edge') for x in complexes]", each(complexes, [](auto& x) { return nd::pad(x, 1, "edge"); }),
        "complex64 (5, 6) # -82 -1618 | complex128 (5, 6) # -82 -1618");
}

BOOST_FIXTURE_TEST_CASE(mirrored, test::NumpyScene) {
  NUMPY("np.pad(v, 2, mode='reflect')", nd::pad(v, 2, "reflect"), "float64 (10) 2 1 3 1 2 5 4 0.5 4 5");
  NUMPY("np.pad(v, (11, 17), 'reflect')", nd::pad(v, {11, 17}, "reflect"), "float64 (34) # 89.5 1555.5");
  NUMPY("np.pad(v, (0, 9), 'reflect')", nd::pad(v, {0, 9}, "reflect"), "float64 (15) 3 1 2 5 4 0.5 4 5 2 1 3 1 2 5 4");
  NUMPY("np.pad(v, (9, 0), 'reflect')", nd::pad(v, {9, 0}, "reflect"),
        "float64 (15) 1 2 5 4 0.5 4 5 2 1 3 1 2 5 4 0.5");
  NUMPY("np.pad(v[:2], 5, 'reflect')", nd::pad(v(nd::Slice(2)), 5, "reflect"), "float64 (12) 1 3 1 3 1 3 1 3 1 3 1 3");
  NUMPY("np.pad(one, 2, 'reflect')", nd::pad(one, 2, "reflect"), "float64 (5) 2.5 2.5 2.5 2.5 2.5");
  NUMPY("np.pad(v, 4, 'reflect', reflect_type='odd')", nd::pad(v, 4, "reflect", {.reflect_type = "odd"}),
        "float64 (14) 2 1 4 5 3 1 2 5 4 0.5 -3 -4 -1 0");
  NUMPY("np.pad(v, (13, 8), 'reflect', reflect_type='odd')", nd::pad(v, {13, 8}, "reflect", {.reflect_type = "odd"}),
        "float64 (27) # 81 357");
  NUMPY("np.pad(v, 2, mode='symmetric')", nd::pad(v, 2, "symmetric"), "float64 (10) 1 3 3 1 2 5 4 0.5 0.5 4");
  NUMPY("np.pad(v, (14, 20), 'symmetric')", nd::pad(v, {14, 20}, "symmetric"), "float64 (40) # 101 2070.5");
  NUMPY("np.pad(v, (1, 40), 'symmetric', reflect_type='odd')",
        nd::pad(v, {1, 40}, "symmetric", {.reflect_type = "odd"}), "float64 (47) # -301 -10914");
  NUMPY("np.pad(one, 2, 'symmetric')", nd::pad(one, 2, "symmetric"), "float64 (5) 2.5 2.5 2.5 2.5 2.5");
  NUMPY("np.pad(one, 2, 'symmetric', reflect_type='odd')", nd::pad(one, 2, "symmetric", {.reflect_type = "odd"}),
        "float64 (5) 2.5 2.5 2.5 2.5 2.5");
  NUMPY("np.pad(a, ((1, 4), (7, 0)), 'reflect')", nd::pad(a, {{1, 4}, {7, 0}}, "reflect"),
        "float64 (8, 11) # 284 13654");
  NUMPY("np.pad(a, ((1, 4), (7, 0)), 'symmetric')", nd::pad(a, {{1, 4}, {7, 0}}, "symmetric"),
        "float64 (8, 11) # 248 11020");
  NUMPY("np.pad(t, 3, 'reflect')", nd::pad(t, 3, "reflect"), "float64 (10, 8, 8) # 7360 2381152");
  NUMPY("np.pad(t, 3, 'symmetric', reflect_type='odd')", nd::pad(t, 3, "symmetric", {.reflect_type = "odd"}),
        "float64 (10, 8, 8) # 7360 2273376");
  NUMPY("[np.pad(x, 2, 'reflect', reflect_type='odd') for x in reals]",
        each(reals, [](auto& x) { return nd::pad(x, 2, "reflect", {.reflect_type = "odd"}); }),
        "bool (7, 8) # 55 1574 | int8 (7, 8) # 32 655 | uint8 (7, 8) # 5664 150415 | int16 (7, 8) # 32 655 | uint16 "
        "(7, 8) # 1441824 38339215 | int32 (7, 8) # 32 655 | uint32 (7, 8) # 9.44892805e+10 2.51255587e+12 | int64 "
        "(7, 8) # 32 655 | uint64 (7, 8) # 4.0582837e+20 1.07913453e+22 | float16 (7, 8) # 32 655 | float32 (7, 8) # "
        "32 655 | float64 (7, 8) # 32 655");
}

BOOST_FIXTURE_TEST_CASE(periodic, test::NumpyScene) {
  NUMPY("np.pad(v, 2, mode='wrap')", nd::pad(v, 2, "wrap"), "float64 (10) 4 0.5 3 1 2 5 4 0.5 3 1");
  NUMPY("np.pad(v, (16, 9), 'wrap')", nd::pad(v, {16, 9}, "wrap"), "float64 (31) # 79.5 1227");
  NUMPY("np.pad(v, (3, 40), 'wrap')", nd::pad(v, {3, 40}, "wrap"), "float64 (49) # 129 3197");
  NUMPY("np.pad(one, 3, 'wrap')", nd::pad(one, 3, "wrap"), "float64 (7) 2.5 2.5 2.5 2.5 2.5 2.5 2.5");
  NUMPY("np.pad(a, ((1, 4), (7, 0)), 'wrap')", nd::pad(a, {{1, 4}, {7, 0}}, "wrap"), "float64 (8, 11) # 292 12292");
  NUMPY("np.pad(t, 3, 'wrap')", nd::pad(t, 3, "wrap"), "float64 (10, 8, 8) # 7360 2348384");
  NUMPY("np.pad(z, 3, 'wrap')", nd::pad(z, 3, "wrap"), "complex128 (10) 1 2 2 0.5 5 4 3 1 1 2 2 0.5 5 4 3 1 1 2 2 0.5");
  NUMPY("np.pad(m, 1, 'wrap')", nd::pad(m, 1, "wrap"), "bool (5, 6) # 18 243");
}

BOOST_FIXTURE_TEST_CASE(ramps, test::NumpyScene) {
  NUMPY("np.pad(v, (2, 3), 'linear_ramp')", nd::pad(v, {2, 3}, "linear_ramp"),
        "float64 (11) 0 1.5 3 1 2 5 4 0.5 0.333333333 0.166666667 0");
  NUMPY("np.pad(v, (2, 3), 'linear_ramp', end_values=(5, -4))",
        nd::pad(v, {2, 3}, "linear_ramp", {.end_values = {5, -4}}), "float64 (11) 5 4 3 1 2 5 4 0.5 -1 -2.5 -4");
  NUMPY("np.pad(a, ((1, 2), (3, 1)), 'linear_ramp', end_values=((1, 2), (3, 4)))",
        nd::pad(a, {{1, 2}, {3, 1}}, "linear_ramp", {.end_values = {{1, 2}, {3, 4}}}),
        "float64 (6, 8) # 139.25 3729.66667");
  NUMPY("np.pad(n, 4, 'linear_ramp', end_values=-7)", nd::pad(n, 4, "linear_ramp", {.end_values = -7}),
        "int64 (14) -7 -5 -2 0 3 1 2 1 0 3 0 -2 -5 -7");
  NUMPY("np.pad(z, 2, 'linear_ramp')", nd::pad(z, 2, "linear_ramp"),
        "complex128 (8) 0 0 1.5 0.5 3 1 1 2 2 0.5 5 4 2.5 2 0 0");
  NUMPY("[np.pad(x, 3, 'linear_ramp') for x in floats]",
        each(floats, [](auto& x) { return nd::pad(x, 3, "linear_ramp"); }),
        "float16 (9, 10) # 20.4997559 1003.15027 | float32 (9, 10) # 20.5 1003.16667 | float64 (9, 10) # 20.5 "
        "1003.16667");
  NUMPY("np.pad(t, 2, 'linear_ramp', end_values=9)", nd::pad(t, 2, "linear_ramp", {.end_values = 9}),
        "float64 (8, 6, 6) # 2704.5 389465.25");
}

BOOST_FIXTURE_TEST_CASE(statistics_of_sides, test::NumpyScene) {
  NUMPY("np.pad(v, 2, 'maximum')", nd::pad(v, 2, "maximum"), "float64 (10) 5 5 3 1 2 5 4 0.5 5 5");
  NUMPY("np.pad(v, 2, 'maximum', stat_length=2)", nd::pad(v, 2, "maximum", {.stat_length = 2}),
        "float64 (10) 3 3 3 1 2 5 4 0.5 4 4");
  NUMPY("np.pad(v, 2, 'minimum', stat_length=(1, 4))", nd::pad(v, 2, "minimum", {.stat_length = {{1, 4}}}),
        "float64 (10) 3 3 3 1 2 5 4 0.5 0.5 0.5");
  NUMPY("np.pad(a, ((1, 2), (2, 1)), 'minimum')", nd::pad(a, {{1, 2}, {2, 1}}, "minimum"),
        "float64 (6, 7) # 81 1814.5");
  NUMPY("np.pad(a, 1, 'mean')", nd::pad(a, 1, "mean"), "float64 (5, 6) # 97.5 1667.75");
  NUMPY("np.pad(a, 1, 'mean', stat_length=((1, 2), (3, 99)))",
        nd::pad(a, 1, "mean", {.stat_length = {{{1, 2}, {3, 99}}}}), "float64 (5, 6) # 90.25 1774.5");
  NUMPY("np.pad(n, 1, 'mean')", nd::pad(n, 1, "mean"), "int64 (8) 2 3 1 2 1 0 3 2");
  NUMPY("np.pad(n, 1, 'mean', stat_length=2)", nd::pad(n, 1, "mean", {.stat_length = 2}), "int64 (8) 2 3 1 2 1 0 3 2");
  NUMPY("np.pad(v, 1, 'median')", nd::pad(v, 1, "median"), "float64 (8) 2.5 3 1 2 5 4 0.5 2.5");
  NUMPY("np.pad(v, 1, 'median', stat_length=3)", nd::pad(v, 1, "median", {.stat_length = 3}),
        "float64 (8) 2 3 1 2 5 4 0.5 4");
  NUMPY("np.pad(d, 1, 'median')", nd::pad(d, 1, "median"), "int64 (5, 6) # 84 1369");
  NUMPY("np.pad(h, 1, 'median')", nd::pad(h, 1, "median"), "float64 (6) nan 1 nan 3 inf nan");
  NUMPY("np.pad(h, 1, 'maximum')", nd::pad(h, 1, "maximum"), "float64 (6) nan 1 nan 3 inf nan");
  NUMPY("np.pad(t, 2, 'mean')", nd::pad(t, 2, "mean"), "float64 (8, 6, 6) # 3312 474024");
  NUMPY("[np.pad(x, 1, 'mean') for x in reals]", each(reals, [](auto& x) { return nd::pad(x, 1, "mean"); }),
        "bool (5, 6) # 29 454 | int8 (5, 6) # 94 1521 | uint8 (5, 6) # 94 1521 | int16 (5, 6) # 94 1521 | uint16 (5, "
        "6) # 94 1521 | int32 (5, 6) # 94 1521 | uint32 (5, 6) # 94 1521 | int64 (5, 6) # 94 1521 | uint64 (5, 6) # "
        "94 1521 | float16 (5, 6) # 89.9960938 1458.60547 | float32 (5, 6) # 90.0000014 1458.66669 | float64 (5, 6) "
        "# 90 1458.66667");
  NUMPY("[np.pad(x, 1, 'minimum') for x in reals]", each(reals, [](auto& x) { return nd::pad(x, 1, "minimum"); }),
        "bool (5, 6) # 21 339 | int8 (5, 6) # 50 828 | uint8 (5, 6) # 50 828 | int16 (5, 6) # 50 828 | uint16 (5, 6) "
        "# 50 828 | int32 (5, 6) # 50 828 | uint32 (5, 6) # 50 828 | int64 (5, 6) # 50 828 | uint64 (5, 6) # 50 828 "
        "| float16 (5, 6) # 50 828 | float32 (5, 6) # 50 828 | float64 (5, 6) # 50 828");
}

BOOST_FIXTURE_TEST_CASE(large_and_bfloat16, test::NumpyScene) {
  // numpy: x = (np.arange(3 * 5 * 7) % 23.).reshape(3, 5, 7)
  const nd::Array x = (nd::arange(3 * 5 * 7) % 23.).reshape(3, 5, 7);
  NUMPY("np.pad(x, ((8, 2), (1, 19), (0, 13)), 'reflect')", nd::pad(x, {{8, 2}, {1, 19}, {0, 13}}, "reflect"),
        "float64 (13, 25, 20) # 70516 229315652");
  NUMPY("np.pad(x, ((8, 2), (1, 19), (0, 13)), 'symmetric')", nd::pad(x, {{8, 2}, {1, 19}, {0, 13}}, "symmetric"),
        "float64 (13, 25, 20) # 67545 220134595");
  NUMPY("np.pad(x, ((8, 2), (1, 19), (0, 13)), 'wrap')", nd::pad(x, {{8, 2}, {1, 19}, {0, 13}}, "wrap"),
        "float64 (13, 25, 20) # 68615 222860850");
  NUMPY("np.pad(x, ((8, 2), (1, 19), (0, 13)), 'edge')", nd::pad(x, {{8, 2}, {1, 19}, {0, 13}}, "edge"),
        "float64 (13, 25, 20) # 63830 209236060");
  NUMPY("np.pad(x, ((8, 2), (1, 19), (0, 13)), 'linear_ramp')", nd::pad(x, {{8, 2}, {1, 19}, {0, 13}}, "linear_ramp"),
        "float64 (13, 25, 20) # 12447.5 47058659");
  NUMPY("np.pad(x, ((8, 2), (1, 19), (0, 13)), 'mean', stat_length=2)",
        nd::pad(x, {{8, 2}, {1, 19}, {0, 13}}, "mean", {.stat_length = 2}), "float64 (13, 25, 20) # 67581 218844501");
  for (const char* mode : {"edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "median", "minimum"}) {
    const nd::Array p = nd::pad(d.astype(nd::bfloat16), {{1, 5}, {4, 0}}, mode);
    BOOST_TEST(p.dtype() == nd::bfloat16);
    BOOST_TEST(bool(nd::allclose(p.astype(nd::float64), nd::pad(d.astype(nd::float64), {{1, 5}, {4, 0}}, mode), 1e-2)));
  }
}

BOOST_FIXTURE_TEST_CASE(errors, test::NumpyScene) {
  NUMPY_RAISES("np.pad(a, 1, 'foo')", nd::pad(a, 1, "foo"), nd::ValueError);
  NUMPY_RAISES("np.pad(a, -1, 'edge')", nd::pad(a, -1, "edge"), nd::ValueError);
  NUMPY_RAISES("np.pad(a, ((1, 1), (1, 1), (1, 1)), 'edge')", nd::pad(a, {{1, 1}, {1, 1}, {1, 1}}, "edge"),
               nd::ValueError);
  NUMPY_RAISES("np.pad(e, 1, 'edge')", nd::pad(e, 1, "edge"), nd::ValueError);
  NUMPY_RAISES("np.pad(e, 1, 'wrap')", nd::pad(e, 1, "wrap"), nd::ValueError);
  NUMPY_RAISES("np.pad(v, 1, 'maximum', stat_length=0)", nd::pad(v, 1, "maximum", {.stat_length = 0}), nd::ValueError);
  NUMPY_RAISES("np.pad(v, 1, 'mean', stat_length=-1)", nd::pad(v, 1, "mean", {.stat_length = -1}), nd::ValueError);
  BOOST_CHECK_THROW(nd::pad(v, 1, "reflect", {.reflect_type = "foo"}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(functions, test::NumpyScene) {
  // numpy: def side(v, w, k, o): v[:w[0]] = 10 + k; v[len(v) - w[1]:] = v.sum()
  const auto side = [](const nd::Array& vector, std::pair<std::int64_t, std::int64_t> width, int axis) {
    vector(nd::Slice(0, width.first)) = 10 + axis;
    vector(nd::Slice(vector.size() - width.second, {})) = vector.sum();
  };
  NUMPY("np.pad(a, 1, side)", nd::pad(a, 1, side), "float64 (5, 6) # 446 8501");
  NUMPY("np.pad(v, (2, 1), side)", nd::pad(v, {2, 1}, side), "float64 (9) 10 10 3 1 2 5 4 0.5 35.5");
  NUMPY("np.pad(t, ((1, 0), (0, 2), (0, 1)), side)", nd::pad(t, {{1, 0}, {0, 2}, {0, 1}}, side),
        "float64 (5, 4, 3) # 1604 44970");
  NUMPY("np.pad(d, 1, side)", nd::pad(d, 1, side), "int64 (5, 6) # 434 8107");
  NUMPY("np.pad(e3, ((0, 0), (1, 1)), side)", nd::pad(e3, {{0, 0}, {1, 1}}, side), "float64 (0, 5)");
}

BOOST_AUTO_TEST_SUITE_END()
