// indices, mgrid, ogrid, fromfunction, meshgrid, linspace and logspace of arrays, geomspace and vander as in NumPy.
#include <complex>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;
using namespace std::complex_literals;

BOOST_AUTO_TEST_SUITE(grids)

BOOST_FIXTURE_TEST_CASE(positions_of_elements, test::NumpyScene) {
  NUMPY("np.indices((3, 4))", nd::indices({3, 4}), "int64 (2, 3, 4) 0 0 0 0 1 1 1 1 2 2 2 2 0 1 2 3 0 1 2 3 0 1 2 3");
  NUMPY("np.indices((2, 3), dtype=np.float32)", nd::indices({2, 3}, nd::float32),
        "float32 (2, 2, 3) 0 0 0 1 1 1 0 1 2 0 1 2");
  NUMPY("np.indices((2, 3), np.int8)", nd::indices({2, 3}, {.dtype = nd::int8}),
        "int8 (2, 2, 3) 0 0 0 1 1 1 0 1 2 0 1 2");
  NUMPY("np.indices((2, 3, 2))", nd::indices({2, 3, 2}), "int64 (3, 2, 3, 2) # 24 481");
  NUMPY("np.indices((5,))", nd::indices(5), "int64 (1, 5) 0 1 2 3 4");
  NUMPY("np.indices((0, 2))", nd::indices({0, 2}), "int64 (2, 0, 2)");
  NUMPY("np.indices(())", nd::indices(nd::Shape{}), "int64 (0)");
  NUMPY("np.indices((3, 4), sparse=True)", nd::ogrid({3, 4}), "int64 (3, 1) 0 1 2 | int64 (1, 4) 0 1 2 3");
  NUMPY("np.indices((30, 40))", nd::indices({30, 40}), "int64 (2, 30, 40) # 40800 56336300");
  NUMPY_RAISES("np.indices((-1, 2))", nd::indices({-1, 2}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(grids_of_ranges, test::NumpyScene) {
  NUMPY("np.mgrid[0:3, 0:4]", nd::mgrid({0, 3}, {0, 4}),
        "int64 (2, 3, 4) 0 0 0 0 1 1 1 1 2 2 2 2 0 1 2 3 0 1 2 3 0 1 2 3");
  NUMPY("np.mgrid[0:3, 0:4]", nd::mgrid(nd::Slice(0, 3), nd::Slice(4)),
        "int64 (2, 3, 4) 0 0 0 0 1 1 1 1 2 2 2 2 0 1 2 3 0 1 2 3 0 1 2 3");
  NUMPY("np.mgrid[0:5]", nd::mgrid(nd::Slice(0, 5)), "int64 (5) 0 1 2 3 4");
  NUMPY("np.mgrid[1:2:0.25]", nd::mgrid(nd::GridRange(1, 2, 0.25)), "float64 (4) 1 1.25 1.5 1.75");
  NUMPY("np.mgrid[0:5,]", nd::mgrid({{0, 5}}), "int64 (1, 5) 0 1 2 3 4");
  NUMPY("np.mgrid[0:5, 0:1:0.5]", nd::mgrid({0, 5}, {0, 1, 0.5}),
        "float64 (2, 5, 2) 0 0 1 1 2 2 3 3 4 4 0 0.5 0 0.5 0 0.5 0 0.5 0 0.5");
  NUMPY("np.mgrid[-1:1:5j]", nd::mgrid(nd::GridRange(-1, 1, nd::points(5))), "float64 (5) -1 -0.5 0 0.5 1");
  NUMPY("np.mgrid[-1:1:5j, 0:2]", nd::mgrid({-1, 1, 5i}, {0, 2}),
        "float64 (2, 5, 2) -1 -1 -0.5 -0.5 0 0 0.5 0.5 1 1 0 1 0 1 0 1 0 1 0 1");
  NUMPY("np.mgrid[-1:1:1j, 0:2]", nd::mgrid({-1, 1, nd::points(1)}, {0, 2}), "float64 (2, 1, 2) -1 -1 0 1");
  NUMPY("np.ogrid[5:0:-2, 3:1]", nd::ogrid({5, 0, -2}, {3, 1}), "int64 (3, 1) 5 3 1 | int64 (1, 0)");
  NUMPY("np.mgrid[5:0:-2, 0:2, 1:3]", nd::mgrid({5, 0, -2}, {0, 2}, {1, 3}), "int64 (3, 3, 2, 2) # 60 839");
  NUMPY("np.mgrid[0:2, 0:2, 0:1, 0:3]", nd::mgrid({{0, 2}, {0, 2}, {0, 1}, {0, 3}}), "int64 (4, 2, 2, 1, 3) # 24 695");
  NUMPY("np.ogrid[0:3, 0:4]", nd::ogrid({0, 3}, {0, 4}), "int64 (3, 1) 0 1 2 | int64 (1, 4) 0 1 2 3");
  NUMPY("np.ogrid[0:1:3j, 4:2:-1]", nd::ogrid({0, 1, nd::points(3)}, {4, 2, -1}),
        "float64 (3, 1) 0 0.5 1 | float64 (1, 2) 4 3");
  NUMPY("np.ogrid[0:3, 0:4, 0:2]", nd::ogrid(nd::Slice(0, 3), nd::Slice(0, 4), nd::Slice(0, 2)),
        "int64 (3, 1, 1) 0 1 2 | int64 (1, 4, 1) 0 1 2 3 | int64 (1, 1, 2) 0 1");
  NUMPY("np.ogrid[2:4]", nd::ogrid(nd::Slice(2, 4)), "int64 (2) 2 3");
  NUMPY("np.ogrid[0:2, 0:2, 0:1, 0:3]", nd::ogrid({{0, 2}, {0, 2}, {0, 1}, {0, 3}}),
        "int64 (2, 1, 1, 1) 0 1 | int64 (1, 2, 1, 1) 0 1 | int64 (1, 1, 1, 1) 0 | int64 (1, 1, 1, 3) 0 1 2");
  const auto [rows, columns] = nd::ogrid({0, 3}, {0, 4});
  BOOST_TEST((rows + columns).shape() == (nd::Shape{3, 4}));
  NUMPY_RAISES("np.mgrid[0:3:0]", nd::mgrid(nd::GridRange(0, 3, 0)), nd::ValueError);
  BOOST_CHECK_THROW(nd::mgrid(nd::Slice(0, {})), nd::ValueError);
  BOOST_CHECK_THROW(nd::mgrid(nd::GridRange(1i, 3)), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(functions_of_positions, test::NumpyScene) {
  NUMPY("np.fromfunction(lambda i, j: i + j, (3, 4))", nd::fromfunction([](auto x, auto y) { return x + y; }, {3, 4}),
        "float64 (3, 4) 0 1 2 3 1 2 3 4 2 3 4 5");
  NUMPY("np.fromfunction(lambda i, j: i == j, (3, 3), dtype=int)",
        nd::fromfunction([](const nd::Array& x, const nd::Array& y) { return x == y; }, {3, 3}, nd::int64),
        "bool (3, 3) 1 0 0 0 1 0 0 0 1");
  NUMPY("np.fromfunction(lambda i: i * i, (4,))", nd::fromfunction([](auto x) { return x * x; }, 4),
        "float64 (4) 0 1 4 9");
  NUMPY("np.fromfunction(lambda i, j: i, (2, 3))", nd::fromfunction([](auto x, auto) { return x; }, {2, 3}),
        "float64 (2, 3) 0 0 0 1 1 1");
  NUMPY("np.fromfunction(lambda i, j, k: i + j * k, (2, 2, 2))",
        nd::fromfunction([](auto x, auto y, auto z) { return x + y * z; }, {2, 2, 2}),
        "float64 (2, 2, 2) 0 0 0 1 1 1 1 2");
  NUMPY_RAISES("np.fromfunction(lambda i, j: i, (2,))", nd::fromfunction([](auto x, auto) { return x; }, 2),
               nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(open_meshgrid, test::NumpyScene) {
  NUMPY("np.meshgrid(v[:2], w[:3], sparse=True)", nd::meshgrid({v(nd::Slice(2)), w(nd::Slice(3))}, {.sparse = true}),
        "float64 (1, 2) 3 1 | float64 (3, 1) 1 2 0.5");
  NUMPY("np.meshgrid(v[:2], w[:3], i[:2], sparse=True, indexing='ij', copy=False)",
        nd::meshgrid({v(nd::Slice(2)), w(nd::Slice(3)), i(nd::Slice(2))},
                     {.indexing = "ij", .copy = false, .sparse = true}),
        "float64 (2, 1, 1) 3 1 | float64 (1, 3, 1) 1 2 0.5 | int64 (1, 1, 2) 2 0");
  NUMPY("np.meshgrid(v[:2], zero)", nd::meshgrid({v(nd::Slice(2)), zero}),
        "float64 (1, 2) 3 1 | float64 (1, 2) 2.5 2.5");
  NUMPY("np.meshgrid(v[:2], zero, w[:2], sparse=True)",
        nd::meshgrid({v(nd::Slice(2)), zero, w(nd::Slice(2))}, {.sparse = true}),
        "float64 (1, 2, 1) 3 1 | float64 (1, 1, 1) 2.5 | float64 (1, 1, 2) 1 2");
  const auto [x, y] = nd::meshgrid(v, i);
  NUMPY("np.meshgrid(v, i)", (std::pair{x, y}),
        "float64 (3, 6) 3 1 2 5 4 0.5 3 1 2 5 4 0.5 3 1 2 5 4 0.5 | int64 (3, 6) 2 2 2 2 2 2 0 0 0 0 0 0 1 1 1 1 1 1");
}

BOOST_FIXTURE_TEST_CASE(sequences_between_arrays, test::NumpyScene) {
  NUMPY("np.linspace(v[:2], w[:2], 3)", nd::linspace(v(nd::Slice(2)), w(nd::Slice(2)), 3),
        "float64 (3, 2) 3 1 2 1.5 1 2");
  NUMPY("np.linspace(0, v[:3], 4)", nd::linspace(0, v(nd::Slice(3)), 4),
        "float64 (4, 3) 0 0 0 1 0.333333333 0.666666667 2 0.666666667 1.33333333 3 1 2");
  NUMPY("np.linspace(v[:3], 1, 4, axis=1)", nd::linspace(v(nd::Slice(3)), 1, 4, {.axis = 1}),
        "float64 (3, 4) 3 2.33333333 1.66666667 1 1 1 1 1 2 1.66666667 1.33333333 1");
  NUMPY("np.linspace(v[:3], 1, 4, axis=-1, endpoint=False)",
        nd::linspace(v(nd::Slice(3)), 1, 4, {.endpoint = false, .axis = -1}),
        "float64 (3, 4) 3 2.5 2 1.5 1 1 1 1 2 1.75 1.5 1.25");
  NUMPY("np.linspace(f, [[9], [8]], 3, axis=1)", nd::linspace(f, nd::array({{9}, {8}}), 3, {.axis = 1}),
        "float64 (2, 3, 2) 1 2 5 5.5 9 9 3 4 5.5 6 8 8");
  NUMPY("np.linspace(f, 0, 3)", nd::linspace(f, 0, 3), "float32 (3, 2, 2) 1 2 3 4 0.5 1 1.5 2 0 0 0 0");
  NUMPY("np.linspace(f, 5.5, 3, dtype=int)", nd::linspace(f, 5.5, 3, {.dtype = nd::int64}),
        "int64 (3, 2, 2) 1 2 3 4 3 3 4 4 5 5 5 5");
  NUMPY("np.linspace(-f, 1, 4, dtype=np.int8)", nd::linspace(-f, 1, 4, {.dtype = nd::int8}),
        "int8 (4, 2, 2) -1 -2 -3 -4 -1 -1 -2 -3 0 0 -1 -1 1 1 1 1");
  NUMPY("np.linspace(z, 2j, 3)", nd::linspace(z, 2i, 3),
        "complex128 (3, 4) 3 1 1 2 2 0.5 5 4 1.5 1.5 0.5 2 1 1.25 2.5 3 0 2 0 2 0 2 0 2");
  NUMPY("np.linspace(i, n[:3], 2)", nd::linspace(i, n(nd::Slice(3)), 2), "float64 (2, 3) 2 0 1 3 1 2");
  NUMPY("np.linspace(i, n[:3], 1)", nd::linspace(i, n(nd::Slice(3)), 1), "float64 (1, 3) 2 0 1");
  NUMPY("np.linspace(i, n[:3], 0)", nd::linspace(i, n(nd::Slice(3)), 0), "float64 (0, 3)");
  NUMPY("np.linspace(zero, one, 1, endpoint=False)", nd::linspace(zero, one, 1, {.endpoint = false}),
        "float64 (1, 1) 2.5");
  NUMPY("np.linspace(0, 1, 3, axis=0)", nd::linspace(0, 1, 3, {.axis = 0}), "float64 (3) 0 0.5 1");
  NUMPY("np.linspace(1j, 1, 3)", nd::linspace(1i, 1, 3), "complex128 (3) 0 1 0.5 0.5 1 0");
  NUMPY("np.linspace(0, v)", nd::linspace(0, v), "float64 (50, 6) # 387.5 78075");
  NUMPY("np.linspace(a[::2, ::-1], t[0, 0, 0], 5, axis=1)",
        nd::linspace(a(nd::Slice({}, {}, 2), nd::Slice({}, {}, -1)), t(0, 0, 0), 5, {.axis = 1}),
        "float64 (2, 5, 4) # 125 2930");
  NUMPY("np.linspace(e, 1, 3)", nd::linspace(e, 1, 3), "float64 (3, 0)");
  NUMPY("[np.linspace(x, 7, 3) for x in floats]", each(floats, [](auto& x) { return nd::linspace(x, 7, 3); }),
        "float16 (3, 3, 4) # 139.5 3490.875 | float32 (3, 3, 4) # 139.5 3490.875 | float64 (3, 3, 4) # 139.5 3490.875");
  NUMPY_RAISES("np.linspace(v, 1, -1)", nd::linspace(v, 1, -1), nd::ValueError);
  NUMPY_RAISES("np.linspace(v, i, 3)", nd::linspace(v, i, 3), nd::ValueError);
  NUMPY_RAISES("np.linspace(v, 1, 3, axis=2)", nd::linspace(v, 1, 3, {.axis = 2}), nd::ValueError);
  NUMPY("np.logspace(i, 3, 3)", nd::logspace(i, 3, 3),
        "float64 (3, 3) 100 1 10 316.227766 31.6227766 100 1000 1000 1000");
  NUMPY("np.logspace(f, 1, 3, axis=-1, base=2)", nd::logspace(f, 1, 3, {.base = 2, .axis = -1}),
        "float32 (2, 2, 3) 2 2 2 4 2.82842708 2 8 4 2 16 5.65685415 2");
  NUMPY("np.logspace(0, i, 3, endpoint=False, dtype=np.float32)",
        nd::logspace(0, i, 3, {.endpoint = false, .dtype = nd::float32}),
        "float32 (3, 3) 1 1 1 4.64158869 1 2.15443468 21.5443478 1 4.64158869");
}

BOOST_FIXTURE_TEST_CASE(geometric_sequences, test::NumpyScene) {
  NUMPY("np.geomspace(1, 1000, 4)", nd::geomspace(1, 1000, 4), "float64 (4) 1 10 100 1000");
  NUMPY("np.geomspace(1, 1000, 3, False)", nd::geomspace(1, 1000, 3, false), "float64 (3) 1 10 100");
  NUMPY("np.geomspace(1.5, 300.5, num=5, dtype=int)", nd::geomspace(1.5, 300.5, 5, {.dtype = nd::int64}),
        "int64 (5) 1 5 21 79 300");
  NUMPY("np.geomspace(1000, 1, 4)", nd::geomspace(1000, 1, 4), "float64 (4) 1000 100 10 1");
  NUMPY("np.geomspace(-1000, -1, 4)", nd::geomspace(-1000, -1, 4), "float64 (4) -1000 -100 -10 -1");
  NUMPY("np.geomspace(1j, 1000j, 4)", nd::geomspace(1i, 1000i, 4), "complex128 (4) 0 1 0 10 0 100 0 1000");
  NUMPY("np.geomspace(-1, 1 + 0j, 5)", nd::geomspace(-1, 1. + 0i, 5),
        "complex128 (5) -1 0 -0.707106781 0.707106781 -6.123234e-17 1 0.707106781 0.707106781 1 0");
  NUMPY("np.geomspace(1, 2)", nd::geomspace(1, 2), "float64 (50) # 72.1932358 2051.84676");
  NUMPY("np.geomspace(v[:3], 8, 3)", nd::geomspace(v(nd::Slice(3)), 8, 3),
        "float64 (3, 3) 3 1 2 4.89897949 2.82842712 4 8 8 8");
  NUMPY("np.geomspace(v[:3], -w[:3], 3, axis=1)", nd::geomspace(v(nd::Slice(3)), -w(nd::Slice(3)), 3, {.axis = 1}),
        "float64 (3, 3) 3 nan -1 1 nan -2 2 nan -0.5");
  NUMPY("np.geomspace(f, 16, 3)", nd::geomspace(f, 16, 3),
        "float64 (3, 2, 2) 1 2 3 4 4 5.65685425 6.92820323 8 16 16 16 16");
  NUMPY("np.geomspace(f, 16, 3, dtype=np.float32)", nd::geomspace(f, 16, 3, {.dtype = nd::float32}),
        "float32 (3, 2, 2) 1 2 3 4 4 5.65685415 6.92820311 8 16 16 16 16");
  NUMPY("np.geomspace(z, 2, 3)", nd::geomspace(z, 2, 3),
        "complex128 (3, 4) 3 1 1 2 2 0.5 5 4 2.48239353 0.402837014 1.79890744 1.11178594 2.01532946 0.248098393 "
        "3.37685123 1.18453545 2 1.73651442e-17 2 2.51898468e-17 2 -1.06344058e-17 2 -2.83046454e-18");
  NUMPY("np.geomspace(3, 5, 1)", nd::geomspace(3, 5, 1), "float64 (1) 3");
  NUMPY("np.geomspace(3, 5, 0)", nd::geomspace(3, 5, 0), "float64 (0)");
  NUMPY_RAISES("np.geomspace(0, 5)", nd::geomspace(0, 5), nd::ValueError);
  NUMPY_RAISES("np.geomspace(d, 5)", nd::geomspace(d, 5), nd::ValueError);
  NUMPY_RAISES("np.geomspace(1, 5, -1)", nd::geomspace(1, 5, -1), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(vandermonde, test::NumpyScene) {
  NUMPY("np.vander(v, 3)", nd::vander(v, 3), "float64 (6, 3) 9 3 1 1 1 1 4 2 1 25 5 1 16 4 1 0.25 0.5 1");
  NUMPY("np.vander(v)", nd::vander(v), "float64 (6, 6) # 5705.96875 111312.094");
  NUMPY("np.vander(i, increasing=True)", nd::vander(i, {.increasing = true}), "int64 (3, 3) 1 2 4 1 0 0 1 1 1");
  NUMPY("np.vander(v, 4, True)", nd::vander(v, 4, true),
        "float64 (6, 4) 1 3 9 27 1 1 1 1 1 2 4 8 1 5 25 125 1 4 16 64 1 0.5 0.25 0.125");
  NUMPY("np.vander(v[::-2], N=1)", nd::vander(v(nd::Slice({}, {}, -2)), {.N = 1}), "float64 (3, 1) 1 1 1");
  NUMPY("np.vander(v, 0)", nd::vander(v, 0), "float64 (6, 0)");
  NUMPY("np.vander(e, 3)", nd::vander(e, 3), "float64 (0, 3)");
  NUMPY("np.vander(z, 3)", nd::vander(z, 3),
        "complex128 (4, 3) 8 6 3 1 1 0 -3 4 1 2 1 0 3.75 2 2 0.5 1 0 9 40 5 4 1 0");
  NUMPY("[np.vander(x[0], 3) for x in reals]", each(reals, [](auto& x) { return nd::vander(x(0), 3); }),
        "int64 (4, 3) 1 1 1 1 1 1 1 1 1 0 0 1 | int64 (4, 3) 9 3 1 1 1 1 4 2 1 0 0 1 | int64 (4, 3) 9 3 1 1 1 1 4 2 "
        "1 0 0 1 | int64 (4, 3) 9 3 1 1 1 1 4 2 1 0 0 1 | int64 (4, 3) 9 3 1 1 1 1 4 2 1 0 0 1 | int64 (4, 3) 9 3 1 "
        "1 1 1 4 2 1 0 0 1 | int64 (4, 3) 9 3 1 1 1 1 4 2 1 0 0 1 | int64 (4, 3) 9 3 1 1 1 1 4 2 1 0 0 1 | float64 "
        "(4, 3) 9 3 1 1 1 1 4 2 1 0 0 1 | float64 (4, 3) 9 3 1 1 1 1 4 2 1 0 0 1 | float64 (4, 3) 9 3 1 1 1 1 4 2 1 "
        "0 0 1 | float64 (4, 3) 9 3 1 1 1 1 4 2 1 0 0 1");
  NUMPY_RAISES("np.vander(a)", nd::vander(a), nd::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
