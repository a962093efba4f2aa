// Elementwise functions and aliases with NumPy's names: values, dtypes, special cases, errors.
#include <cstdint>
#include <numeric>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(elementwise_names)

BOOST_FIXTURE_TEST_CASE(roots_signs_and_steps, test::NumpyScene) {
  NUMPY("np.positive(b)", nd::positive(b), "float64 (3, 4) 2 -1 0.5 3 -2.5 4 1 0.25 1.5 -0.75 6 2");
  NUMPY("np.positive(t)", nd::positive(t), "float64 (4, 2, 2) 3 11 15 23 2 10 14 22 1 9 13 21 0 8 12 20");
  NUMPY("[np.positive(x) for x in reals[1:]]",
        each({reals.begin() + 1, reals.end()}, [](auto& x) { return nd::positive(x); }),
        "int8 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | uint8 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | int16 (3, 4) 3 1 2 0 7 2 2 5 1 "
        "6 4 3 | uint16 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | int32 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | uint32 (3, 4) 3 1 2 "
        "0 7 2 2 5 1 6 4 3 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | uint64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | float16 "
        "(3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | float32 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | float64 (3, 4) 3 1 2 0 7 2 2 5 1 "
        "6 4 3");
  NUMPY("[np.positive(x) for x in complexes]", each(complexes, [](auto& x) { return nd::positive(x); }),
        "complex64 (3, 4) 3 -2 1 -12 2 -8 0 -6 7 -14 2 -4 2 -4 5 -10 1 -6 6 -2 4 -4 3 0 | complex128 (3, 4) 3 -2 1 "
        "-12 2 -8 0 -6 7 -14 2 -4 2 -4 5 -10 1 -6 6 -2 4 -4 3 0");
  NUMPY_RAISES("np.positive(m)", nd::positive(m), nd::TypeError);
  NUMPY("np.cbrt(b)", nd::cbrt(b),
        "float64 (3, 4) 1.25992105 -1 0.793700526 1.44224957 -1.35720881 1.58740105 1 0.629960525 1.14471424 "
        "-0.908560296 1.81712059 1.25992105");
  NUMPY("np.cbrt(np.array([0., -0., np.inf, -np.inf, np.nan, 27, -8]))",
        nd::cbrt(nd::array({0., -0., nd::inf, -nd::inf, nd::nan, 27., -8.})), "float64 (7) 0 -0 inf -inf nan 3 -2");
  NUMPY("[np.cbrt(x) for x in reals]", each(reals, [](auto& x) { return nd::cbrt(x); }),
        "float16 (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | float16 (3, 4) 1.44238281 1 1.25976562 0 1.91308594 1.25976562 "
        "1.25976562 1.70996094 1 1.81738281 1.58691406 1.44238281 | float16 (3, 4) 1.44238281 1 1.25976562 0 "
        "1.91308594 1.25976562 1.25976562 1.70996094 1 1.81738281 1.58691406 1.44238281 | float32 (3, 4) 1.44224966 "
        "1 1.25992107 0 1.9129312 1.25992107 1.25992107 1.70997596 1 1.81712067 1.58740103 1.44224966 | float32 (3, "
        "4) 1.44224966 1 1.25992107 0 1.9129312 1.25992107 1.25992107 1.70997596 1 1.81712067 1.58740103 1.44224966 "
        "| float64 (3, 4) 1.44224957 1 1.25992105 0 1.91293118 1.25992105 1.25992105 1.70997595 1 1.81712059 "
        "1.58740105 1.44224957 | float64 (3, 4) 1.44224957 1 1.25992105 0 1.91293118 1.25992105 1.25992105 "
        "1.70997595 1 1.81712059 1.58740105 1.44224957 | float64 (3, 4) 1.44224957 1 1.25992105 0 1.91293118 "
        "1.25992105 1.25992105 1.70997595 1 1.81712059 1.58740105 1.44224957 | float64 (3, 4) 1.44224957 1 "
        "1.25992105 0 1.91293118 1.25992105 1.25992105 1.70997595 1 1.81712059 1.58740105 1.44224957 | float16 (3, "
        "4) 1.44238281 1 1.25976562 0 1.91308594 1.25976562 1.25976562 1.70996094 1 1.81738281 1.58691406 1.44238281 "
        "| float32 (3, 4) 1.44224966 1 1.25992107 0 1.9129312 1.25992107 1.25992107 1.70997596 1 1.81712067 "
        "1.58740103 1.44224966 | float64 (3, 4) 1.44224957 1 1.25992105 0 1.91293118 1.25992105 1.25992105 "
        "1.70997595 1 1.81712059 1.58740105 1.44224957");
  NUMPY("np.cbrt(t)", nd::cbrt(t),
        "float64 (4, 2, 2) 1.44224957 2.22398009 2.46621207 2.84386698 1.25992105 2.15443469 2.41014226 2.80203933 1 "
        "2.08008382 2.35133469 2.75892418 0 2 2.28942849 2.71441762");
  NUMPY("np.cbrt(e)", nd::cbrt(e), "float64 (0)");
  NUMPY("np.cbrt(2.)", nd::cbrt(2.), "float64 () 1.25992105");
  NUMPY_RAISES("np.cbrt(z)", nd::cbrt(z), nd::TypeError);
  NUMPY("1 / np.sqrt(a)", nd::rsqrt(a),
        "float64 (3, 4) 1.41421356 1 0.816496581 0.707106781 0.632455532 0.577350269 0.534522484 0.5 0.471404521 "
        "0.447213595 0.426401433 0.40824829");
  NUMPY("[1 / np.sqrt(x + 1) for x in floats]", each(floats, [](auto& x) { return nd::rsqrt(x + 1); }),
        "float16 (3, 4) 0.755859375 0.89453125 0.81640625 1 0.603027344 0.81640625 0.81640625 0.666503906 0.89453125 "
        "0.632324219 0.70703125 0.755859375 | float32 (3, 4) 0.755928993 0.89442718 0.816496551 1 0.603022695 "
        "0.816496551 0.816496551 0.666666687 0.89442718 0.632455528 0.707106769 0.755928993 | float64 (3, 4) "
        "0.755928946 0.894427191 0.816496581 1 0.603022689 0.816496581 0.816496581 0.666666667 0.894427191 "
        "0.632455532 0.707106781 0.755928946");
  NUMPY("np.heaviside(b, 0.5)", nd::heaviside(b, 0.5), "float64 (3, 4) 1 0 1 1 0 1 1 1 1 0 1 1");
  NUMPY("np.heaviside(np.array([0., -0., np.nan, -np.inf, np.inf]), 0.25)",
        nd::heaviside(nd::array({0., -0., nd::nan, -nd::inf, nd::inf}), 0.25), "float64 (5) 0.25 0.25 nan 0 1");
  NUMPY("np.heaviside(d - 2, v[:4])", nd::heaviside(d - 2, v(nd::Slice(4))), "float64 (3, 4) 1 0 2 0 1 1 2 1 0 1 1 1");
  NUMPY("[np.heaviside(x, x) for x in reals]", each(reals, [](auto& x) { return nd::heaviside(x, x); }),
        "float16 (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | float16 (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | float16 (3, 4) 1 1 1 0 1 "
        "1 1 1 1 1 1 1 | float32 (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | float32 (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | float64 "
        "(3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | float64 (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | float64 (3, 4) 1 1 1 0 1 1 1 1 1 "
        "1 1 1 | float64 (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | float16 (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | float32 (3, 4) 1 "
        "1 1 0 1 1 1 1 1 1 1 1 | float64 (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1");
  NUMPY("np.heaviside(e, 1)", nd::heaviside(e, 1), "float64 (0)");
}

