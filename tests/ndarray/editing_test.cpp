// append, insert, delete_, resize, block and trim_zeros as in NumPy: positions of every kind, axes, dtypes, errors.
#include <cmath>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(editing)

BOOST_FIXTURE_TEST_CASE(appended, test::NumpyScene) {
  NUMPY("np.append(v, [7, 8])", nd::append(v, {7, 8}), "float64 (8) 3 1 2 5 4 0.5 7 8");
  NUMPY("np.append(v, w)", nd::append(v, w), "float64 (12) 3 1 2 5 4 0.5 1 2 0.5 4 1.5 3");
  NUMPY("np.append(v, 7)", nd::append(v, 7), "float64 (7) 3 1 2 5 4 0.5 7");
  NUMPY("np.append(n, 2.5)", nd::append(n, 2.5), "float64 (7) 3 1 2 1 0 3 2.5");
  NUMPY("np.append(a, b)", nd::append(a, b),
        "float64 (24) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6 2 -1 0.5 3 -2.5 4 1 0.25 1.5 -0.75 6 2");
  NUMPY("np.append(a, b, axis=0)", nd::append(a, b, 0),
        "float64 (6, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6 2 -1 0.5 3 -2.5 4 1 0.25 1.5 -0.75 6 2");
  NUMPY("np.append(a, b[:, :1], 1)", nd::append(a, b(nd::_, nd::Slice(1)), 1),
        "float64 (3, 5) 0.5 1 1.5 2 2 2.5 3 3.5 4 -2.5 4.5 5 5.5 6 1.5");
  NUMPY("np.append(a, [[1, 2, 3, 4]], axis=0)", nd::append(a, {{1, 2, 3, 4}}, 0),
        "float64 (4, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6 1 2 3 4");
  NUMPY("np.append(e, i)", nd::append(e, i), "float64 (3) 2 0 1");
  NUMPY("np.append(i, e)", nd::append(i, e), "float64 (3) 2 0 1");
  NUMPY("np.append(v[i], w[i])", nd::append(v(i), w(i)), "float64 (6) 2 3 1 0.5 1 2");
  NUMPY("np.append(zero, one)", nd::append(zero, one), "float64 (2) 2.5 2.5");
  NUMPY("np.append(t, t, -1)", nd::append(t, t, -1), "float64 (4, 2, 4) # 368 6200");
  NUMPY("[np.append(x, f) for x in reals]", each(reals, [&](auto& x) { return nd::append(x, f); }),
        "float32 (16) 1 1 1 0 1 1 1 1 1 1 1 1 1 2 3 4 | float32 (16) 3 1 2 0 7 2 2 5 1 6 4 3 1 2 3 4 | float32 (16) "
        "3 1 2 0 7 2 2 5 1 6 4 3 1 2 3 4 | float32 (16) 3 1 2 0 7 2 2 5 1 6 4 3 1 2 3 4 | float32 (16) 3 1 2 0 7 2 2 "
        "5 1 6 4 3 1 2 3 4 | float64 (16) 3 1 2 0 7 2 2 5 1 6 4 3 1 2 3 4 | float64 (16) 3 1 2 0 7 2 2 5 1 6 4 3 1 2 "
        "3 4 | float64 (16) 3 1 2 0 7 2 2 5 1 6 4 3 1 2 3 4 | float64 (16) 3 1 2 0 7 2 2 5 1 6 4 3 1 2 3 4 | float32 "
        "(16) 3 1 2 0 7 2 2 5 1 6 4 3 1 2 3 4 | float32 (16) 3 1 2 0 7 2 2 5 1 6 4 3 1 2 3 4 | float64 (16) 3 1 2 0 "
        "7 2 2 5 1 6 4 3 1 2 3 4");
  NUMPY_RAISES("np.append(a, v, 0)", nd::append(a, v, 0), nd::ValueError);
  NUMPY_RAISES("np.append(a, b, 2)", nd::append(a, b, 2), nd::IndexError);
}

