// roll and flip over several axes, repeat by lists and arrays, axes and shapes by name, concatenate and stack with
// outputs and dtypes, as in NumPy.
#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(rearranging)

BOOST_FIXTURE_TEST_CASE(rolled, test::NumpyScene) {
  NUMPY("np.roll(v, 2)", nd::roll(v, 2), "float64 (6) 4 0.5 3 1 2 5");
  NUMPY("np.roll(a, 5)", nd::roll(a, 5), "float64 (3, 4) 4 4.5 5 5.5 6 0.5 1 1.5 2 2.5 3 3.5");
  NUMPY("np.roll(a, 1, axis=1)", nd::roll(a, 1, 1), "float64 (3, 4) 2 0.5 1 1.5 4 2.5 3 3.5 6 4.5 5 5.5");
  NUMPY("np.roll(a, (1, 2), axis=(0, 1))", nd::roll(a, {1, 2}, {0, 1}),
        "float64 (3, 4) 5.5 6 4.5 5 1.5 2 0.5 1 3.5 4 2.5 3");
  NUMPY("np.roll(a, (1, 1), axis=(0, 0))", nd::roll(a, {1, 1}, {0, 0}),
        "float64 (3, 4) 2.5 3 3.5 4 4.5 5 5.5 6 0.5 1 1.5 2");
  NUMPY("np.roll(a, (5, -9), axis=(-1, 0))", nd::roll(a, {5, -9}, {-1, 0}),
        "float64 (3, 4) 2 0.5 1 1.5 4 2.5 3 3.5 6 4.5 5 5.5");
  NUMPY("np.roll(a, 1, axis=(0, 1))", nd::roll(a, 1, {0, 1}), "float64 (3, 4) 6 4.5 5 5.5 2 0.5 1 1.5 4 2.5 3 3.5");
  NUMPY("np.roll(a, (1, 2), axis=1)", nd::roll(a, {1, 2}, 1), "float64 (3, 4) 1 1.5 2 0.5 3 3.5 4 2.5 5 5.5 6 4.5");
  NUMPY("np.roll(q, (1, 1, -1), axis=(0, 1, 2))", nd::roll(q, {1, 1, -1}, {0, 1, 2}),
        "float64 (2, 3, 4) 21 22 23 20 13 14 15 12 17 18 19 16 9 10 11 8 1 2 3 0 5 6 7 4");
  NUMPY("np.roll(t, (3, 1, 1), axis=(0, 1, 2))", nd::roll(t, {3, 1, 1}, {0, 1, 2}),
        "float64 (4, 2, 2) 22 14 10 2 21 13 9 1 20 12 8 0 23 15 11 3");
  NUMPY("np.roll(e3, (1, 1), axis=(0, 1))", nd::roll(e3, {1, 1}, {0, 1}), "float64 (0, 3)");
  NUMPY("[np.roll(x, (1, 2), (0, 1)) for x in reals]",
        each(reals,
             [](auto& x) {
               return nd::roll(x, {1, 2}, {0, 1});
             }),
        "bool (3, 4) 1 1 1 1 1 0 1 1 1 1 1 1 | int8 (3, 4) 4 3 1 6 2 0 3 1 2 5 7 2 | uint8 (3, 4) 4 3 1 6 2 0 3 1 2 "
        "5 7 2 | int16 (3, 4) 4 3 1 6 2 0 3 1 2 5 7 2 | uint16 (3, 4) 4 3 1 6 2 0 3 1 2 5 7 2 | int32 (3, 4) 4 3 1 6 "
        "2 0 3 1 2 5 7 2 | uint32 (3, 4) 4 3 1 6 2 0 3 1 2 5 7 2 | int64 (3, 4) 4 3 1 6 2 0 3 1 2 5 7 2 | uint64 (3, "
        "4) 4 3 1 6 2 0 3 1 2 5 7 2 | float16 (3, 4) 4 3 1 6 2 0 3 1 2 5 7 2 | float32 (3, 4) 4 3 1 6 2 0 3 1 2 5 7 "
        "2 | float64 (3, 4) 4 3 1 6 2 0 3 1 2 5 7 2");
  NUMPY_RAISES("np.roll(a, (1, 2, 3), axis=(0, 1))", nd::roll(a, {1, 2, 3}, {0, 1}), nd::ValueError);
  NUMPY_RAISES("np.roll(a, (1, 2), axis=(0, 2))", nd::roll(a, {1, 2}, {0, 2}), nd::ValueError);
  BOOST_TEST(!nd::roll(a, {0, 0}, {0, 1}).shares_memory(a));
  NUMPY("np.flip(a)", nd::flip(a), "float64 (3, 4) 6 5.5 5 4.5 4 3.5 3 2.5 2 1.5 1 0.5");
  NUMPY("np.flip(q, (0, 2))", nd::flip(q, {0, 2}),
        "float64 (2, 3, 4) 15 14 13 12 19 18 17 16 23 22 21 20 3 2 1 0 7 6 5 4 11 10 9 8");
  NUMPY("np.flip(t, axis=(1, -1))", nd::flip(t, {1, -1}),
        "float64 (4, 2, 2) 23 15 11 3 22 14 10 2 21 13 9 1 20 12 8 0");
  NUMPY("np.flip(a, 1)", nd::flip(a, 1), "float64 (3, 4) 2 1.5 1 0.5 4 3.5 3 2.5 6 5.5 5 4.5");
  NUMPY_RAISES("np.flip(a, (0, 0))", nd::flip(a, {0, 0}), nd::ValueError);
  NUMPY_RAISES("np.flip(a, 2)", nd::flip(a, 2), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(repeated, test::NumpyScene) {
  NUMPY("np.repeat(v[:3], i, 0)", nd::repeat(v(nd::Slice(3)), i, 0), "float64 (3) 3 3 2");
  NUMPY("np.repeat(v[:3], i)", nd::repeat(v(nd::Slice(3)), i), "float64 (3) 3 3 2");
  NUMPY("np.repeat(a, i, axis=0)", nd::repeat(a, i, 0), "float64 (3, 4) 0.5 1 1.5 2 0.5 1 1.5 2 4.5 5 5.5 6");
  NUMPY("np.repeat(a, [1, 0, 2, 1], axis=1)", nd::repeat(a, {1, 0, 2, 1}, 1),
        "float64 (3, 4) 0.5 1.5 1.5 2 2.5 3.5 3.5 4 4.5 5.5 5.5 6");
  NUMPY("np.repeat(v, n.astype(np.uint8))", nd::repeat(v, n.astype(nd::uint8)),
        "float64 (10) 3 3 3 1 2 2 5 0.5 0.5 0.5");
  NUMPY("np.repeat(a, [2])", nd::repeat(a, nd::array({2})),
        "float64 (24) 0.5 0.5 1 1 1.5 1.5 2 2 2.5 2.5 3 3 3.5 3.5 4 4 4.5 4.5 5 5 5.5 5.5 6 6");
  NUMPY("np.repeat(a, np.array(2), 1)", nd::repeat(a, nd::array(2), 1),
        "float64 (3, 8) 0.5 0.5 1 1 1.5 1.5 2 2 2.5 2.5 3 3 3.5 3.5 4 4 4.5 4.5 5 5 5.5 5.5 6 6");
  NUMPY("np.repeat(v, n)", nd::repeat(v, {3, 1, 2, 1, 0, 3}), "float64 (10) 3 3 3 1 2 2 5 0.5 0.5 0.5");
  NUMPY("np.repeat(f, np.arange(4))", nd::repeat(f, nd::arange(4)), "float32 (6) 2 3 3 4 4 4");
  NUMPY("np.repeat(t, i[:2], -1)", nd::repeat(t, i(nd::Slice(2)), -1),
        "float64 (4, 2, 2) 3 3 15 15 2 2 14 14 1 1 13 13 0 0 12 12");
  NUMPY_RAISES("np.repeat(v, i)", nd::repeat(v, i), nd::ValueError);
  NUMPY_RAISES("np.repeat(v[:3], -i)", nd::repeat(v(nd::Slice(3)), -i), nd::ValueError);
  NUMPY_RAISES("np.repeat(v, w)", nd::repeat(v, w), nd::TypeError);
  NUMPY_RAISES("np.repeat(a, d, 0)", nd::repeat(a, d, 0), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(axes_and_shapes, test::NumpyScene) {
  NUMPY("np.permute_dims(q, (2, 0, 1))", nd::permute_dims(q, {2, 0, 1}),
        "float64 (4, 2, 3) 0 4 8 12 16 20 1 5 9 13 17 21 2 6 10 14 18 22 3 7 11 15 19 23");
  NUMPY("np.permute_dims(q)", nd::permute_dims(q),
        "float64 (4, 3, 2) 0 12 4 16 8 20 1 13 5 17 9 21 2 14 6 18 10 22 3 15 7 19 11 23");
  NUMPY("np.matrix_transpose(q)", nd::matrix_transpose(q),
        "float64 (2, 4, 3) 0 4 8 1 5 9 2 6 10 3 7 11 12 16 20 13 17 21 14 18 22 15 19 23");
  NUMPY_RAISES("np.matrix_transpose(v)", nd::matrix_transpose(v), nd::ValueError);
  NUMPY("np.broadcast_shapes((3, 1), (4,))", nd::broadcast_shapes({3, 1}, {4}), "(3, 4)");
  NUMPY("np.broadcast_shapes((6, 7), (5, 6, 1), (7,))", nd::broadcast_shapes({6, 7}, {5, 6, 1}, {7}), "(5, 6, 7)");
  NUMPY("np.broadcast_shapes((2,), (1,), (3, 1), (1, 1, 1))",
        nd::broadcast_shapes(std::vector<nd::Shape>{{2}, {1}, {3, 1}, {1, 1, 1}}), "(1, 3, 2)");
  NUMPY("np.broadcast_shapes((0, 1), (3,))", nd::broadcast_shapes({0, 1}, 3), "(0, 3)");
  BOOST_TEST(nd::broadcast_shapes(std::vector<nd::Shape>{}) == nd::Shape{});
  NUMPY_RAISES("np.broadcast_shapes((3,), (4,))", nd::broadcast_shapes(3, 4), nd::ValueError);
  NUMPY("np.moveaxis(q, [0, 1], [-1, -2])", nd::moveaxis(q, {0, 1}, {-1, -2}),
        "float64 (4, 3, 2) 0 12 4 16 8 20 1 13 5 17 9 21 2 14 6 18 10 22 3 15 7 19 11 23");
  NUMPY("np.moveaxis(t, 2, 0)", nd::moveaxis(t, 2, 0), "float64 (2, 4, 2) 3 15 2 14 1 13 0 12 11 23 10 22 9 21 8 20");
  NUMPY_RAISES("np.moveaxis(q, [0, 0], [1, 2])", nd::moveaxis(q, {0, 0}, {1, 2}), nd::ValueError);
  NUMPY_RAISES("np.moveaxis(q, [0, 1], [1])", nd::moveaxis(q, {0, 1}, {1}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(joined, test::NumpyScene) {
  NUMPY("np.concatenate([a, v], axis=None)", nd::concatenate({a, v}, {.axis = {}}),
        "float64 (18) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6 3 1 2 5 4 0.5");
  NUMPY("np.concatenate([t, zero, i], axis=None)", nd::concatenate({t, zero, i}, {.axis = {}}),
        "float64 (20) 3 11 15 23 2 10 14 22 1 9 13 21 0 8 12 20 2.5 2 0 1");
  NUMPY("np.concatenate([v, i], dtype=np.float32)", nd::concatenate({v, i}, {.dtype = nd::float32}),
        "float32 (9) 3 1 2 5 4 0.5 2 0 1");
  NUMPY("np.concatenate([v, i], dtype=int, casting='unsafe')",
        nd::concatenate({v, i}, {.dtype = nd::int64, .casting = nd::Casting::unsafe}), "int64 (9) 3 1 2 5 4 0 2 0 1");
  NUMPY("np.concatenate([a, b], axis=1, out=np.zeros((3, 8), np.float32))",
        nd::concatenate({a, b}, {.axis = 1, .out = nd::zeros({3, 8}, nd::float32)}),
        "float32 (3, 8) 0.5 1 1.5 2 2 -1 0.5 3 2.5 3 3.5 4 -2.5 4 1 0.25 4.5 5 5.5 6 1.5 -0.75 6 2");
  // numpy: y = np.zeros((12, 2)); np.concatenate([v, w], out=y[:, 1])
  const nd::Array x = nd::arange(12.), y = nd::zeros({12, 2});
  // The output may be one of the arrays: the halves change places. (NumPy overwrites one before it is read.)
  const nd::Array halves = nd::concatenate({x(nd::Slice(6, {})), x(nd::Slice(6))}, {.out = x});
  BOOST_TEST(bool((x == nd::roll(nd::arange(12.), 6)).all()));
  BOOST_TEST(halves.get() == x.get());
  nd::concatenate({v, w}, {.out = y(nd::_, 1)});
  NUMPY("y", y, "float64 (12, 2) 0 3 0 1 0 2 0 5 0 4 0 0.5 0 1 0 2 0 0.5 0 4 0 1.5 0 3");
  NUMPY("np.stack([a, b], dtype=np.float32)", nd::stack({a, b}, {.dtype = nd::float32}),
        "float32 (2, 3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6 2 -1 0.5 3 -2.5 4 1 0.25 1.5 -0.75 6 2");
  NUMPY("np.stack([a, b], axis=-1, out=np.zeros((3, 4, 2)))",
        nd::stack({a, b}, {.axis = -1, .out = nd::zeros({3, 4, 2})}),
        "float64 (3, 4, 2) 0.5 2 1 -1 1.5 0.5 2 3 2.5 -2.5 3 4 3.5 1 4 0.25 4.5 1.5 5 -0.75 5.5 6 6 2");
  NUMPY("np.stack([v, w], 1, dtype=np.int8, casting='unsafe')",
        nd::stack({v, w}, {.axis = 1, .dtype = nd::int8, .casting = nd::Casting::unsafe}),
        "int8 (6, 2) 3 1 1 2 2 0 5 4 4 1 0 3");
  NUMPY_RAISES("np.concatenate([v, i], dtype=int)", nd::concatenate({v, i}, {.dtype = nd::int64}), nd::TypeError);
  NUMPY_RAISES("np.concatenate([v, i], out=v)", nd::concatenate({v, i}, {.out = v}), nd::ValueError);
  NUMPY_RAISES("np.concatenate([v, v], out=np.zeros(12, int))",
               nd::concatenate({v, v}, {.out = nd::zeros(12, nd::int64)}), nd::TypeError);
  NUMPY_RAISES("np.concatenate([v, v], out=np.zeros(12), dtype=float)",
               nd::concatenate({v, v}, {.out = nd::zeros(12), .dtype = nd::float64}), nd::TypeError);
  NUMPY_RAISES("np.stack([v, i])", nd::stack({v, i}, {.dtype = nd::float64}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(axes_added_and_taken_apart, test::NumpyScene) {
  NUMPY("np.expand_dims(a, (0, 2))", nd::expand_dims(a, {0, 2}),
        "float64 (1, 3, 1, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("np.expand_dims(v, (-1, 0))", nd::expand_dims(v, {-1, 0}), "float64 (1, 6, 1) 3 1 2 5 4 0.5");
  NUMPY("np.expand_dims(a, ())", nd::expand_dims(a, nd::Dims()), "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  BOOST_TEST(nd::expand_dims(a, {0, 2}).shares_memory(a));
  NUMPY_RAISES("np.expand_dims(a, (0, 0))", nd::expand_dims(a, {0, 0}), nd::ValueError);
  NUMPY_RAISES("np.expand_dims(a, (0, 4))", nd::expand_dims(a, {0, 4}), nd::ValueError);
  NUMPY("list(np.unstack(a))", nd::unstack(a),
        "float64 (4) 0.5 1 1.5 2 | float64 (4) 2.5 3 3.5 4 | float64 (4) 4.5 5 5.5 6");
  NUMPY("list(np.unstack(t, axis=-1))", nd::unstack(t, -1),
        "float64 (4, 2) 3 15 2 14 1 13 0 12 | float64 (4, 2) 11 23 10 22 9 21 8 20");
  BOOST_TEST(nd::unstack(e3).empty());
  BOOST_TEST(nd::unstack(a, 1)[2].shares_memory(a));
  NUMPY_RAISES("np.unstack(zero)", nd::unstack(zero), nd::ValueError);
  NUMPY_RAISES("np.unstack(a, axis=2)", nd::unstack(a, 2), nd::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