BOOST_FIXTURE_TEST_CASE(powers_and_sinc, test::NumpyScene) {
  NUMPY("np.float_power(n, 2)", nd::float_power(n, 2), "float64 (6) 9 1 4 1 0 9");
  NUMPY("np.float_power(n, -1)", nd::float_power(n, -1), "float64 (6) 0.333333333 1 0.5 1 inf 0.333333333");
  NUMPY("np.float_power(f, f)", nd::float_power(f, f), "float64 (2, 2) 1 4 27 256");
  NUMPY("np.float_power(a, b)", nd::float_power(a, b),
        "float64 (3, 4) 0.25 1 1.22474487 8 0.101192885 81 3.5 1.41421356 9.54594155 0.299069756 27680.6406 36");
  NUMPY("[np.float_power(x, 2) for x in reals]", each(reals, [](auto& x) { return nd::float_power(x, 2); }),
        "float64 (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | float64 (3, 4) 9 1 4 0 49 4 4 25 1 36 16 9 | float64 (3, 4) 9 1 4 "
        "0 49 4 4 25 1 36 16 9 | float64 (3, 4) 9 1 4 0 49 4 4 25 1 36 16 9 | float64 (3, 4) 9 1 4 0 49 4 4 25 1 36 "
        "16 9 | float64 (3, 4) 9 1 4 0 49 4 4 25 1 36 16 9 | float64 (3, 4) 9 1 4 0 49 4 4 25 1 36 16 9 | float64 "
        "(3, 4) 9 1 4 0 49 4 4 25 1 36 16 9 | float64 (3, 4) 9 1 4 0 49 4 4 25 1 36 16 9 | float64 (3, 4) 9 1 4 0 49 "
        "4 4 25 1 36 16 9 | float64 (3, 4) 9 1 4 0 49 4 4 25 1 36 16 9 | float64 (3, 4) 9 1 4 0 49 4 4 25 1 36 16 9");
  NUMPY("np.sinc(a)", nd::sinc(a),
        "float64 (3, 4) 0.636619772 3.89817183e-17 -0.212206591 -3.89817183e-17 0.127323954 3.89817183e-17 "
        "-0.0909456818 -3.89817183e-17 0.0707355303 3.89817183e-17 -0.0578745248 -3.89817183e-17");
  NUMPY("np.sinc(np.array([0., -0., 1, 0.5, -2.5, np.nan]))", nd::sinc(nd::array({0., -0., 1., 0.5, -2.5, nd::nan})),
        "float64 (6) 1 1 3.89817183e-17 0.636619772 0.127323954 nan");
  NUMPY("np.sinc(n)", nd::sinc(n),
        "float64 (6) 3.89817183e-17 3.89817183e-17 -3.89817183e-17 3.89817183e-17 1 3.89817183e-17");
  NUMPY("[np.sinc(x.astype(np.float64) / 4).astype(x.dtype) for x in floats]",
        each(floats, [](auto& x) { return nd::sinc(x / 4); }),
        "float16 (3, 4) 0.943359375 0.993652344 0.974609375 1 0.713378906 0.974609375 0.974609375 0.847167969 "
        "0.993652344 0.784179688 0.900390625 0.943359375 | float32 (3, 4) 0.943165302 0.993586838 0.974495351 1 "
        "0.713585496 0.974495351 0.974495351 0.846928 0.993586838 0.784213305 0.900316298 0.943165302 | float64 (3, "
        "4) 0.943165321 0.993586851 0.974495358 1 0.713585488 0.974495358 0.974495358 0.846927993 0.993586851 "
        "0.784213304 0.900316316 0.943165321");
  NUMPY("np.sinc(t / 3)", nd::sinc(t / 3),
        "float64 (4, 2, 2) 3.89817183e-17 -0.075181213 3.89817183e-17 -0.0359562323 0.413496672 -0.0826993343 "
        "0.0590709531 -0.0375906065 0.826993343 3.89817183e-17 0.0636148725 3.89817183e-17 1 0.103374168 "
        "-3.89817183e-17 0.0413496672");
  NUMPY("np.sinc(e)", nd::sinc(e), "float64 (0)");
  NUMPY("np.i0(b)", nd::i0(b),
        "float64 (3, 4) 2.2795853 1.26606588 1.06348337 4.88079259 3.28983914 11.301922 1.26606588 1.01568614 "
        "1.64672319 1.14564678 67.234407 2.2795853");
  NUMPY("np.i0(n)", nd::i0(n), "float64 (6) 4.88079259 1.26606588 2.2795853 1.26606588 1 4.88079259");
  NUMPY("np.i0(f)", nd::i0(f), "float32 (2, 2) 1.26606607 2.27958512 4.88079262 11.3019209");
  NUMPY("np.i0(np.array([0., 8, 20, -700]))", nd::i0(nd::array({0., 8., 20., -700.})),
        "float64 (4) 1 427.564116 43558282.6 1.52959335e+302");
  NUMPY_RAISES("np.i0(z)", nd::i0(z), nd::TypeError);
  BOOST_CHECK_THROW(nd::sinc(z), nd::TypeError);
  BOOST_TEST((nd::sinc(d.astype(nd::int8)).dtype() == nd::float64));
}

