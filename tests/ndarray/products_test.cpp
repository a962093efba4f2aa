// kron, cross, vecdot and the other products as in NumPy, and the matrices of parts as in SciPy.
#include <complex>

#include <catena/tests/support/host_matrices.h>
#include <catena/tests/support/ndarray_numpy.h>

using test::each;
namespace linalg = nd::linalg;

BOOST_AUTO_TEST_SUITE(products)

BOOST_FIXTURE_TEST_CASE(kron, test::NumpyScene) {
  NUMPY("np.kron(np.eye(2), f)", nd::kron(nd::eye(2), f), "float64 (4, 4) 1 2 0 0 3 4 0 0 0 0 1 2 0 0 3 4");
  NUMPY("np.kron(i, w)", nd::kron(i, w), "float64 (18) 2 4 1 8 3 6 0 0 0 0 0 0 1 2 0.5 4 1.5 3");
  NUMPY("np.kron(i, f)", nd::kron(i, f), "float64 (2, 6) 2 4 0 0 1 2 6 8 0 0 3 4");
  NUMPY("np.kron(f, i)", nd::kron(f, i), "float64 (2, 6) 2 0 1 4 0 2 6 0 3 8 0 4");
  NUMPY("np.kron(t, f)", nd::kron(t, f), "float64 (4, 4, 4) # 1840 62736");
  NUMPY("np.kron(q, s)", nd::kron(q, s), "float64 (2, 9, 12) # 3450 491583");
  NUMPY("np.kron(f, t)", nd::kron(f, t), "float64 (4, 4, 4) # 1840 62152");
  NUMPY("np.kron(3, f)", nd::kron(3, f), "float64 (2, 2) 3 6 9 12");
  NUMPY("np.kron(f, 2.5)", nd::kron(f, nd::array(2.5)), "float64 (2, 2) 2.5 5 7.5 10");
  NUMPY("np.kron(2, 3)", nd::kron(2, 3), "int64 () 6");
  NUMPY("np.kron(e, v)", nd::kron(e, v), "float64 (0)");
  NUMPY("np.kron(e3, f)", nd::kron(e3, f), "float64 (0, 6)");
  NUMPY("np.kron(one, one)", nd::kron(one, one), "float64 (1) 6.25");
  NUMPY("np.kron(h, h)", nd::kron(h, h), "float64 (16) 1 nan 3 inf nan nan nan nan 3 nan 9 inf inf nan inf inf");
  NUMPY("np.kron(z, i)", nd::kron(z, i), "complex128 (12) 6 2 0 0 3 1 2 4 0 0 1 2 4 1 0 0 2 0.5 10 8 0 0 5 4");
  NUMPY("[np.kron(x[:2, :2], i) for x in reals]",
        each(reals, [&](auto& x) { return nd::kron(x(nd::Slice(2), nd::Slice(2)), i); }),
        "int64 (2, 6) 2 0 1 2 0 1 2 0 1 2 0 1 | int64 (2, 6) 6 0 3 2 0 1 14 0 7 4 0 2 | int64 (2, 6) 6 0 3 2 0 1 14 "
        "0 7 4 0 2 | int64 (2, 6) 6 0 3 2 0 1 14 0 7 4 0 2 | int64 (2, 6) 6 0 3 2 0 1 14 0 7 4 0 2 | int64 (2, 6) 6 "
        "0 3 2 0 1 14 0 7 4 0 2 | int64 (2, 6) 6 0 3 2 0 1 14 0 7 4 0 2 | int64 (2, 6) 6 0 3 2 0 1 14 0 7 4 0 2 | "
        "float64 (2, 6) 6 0 3 2 0 1 14 0 7 4 0 2 | float64 (2, 6) 6 0 3 2 0 1 14 0 7 4 0 2 | float64 (2, 6) 6 0 3 2 "
        "0 1 14 0 7 4 0 2 | float64 (2, 6) 6 0 3 2 0 1 14 0 7 4 0 2");
  NUMPY("[np.kron(x[:1], x[:2, :2]) for x in reals]",
        each(reals, [&](auto& x) { return nd::kron(x(nd::Slice(1)), x(nd::Slice(2), nd::Slice(2))); }),
        "bool (2, 8) 1 1 1 1 1 1 0 0 1 1 1 1 1 1 0 0 | int8 (2, 8) 9 3 3 1 6 2 0 0 21 6 7 2 14 4 0 0 | uint8 (2, 8) "
        "9 3 3 1 6 2 0 0 21 6 7 2 14 4 0 0 | int16 (2, 8) 9 3 3 1 6 2 0 0 21 6 7 2 14 4 0 0 | uint16 (2, 8) 9 3 3 1 "
        "6 2 0 0 21 6 7 2 14 4 0 0 | int32 (2, 8) 9 3 3 1 6 2 0 0 21 6 7 2 14 4 0 0 | uint32 (2, 8) 9 3 3 1 6 2 0 0 "
        "21 6 7 2 14 4 0 0 | int64 (2, 8) 9 3 3 1 6 2 0 0 21 6 7 2 14 4 0 0 | uint64 (2, 8) 9 3 3 1 6 2 0 0 21 6 7 2 "
        "14 4 0 0 | float16 (2, 8) 9 3 3 1 6 2 0 0 21 6 7 2 14 4 0 0 | float32 (2, 8) 9 3 3 1 6 2 0 0 21 6 7 2 14 4 "
        "0 0 | float64 (2, 8) 9 3 3 1 6 2 0 0 21 6 7 2 14 4 0 0");
  nd::Shape deep = nd::Shape::filled(17, 1);
  BOOST_CHECK_THROW(nd::kron(nd::ones(deep), 2), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(cross, test::NumpyScene) {
  NUMPY("np.cross(s[0], s[1])", nd::cross(s(0), s(1)), "float64 (3) -1.25 -0.5 11");
  NUMPY("np.cross(s, s[::-1])", nd::cross(s, s(nd::Slice({}, {}, -1))),
        "float64 (3, 3) 1.875 -7.75 0.5 0 0 0 -1.875 7.75 -0.5");
  NUMPY("np.cross(s, i)", nd::cross(s, i), "float64 (3, 3) 1 -3 -2 3 -0.5 -6 0.25 3.5 -0.5");
  NUMPY("np.cross(i, s)", nd::cross(i, s), "float64 (3, 3) -1 3 2 -3 0.5 6 -0.25 -3.5 0.5");
  NUMPY("np.cross(a, b, axis=0)", nd::cross(a, b, {.axis = 0}),
        "float64 (3, 4) 15 -22.25 15.5 6.5 8.25 -4.25 -6.25 14 -6.25 7 -0.25 -11.5");
  NUMPY("np.cross(a, b, 0, 0)", nd::cross(a, b, 0, 0),
        "float64 (4, 3) 15 8.25 -6.25 -22.25 -4.25 7 15.5 -6.25 -0.25 6.5 14 -11.5");
  NUMPY("np.cross(a, b, 0, 0, 0)", nd::cross(a, b, 0, 0, 0),
        "float64 (3, 4) 15 -22.25 15.5 6.5 8.25 -4.25 -6.25 14 -6.25 7 -0.25 -11.5");
  NUMPY("np.cross(a, b.T, axisa=0)", nd::cross(a, b.T(), {.axisa = 0}),
        "float64 (4, 3) 15 8.25 -6.25 -22.25 -4.25 7 15.5 -6.25 -0.25 6.5 14 -11.5");
  NUMPY("np.cross(a.T, b, axisb=0, axisc=0)", nd::cross(a.T(), b, {.axisb = 0, .axisc = 0}),
        "float64 (3, 4) 15 -22.25 15.5 6.5 8.25 -4.25 -6.25 14 -6.25 7 -0.25 -11.5");
  NUMPY("np.cross(q[:1, :3, :3], s[:, None])",
        nd::cross(q(nd::_, nd::Slice(3), nd::Slice(3))(nd::Slice(1)), s(nd::_, nd::newaxis)),
        "float64 (3, 3, 3) # -0.75 -20.25");
  NUMPY("np.cross(g, g[::-1])", nd::cross(g, g(nd::Slice({}, {}, -1))),
        "float64 (3, 3) nan inf nan nan nan nan nan -inf nan");
  NUMPY("np.cross(e3, i)", nd::cross(e3, i), "float64 (0, 3)");
  NUMPY("np.cross(z[:3], s)", nd::cross(z(nd::Slice(3)), s),
        "complex128 (3, 3) -1.5 0.5 6.5 1.5 -1 -7 -5.75 -1 1.25 0.25 8 1 1.5 3.875 -5 -1.75 0.25 -0.75");
  NUMPY("np.cross(f, f[::-1])", nd::cross(f, f(nd::Slice({}, {}, -1))), "float32 (2) -2 2");
  NUMPY("np.cross(f[0], s)", nd::cross(f(0), s), "float64 (3, 3) 1 -0.5 -7 0.5 -0.25 1 4 -2 -0.75");
  NUMPY("np.cross(s, f[0])", nd::cross(s, f(0)), "float64 (3, 3) -1 0.5 7 -0.5 0.25 -1 -4 2 0.75");
  NUMPY("np.cross(s, f[0], axisc=0)", nd::cross(s, f(0), {.axisc = 0}),
        "float64 (3, 3) -1 -0.5 -4 0.5 0.25 2 7 -1 0.75");
  NUMPY("[np.cross(x.T, i) for x in reals[1:]]",
        each({reals.begin() + 1, reals.end()}, [&](auto& x) { return nd::cross(x.T(), i); }),
        "int64 (4, 3) 7 -1 -14 2 11 -4 2 6 -4 5 6 -10 | int64 (4, 3) 7 -1 -14 2 11 -4 2 6 -4 5 6 -10 | int64 (4, 3) "
        "7 -1 -14 2 11 -4 2 6 -4 5 6 -10 | int64 (4, 3) 7 -1 -14 2 11 -4 2 6 -4 5 6 -10 | int64 (4, 3) 7 -1 -14 2 11 "
        "-4 2 6 -4 5 6 -10 | int64 (4, 3) 7 -1 -14 2 11 -4 2 6 -4 5 6 -10 | int64 (4, 3) 7 -1 -14 2 11 -4 2 6 -4 5 6 "
        "-10 | float64 (4, 3) 7 -1 -14 2 11 -4 2 6 -4 5 6 -10 | float64 (4, 3) 7 -1 -14 2 11 -4 2 6 -4 5 6 -10 | "
        "float64 (4, 3) 7 -1 -14 2 11 -4 2 6 -4 5 6 -10 | float64 (4, 3) 7 -1 -14 2 11 -4 2 6 -4 5 6 -10");
  NUMPY("[np.cross(x.T, x.T[::-1]) for x in complexes]",
        each(complexes, [&](auto& x) { return nd::cross(x.T(), x.T()(nd::Slice({}, {}, -1))); }),
        "complex64 (4, 3) 76 -2 -45 0 79 2 -12 4 40 0 -18 -4 12 -4 -40 0 18 4 -76 2 45 0 -79 -2 | complex128 (4, 3) "
        "76 -2 -45 0 79 2 -12 4 40 0 -18 -4 12 -4 -40 0 18 4 -76 2 45 0 -79 -2");
  NUMPY_RAISES("np.cross(a, b)", nd::cross(a, b), nd::ValueError);
  NUMPY_RAISES("np.cross(i, v)", nd::cross(i, v), nd::ValueError);
  NUMPY_RAISES("np.cross(zero, i)", nd::cross(zero, i), nd::ValueError);
  NUMPY_RAISES("np.cross(s, i, axis=2)", nd::cross(s, i, {.axis = 2}), nd::Error);
  NUMPY_RAISES("np.cross(s[:2], q[:, :, :3])", nd::cross(s(nd::Slice(2)), q(nd::_, nd::_, nd::Slice(3))),
               nd::ValueError);
  NUMPY_RAISES("np.cross(i > 0, i > 0)", nd::cross(i > 0, i > 0), nd::TypeError);
  NUMPY("np.linalg.cross(s, i)", linalg::cross(s, i), "float64 (3, 3) 1 -3 -2 3 -0.5 -6 0.25 3.5 -0.5");
  NUMPY("np.linalg.cross(a, b, axis=0)", linalg::cross(a, b, 0),
        "float64 (3, 4) 15 -22.25 15.5 6.5 8.25 -4.25 -6.25 14 -6.25 7 -0.25 -11.5");
  NUMPY_RAISES("np.linalg.cross(f, f)", linalg::cross(f, f), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(vectors, test::NumpyScene) {
  NUMPY("np.vecdot(a, b)", nd::vecdot(a, b), "float64 (3) 6.75 10.25 48");
  NUMPY("np.vecdot(v, w)", nd::vecdot(v, w), "float64 () 33.5");
  NUMPY("np.vecdot(a, b, axis=0)", nd::vecdot(a, b, {.axis = 0}), "float64 (4) 1.5 7.25 37.25 19");
  NUMPY("np.vecdot(q, a)", nd::vecdot(q, a), "float64 (2, 3) 10 74 202 70 230 454");
  NUMPY("np.vecdot(q, a[0])", nd::vecdot(q, a(0)), "float64 (2, 3) 10 30 50 70 90 110");
  NUMPY("np.vecdot(t, t[0])", nd::vecdot(t, t(0)), "float64 (4, 2) 130 754 116 716 102 678 88 640");
  NUMPY("np.vecdot(z, z)", nd::vecdot(z, z), "complex128 () 60.25 0");
  NUMPY("np.vecdot(z, w[:4])", nd::vecdot(z, w(nd::Slice(4))), "complex128 () 26 -21.25");
  NUMPY("np.vecdot(e, e)", nd::vecdot(e, e), "float64 () 0");
  NUMPY("np.vecdot(e3, i)", nd::vecdot(e3, i), "float64 (0)");
  NUMPY("[np.vecdot(x, x) for x in reals]", each(reals, [](auto& x) { return nd::vecdot(x, x); }),
        "bool (3) 1 1 1 | int8 (3) 14 82 62 | uint8 (3) 14 82 62 | int16 (3) 14 82 62 | uint16 (3) 14 82 62 | int32 "
        "(3) 14 82 62 | uint32 (3) 14 82 62 | int64 (3) 14 82 62 | uint64 (3) 14 82 62 | float16 (3) 14 82 62 | "
        "float32 (3) 14 82 62 | float64 (3) 14 82 62");
  NUMPY("[np.vecdot(x, d) for x in complexes]", each(complexes, [&](auto& x) { return nd::vecdot(x, d); }),
        "complex128 (3) 14 34 82 164 62 34 | complex128 (3) 14 34 82 164 62 34");
  NUMPY_RAISES("np.vecdot(a, v)", nd::vecdot(a, v), nd::ValueError);
  NUMPY_RAISES("np.vecdot(v, one)", nd::vecdot(v, one), nd::ValueError);
  NUMPY_RAISES("np.vecdot(zero, v)", nd::vecdot(zero, v), nd::ValueError);
  NUMPY("np.linalg.vecdot(a, b, axis=0)", linalg::vecdot(a, b, 0), "float64 (4) 1.5 7.25 37.25 19");
  NUMPY("np.linalg.vecdot(a, b)", linalg::vecdot(a, b), "float64 (3) 6.75 10.25 48");
  NUMPY("np.matvec(s, i)", nd::matvec(s, i), "float64 (3) 8.5 2.25 3");
  NUMPY("np.matvec(q[:, None], b)", nd::matvec(q(nd::_, nd::newaxis), b),
        "float64 (2, 3, 3) 9 27 45 6.75 17.75 28.75 17.25 52.25 87.25 63 81 99 39.75 50.75 61.75 122.25 157.25 192.25");
  NUMPY("np.matvec(t, t[:, 0])", nd::matvec(t, t(nd::_, 0)), "float64 (4, 2) 130 298 104 248 82 202 64 160");
  NUMPY_RAISES("np.matvec(s, v)", nd::matvec(s, v), nd::ValueError);
  NUMPY_RAISES("np.matvec(v, v)", nd::matvec(v, v), nd::ValueError);
  NUMPY("np.vecmat(i, s)", nd::vecmat(i, s), "float64 (3) 8.5 2.25 3");
  NUMPY("np.vecmat(z, a.T)", nd::vecmat(z, a.T()), "complex128 (3) 15.5 -11.25 37.5 -26.25 59.5 -41.25");
  NUMPY("np.vecmat(t[:, 0], t)", nd::vecmat(t(nd::_, 0), t), "float64 (4, 2) 174 286 144 240 118 198 96 160");
  NUMPY_RAISES("np.vecmat(zero, s)", nd::vecmat(zero, s), nd::ValueError);
  NUMPY_RAISES("np.vecmat(v, s)", nd::vecmat(v, s), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(names_of_the_standard, test::NumpyScene) {
  NUMPY("np.matrix_transpose(q)", nd::matrix_transpose(q),
        "float64 (2, 4, 3) 0 4 8 1 5 9 2 6 10 3 7 11 12 16 20 13 17 21 14 18 22 15 19 23");
  NUMPY("np.linalg.matrix_transpose(a)", linalg::matrix_transpose(a),
        "float64 (4, 3) 0.5 2.5 4.5 1 3 5 1.5 3.5 5.5 2 4 6");
  NUMPY_RAISES("np.matrix_transpose(v)", nd::matrix_transpose(v), nd::ValueError);
  NUMPY("np.linalg.outer(i, v)", linalg::outer(i, v), "float64 (3, 6) 6 2 4 10 8 1 0 0 0 0 0 0 3 1 2 5 4 0.5");
  NUMPY_RAISES("np.linalg.outer(a, v)", linalg::outer(a, v), nd::ValueError);
  NUMPY("np.linalg.matmul(s, a)", linalg::matmul(s, a),
        "float64 (3, 4) 6.75 9.5 12.25 15 9.125 11.25 13.375 15.5 9.875 11.25 12.625 14");
  NUMPY("np.linalg.tensordot(q, a, axes=2)", linalg::tensordot(q, a, 2), "float64 (2) 286 754");
  NUMPY("np.linalg.trace(q)", linalg::trace(q), "float64 (2) 15 51");
  NUMPY("np.linalg.trace(q, offset=1)", linalg::trace(q, 1), "float64 (2) 18 54");
  NUMPY("np.linalg.trace(d, dtype=np.float32)", linalg::trace(d, 0, nd::float32), "float32 () 9");
  NUMPY("np.linalg.diagonal(q)", linalg::diagonal(q), "float64 (2, 3) 0 5 10 12 17 22");
  NUMPY("np.linalg.diagonal(q, offset=-1)", linalg::diagonal(q, -1), "float64 (2, 2) 4 9 16 21");
}

BOOST_FIXTURE_TEST_CASE(multi_dot, test::NumpyScene) {
  NUMPY("np.linalg.multi_dot([a, b.T])", linalg::multi_dot({a, b.T()}),
        "float64 (3, 3) 6.75 4.75 13 15.75 10.25 30.5 24.75 15.75 48");
  NUMPY("np.linalg.multi_dot([a, b.T, s])", linalg::multi_dot({a, b.T(), s}),
        "float64 (3, 3) 38.25 24.25 30.5625 88.5 54.125 71.4375 138.75 84 112.3125");
  NUMPY("np.linalg.multi_dot([i, a, b.T, s, i])", linalg::multi_dot({i, a, b.T(), s, i}), "float64 () 603.9375");
  NUMPY("np.linalg.multi_dot([i, a, b.T, s])", linalg::multi_dot({i, a, b.T(), s}),
        "float64 (3) 215.25 132.5 173.4375");
  NUMPY("np.linalg.multi_dot([s, a, b.T, i])", linalg::multi_dot({s, a, b.T(), i}),
        "float64 (3) 216.75 236.875 223.75");
  NUMPY("np.linalg.multi_dot([v, w])", linalg::multi_dot({v, w}), "float64 () 33.5");
  NUMPY("np.linalg.multi_dot([e3.T, e3, s])", linalg::multi_dot({e3.T(), e3, s}), "float64 (3, 3) 0 0 0 0 0 0 0 0 0");
  NUMPY("np.linalg.multi_dot([d, a.T, d.astype(np.float32)])", linalg::multi_dot({d, a.T(), d.astype(nd::float32)}),
        "float64 (3, 4) 168.5 217.5 164 176 491.5 614.5 468 500 455.5 558.5 428 456");
  NUMPY("[np.linalg.multi_dot([x.T, i[:, None] * x, x.T]) for x in complexes]",
        each(complexes,
             [&](auto& x) {
               return linalg::multi_dot({x.T(), i(nd::_, nd::newaxis) * x, x.T()});
             }),
        "complex128 (4, 3) -2639 682 -2292 -6 -1316 -812 -2710 4670 -4266 2412 -3850 500 -2836 3068 -3588 1416 -2884 "
        "-88 -969 2352 -1854 1278 -1806 408 | complex128 (4, 3) -2639 682 -2292 -6 -1316 -812 -2710 4670 -4266 2412 "
        "-3850 500 -2836 3068 -3588 1416 -2884 -88 -969 2352 -1854 1278 -1806 408");
  nd::Array out = nd::zeros({3, 3});
  NUMPY("np.linalg.multi_dot([a, b.T, s])", linalg::multi_dot({a, b.T(), s}, {.out = out}),
        "float64 (3, 3) 38.25 24.25 30.5625 88.5 54.125 71.4375 138.75 84 112.3125");
  NUMPY("np.linalg.multi_dot([a, b.T, s])", out,
        "float64 (3, 3) 38.25 24.25 30.5625 88.5 54.125 71.4375 138.75 84 112.3125");
  NUMPY_RAISES("np.linalg.multi_dot([a])", linalg::multi_dot({a}), nd::ValueError);
  NUMPY_RAISES("np.linalg.multi_dot([a, b, s])", linalg::multi_dot({a, b, s}), nd::ValueError);
  NUMPY_RAISES("np.linalg.multi_dot([a, v, s])", linalg::multi_dot({a, v, s}), nd::LinAlgError);
  NUMPY_RAISES("np.linalg.multi_dot([q, a.T, s])", linalg::multi_dot({q, a.T(), s}), nd::LinAlgError);
  NUMPY_RAISES("np.linalg.multi_dot([a, b.T, s], out=np.zeros(3))",
               linalg::multi_dot({a, b.T(), s}, {.out = nd::zeros(3)}), nd::ValueError);
}

// Long chains of matrices of different sizes against the products from left to right.
BOOST_AUTO_TEST_CASE(chains) {
  std::mt19937 random(5);
  for (int n = 2; n < 9; ++n) {
    std::vector<nd::Array> chain;
    std::int64_t rows = 1 + std::int64_t(random() % 30);
    for (int k = 0; k < n; ++k) {
      const std::int64_t columns = 1 + std::int64_t(random() % 30);
      chain.push_back(test::normal_array({rows, columns}, nd::float64, random));
      rows = columns;
    }
    test::Matrix product = test::matrices_of(chain[0])[0];
    for (int k = 1; k < n; ++k) product = product * test::matrices_of(chain[std::size_t(k)])[0];
    BOOST_TEST(test::distance(test::matrices_of(linalg::multi_dot(chain))[0], product) < 1e-11);
  }
}

BOOST_FIXTURE_TEST_CASE(khatri_rao, test::NumpyScene) {
  // numpy: import scipy.linalg as sl
  NUMPY("sl.khatri_rao(a, b)", linalg::khatri_rao(a, b), "float64 (9, 4) # 169.5 4193.25");
  NUMPY("sl.khatri_rao(s, g)", linalg::khatri_rao(s, g), "float64 (9, 3) # nan nan");
  NUMPY("sl.khatri_rao(f, f)", linalg::khatri_rao(f, f), "float32 (4, 2) 1 4 3 8 3 8 9 16");
  NUMPY("sl.khatri_rao(d, a[:1])", linalg::khatri_rao(d, a(nd::Slice(1))),
        "float64 (3, 4) 1.5 1 3 0 3.5 2 3 10 0.5 6 6 6");
  NUMPY("sl.khatri_rao(e3, s)", linalg::khatri_rao(e3, s), "float64 (0, 3)");
  NUMPY("[sl.khatri_rao(x[:2], d) for x in reals]",
        each(reals, [&](auto& x) { return linalg::khatri_rao(x(nd::Slice(2)), d); }),
        "int64 (6, 4) 3 1 2 0 7 2 2 0 1 6 4 0 3 1 2 0 7 2 2 5 1 6 4 3 | int64 (6, 4) 9 1 4 0 21 2 4 0 3 6 8 0 21 2 4 "
        "0 49 4 4 25 7 12 8 15 | int64 (6, 4) 9 1 4 0 21 2 4 0 3 6 8 0 21 2 4 0 49 4 4 25 7 12 8 15 | int64 (6, 4) 9 "
        "1 4 0 21 2 4 0 3 6 8 0 21 2 4 0 49 4 4 25 7 12 8 15 | int64 (6, 4) 9 1 4 0 21 2 4 0 3 6 8 0 21 2 4 0 49 4 4 "
        "25 7 12 8 15 | int64 (6, 4) 9 1 4 0 21 2 4 0 3 6 8 0 21 2 4 0 49 4 4 25 7 12 8 15 | int64 (6, 4) 9 1 4 0 21 "
        "2 4 0 3 6 8 0 21 2 4 0 49 4 4 25 7 12 8 15 | int64 (6, 4) 9 1 4 0 21 2 4 0 3 6 8 0 21 2 4 0 49 4 4 25 7 12 "
        "8 15 | float64 (6, 4) 9 1 4 0 21 2 4 0 3 6 8 0 21 2 4 0 49 4 4 25 7 12 8 15 | float64 (6, 4) 9 1 4 0 21 2 4 "
        "0 3 6 8 0 21 2 4 0 49 4 4 25 7 12 8 15 | float64 (6, 4) 9 1 4 0 21 2 4 0 3 6 8 0 21 2 4 0 49 4 4 25 7 12 8 "
        "15 | float64 (6, 4) 9 1 4 0 21 2 4 0 3 6 8 0 21 2 4 0 49 4 4 25 7 12 8 15");
  NUMPY("[sl.khatri_rao(x[:2], d) for x in complexes]",
        each(complexes, [&](auto& x) { return linalg::khatri_rao(x(nd::Slice(2)), d); }),
        "complex128 (6, 4) 9 -6 1 -12 4 -16 0 0 21 -14 2 -24 4 -16 0 -30 3 -2 6 -72 8 -32 0 -18 21 -42 2 -4 4 -8 0 0 "
        "49 -98 4 -8 4 -8 25 -50 7 -14 12 -24 8 -16 15 -30 | complex128 (6, 4) 9 -6 1 -12 4 -16 0 0 21 -14 2 -24 4 "
        "-16 0 -30 3 -2 6 -72 8 -32 0 -18 21 -42 2 -4 4 -8 0 0 49 -98 4 -8 4 -8 25 -50 7 -14 12 -24 8 -16 15 -30");
  BOOST_TEST(linalg::khatri_rao(q, t.T()(nd::_, nd::_, nd::Slice(4))).shape() == (nd::Shape{2, 6, 4}));
  NUMPY_RAISES("sl.khatri_rao(a, s)", linalg::khatri_rao(a, s), nd::ValueError);
  NUMPY_RAISES("sl.khatri_rao(v, a)", linalg::khatri_rao(v, a), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(block_diag, test::NumpyScene) {
  // numpy: import scipy.linalg as sl
  NUMPY("sl.block_diag(f, i, 3)", linalg::block_diag(f, i, 3),
        "float64 (4, 6) 1 2 0 0 0 0 3 4 0 0 0 0 0 0 2 0 1 0 0 0 0 0 0 3");
  NUMPY("sl.block_diag(f, i, 3)", linalg::block_diag({f, i, 3}),
        "float64 (4, 6) 1 2 0 0 0 0 3 4 0 0 0 0 0 0 2 0 1 0 0 0 0 0 0 3");
  NUMPY("sl.block_diag(f)", linalg::block_diag(f), "float32 (2, 2) 1 2 3 4");
  NUMPY("sl.block_diag(2)", linalg::block_diag(2), "int64 (1, 1) 2");
  NUMPY("sl.block_diag()", linalg::block_diag(), "float64 (1, 0)");
  NUMPY("sl.block_diag(e, f)", linalg::block_diag(e, f), "float64 (3, 2) 0 0 1 2 3 4");
  NUMPY("sl.block_diag(f, e3)", linalg::block_diag(f, e3), "float64 (2, 5) 1 2 0 0 0 3 4 0 0 0");
  NUMPY("sl.block_diag(t[:2], f)", linalg::block_diag(t(nd::Slice(2)), f), "float64 (2, 4, 4) # 120 1678");
  NUMPY("sl.block_diag(z, f)", linalg::block_diag(z, f),
        "complex128 (3, 6) 3 1 1 2 2 0.5 5 4 0 0 0 0 0 0 0 0 0 0 0 0 1 0 2 0 0 0 0 0 0 0 0 0 3 0 4 0");
  NUMPY("[sl.block_diag(x[:1], x[:2, 1:2]) for x in reals]",
        each(reals, [](auto& x) { return linalg::block_diag(x(nd::Slice(1)), x(nd::Slice(2), nd::Slice(1, 2))); }),
        "bool (3, 5) 1 1 1 0 0 0 0 0 0 1 0 0 0 0 1 | int8 (3, 5) 3 1 2 0 0 0 0 0 0 1 0 0 0 0 2 | uint8 (3, 5) 3 1 2 "
        "0 0 0 0 0 0 1 0 0 0 0 2 | int16 (3, 5) 3 1 2 0 0 0 0 0 0 1 0 0 0 0 2 | uint16 (3, 5) 3 1 2 0 0 0 0 0 0 1 0 "
        "0 0 0 2 | int32 (3, 5) 3 1 2 0 0 0 0 0 0 1 0 0 0 0 2 | uint32 (3, 5) 3 1 2 0 0 0 0 0 0 1 0 0 0 0 2 | int64 "
        "(3, 5) 3 1 2 0 0 0 0 0 0 1 0 0 0 0 2 | uint64 (3, 5) 3 1 2 0 0 0 0 0 0 1 0 0 0 0 2 | float16 (3, 5) 3 1 2 0 "
        "0 0 0 0 0 1 0 0 0 0 2 | float32 (3, 5) 3 1 2 0 0 0 0 0 0 1 0 0 0 0 2 | float64 (3, 5) 3 1 2 0 0 0 0 0 0 1 0 "
        "0 0 0 2");
  NUMPY_RAISES("sl.block_diag(t[:2], t[:3])", linalg::block_diag(t(nd::Slice(2)), t(nd::Slice(3))), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(toeplitz, test::NumpyScene) {
  // numpy: import scipy.linalg as sl
  NUMPY("sl.toeplitz(i)", linalg::toeplitz(i), "int64 (3, 3) 2 0 1 0 2 0 1 0 2");
  NUMPY("sl.toeplitz(i, w[:4])", linalg::toeplitz(i, w(nd::Slice(4))), "float64 (3, 4) 2 2 0.5 4 0 2 2 0.5 1 0 2 2");
  NUMPY("sl.toeplitz(w[:4], i)", linalg::toeplitz(w(nd::Slice(4)), i), "float64 (4, 3) 1 0 1 2 1 0 0.5 2 1 4 0.5 2");
  NUMPY("sl.toeplitz(z)", linalg::toeplitz(z),
        "complex128 (4, 4) 3 1 1 -2 2 -0.5 5 -4 1 2 3 1 1 -2 2 -0.5 2 0.5 1 2 3 1 1 -2 5 4 2 0.5 1 2 3 1");
  NUMPY("sl.toeplitz(z, i)", linalg::toeplitz(z, i),
        "complex128 (4, 3) 3 1 0 0 1 0 1 2 3 1 0 0 2 0.5 1 2 3 1 5 4 2 0.5 1 2");
  NUMPY("sl.toeplitz(2)", linalg::toeplitz(2), "int64 (1, 1) 2");
  NUMPY("sl.toeplitz(2, i)", linalg::toeplitz(2, i), "int64 (1, 3) 2 0 1");
  NUMPY("sl.toeplitz(i, 2)", linalg::toeplitz(i, 2), "int64 (3, 1) 2 0 1");
  NUMPY("sl.toeplitz(e)", linalg::toeplitz(e), "float64 (0, 0)");
  NUMPY("sl.toeplitz(i, e)", linalg::toeplitz(i, e), "float64 (3, 0)");
  NUMPY("sl.toeplitz(f)", linalg::toeplitz(f), "float32 (2, 2, 2) 1 2 2 1 3 4 4 3");
  NUMPY("sl.toeplitz(t[0], t[1])", linalg::toeplitz(t(0), t(1)), "float64 (2, 2, 2) 3 10 11 3 15 22 23 15");
  NUMPY("[sl.toeplitz(x[0]) for x in reals]", each(reals, [](auto& x) { return linalg::toeplitz(x(0)); }),
        "bool (4, 4) 1 1 1 0 1 1 1 1 1 1 1 1 0 1 1 1 | int8 (4, 4) 3 1 2 0 1 3 1 2 2 1 3 1 0 2 1 3 | uint8 (4, 4) 3 "
        "1 2 0 1 3 1 2 2 1 3 1 0 2 1 3 | int16 (4, 4) 3 1 2 0 1 3 1 2 2 1 3 1 0 2 1 3 | uint16 (4, 4) 3 1 2 0 1 3 1 "
        "2 2 1 3 1 0 2 1 3 | int32 (4, 4) 3 1 2 0 1 3 1 2 2 1 3 1 0 2 1 3 | uint32 (4, 4) 3 1 2 0 1 3 1 2 2 1 3 1 0 "
        "2 1 3 | int64 (4, 4) 3 1 2 0 1 3 1 2 2 1 3 1 0 2 1 3 | uint64 (4, 4) 3 1 2 0 1 3 1 2 2 1 3 1 0 2 1 3 | "
        "float16 (4, 4) 3 1 2 0 1 3 1 2 2 1 3 1 0 2 1 3 | float32 (4, 4) 3 1 2 0 1 3 1 2 2 1 3 1 0 2 1 3 | float64 "
        "(4, 4) 3 1 2 0 1 3 1 2 2 1 3 1 0 2 1 3");
  NUMPY_RAISES("sl.toeplitz(f, s)", linalg::toeplitz(f, s), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(matmul_into_outputs, test::NumpyScene) {
  NUMPY("np.matmul(a, b.T, dtype=np.float32)", nd::matmul(a, b.T(), {.dtype = nd::float32}),
        "float32 (3, 3) 6.75 4.75 13 15.75 10.25 30.5 24.75 15.75 48");
  NUMPY("np.matmul(d, d.T, dtype=float)", nd::matmul(d, d.T(), {.dtype = nd::float64}),
        "float64 (3, 3) 14 27 17 27 82 42 17 42 62");
  NUMPY("np.matmul(a, b.T, out=np.zeros((3, 3)))", nd::matmul(a, b.T(), {.out = nd::zeros({3, 3})}),
        "float64 (3, 3) 6.75 4.75 13 15.75 10.25 30.5 24.75 15.75 48");
  NUMPY("np.matmul(a, b.T, out=np.zeros((3, 3), np.float32), casting='same_kind')",
        nd::matmul(a, b.T(), {.out = nd::zeros({3, 3}, nd::float32)}),
        "float32 (3, 3) 6.75 4.75 13 15.75 10.25 30.5 24.75 15.75 48");
  NUMPY("np.matmul(a, w[:4], out=np.zeros(3))", nd::matmul(a, w(nd::Slice(4)), {.out = nd::zeros(3)}),
        "float64 (3) 11.25 26.25 41.25");
  NUMPY("np.matmul(a, b.T, out=np.zeros((3, 3), np.int8), casting='unsafe')",
        nd::matmul(a, b.T(), {.out = nd::zeros({3, 3}, nd::int8), .casting = nd::Casting::unsafe}),
        "int8 (3, 3) 6 4 13 15 10 30 24 15 48");
  const nd::Array x = nd::arange(9.).reshape({3, 3}), columns = nd::zeros({3, 6})(nd::_, nd::Slice({}, {}, 2));
  // numpy: x = np.arange(9.).reshape(3, 3)
  NUMPY("np.matmul(x, x, out=np.zeros((3, 6))[:, ::2])", nd::matmul(x, x, {.out = columns}),
        "float64 (3, 3) 15 18 21 42 54 66 69 90 111");
  // numpy: y = np.arange(6400.).reshape(80, 80) % 7
  const nd::Array y = nd::arange(6400.).reshape({80, 80}) % 7;
  NUMPY("np.matmul(y, y.T)", nd::matmul(y, y.T(), {.out = y}), "float64 (80, 80) # 4606079 1.47440762e+10");
  NUMPY_RAISES("np.matmul(a, b.T, out=np.zeros((2, 3)))", nd::matmul(a, b.T(), {.out = nd::zeros({2, 3})}),
               nd::ValueError);
  NUMPY_RAISES("np.matmul(a, b.T, out=np.zeros((3, 3), int))",
               nd::matmul(a, b.T(), {.out = nd::zeros({3, 3}, nd::int64)}), nd::TypeError);
  NUMPY_RAISES("np.matmul(a, b.T, dtype=int)", nd::matmul(a, b.T(), {.dtype = nd::int64}), nd::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
