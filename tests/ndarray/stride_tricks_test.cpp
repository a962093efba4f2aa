// as_strided, sliding_window_view, byte_bounds, may_share_memory and shares_memory as in NumPy.
#include <catena/tests/support/ndarray_numpy.h>

BOOST_AUTO_TEST_SUITE(stride_tricks)

BOOST_FIXTURE_TEST_CASE(strided_views, test::NumpyScene) {
  // numpy: as_strided = np.lib.stride_tricks.as_strided
  NUMPY("as_strided(v, (3, 2), (8, 8))", nd::as_strided(v, {3, 2}, {8, 8}), "float64 (3, 2) 3 1 1 2 2 5");
  NUMPY("as_strided(v, (3, 2), (8, 8))", nd::lib::stride_tricks::as_strided(v, {3, 2}, {8, 8}),
        "float64 (3, 2) 3 1 1 2 2 5");
  NUMPY("as_strided(v, shape=(3,))", nd::as_strided(v, {.shape = 3}), "float64 (3) 3 1 2");
  NUMPY("as_strided(a, strides=(8, 32), shape=(4, 3))",
        nd::as_strided(a, {.shape = nd::Shape{4, 3}, .strides = nd::Strides{8, 32}}),
        "float64 (4, 3) 0.5 2.5 4.5 1 3 5 1.5 3.5 5.5 2 4 6");
  NUMPY("as_strided(v[5:], (6,), (-8,))", nd::as_strided(v(nd::Slice(5, {})), nd::Shape{6}, nd::Strides{-8}),
        "float64 (6) 0.5 4 5 2 1 3");
  NUMPY("as_strided(zero, (3, 4), (0, 0))", nd::as_strided(zero, {3, 4}, {0, 0}),
        "float64 (3, 4) 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5");
  NUMPY("as_strided(v, (0, 99), (8, 8))", nd::as_strided(v, {0, 99}, {8, 8}), "float64 (0, 99)");
  NUMPY("as_strided(e, (0, 2), (8, 8))", nd::as_strided(e, {0, 2}, {8, 8}), "float64 (0, 2)");
  NUMPY_RAISES("as_strided(v, (3,), (8, 8))", nd::as_strided(v, nd::Shape{3}, nd::Strides{8, 8}), nd::ValueError);
  NUMPY_RAISES("as_strided(v, (-3,), (8,))", nd::as_strided(v, nd::Shape{-3}, nd::Strides{8}), nd::ValueError);
  const nd::Array small = nd::arange(4.);
  BOOST_CHECK_THROW(nd::as_strided(small, nd::Shape{1 << 20}, nd::Strides{8}), nd::ValueError);
  BOOST_CHECK_THROW(nd::as_strided(small, nd::Shape{2}, nd::Strides{-8}), nd::ValueError);
  BOOST_CHECK_THROW(nd::as_strided(small, nd::Shape{3}, nd::Strides{INT64_MAX}), nd::ValueError);
  BOOST_CHECK_THROW(nd::as_strided(e, nd::Shape{1}, nd::Strides{8}), nd::ValueError);
  const nd::Array view = nd::as_strided(small, {2, 2}, {8, 16});
  view(1, 1) = 9;  // writes through
  BOOST_TEST(small.item<double>(3) == 9);
}