BOOST_FIXTURE_TEST_CASE(integers, test::NumpyScene) {
  NUMPY("np.gcd(d, 6)", nd::gcd(d, 6), "int64 (3, 4) 3 1 2 6 1 2 2 1 1 6 2 3");
  NUMPY("np.lcm(d, 4)", nd::lcm(d, 4), "int64 (3, 4) 12 4 4 0 28 4 4 20 4 12 4 12");
  NUMPY("np.gcd(-d, d[::-1])", nd::gcd(-d, d(nd::Slice(nd::None, nd::None, -1))),
        "int64 (3, 4) 1 1 2 3 7 2 2 5 1 1 2 3");
  NUMPY("np.lcm(-d, d[::-1])", nd::lcm(-d, d(nd::Slice(nd::None, nd::None, -1))),
        "int64 (3, 4) 3 6 4 0 7 2 2 5 3 6 4 0");
  NUMPY("[np.gcd(x, x[::-1]) for x in reals[1:9]]",
        each({reals.begin() + 1, reals.begin() + 9},
             [](auto& x) { return nd::gcd(x, x(nd::Slice(nd::None, nd::None, -1))); }),
        "int8 (3, 4) 1 1 2 3 7 2 2 5 1 1 2 3 | uint8 (3, 4) 1 1 2 3 7 2 2 5 1 1 2 3 | int16 (3, 4) 1 1 2 3 7 2 2 5 1 "
        "1 2 3 | uint16 (3, 4) 1 1 2 3 7 2 2 5 1 1 2 3 | int32 (3, 4) 1 1 2 3 7 2 2 5 1 1 2 3 | uint32 (3, 4) 1 1 2 "
        "3 7 2 2 5 1 1 2 3 | int64 (3, 4) 1 1 2 3 7 2 2 5 1 1 2 3 | uint64 (3, 4) 1 1 2 3 7 2 2 5 1 1 2 3");
  NUMPY("[np.lcm(x, x[::-1]) for x in reals[1:9]]",
        each({reals.begin() + 1, reals.begin() + 9},
             [](auto& x) { return nd::lcm(x, x(nd::Slice(nd::None, nd::None, -1))); }),
        "int8 (3, 4) 3 6 4 0 7 2 2 5 3 6 4 0 | uint8 (3, 4) 3 6 4 0 7 2 2 5 3 6 4 0 | int16 (3, 4) 3 6 4 0 7 2 2 5 3 "
        "6 4 0 | uint16 (3, 4) 3 6 4 0 7 2 2 5 3 6 4 0 | int32 (3, 4) 3 6 4 0 7 2 2 5 3 6 4 0 | uint32 (3, 4) 3 6 4 "
        "0 7 2 2 5 3 6 4 0 | int64 (3, 4) 3 6 4 0 7 2 2 5 3 6 4 0 | uint64 (3, 4) 3 6 4 0 7 2 2 5 3 6 4 0");
  NUMPY("np.gcd(np.array([-128, 0, 5], np.int8), np.array([0, 0, -128], np.int8))",
        nd::gcd(nd::array({-128, 0, 5}, nd::int8), nd::array({0, 0, -128}, nd::int8)), "int8 (3) -128 0 1");
  NUMPY("np.lcm(np.array([127, 0], np.int8), np.array([-126, 3], np.int8))",
        nd::lcm(nd::array({127, 0}, nd::int8), nd::array({-126, 3}, nd::int8)), "int8 (2) -126 0");
  NUMPY("np.lcm(np.array([2**40 + 1]), 2**20 + 7)", nd::lcm(nd::array({(std::int64_t(1) << 40) + 1}), (1 << 20) + 7),
        "int64 (1) 1.1529292e+18");
  NUMPY("np.gcd(np.uint64(2**63), np.uint64(2**62 + 2**61))",
        nd::gcd(nd::array(std::uint64_t(1) << 63), nd::array(std::uint64_t(3) << 61)), "uint64 () 2.30584301e+18");
  NUMPY_RAISES("np.gcd(a, 2)", nd::gcd(a, 2), nd::TypeError);
  NUMPY("[np.bitwise_count(x) for x in reals[1:9]]",
        each({reals.begin() + 1, reals.begin() + 9}, [](auto& x) { return nd::bitwise_count(x); }),
        "uint8 (3, 4) 2 1 1 0 3 1 1 2 1 2 1 2 | uint8 (3, 4) 2 1 1 0 3 1 1 2 1 2 1 2 | uint8 (3, 4) 2 1 1 0 3 1 1 2 "
        "1 2 1 2 | uint8 (3, 4) 2 1 1 0 3 1 1 2 1 2 1 2 | uint8 (3, 4) 2 1 1 0 3 1 1 2 1 2 1 2 | uint8 (3, 4) 2 1 1 "
        "0 3 1 1 2 1 2 1 2 | uint8 (3, 4) 2 1 1 0 3 1 1 2 1 2 1 2 | uint8 (3, 4) 2 1 1 0 3 1 1 2 1 2 1 2");
  NUMPY("np.bitwise_count(np.array([-1, -128, 127], np.int8))", nd::bitwise_count(nd::array({-1, -128, 127}, nd::int8)),
        "uint8 (3) 1 1 7");
  NUMPY("np.bitwise_count(np.array([2**64 - 1, 2**63, 12345678901], np.uint64))",
        nd::bitwise_count(nd::array({~std::uint64_t(0), std::uint64_t(1) << 63, std::uint64_t(12345678901)})),
        "uint8 (3) 64 1 20");
  NUMPY("np.bitwise_count(np.array([-2**63, -2**31, -3]))",
        nd::bitwise_count(nd::array({INT64_MIN, -(std::int64_t(1) << 31), std::int64_t(-3)})), "uint8 (3) 1 1 2");
  NUMPY_RAISES("np.bitwise_count(a)", nd::bitwise_count(a), nd::TypeError);
  NUMPY("np.bitwise_not(n)", nd::bitwise_not(n), "int64 (6) -4 -2 -3 -2 -1 -4");
  NUMPY("np.bitwise_invert(m)", nd::bitwise_invert(m), "bool (3, 4) 1 1 1 1 0 0 0 0 0 0 0 0");
  NUMPY("np.bitwise_left_shift(n, 2)", nd::bitwise_left_shift(n, 2), "int64 (6) 12 4 8 4 0 12");
  NUMPY("np.bitwise_right_shift(n, 1)", nd::bitwise_right_shift(n, 1), "int64 (6) 1 0 1 0 0 1");
}