BOOST_FIXTURE_TEST_CASE(inserted, test::NumpyScene) {
  NUMPY("np.insert(v, 1, 9)", nd::insert(v, 1, 9), "float64 (7) 3 9 1 2 5 4 0.5");
  NUMPY("np.insert(v, -1, 9)", nd::insert(v, -1, 9), "float64 (7) 3 1 2 5 4 9 0.5");
  NUMPY("np.insert(v, 6, 9)", nd::insert(v, 6, 9), "float64 (7) 3 1 2 5 4 0.5 9");
  NUMPY("np.insert(v, -6, 9)", nd::insert(v, -6, 9), "float64 (7) 9 3 1 2 5 4 0.5");
  NUMPY("np.insert(v, 2, [7, 8])", nd::insert(v, 2, {7, 8}), "float64 (8) 3 1 7 8 2 5 4 0.5");
  NUMPY("np.insert(v, [1, 3], 9)", nd::insert(v, {1, 3}, 9), "float64 (8) 3 9 1 2 9 5 4 0.5");
  NUMPY("np.insert(v, [3, 1, 3, -2], [1, 2, 3, 4])", nd::insert(v, {3, 1, 3, -2}, {1, 2, 3, 4}),
        "float64 (10) 3 2 1 2 1 3 5 4 4 0.5");
  NUMPY("np.insert(v, [2], [7, 8])", nd::insert(v, {2}, {7, 8}), "float64 (8) 3 1 7 8 2 5 4 0.5");
  NUMPY("np.insert(v, slice(1, 5, 2), [7, 8])", nd::insert(v, nd::Slice(1, 5, 2), {7, 8}),
        "float64 (8) 3 7 1 2 8 5 4 0.5");
  NUMPY("np.insert(v, slice(5, 1, -2), [7, 8])", nd::insert(v, nd::Slice(5, 1, -2), {7, 8}),
        "float64 (8) 3 1 2 8 5 4 7 0.5");
  NUMPY("np.insert(v, p, 9)", nd::insert(v, p, 9), "float64 (9) 9 3 1 2 9 5 9 4 0.5");
  NUMPY("np.insert(v, i, i)", nd::insert(v, i, i), "float64 (9) 0 3 1 1 2 2 5 4 0.5");
  NUMPY("np.insert(v, np.array(2), 9)", nd::insert(v, nd::array(2), 9), "float64 (7) 3 1 9 2 5 4 0.5");
  NUMPY("np.insert(v, np.array([], int), [])", nd::insert(v, std::vector<int>{}, e), "float64 (6) 3 1 2 5 4 0.5");
  NUMPY("np.insert(e, 0, [1, 2])", nd::insert(e, 0, {1, 2}), "float64 (2) 1 2");
  NUMPY("np.insert(e, [0, 0], [1, 2])", nd::insert(e, {0, 0}, {1, 2}), "float64 (2) 1 2");
  NUMPY("np.insert(a, 1, 9)", nd::insert(a, 1, 9), "float64 (13) 0.5 9 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("np.insert(a, 1, 9, axis=0)", nd::insert(a, 1, 9, 0),
        "float64 (4, 4) 0.5 1 1.5 2 9 9 9 9 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("np.insert(a, 1, [7, 8, 9], axis=1)", nd::insert(a, 1, {7, 8, 9}, 1),
        "float64 (3, 5) 0.5 7 1 1.5 2 2.5 8 3 3.5 4 4.5 9 5 5.5 6");
  NUMPY("np.insert(a, [1], [[7], [8], [9]], axis=1)", nd::insert(a, {1}, {{7}, {8}, {9}}, 1),
        "float64 (3, 5) 0.5 7 1 1.5 2 2.5 8 3 3.5 4 4.5 9 5 5.5 6");
  NUMPY("np.insert(a, 1, b, axis=0)", nd::insert(a, 1, b, 0),
        "float64 (6, 4) 0.5 1 1.5 2 2 -1 0.5 3 -2.5 4 1 0.25 1.5 -0.75 6 2 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("np.insert(a, [0, 2, 3], b, axis=0)", nd::insert(a, {0, 2, 3}, b, 0),
        "float64 (6, 4) 2 -1 0.5 3 0.5 1 1.5 2 2.5 3 3.5 4 -2.5 4 1 0.25 4.5 5 5.5 6 1.5 -0.75 6 2");
  NUMPY("np.insert(a, [0, 4], [7, 8], axis=-1)", nd::insert(a, {0, 4}, {7, 8}, -1),
        "float64 (3, 6) 7 0.5 1 1.5 2 8 7 2.5 3 3.5 4 8 7 4.5 5 5.5 6 8");
  NUMPY("np.insert(n, 1, 2.75)", nd::insert(n, 1, 2.75), "int64 (7) 3 2 1 2 1 0 3");
  NUMPY("np.insert(t, 1, 9, axis=1)", nd::insert(t, 1, 9, 1),
        "float64 (4, 3, 2) 3 11 9 9 15 23 2 10 9 9 14 22 1 9 9 9 13 21 0 8 9 9 12 20");
  NUMPY("np.insert(t, [0, 3], 9, axis=0)", nd::insert(t, {0, 3}, 9, 0),
        "float64 (6, 2, 2) 9 9 9 9 3 11 15 23 2 10 14 22 1 9 13 21 9 9 9 9 0 8 12 20");
  NUMPY("[np.insert(x, 1, 5, 1) for x in reals]", each(reals, [](auto& x) { return nd::insert(x, 1, 5, 1); }),
        "bool (3, 5) 1 1 1 1 0 1 1 1 1 1 1 1 1 1 1 | int8 (3, 5) 3 5 1 2 0 7 5 2 2 5 1 5 6 4 3 | uint8 (3, 5) 3 5 1 "
        "2 0 7 5 2 2 5 1 5 6 4 3 | int16 (3, 5) 3 5 1 2 0 7 5 2 2 5 1 5 6 4 3 | uint16 (3, 5) 3 5 1 2 0 7 5 2 2 5 1 "
        "5 6 4 3 | int32 (3, 5) 3 5 1 2 0 7 5 2 2 5 1 5 6 4 3 | uint32 (3, 5) 3 5 1 2 0 7 5 2 2 5 1 5 6 4 3 | int64 "
        "(3, 5) 3 5 1 2 0 7 5 2 2 5 1 5 6 4 3 | uint64 (3, 5) 3 5 1 2 0 7 5 2 2 5 1 5 6 4 3 | float16 (3, 5) 3 5 1 2 "
        "0 7 5 2 2 5 1 5 6 4 3 | float32 (3, 5) 3 5 1 2 0 7 5 2 2 5 1 5 6 4 3 | float64 (3, 5) 3 5 1 2 0 7 5 2 2 5 1 "
        "5 6 4 3");
  // numpy: x = np.arange(400.); y = np.arange(800.).reshape(2, 400)[:, ::-1]; k = np.arange(200) * 37 % 400
  const nd::Array x = nd::arange(400.), y = nd::arange(800.).reshape(2, 400)(nd::_, nd::Slice({}, {}, -1)),
                  k = nd::arange(200) * 37 % 400;
  NUMPY("np.insert(x, [7, 399, 7], [-1, -2, -3])", nd::insert(x, {7, 399, 7}, {-1, -2, -3}),
        "float64 (403) # 79794 21492318");
  NUMPY("np.insert(x, [400, 0], [-1, -2])", nd::insert(x, {400, 0}, {-1, -2}), "float64 (402) # 79797 21412596");
  NUMPY("np.insert(y, [5, -5, 5], [-1, -2, -3], axis=1)", nd::insert(y, {5, -5, 5}, {-1, -2, -3}, 1),
        "float64 (2, 403) # 319588 150677816");
  NUMPY("np.insert(x, k, k / 8)", nd::insert(x, k, k / 8), "float64 (600) # 84687.5 34098575.4");
  NUMPY("np.insert(y, k, -1, axis=1)", nd::insert(y, k, -1, 1), "float64 (2, 600) # 319200 224420600");
  NUMPY_RAISES("np.insert(v, 7, 9)", nd::insert(v, 7, 9), nd::IndexError);
  NUMPY_RAISES("np.insert(v, -7, 9)", nd::insert(v, -7, 9), nd::IndexError);
  NUMPY_RAISES("np.insert(v, [0, 7], 9)", nd::insert(v, {0, 7}, 9), nd::IndexError);
  NUMPY_RAISES("np.insert(v, [0, 1], [1, 2, 3])", nd::insert(v, {0, 1}, {1, 2, 3}), nd::ValueError);
  NUMPY_RAISES("np.insert(a, 1, [1, 2, 3], axis=0)", nd::insert(a, 1, {1, 2, 3}, 0), nd::ValueError);
  NUMPY_RAISES("np.insert(v, w, 1)", nd::insert(v, w, 1), nd::IndexError);
  NUMPY_RAISES("np.insert(a, 0, 1, axis=2)", nd::insert(a, 0, 1, 2), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(deleted, test::NumpyScene) {
  NUMPY("np.delete(v, 1)", nd::delete_(v, 1), "float64 (5) 3 2 5 4 0.5");
  NUMPY("np.delete(v, -1)", nd::delete_(v, -1), "float64 (5) 3 1 2 5 4");
  NUMPY("np.delete(v, [0, 2])", nd::delete_(v, {0, 2}), "float64 (4) 1 5 4 0.5");
  NUMPY("np.delete(v, [0, -1, 0])", nd::delete_(v, {0, -1, 0}), "float64 (4) 1 2 5 4");
  NUMPY("np.delete(v, slice(1, 4))", nd::delete_(v, nd::Slice(1, 4)), "float64 (3) 3 4 0.5");
  NUMPY("np.delete(v, slice(None, None, 2))", nd::delete_(v, nd::Slice({}, {}, 2)), "float64 (3) 1 5 0.5");
  NUMPY("np.delete(v, slice(None, None, -2))", nd::delete_(v, nd::Slice({}, {}, -2)), "float64 (3) 3 2 4");
  NUMPY("np.delete(v, slice(4, 1, -1))", nd::delete_(v, nd::Slice(4, 1, -1)), "float64 (3) 3 1 0.5");
  NUMPY("np.delete(v, slice(4, 1))", nd::delete_(v, nd::Slice(4, 1)), "float64 (6) 3 1 2 5 4 0.5");
  NUMPY("np.delete(v, slice(None))", nd::delete_(v, nd::Slice()), "float64 (0)");
  NUMPY("np.delete(v, slice(5, 0, -4))", nd::delete_(v, nd::Slice(5, 0, -4)), "float64 (4) 3 2 5 4");
  NUMPY("np.delete(v, p)", nd::delete_(v, p), "float64 (3) 1 2 0.5");
  NUMPY("np.delete(v, i)", nd::delete_(v, i), "float64 (3) 5 4 0.5");
  NUMPY("np.delete(v, [True, False, True, False, False, False])",
        nd::delete_(v, std::vector<bool>{true, false, true, false, false, false}), "float64 (4) 1 5 4 0.5");
  NUMPY("np.delete(v, [])", nd::delete_(v, std::vector<int>{}), "float64 (6) 3 1 2 5 4 0.5");
  NUMPY("np.delete(a, 1)", nd::delete_(a, 1), "float64 (11) 0.5 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("np.delete(a, 1, 0)", nd::delete_(a, 1, 0), "float64 (2, 4) 0.5 1 1.5 2 4.5 5 5.5 6");
  NUMPY("np.delete(a, [1, 3], axis=1)", nd::delete_(a, {1, 3}, 1), "float64 (3, 2) 0.5 1.5 2.5 3.5 4.5 5.5");
  NUMPY("np.delete(a, slice(0, 4, 3), axis=-1)", nd::delete_(a, nd::Slice(0, 4, 3), -1),
        "float64 (3, 2) 1 1.5 3 3.5 5 5.5");
  NUMPY("np.delete(t, 1, 1)", nd::delete_(t, 1, 1), "float64 (4, 1, 2) 3 11 2 10 1 9 0 8");
  NUMPY("np.delete(t, [0, 3], 0)", nd::delete_(t, {0, 3}, 0), "float64 (2, 2, 2) 2 10 14 22 1 9 13 21");
  NUMPY("np.delete(e3, 1, 1)", nd::delete_(e3, 1, 1), "float64 (0, 2)");
  NUMPY("np.delete(zero, 0)", nd::delete_(zero, 0), "float64 (0)");
  NUMPY("[np.delete(x, 2, 1) for x in reals]", each(reals, [](auto& x) { return nd::delete_(x, 2, 1); }),
        "bool (3, 3) 1 1 0 1 1 1 1 1 1 | int8 (3, 3) 3 1 0 7 2 5 1 6 3 | uint8 (3, 3) 3 1 0 7 2 5 1 6 3 | int16 (3, "
        "3) 3 1 0 7 2 5 1 6 3 | uint16 (3, 3) 3 1 0 7 2 5 1 6 3 | int32 (3, 3) 3 1 0 7 2 5 1 6 3 | uint32 (3, 3) 3 1 "
        "0 7 2 5 1 6 3 | int64 (3, 3) 3 1 0 7 2 5 1 6 3 | uint64 (3, 3) 3 1 0 7 2 5 1 6 3 | float16 (3, 3) 3 1 0 7 2 "
        "5 1 6 3 | float32 (3, 3) 3 1 0 7 2 5 1 6 3 | float64 (3, 3) 3 1 0 7 2 5 1 6 3");
  NUMPY_RAISES("np.delete(v, 6)", nd::delete_(v, 6), nd::IndexError);
  NUMPY_RAISES("np.delete(v, -7)", nd::delete_(v, -7), nd::IndexError);
  NUMPY_RAISES("np.delete(v, m[0])", nd::delete_(v, m(0)), nd::ValueError);
  NUMPY_RAISES("np.delete(v, w)", nd::delete_(v, w), nd::IndexError);
  NUMPY_RAISES("np.delete(a, 0, 2)", nd::delete_(a, 0, 2), nd::ValueError);
  if (nd::current_device().kind == nd::Device::Kind::cpu) {
    NUMPY_RAISES("np.delete(v, [0, 9])", nd::delete_(v, {0, 9}), nd::IndexError);
  }
}

BOOST_FIXTURE_TEST_CASE(resized, test::NumpyScene) {
  NUMPY("np.resize(v, (2, 4))", nd::resize(v, {2, 4}), "float64 (2, 4) 3 1 2 5 4 0.5 3 1");
  NUMPY("np.resize(a, (2, 2))", nd::resize(a, {2, 2}), "float64 (2, 2) 0.5 1 1.5 2");
  NUMPY("np.resize(v, 15)", nd::resize(v, 15), "float64 (15) 3 1 2 5 4 0.5 3 1 2 5 4 0.5 3 1 2");
  NUMPY("np.resize(v, 12)", nd::resize(v, 12), "float64 (12) 3 1 2 5 4 0.5 3 1 2 5 4 0.5");
  NUMPY("np.resize(t, (3, 7))", nd::resize(t, {3, 7}),
        "float64 (3, 7) 3 11 15 23 2 10 14 22 1 9 13 21 0 8 12 20 3 11 15 23 2");
  NUMPY("np.resize(e, (2, 2))", nd::resize(e, {2, 2}), "float64 (2, 2) 0 0 0 0");
  NUMPY("np.resize(v, (0, 2))", nd::resize(v, {0, 2}), "float64 (0, 2)");
  NUMPY("np.resize(zero, 3)", nd::resize(zero, 3), "float64 (3) 2.5 2.5 2.5");
  NUMPY("np.resize(v, ())", nd::resize(v, nd::Shape{}), "float64 () 3");
  NUMPY("[np.resize(x, 5) for x in reals]", each(reals, [](auto& x) { return nd::resize(x, 5); }),
        "bool (5) 1 1 1 0 1 | int8 (5) 3 1 2 0 7 | uint8 (5) 3 1 2 0 7 | int16 (5) 3 1 2 0 7 | uint16 (5) 3 1 2 0 7 "
        "| int32 (5) 3 1 2 0 7 | uint32 (5) 3 1 2 0 7 | int64 (5) 3 1 2 0 7 | uint64 (5) 3 1 2 0 7 | float16 (5) 3 1 "
        "2 0 7 | float32 (5) 3 1 2 0 7 | float64 (5) 3 1 2 0 7");
  NUMPY_RAISES("np.resize(v, (-1, 2))", nd::resize(v, {-1, 2}), nd::ValueError);
  BOOST_TEST(!nd::resize(v, 6).shares_memory(v));
}

BOOST_FIXTURE_TEST_CASE(blocks, test::NumpyScene) {
  NUMPY("np.block([[s, s], [s, s]])", nd::block({{s, s}, {s, s}}), "float64 (6, 6) # 50 848");
  NUMPY("np.block([v, w])", nd::block({v, w}), "float64 (12) 3 1 2 5 4 0.5 1 2 0.5 4 1.5 3");
  NUMPY("np.block([[v, w]])", nd::block({{v, w}}), "float64 (1, 12) 3 1 2 5 4 0.5 1 2 0.5 4 1.5 3");
  NUMPY("np.block([[v], [w]])", nd::block({{v}, {w}}), "float64 (2, 6) 3 1 2 5 4 0.5 1 2 0.5 4 1.5 3");
  NUMPY("np.block([[s, np.ones((3, 2))], [np.zeros((1, 3)), i[:2]]])",
        nd::block({{s, nd::ones({3, 2})}, {nd::zeros({1, 3}), i(nd::Slice(2))}}),
        "float64 (4, 5) 4 1 0.5 1 1 1 3 0.25 1 1 0.5 0.25 2 1 1 0 0 0 2 0");
  NUMPY("np.block([[f, q[0, :2]], [np.zeros((1, 6))]])", nd::block({{f, q(0, nd::Slice(2))}, {nd::zeros({1, 6})}}),
        "float64 (3, 6) 1 2 0 1 2 3 3 4 4 5 6 7 0 0 0 0 0 0");
  NUMPY("np.block([[one, zero], [zero, one]])", nd::block({{one, zero}, {zero, one}}),
        "float64 (2, 2) 2.5 2.5 2.5 2.5");
  NUMPY("np.block([[q, q], [q, q]])", nd::block({{q, q}, {q, q}}), "float64 (2, 6, 8) # 1104 69536");
  NUMPY("np.block([[[s], [s]], [[s], [s + 1]]])", nd::block({{{s}, {s}}, {{s}, {s + 1}}}),
        "float64 (2, 6, 3) # 59 1169");
  NUMPY("np.block([i, m[0], f[0]])", nd::block({i, m(0), f(0)}), "float64 (9) 2 0 1 0 0 0 0 1 2");
  NUMPY("np.block([[v], [w]])", nd::block(std::vector<std::vector<nd::Array>>{{v}, {w}}),
        "float64 (2, 6) 3 1 2 5 4 0.5 1 2 0.5 4 1.5 3");
  NUMPY("np.block(a)", nd::block(a), "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY_RAISES("np.block([v, [w]])", nd::block({v, {w}}), nd::ValueError);
  NUMPY_RAISES("np.block([[s, a], [s, s]])", nd::block({{s, a}, {s, s}}), nd::ValueError);
  NUMPY_RAISES("np.block([[s], [a]])", nd::block({{s}, {a}}), nd::ValueError);
  NUMPY_RAISES("np.block([[]])", nd::block(std::vector<std::vector<nd::Array>>{{}}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(trimmed, test::NumpyScene) {
  // numpy: x = np.array([0, 0, 1, 0, 2, 0]); y = np.zeros((4, 5)); y[1, 2] = 3; y[2, 1] = np.nan
  const nd::Array x = nd::array({0, 0, 1, 0, 2, 0}), y = nd::zeros({4, 5});
  y(1, 2) = 3;
  y(2, 1) = NAN;
  NUMPY("np.trim_zeros(x)", nd::trim_zeros(x), "int64 (3) 1 0 2");
  NUMPY("np.trim_zeros(x, 'f')", nd::trim_zeros(x, "f"), "int64 (4) 1 0 2 0");
  NUMPY("np.trim_zeros(x, trim='b')", nd::trim_zeros(x, {.trim = "b"}), "int64 (5) 0 0 1 0 2");
  NUMPY("np.trim_zeros(x, 'BF')", nd::trim_zeros(x, "BF"), "int64 (3) 1 0 2");
  NUMPY("np.trim_zeros(x * 0)", nd::trim_zeros(x * 0), "int64 (0)");
  NUMPY("np.trim_zeros(x * 0, 'b')", nd::trim_zeros(x * 0, "b"), "int64 (0)");
  NUMPY("np.trim_zeros(v)", nd::trim_zeros(v), "float64 (6) 3 1 2 5 4 0.5");
  NUMPY("np.trim_zeros(e)", nd::trim_zeros(e), "float64 (0)");
  NUMPY("np.trim_zeros(y)", nd::trim_zeros(y), "float64 (2, 2) 0 3 nan 0");
  NUMPY("np.trim_zeros(y, 'f')", nd::trim_zeros(y, "f"), "float64 (3, 4) 0 3 0 0 nan 0 0 0 0 0 0 0");
  NUMPY("np.trim_zeros(y, axis=1)", nd::trim_zeros(y, {.axis = 1}), "float64 (4, 2) 0 0 0 3 nan 0 0 0");
  NUMPY("np.trim_zeros(y, 'fb', axis=-2)", nd::trim_zeros(y, "fb", -2), "float64 (2, 5) 0 0 3 0 0 0 nan 0 0 0");
  NUMPY("np.trim_zeros(y, axis=())", nd::trim_zeros(y, {.axis = nd::Dims{}}),
        "float64 (4, 5) 0 0 0 0 0 0 0 3 0 0 0 nan 0 0 0 0 0 0 0 0");
  NUMPY("np.trim_zeros(np.zeros((4, 5)))", nd::trim_zeros(nd::zeros({4, 5})), "float64 (0, 0)");
  NUMPY("[np.trim_zeros(x[:, 3]) for x in reals]", each(reals, [](auto& r) { return nd::trim_zeros(r(nd::_, 3)); }),
        "bool (2) 1 1 | int8 (2) 5 3 | uint8 (2) 5 3 | int16 (2) 5 3 | uint16 (2) 5 3 | int32 (2) 5 3 | uint32 (2) 5 "
        "3 | int64 (2) 5 3 | uint64 (2) 5 3 | float16 (2) 5 3 | float32 (2) 5 3 | float64 (2) 5 3");
  NUMPY_RAISES("np.trim_zeros(x, 'x')", nd::trim_zeros(x, "x"), nd::ValueError);
  NUMPY_RAISES("np.trim_zeros(x, 'ff')", nd::trim_zeros(x, "ff"), nd::ValueError);
  NUMPY_RAISES("np.trim_zeros(y, axis=2)", nd::trim_zeros(y, {.axis = 2}), nd::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