BOOST_FIXTURE_TEST_CASE(windows, test::NumpyScene) {
  // numpy: sliding_window_view = np.lib.stride_tricks.sliding_window_view
  NUMPY("sliding_window_view(v, 3)", nd::sliding_window_view(v, 3), "float64 (4, 3) 3 1 2 1 2 5 2 5 4 5 4 0.5");
  NUMPY("sliding_window_view(v, 6)", nd::sliding_window_view(v, 6), "float64 (1, 6) 3 1 2 5 4 0.5");
  NUMPY("sliding_window_view(v, 1)", nd::sliding_window_view(v, 1), "float64 (6, 1) 3 1 2 5 4 0.5");
  NUMPY("sliding_window_view(v, 0)", nd::sliding_window_view(v, 0), "float64 (7, 0)");
  NUMPY("sliding_window_view(a, (2, 3))", nd::sliding_window_view(a, {2, 3}),
        "float64 (2, 2, 2, 3) 0.5 1 1.5 2.5 3 3.5 1 1.5 2 3 3.5 4 2.5 3 3.5 4.5 5 5.5 3 3.5 4 5 5.5 6");
  NUMPY("sliding_window_view(a, 2, axis=0)", nd::sliding_window_view(a, 2, 0),
        "float64 (2, 4, 2) 0.5 2.5 1 3 1.5 3.5 2 4 2.5 4.5 3 5 3.5 5.5 4 6");
  NUMPY("sliding_window_view(a, 3, axis=-1)", nd::sliding_window_view(a, 3, -1),
        "float64 (3, 2, 3) 0.5 1 1.5 1 1.5 2 2.5 3 3.5 3 3.5 4 4.5 5 5.5 5 5.5 6");
  NUMPY("sliding_window_view(a, (2, 2), axis=(1, 0))", nd::sliding_window_view(a, {2, 2}, {1, 0}),
        "float64 (2, 3, 2, 2) 0.5 2.5 1 3 1 3 1.5 3.5 1.5 3.5 2 4 2.5 4.5 3 5 3 5 3.5 5.5 3.5 5.5 4 6");
  NUMPY("sliding_window_view(a, (2, 3), axis=(1, 1))", nd::sliding_window_view(a, {2, 3}, {1, 1}),
        "float64 (3, 1, 2, 3) 0.5 1 1.5 1 1.5 2 2.5 3 3.5 3 3.5 4 4.5 5 5.5 5 5.5 6");
  NUMPY("sliding_window_view(t, (2, 1, 2))", nd::sliding_window_view(t, {2, 1, 2}),
        "float64 (3, 2, 1, 2, 1, 2) 3 11 2 10 15 23 14 22 2 10 1 9 14 22 13 21 1 9 0 8 13 21 12 20");
  NUMPY("sliding_window_view(v, 3).mean(axis=-1)", nd::sliding_window_view(v, 3).mean(-1),
        "float64 (4) 2 2.66666667 3.66666667 3.16666667");
  NUMPY("sliding_window_view(v, 3)[2]", nd::sliding_window_view(v, 3)(2), "float64 (3) 2 5 4");
  NUMPY("np.lib.stride_tricks.sliding_window_view(i, 2)", nd::lib::stride_tricks::sliding_window_view(i, 2),
        "int64 (2, 2) 2 0 0 1");
  BOOST_TEST(nd::sliding_window_view(v, 3).shares_memory(v));
  NUMPY_RAISES("sliding_window_view(v, 7)", nd::sliding_window_view(v, 7), nd::ValueError);
  NUMPY_RAISES("sliding_window_view(v, -1)", nd::sliding_window_view(v, -1), nd::ValueError);
  NUMPY_RAISES("sliding_window_view(a, 2)", nd::sliding_window_view(a, 2), nd::ValueError);
  NUMPY_RAISES("sliding_window_view(a, 2, axis=2)", nd::sliding_window_view(a, 2, 2), nd::ValueError);
  NUMPY_RAISES("sliding_window_view(a, (3, 3), axis=(1, 1, 1))", nd::sliding_window_view(a, {3, 3}, {1, 1, 1}),
               nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(common_memory, test::NumpyScene) {
  NUMPY("np.shares_memory(a, a[1])", nd::shares_memory(a, a(1)), "bool () 1");
  NUMPY("np.shares_memory(a, b)", nd::shares_memory(a, b), "bool () 0");
  NUMPY("np.shares_memory(v[::2], v[1::2])", nd::shares_memory(v(nd::Slice({}, {}, 2)), v(nd::Slice(1, {}, 2))),
        "bool () 0");
  NUMPY("np.may_share_memory(v[::2], v[1::2])", nd::may_share_memory(v(nd::Slice({}, {}, 2)), v(nd::Slice(1, {}, 2))),
        "bool () 1");
  NUMPY("np.may_share_memory(v[:3], v[3:])", nd::may_share_memory(v(nd::Slice(3)), v(nd::Slice(3, {}))), "bool () 0");
  NUMPY("np.may_share_memory(v[:4], v[3:])", nd::may_share_memory(v(nd::Slice(4)), v(nd::Slice(3, {}))), "bool () 1");
  NUMPY("np.may_share_memory(v[::-1], v[:1])", nd::may_share_memory(v(nd::Slice({}, {}, -1)), v(nd::Slice(1))),
        "bool () 1");
  NUMPY("np.may_share_memory(a, b)", nd::may_share_memory(a, b), "bool () 0");
  NUMPY("np.may_share_memory(v, v[:0])", nd::may_share_memory(v, v(nd::Slice(0))), "bool () 0");
  const auto [begin, end] = nd::byte_bounds(a(nd::Slice({}, {}, -1), nd::Slice(1, 3)));
  const auto [first, last] = nd::byte_bounds(a);
  BOOST_TEST(begin == first + 8);
  BOOST_TEST(end == last - 8);
}

BOOST_AUTO_TEST_SUITE_END()