BOOST_FIXTURE_TEST_CASE(divisors_against_the_library, test::NumpyScene) {
  std::vector<std::int64_t> x, y;
  std::uint64_t state = 1;
  for (int k = 0; k < 5000; ++k) {
    for (auto* list : {&x, &y}) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      list->push_back(std::int64_t(state >> 33) >> (k % 25));
    }
  }
  const std::vector<std::int64_t> gcd = nd::gcd(nd::array(x), nd::array(y)).to_vector<std::int64_t>();
  const std::vector<std::int64_t> lcm = nd::lcm(nd::array(x), nd::array(y)).to_vector<std::int64_t>();
  for (std::size_t k = 0; k < x.size(); ++k) {
    BOOST_TEST(gcd[k] == std::gcd(x[k], y[k]));
    BOOST_TEST(lcm[k] == std::lcm(x[k], y[k]));
  }
}

BOOST_FIXTURE_TEST_CASE(tests_of_kinds, test::NumpyScene) {
  NUMPY("np.isneginf(g)", nd::isneginf(g), "bool (3, 3) 0 0 0 0 0 0 0 0 1");
  NUMPY("np.isposinf(h)", nd::isposinf(h), "bool (4) 0 0 0 1");
  NUMPY("[np.isneginf(x) for x in reals]", each(reals, [](auto& x) { return nd::isneginf(x); }),
        "bool (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0 | bool (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0 | bool (3, 4) 0 0 0 0 0 0 0 0 0 0 "
        "0 0 | bool (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0 | bool (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0 | bool (3, 4) 0 0 0 0 0 0 0 "
        "0 0 0 0 0 | bool (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0 | bool (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0 | bool (3, 4) 0 0 0 0 "
        "0 0 0 0 0 0 0 0 | bool (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0 | bool (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0 | bool (3, 4) 0 "
        "0 0 0 0 0 0 0 0 0 0 0");
  NUMPY("[np.isposinf(x / x.dtype.type(0)) for x in floats]",
        each(floats, [](auto& x) { return nd::isposinf(x / nd::array(0., x.dtype())); }),
        "bool (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 0 1 1 1 1 1 1 "
        "1 1");
  NUMPY_RAISES("np.isneginf(z)", nd::isneginf(z), nd::TypeError);
  NUMPY_RAISES("np.isposinf(z)", nd::isposinf(z), nd::TypeError);
  NUMPY("np.isreal(z)", nd::isreal(z), "bool (4) 0 0 0 0");
  NUMPY("np.iscomplex(z * p[:4])", nd::iscomplex(z * p(nd::Slice(4))), "bool (4) 1 0 0 1");
  NUMPY("np.isreal(a)", nd::isreal(a), "bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1");
  NUMPY("np.iscomplex(n)", nd::iscomplex(n), "bool (6) 0 0 0 0 0 0");
  NUMPY("np.iscomplex(e)", nd::iscomplex(e), "bool (0)");
  BOOST_TEST(nd::isrealobj(a));
  BOOST_TEST(!nd::isrealobj(z));
  BOOST_TEST(nd::iscomplexobj(z * 0));
  BOOST_TEST(!nd::iscomplexobj(2.5));
  BOOST_TEST(nd::isfortran(a.T()));
  BOOST_TEST(!nd::isfortran(a));
  BOOST_TEST(!nd::isfortran(v));
  BOOST_TEST(nd::isscalar(3.0));
  BOOST_TEST(!nd::isscalar(zero));
}

