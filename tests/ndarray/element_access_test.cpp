// take with modes, take_along_axis, put_along_axis, put, place, putmask, select, piecewise, argwhere, extract,
// ravel_multi_index and unravel_index as in NumPy.
#include <complex>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(element_access)

namespace {

// The array after a function that writes it.
template <class F> nd::Array changed(const nd::Array& x, F&& f) {
  f(x);
  return x;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(modes_of_take, test::NumpyScene) {
  NUMPY("np.take(v, [5, -1, 0], mode='raise')", nd::take(v, {5, -1, 0}, {.mode = "raise"}), "float64 (3) 0.5 0.5 3");
  NUMPY("np.take(v, [7, -8, 0, 600], mode='wrap')", nd::take(v, {7, -8, 0, 600}, {.mode = "wrap"}),
        "float64 (4) 1 4 3 3");
  NUMPY("np.take(v, [7, -8, 0, -1], mode='clip')", nd::take(v, {7, -8, 0, -1}, {.mode = "clip"}),
        "float64 (4) 0.5 3 3 3");
  NUMPY("np.take(a, [[4, -5]], axis=1, mode='wrap')", nd::take(a, nd::array({{4, -5}}), {.axis = 1, .mode = "wrap"}),
        "float64 (3, 1, 2) 0.5 2 2.5 4 4.5 6");
  NUMPY("np.take(a, n.astype(np.uint8) * 80, mode='clip')", nd::take(a, n.astype(nd::uint8) * 80, {.mode = "clip"}),
        "float64 (6) 6 6 6 6 0.5 6");
  NUMPY("np.take(a, n.astype(np.uint8) * 80, 0, mode='wrap')",
        nd::take(a, n.astype(nd::uint8) * 80, {.axis = 0, .mode = "wrap"}),
        "float64 (6, 4) 0.5 1 1.5 2 4.5 5 5.5 6 2.5 3 3.5 4 4.5 5 5.5 6 0.5 1 1.5 2 0.5 1 1.5 2");
  NUMPY("np.take(v, np.array([], int), mode='clip')", nd::take(v, std::vector<int>{}, {.mode = "clip"}), "float64 (0)");
  NUMPY_RAISES("np.take(v, [6], mode='raise')", nd::take(v, {6}, {.mode = "raise"}), nd::IndexError);
  NUMPY_RAISES("np.take(v, [0, -7], mode='raise')", nd::take(v, {0, -7}, {.mode = "raise"}), nd::IndexError);
  NUMPY_RAISES("np.take(v, 1, mode='foo')", nd::take(v, 1, {.mode = "foo"}), nd::ValueError);
  NUMPY_RAISES("np.take(e, [0])", nd::take(e, {0}), nd::IndexError);
  NUMPY_RAISES("np.take(e, [0], mode='raise')", nd::take(e, {0}, {.mode = "raise"}), nd::IndexError);
}

BOOST_FIXTURE_TEST_CASE(along_an_axis, test::NumpyScene) {
  NUMPY("np.take_along_axis(b, np.argsort(b, 1), 1)", nd::take_along_axis(b, nd::argsort(b, 1), 1),
        "float64 (3, 4) -1 0.5 2 3 -2.5 0.25 1 4 -0.75 1.5 2 6");
  NUMPY("np.take_along_axis(b, np.argsort(b, 0)[:2], axis=0)",
        nd::take_along_axis(b, nd::argsort(b, 0)(nd::Slice(2)), 0), "float64 (2, 4) -2.5 -1 0.5 0.25 1.5 -0.75 1 2");
  NUMPY("np.take_along_axis(t, t.astype(int) % 2, -1)", nd::take_along_axis(t, t.astype(nd::int64) % 2, -1),
        "float64 (4, 2, 2) 11 11 23 23 2 2 14 14 9 9 21 21 0 0 12 12");
  NUMPY("np.take_along_axis(a, np.array([5, -1]), None)", nd::take_along_axis(a, nd::array({5, -1}), {}),
        "float64 (2) 3 6");
  // numpy: a1, a2, a3, a4 = (a.copy() for _ in range(4)); v1, t1, t2 = v.copy(), t.copy(), t.copy()
  // numpy: np.put_along_axis(a1, np.array([[0], [1], [2]]), 0, 1); np.put_along_axis(a2, i[None, :1], b[:1], 0)
  // numpy: np.put_along_axis(a3, d % 4, -b, 1); np.put_along_axis(a4, np.array([0, -1]), [7, 8], None)
  // numpy: np.put_along_axis(t1, np.array([[[1]]]), 99, 2); np.put_along_axis(v1, np.array([1, 2], np.uint8), 5, 0)
  // numpy: np.put_along_axis(t2, np.array([3, -1]), np.array([98, 99]), None)
  NUMPY("a1",
        changed(a.copy(),
                [&](auto& x) {
                  nd::put_along_axis(x, nd::array({{0}, {1}, {2}}), 0, 1);
                }),
        "float64 (3, 4) 0 1 1.5 2 2.5 0 3.5 4 4.5 5 0 6");
  NUMPY("a2",
        changed(a.copy(), [&](auto& x) { nd::put_along_axis(x, i(nd::newaxis, nd::Slice(1)), b(nd::Slice(1)), 0); }),
        "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 2 -1 0.5 3");
  NUMPY("a4",
        changed(a.copy(),
                [&](auto& x) {
                  nd::put_along_axis(x, nd::array({0, -1}), nd::array({7, 8}), {});
                }),
        "float64 (3, 4) 7 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 8");
  NUMPY("t1", changed(t.copy(), [&](auto& x) { nd::put_along_axis(x, nd::array({{{1}}}), 99, 2); }),
        "float64 (4, 2, 2) 3 99 15 99 2 99 14 99 1 99 13 99 0 99 12 99");
  NUMPY("v1",
        changed(v.copy(),
                [&](auto& x) {
                  nd::put_along_axis(x, nd::array({1, 2}, nd::uint8), 5, 0);
                }),
        "float64 (6) 3 5 5 5 4 0.5");
  NUMPY("t2",
        changed(nd::copy(t),
                [&](auto& x) {
                  nd::put_along_axis(x, nd::array({3, -1}), nd::array({98, 99}), {});
                }),
        "float64 (4, 2, 2) 3 11 15 98 2 10 14 22 1 9 13 21 0 8 12 99");
  // The same through a view with other strides, so that the flattened array is no view.
  const nd::Array base = q.copy(), view = base.transpose(2, 0, 1)(nd::Slice({}, {}, -1), nd::_, nd::Slice({}, {}, 2));
  nd::put_along_axis(view, nd::array({3, -1}), nd::array({98, 99}), {});
  NUMPY("t2", view, "float64 (4, 2, 2) 3 11 15 98 2 10 14 22 1 9 13 21 0 8 12 99");
  NUMPY_RAISES("np.put_along_axis(a, i, 0, 1)", nd::put_along_axis(a, i, 0, 1), nd::ValueError);
  NUMPY_RAISES("np.put_along_axis(a, b, 0, 1)", nd::put_along_axis(a, b, 0, 1), nd::IndexError);
  NUMPY_RAISES("np.put_along_axis(a, d, b[0, :3], 1)", nd::put_along_axis(a, d % 3, b(0, nd::Slice(3)), 1),
               nd::ValueError);
  NUMPY_RAISES("np.put_along_axis(a, d, 0, 2)", nd::put_along_axis(a, d, 0, 2), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(flat_positions, test::NumpyScene) {
  // numpy: put = lambda x, *more, **keywords: (np.put(x, *more, **keywords), x)[1]
  NUMPY("put(v.copy(), [0, 1], [8, 9])",
        changed(v.copy(),
                [](auto& x) {
                  nd::put(x, {0, 1}, {8, 9});
                }),
        "float64 (6) 8 9 2 5 4 0.5");
  NUMPY("put(v.copy(), i, 3.)", changed(v.copy(), [&](auto& x) { nd::put(x, i, 3.); }), "float64 (6) 3 3 3 5 4 0.5");
  NUMPY("put(v.copy(), -1, 7)", changed(v.copy(), [](auto& x) { nd::put(x, -1, 7); }), "float64 (6) 3 1 2 5 4 7");
  NUMPY("put(v.copy(), [0, 2, 4, 5], [7, 8])",
        changed(v.copy(),
                [](auto& x) {
                  nd::put(x, {0, 2, 4, 5}, {7, 8});
                }),
        "float64 (6) 7 1 8 5 7 8");
  NUMPY("put(v.copy(), [0, 2], w)",
        changed(v.copy(),
                [&](auto& x) {
                  nd::put(x, {0, 2}, w);
                }),
        "float64 (6) 1 1 2 5 4 0.5");
  NUMPY("put(v.copy(), [8, -9], [7, 8], mode='wrap')",
        changed(v.copy(),
                [](auto& x) {
                  nd::put(x, {8, -9}, {7, 8}, {.mode = "wrap"});
                }),
        "float64 (6) 3 1 7 8 4 0.5");
  NUMPY("put(v.copy(), [8, -9], [7, 8], 'clip')",
        changed(v.copy(),
                [](auto& x) {
                  nd::put(x, {8, -9}, {7, 8}, "clip");
                }),
        "float64 (6) 8 1 2 5 4 7");
  NUMPY("put(v.copy(), [1, -2], [7, 8], 'raise')",
        changed(v.copy(),
                [](auto& x) {
                  nd::put(x, {1, -2}, {7, 8}, "raise");
                }),
        "float64 (6) 3 7 2 5 8 0.5");
  NUMPY("put(a.copy(), [[0, 5], [-1, 7]], 9)",
        changed(a.copy(),
                [](auto& x) {
                  nd::put(x, nd::array({{0, 5}, {-1, 7}}), 9);
                }),
        "float64 (3, 4) 9 1 1.5 2 2.5 9 3.5 9 4.5 5 5.5 9");
  NUMPY("put(n.copy(), [0, 1], [1.75, -2.5])",
        changed(n.copy(),
                [](auto& x) {
                  nd::put(x, {0, 1}, {1.75, -2.5});
                }),
        "int64 (6) 1 -2 2 1 0 3");
  NUMPY("put(v.copy(), [0, 1], [])",
        changed(v.copy(),
                [&](auto& x) {
                  nd::put(x, {0, 1}, e);
                }),
        "float64 (6) 3 1 2 5 4 0.5");
  NUMPY("put(v.copy(), [], 3)", changed(v.copy(), [](auto& x) { nd::put(x, std::vector<int>{}, 3); }),
        "float64 (6) 3 1 2 5 4 0.5");
  NUMPY("put(t.copy(), [1, 6, -1, 9], [100, 101, 102])",
        changed(nd::array(q.transpose(2, 0, 1))(nd::Slice({}, {}, -1), nd::_, nd::Slice({}, {}, 2)),
                [](auto& x) {
                  nd::put(x, {1, 6, -1, 9}, {100, 101, 102});
                }),
        "float64 (4, 2, 2) 3 100 15 23 2 10 101 22 1 100 13 21 0 8 12 102");
  NUMPY("[put(x.copy(), [1, 5], [3, 4]) for x in reals]",
        each(reals, [](auto& r) { return changed(r.copy(), [](auto& x) {
                                    nd::put(x, {1, 5}, {3, 4});
                                  }); }),
        "bool (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | int8 (3, 4) 3 3 2 0 7 4 2 5 1 6 4 3 | uint8 (3, 4) 3 3 2 0 7 4 2 5 1 "
        "6 4 3 | int16 (3, 4) 3 3 2 0 7 4 2 5 1 6 4 3 | uint16 (3, 4) 3 3 2 0 7 4 2 5 1 6 4 3 | int32 (3, 4) 3 3 2 0 "
        "7 4 2 5 1 6 4 3 | uint32 (3, 4) 3 3 2 0 7 4 2 5 1 6 4 3 | int64 (3, 4) 3 3 2 0 7 4 2 5 1 6 4 3 | uint64 (3, "
        "4) 3 3 2 0 7 4 2 5 1 6 4 3 | float16 (3, 4) 3 3 2 0 7 4 2 5 1 6 4 3 | float32 (3, 4) 3 3 2 0 7 4 2 5 1 6 4 "
        "3 | float64 (3, 4) 3 3 2 0 7 4 2 5 1 6 4 3");
  NUMPY_RAISES("np.put(v, [0, 6], 1, mode='raise')", nd::put(v, {0, 6}, 1, "raise"), nd::IndexError);
  NUMPY_RAISES("np.put(v, [0, -7], 1, mode='raise')", nd::put(v, {0, -7}, 1, "raise"), nd::IndexError);
  NUMPY_RAISES("np.put(e, [0], 1)", nd::put(e, {0}, 1), nd::IndexError);
  NUMPY_RAISES("np.put(v, w, 1)", nd::put(v, w, 1), nd::TypeError);
  NUMPY_RAISES("np.put(v, 1, 1, mode='foo')", nd::put(v, 1, 1, "foo"), nd::ValueError);
  BOOST_TEST(bool((v == nd::array({3., 1., 2., 5., 4., 0.5})).all()));  // unchanged by the errors
}

BOOST_FIXTURE_TEST_CASE(masked_elements, test::NumpyScene) {
  // numpy: place = lambda x, *more: (np.place(x, *more), x)[1]
  // numpy: putmask = lambda x, *more: (np.putmask(x, *more), x)[1]
  NUMPY("place(a.copy(), m, [0])", changed(a.copy(), [&](auto& x) { nd::place(x, m, {0}); }),
        "float64 (3, 4) 0.5 1 1.5 2 0 0 0 0 0 0 0 0");
  NUMPY("place(a.copy(), m, [44, 55, 66])",
        changed(a.copy(),
                [&](auto& x) {
                  nd::place(x, m, {44, 55, 66});
                }),
        "float64 (3, 4) 0.5 1 1.5 2 44 55 66 44 55 66 44 55");
  NUMPY("place(a.copy(), m, v)", changed(a.copy(), [&](auto& x) { nd::place(x, m, v); }),
        "float64 (3, 4) 0.5 1 1.5 2 3 1 2 5 4 0.5 3 1");
  NUMPY("place(a.copy(), m, np.arange(50.))", changed(a.copy(), [&](auto& x) { nd::place(x, m, nd::arange(50.)); }),
        "float64 (3, 4) 0.5 1 1.5 2 0 1 2 3 4 5 6 7");
  NUMPY("place(a.copy(), m.ravel(), n)", changed(a.copy(), [&](auto& x) { nd::place(x, m.ravel(), n); }),
        "float64 (3, 4) 0.5 1 1.5 2 3 1 2 1 0 3 3 1");
  NUMPY("place(a.copy(), d > 99, [])", changed(a.copy(), [&](auto& x) { nd::place(x, d > 99, e); }),
        "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("place(a.copy(), d, v)", changed(a.copy(), [&](auto& x) { nd::place(x, d, v); }),
        "float64 (3, 4) 3 1 2 2 5 4 0.5 3 1 2 5 4");
  NUMPY("place(t.copy(), t % 3 == 0, v)",
        changed(nd::array(q.transpose(2, 0, 1))(nd::Slice({}, {}, -1), nd::_, nd::Slice({}, {}, 2)),
                [&](auto& x) { nd::place(x, t % 3 == 0, v); }),
        "float64 (4, 2, 2) 3 11 1 23 2 10 14 22 1 2 13 5 4 8 0.5 20");
  NUMPY_RAISES("np.place(a, p, v)", nd::place(a, p, v), nd::ValueError);
  NUMPY_RAISES("np.place(a, m, [])", nd::place(a, m, e), nd::ValueError);
  NUMPY_RAISES("np.place(d, m, v)", nd::place(d, m, v), nd::TypeError);
  NUMPY("putmask(a.copy(), m, b)", changed(a.copy(), [&](auto& x) { nd::putmask(x, m, b); }),
        "float64 (3, 4) 0.5 1 1.5 2 -2.5 4 1 0.25 1.5 -0.75 6 2");
  NUMPY("putmask(a.copy(), m, v)", changed(a.copy(), [&](auto& x) { nd::putmask(x, m, v); }),
        "float64 (3, 4) 0.5 1 1.5 2 4 0.5 3 1 2 5 4 0.5");
  NUMPY("putmask(a.copy(), m, [-33, -44])",
        changed(a.copy(),
                [&](auto& x) {
                  nd::putmask(x, m, {-33, -44});
                }),
        "float64 (3, 4) 0.5 1 1.5 2 -33 -44 -33 -44 -33 -44 -33 -44");
  NUMPY("putmask(a.copy(), a > 2, a ** 2)", changed(a.copy(), [&](auto& x) { nd::putmask(x, x > 2, x * x); }),
        "float64 (3, 4) 0.5 1 1.5 2 6.25 9 12.25 16 20.25 25 30.25 36");
  NUMPY("putmask(a.copy(), m, 0)", changed(a.copy(), [&](auto& x) { nd::putmask(x, m, 0); }),
        "float64 (3, 4) 0.5 1 1.5 2 0 0 0 0 0 0 0 0");
  NUMPY("putmask(a.copy(), m, [])", changed(a.copy(), [&](auto& x) { nd::putmask(x, m, e); }),
        "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("putmask(a.copy(), d > 1, np.arange(7))",
        changed(a.copy(), [&](auto& x) { nd::putmask(x, d > 1, nd::arange(7)); }),
        "float64 (3, 4) 0 1 2 2 4 5 6 0 4.5 2 3 4");
  NUMPY("putmask(t.copy(), t % 3 == 0, v)",
        changed(nd::array(q.transpose(2, 0, 1))(nd::Slice({}, {}, -1), nd::_, nd::Slice({}, {}, 2)),
                [&](auto& x) { nd::putmask(x, t % 3 == 0, v); }),
        "float64 (4, 2, 2) 3 11 2 23 2 10 14 22 1 5 13 0.5 3 8 2 20");
  NUMPY("[putmask(x.copy(), m, 1) for x in reals]",
        each(reals, [&](auto& r) { return changed(r.copy(), [&](auto& x) { nd::putmask(x, m, 1); }); }),
        "bool (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | int8 (3, 4) 3 1 2 0 1 1 1 1 1 1 1 1 | uint8 (3, 4) 3 1 2 0 1 1 1 1 1 "
        "1 1 1 | int16 (3, 4) 3 1 2 0 1 1 1 1 1 1 1 1 | uint16 (3, 4) 3 1 2 0 1 1 1 1 1 1 1 1 | int32 (3, 4) 3 1 2 0 "
        "1 1 1 1 1 1 1 1 | uint32 (3, 4) 3 1 2 0 1 1 1 1 1 1 1 1 | int64 (3, 4) 3 1 2 0 1 1 1 1 1 1 1 1 | uint64 (3, "
        "4) 3 1 2 0 1 1 1 1 1 1 1 1 | float16 (3, 4) 3 1 2 0 1 1 1 1 1 1 1 1 | float32 (3, 4) 3 1 2 0 1 1 1 1 1 1 1 "
        "1 | float64 (3, 4) 3 1 2 0 1 1 1 1 1 1 1 1");
  NUMPY_RAISES("np.putmask(a, p, v)", nd::putmask(a, p, v), nd::ValueError);
  NUMPY_RAISES("np.putmask(d, m, v)", nd::putmask(d, m, v), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(selected, test::NumpyScene) {
  NUMPY("np.select([a > 4, a > 2], [a, -a], 0)", nd::select({a > 4, a > 2}, {a, -a}, 0),
        "float64 (3, 4) 0 0 0 0 -2.5 -3 -3.5 -4 4.5 5 5.5 6");
  NUMPY("np.select([m, ~m], [a, b])", nd::select({m, ~m}, {a, b}), "float64 (3, 4) 2 -1 0.5 3 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("np.select([m, ~m], [1, 2], default=9)", nd::select({m, ~m}, {1, 2}, 9),
        "int64 (3, 4) 2 2 2 2 1 1 1 1 1 1 1 1");
  NUMPY("np.select([a > 5], [d], -1.5)", nd::select({a > 5}, {d}, -1.5),
        "float64 (3, 4) -1.5 -1.5 -1.5 -1.5 -1.5 -1.5 -1.5 -1.5 -1.5 -1.5 4 3");
  NUMPY("np.select([a > 5, a > 1], [f[0, 0], 7])", nd::select({a > 5, a > 1}, {f(0, 0), 7}),
        "float32 (3, 4) 0 0 7 7 7 7 7 7 7 7 1 1");
  NUMPY("np.select([m[:1], m[:, :1]], [a, d], b)", nd::select({m(nd::Slice(1)), m(nd::_, nd::Slice(1))}, {a, d}, b),
        "float64 (3, 4) 2 -1 0.5 3 7 2 2 5 1 6 4 3");
  NUMPY("np.select([m, m], [a, b], 1j)", nd::select({m, m}, {a, b}, std::complex<double>(0, 1)),
        "complex128 (3, 4) 0 1 0 1 0 1 0 1 2.5 0 3 0 3.5 0 4 0 4.5 0 5 0 5.5 0 6 0");
  NUMPY("np.select([np.isnan(g), g > 2], [0, g], 9)", nd::select({nd::isnan(g), g > 2}, {0, g}, 9),
        "float64 (3, 3) 9 0 3 0 0 0 9 5 9");
  NUMPY("[np.select([d > 2, d > 1], [x, x[:1]], 1) for x in reals]",
        each(reals,
             [&](auto& x) {
               return nd::select({d > 2, d > 1}, {x, x(nd::Slice(1))}, 1);
             }),
        "int64 (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | int8 (3, 4) 3 1 2 1 7 1 2 5 1 6 4 3 | uint8 (3, 4) 3 1 2 1 7 1 2 5 1 "
        "6 4 3 | int16 (3, 4) 3 1 2 1 7 1 2 5 1 6 4 3 | uint16 (3, 4) 3 1 2 1 7 1 2 5 1 6 4 3 | int32 (3, 4) 3 1 2 1 "
        "7 1 2 5 1 6 4 3 | uint32 (3, 4) 3 1 2 1 7 1 2 5 1 6 4 3 | int64 (3, 4) 3 1 2 1 7 1 2 5 1 6 4 3 | uint64 (3, "
        "4) 3 1 2 1 7 1 2 5 1 6 4 3 | float16 (3, 4) 3 1 2 1 7 1 2 5 1 6 4 3 | float32 (3, 4) 3 1 2 1 7 1 2 5 1 6 4 "
        "3 | float64 (3, 4) 3 1 2 1 7 1 2 5 1 6 4 3");
  NUMPY_RAISES("np.select([m], [a, b])", nd::select({m}, {a, b}), nd::ValueError);
  NUMPY_RAISES("np.select([], [])", nd::select({}, {}), nd::ValueError);
  NUMPY_RAISES("np.select([a], [a])", nd::select({a}, {a}), nd::TypeError);
  NUMPY_RAISES("np.select([m], [v])", nd::select({m}, {v}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(pieces, test::NumpyScene) {
  NUMPY("np.piecewise(a, [a < 2, a >= 2], [0, 1])", nd::piecewise(a, {a < 2, a >= 2}, {0, 1}),
        "float64 (3, 4) 0 0 0 1 1 1 1 1 1 1 1 1");
  NUMPY("np.piecewise(a, [a < 2], [-1, lambda x: x * 2])",
        nd::piecewise(a, {a < 2}, {-1, [](const nd::Array& x) { return x * 2; }}),
        "float64 (3, 4) -1 -1 -1 4 5 6 7 8 9 10 11 12");
  NUMPY("np.piecewise(a, [a < 2, a < 4], [lambda x: -x, 7.5])",
        nd::piecewise(a, {a < 2, a < 4}, {[](auto& x) { return -x; }, 7.5}),
        "float64 (3, 4) 7.5 7.5 7.5 7.5 7.5 7.5 7.5 0 0 0 0 0");
  NUMPY("np.piecewise(n, [n > 1], [2.75, -1])", nd::piecewise(n, {n > 1}, {2.75, -1}), "int64 (6) 2 -1 2 -1 -1 2");
  NUMPY("np.piecewise(a, [a > 99], [lambda x: x.max(), 3])",
        nd::piecewise(a, {a > 99}, {[](auto& x) { return x.max(); }, 3}), "float64 (3, 4) 3 3 3 3 3 3 3 3 3 3 3 3");
  NUMPY("np.piecewise(t, [t > 9], [1, lambda x: x])", nd::piecewise(t, {t > 9}, {1, [](auto& x) { return x; }}),
        "float64 (4, 2, 2) 3 1 1 1 2 1 1 1 1 9 1 1 0 8 1 1");
  NUMPY_RAISES("np.piecewise(a, [a < 2], [1, 2, 3])", nd::piecewise(a, {a < 2}, {1, 2, 3}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(found_elements, test::NumpyScene) {
  NUMPY("np.argwhere(m)", nd::argwhere(m), "int64 (8, 2) 1 0 1 1 1 2 1 3 2 0 2 1 2 2 2 3");
  NUMPY("np.argwhere(t > 9)", nd::argwhere(t > 9), "int64 (10, 3) # 27 518");
  NUMPY("np.argwhere(e3)", nd::argwhere(e3), "int64 (0, 2)");
  NUMPY("np.argwhere(zero)", nd::argwhere(zero), "int64 (1, 0)");
  NUMPY("[np.argwhere(x - x[0, 0]) for x in reals[1:]]",
        each({reals.begin() + 1, reals.end()}, [](auto& x) { return nd::argwhere(x - x(0, 0)); }),
        "int64 (10, 2) 0 1 0 2 0 3 1 0 1 1 1 2 1 3 2 0 2 1 2 2 | int64 (10, 2) 0 1 0 2 0 3 1 0 1 1 1 2 1 3 2 0 2 1 2 "
        "2 | int64 (10, 2) 0 1 0 2 0 3 1 0 1 1 1 2 1 3 2 0 2 1 2 2 | int64 (10, 2) 0 1 0 2 0 3 1 0 1 1 1 2 1 3 2 0 2 "
        "1 2 2 | int64 (10, 2) 0 1 0 2 0 3 1 0 1 1 1 2 1 3 2 0 2 1 2 2 | int64 (10, 2) 0 1 0 2 0 3 1 0 1 1 1 2 1 3 2 "
        "0 2 1 2 2 | int64 (10, 2) 0 1 0 2 0 3 1 0 1 1 1 2 1 3 2 0 2 1 2 2 | int64 (10, 2) 0 1 0 2 0 3 1 0 1 1 1 2 1 "
        "3 2 0 2 1 2 2 | int64 (10, 2) 0 1 0 2 0 3 1 0 1 1 1 2 1 3 2 0 2 1 2 2 | int64 (10, 2) 0 1 0 2 0 3 1 0 1 1 1 "
        "2 1 3 2 0 2 1 2 2 | int64 (10, 2) 0 1 0 2 0 3 1 0 1 1 1 2 1 3 2 0 2 1 2 2");
  NUMPY("np.extract(m, a)", nd::extract(m, a), "float64 (8) 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("np.extract(d % 2, t)", nd::extract(d % 2, t), "float64 (6) 3 11 2 22 1 21");
  NUMPY("np.compress([True, False, True], a, axis=1)", nd::compress(nd::array({true, false, true}), a, 1),
        "float64 (3, 2) 0.5 1.5 2.5 3.5 4.5 5.5");
}

BOOST_FIXTURE_TEST_CASE(positions_as_numbers, test::NumpyScene) {
  NUMPY("np.ravel_multi_index((1, 2), (3, 4))", nd::ravel_multi_index({1, 2}, {3, 4}), "int64 () 6");
  NUMPY("np.ravel_multi_index((i, i), (3, 4))", nd::ravel_multi_index({i, i}, {3, 4}), "int64 (3) 10 0 5");
  NUMPY("np.ravel_multi_index((i, 3), (3, 4), order='F')",
        nd::ravel_multi_index({i, 3}, {3, 4}, {.order = nd::Order::F}), "int64 (3) 11 9 10");
  NUMPY("np.ravel_multi_index((n, -n), (3, 4), mode='clip')",
        nd::ravel_multi_index({n, -n}, {3, 4}, {.mode = {"clip"}}), "int64 (6) 8 4 8 4 0 8");
  NUMPY("np.ravel_multi_index((n, -n), (3, 4), mode=('clip', 'wrap'))",
        nd::ravel_multi_index({n, -n}, {3, 4}, {.mode = {"clip", "wrap"}}), "int64 (6) 9 7 10 7 0 9");
  NUMPY("np.ravel_multi_index(np.nonzero(m), m.shape)", nd::ravel_multi_index(nd::nonzero(m), m.shape()),
        "int64 (8) 4 5 6 7 8 9 10 11");
  NUMPY("np.ravel_multi_index((d % 2, d % 3, d % 4), (2, 3, 4))",
        nd::ravel_multi_index({d % 2, d % 3, d % 4}, {2, 3, 4}), "int64 (3, 4) 15 17 10 0 19 10 10 21 17 2 4 15");
  NUMPY("np.ravel_multi_index((i[:, None], n[:2]), (3, 4))",
        nd::ravel_multi_index({i(nd::_, nd::newaxis), n(nd::Slice(2))}, {3, 4}), "int64 (3, 2) 11 9 3 1 7 5");
  NUMPY("np.ravel_multi_index((i.astype(np.uint8),), (3,))",
        nd::ravel_multi_index(std::vector<nd::Array>{i.astype(nd::uint8)}, 3), "int64 (3) 2 0 1");
  NUMPY_RAISES("np.ravel_multi_index((3, 0), (3, 4))", nd::ravel_multi_index({3, 0}, {3, 4}), nd::ValueError);
  NUMPY_RAISES("np.ravel_multi_index((-1, 0), (3, 4))", nd::ravel_multi_index({-1, 0}, {3, 4}), nd::ValueError);
  NUMPY_RAISES("np.ravel_multi_index((1,), (3, 4))", nd::ravel_multi_index({i}, {3, 4}), nd::ValueError);
  NUMPY_RAISES("np.ravel_multi_index((v, v), (3, 4))", nd::ravel_multi_index({v, v}, {3, 4}), nd::TypeError);
  NUMPY_RAISES("np.ravel_multi_index((1, 1), (3, 4), mode='x')", nd::ravel_multi_index({1, 1}, {3, 4}, {.mode = {"x"}}),
               nd::ValueError);
  NUMPY("np.unravel_index(6, (3, 4))", nd::unravel_index(6, {3, 4}), "int64 () 1 | int64 () 2");
  NUMPY("np.unravel_index(d, (3, 4))", nd::unravel_index(d, {3, 4}),
        "int64 (3, 4) 0 0 0 0 1 0 0 1 0 1 1 0 | int64 (3, 4) 3 1 2 0 3 2 2 1 1 2 0 3");
  NUMPY("np.unravel_index(d * 2, (2, 3, 4))", nd::unravel_index(d * 2, {2, 3, 4}),
        "int64 (3, 4) 0 0 0 0 1 0 0 0 0 1 0 0 | int64 (3, 4) 1 0 1 0 0 1 1 2 0 0 2 1 | int64 (3, 4) 2 2 0 0 2 0 0 2 "
        "2 0 0 2");
  NUMPY("np.unravel_index(d, (3, 4), order='F')", nd::unravel_index(d, {3, 4}, nd::Order::F),
        "int64 (3, 4) 0 1 2 0 1 2 2 2 1 0 1 0 | int64 (3, 4) 1 0 0 0 2 0 0 1 0 2 1 1");
  NUMPY("np.unravel_index(np.array([], int), (3, 4))", nd::unravel_index(nd::zeros(0, nd::int64), {3, 4}),
        "int64 (0) | int64 (0)");
  NUMPY("np.unravel_index(i.astype(np.uint8), (5,))", nd::unravel_index(i.astype(nd::uint8), 5), "int64 (3) 2 0 1");
  NUMPY("np.unravel_index(np.arange(1000) * 7919 % 1729, (7, 13, 19))",
        nd::unravel_index(nd::arange(1000) * 7919 % 1729, {7, 13, 19}),
        "int64 (1000) # 3004 1506449 | int64 (1000) # 5974 2999977 | int64 (1000) # 9008 4511523");
  NUMPY_RAISES("np.unravel_index(12, (3, 4))", nd::unravel_index(12, {3, 4}), nd::ValueError);
  NUMPY_RAISES("np.unravel_index(-1, (3, 4))", nd::unravel_index(-1, {3, 4}), nd::ValueError);
  NUMPY_RAISES("np.unravel_index(v, (3, 4))", nd::unravel_index(v, {3, 4}), nd::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