// bfloat16, which NumPy does not have, is computed in float32.
BOOST_FIXTURE_TEST_CASE(bfloat16, test::NumpyScene) {
  const nd::Array x = nd::array({-8.f, 0.f, 27.f, 0.5f}, nd::bfloat16), wide = x.astype(nd::float32);
  const auto same = [](const nd::Array& narrow, const nd::Array& expected) {
    BOOST_TEST((narrow.dtype() == nd::bfloat16));
    BOOST_TEST(bool(nd::array_equal(narrow, expected.astype(nd::bfloat16))));
  };
  same(nd::cbrt(x), nd::cbrt(wide));
  same(nd::rsqrt(nd::fabs(x) + 1), nd::rsqrt(nd::fabs(wide) + 1));
  same(nd::heaviside(x, 0.5), nd::heaviside(wide, 0.5));
  same(nd::sinc(x), nd::sinc(wide));
  same(nd::i0(x), nd::i0(wide));
  same(nd::positive(x), wide);
}

BOOST_FIXTURE_TEST_CASE(fused, test::NumpyScene) {
  const auto f = nd::fuse([](const auto& x) { return nd::cbrt(x) + nd::heaviside(x, 0.5); });
  BOOST_TEST(bool(nd::allclose(f(b), nd::cbrt(b) + nd::heaviside(b, 0.5), 1e-15)));
}

BOOST_FIXTURE_TEST_CASE(rounded_into_outputs, test::NumpyScene) {
  // numpy: x = b / 7
  const nd::Array x = b / 7;
  NUMPY("np.around(x, 2, np.zeros((3, 4)))", nd::around(x, 2, nd::zeros({3, 4})),
        "float64 (3, 4) 0.29 -0.14 0.07 0.43 -0.36 0.57 0.14 0.04 0.21 -0.11 0.86 0.29");
  NUMPY("np.round(x, out=np.zeros((4, 3)).T)", nd::round(x, {.out = nd::zeros({4, 3}).T()}),
        "float64 (3, 4) 0 -0 0 0 -0 1 0 0 0 -0 1 0");
  NUMPY("np.around(d * 10, -1, np.zeros((3, 4)))", nd::around(d * 10, {.decimals = -1, .out = nd::zeros({3, 4})}),
        "float64 (3, 4) 30 10 20 0 70 20 20 50 10 60 40 30");
  NUMPY("np.round(x, 1)", nd::round(x, {.decimals = 1}),
        "float64 (3, 4) 0.3 -0.1 0.1 0.4 -0.4 0.6 0.1 0 0.2 -0.1 0.9 0.3");
  NUMPY_RAISES("np.around(x, 1, np.zeros((4, 3)))", nd::around(x, 1, nd::zeros({4, 3})), nd::ValueError);
  NUMPY_RAISES("np.around(x, 1, np.zeros((3, 4), int))", nd::around(x, 1, nd::zeros({3, 4}, nd::int64)), nd::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
