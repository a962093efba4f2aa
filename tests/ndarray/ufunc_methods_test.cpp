// The methods of binary functions: reduce, accumulate, reduceat, outer, at, calls with a mask.
#include <cmath>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;
namespace ufuncs = nd::ufuncs;

BOOST_AUTO_TEST_SUITE(ufunc_methods)

BOOST_FIXTURE_TEST_CASE(reductions, test::NumpyScene) {
  NUMPY("np.add.reduce(b)", ufuncs::add.reduce(b), "float64 (4) 1 2.25 7.5 5.25");
  NUMPY("np.add.reduce(b, 1)", ufuncs::add.reduce(b, 1), "float64 (3) 4.5 2.75 8.75");
  NUMPY("np.multiply.reduce(b)", ufuncs::multiply.reduce(b), "float64 (4) -7.5 3 3 1.5");
  NUMPY("np.multiply.reduce(b, 1)", ufuncs::multiply.reduce(b, 1), "float64 (3) -3 -2.5 -13.5");
  NUMPY("np.maximum.reduce(b)", ufuncs::maximum.reduce(b), "float64 (4) 2 4 6 3");
  NUMPY("np.maximum.reduce(b, 1)", ufuncs::maximum.reduce(b, 1), "float64 (3) 3 4 6");
  NUMPY("np.minimum.reduce(b)", ufuncs::minimum.reduce(b), "float64 (4) -2.5 -1 0.5 0.25");
  NUMPY("np.minimum.reduce(b, 1)", ufuncs::minimum.reduce(b, 1), "float64 (3) -1 -2.5 -0.75");
  NUMPY("np.fmax.reduce(b)", ufuncs::fmax.reduce(b), "float64 (4) 2 4 6 3");
  NUMPY("np.fmax.reduce(b, 1)", ufuncs::fmax.reduce(b, 1), "float64 (3) 3 4 6");
  NUMPY("np.fmin.reduce(b)", ufuncs::fmin.reduce(b), "float64 (4) -2.5 -1 0.5 0.25");
  NUMPY("np.fmin.reduce(b, 1)", ufuncs::fmin.reduce(b, 1), "float64 (3) -1 -2.5 -0.75");
  NUMPY("np.hypot.reduce(b)", ufuncs::hypot.reduce(b), "float64 (4) 3.53553391 4.19076365 6.10327781 3.61420807");
  NUMPY("np.hypot.reduce(b, 1)", ufuncs::hypot.reduce(b, 1), "float64 (3) 3.77491722 4.82830198 6.54312616");
  NUMPY("np.logaddexp.reduce(b)", ufuncs::logaddexp.reduce(b),
        "float64 (4) 2.48096808 4.01527242 6.01076655 3.35893749");
  NUMPY("np.logaddexp.reduce(b, 1)", ufuncs::logaddexp.reduce(b, 1), "float64 (3) 3.3840917 4.07214228 6.03013681");
  NUMPY("np.logaddexp2.reduce(b)", ufuncs::logaddexp2.reduce(b),
        "float64 (4) 2.80842703 4.09546906 6.0749809 3.72128593");
  NUMPY("np.logaddexp2.reduce(b, 1)", ufuncs::logaddexp2.reduce(b, 1), "float64 (3) 3.79848746 4.27545289 6.15831745");
  NUMPY("np.logical_and.reduce(b)", ufuncs::logical_and.reduce(b), "bool (4) 1 1 1 1");
  NUMPY("np.logical_and.reduce(b, 1)", ufuncs::logical_and.reduce(b, 1), "bool (3) 1 1 1");
  NUMPY("np.logical_or.reduce(b)", ufuncs::logical_or.reduce(b), "bool (4) 1 1 1 1");
  NUMPY("np.logical_or.reduce(b, 1)", ufuncs::logical_or.reduce(b, 1), "bool (3) 1 1 1");
  NUMPY("np.logical_xor.reduce(b)", ufuncs::logical_xor.reduce(b), "bool (4) 1 1 1 1");
  NUMPY("np.logical_xor.reduce(b, 1)", ufuncs::logical_xor.reduce(b, 1), "bool (3) 0 0 0");
  NUMPY("np.bitwise_and.reduce(d)", ufuncs::bitwise_and.reduce(d), "int64 (4) 1 0 0 0");
  NUMPY("np.bitwise_and.reduce(d, axis=1, keepdims=True)", ufuncs::bitwise_and.reduce(d, {.axis = 1, .keepdims = true}),
        "int64 (3, 1) 0 0 0");
  NUMPY("np.bitwise_or.reduce(d)", ufuncs::bitwise_or.reduce(d), "int64 (4) 7 7 6 7");
  NUMPY("np.bitwise_or.reduce(d, axis=1, keepdims=True)", ufuncs::bitwise_or.reduce(d, {.axis = 1, .keepdims = true}),
        "int64 (3, 1) 3 7 7");
  NUMPY("np.bitwise_xor.reduce(d)", ufuncs::bitwise_xor.reduce(d), "int64 (4) 5 5 4 6");
  NUMPY("np.bitwise_xor.reduce(d, axis=1, keepdims=True)", ufuncs::bitwise_xor.reduce(d, {.axis = 1, .keepdims = true}),
        "int64 (3, 1) 0 2 0");
  NUMPY("np.gcd.reduce(d)", ufuncs::gcd.reduce(d), "int64 (4) 1 1 2 1");
  NUMPY("np.gcd.reduce(d, axis=1, keepdims=True)", ufuncs::gcd.reduce(d, {.axis = 1, .keepdims = true}),
        "int64 (3, 1) 1 1 1");
  NUMPY("np.lcm.reduce(d)", ufuncs::lcm.reduce(d), "int64 (4) 21 6 4 0");
  NUMPY("np.lcm.reduce(d, axis=1, keepdims=True)", ufuncs::lcm.reduce(d, {.axis = 1, .keepdims = true}),
        "int64 (3, 1) 0 70 12");
  NUMPY("np.add.reduce(q, (0, 2))", ufuncs::add.reduce(q, {0, 2}), "float64 (3) 60 92 124");
  NUMPY("np.add.reduce(q, None)", ufuncs::add.reduce(q, nd::None), "float64 () 276");
  NUMPY("np.hypot.reduce(q, (0, 2), keepdims=True)", ufuncs::hypot.reduce(q, {0, 2}, {.keepdims = true}),
        "float64 (1, 3, 1) 27.3495887 36.8239053 47.116876");
  NUMPY("np.hypot.reduce(t, None)", ufuncs::hypot.reduce(t, nd::None), "float64 () 54.4793539");
  NUMPY("np.logaddexp.reduce(t, axis=(0, 1))", ufuncs::logaddexp.reduce(t, {0, 1}),
        "float64 (2) 15.4401958 23.4401958");
  NUMPY("np.add.reduce(d, 0, np.float32)", ufuncs::add.reduce(d, 0, nd::float32), "float32 (4) 11 9 8 8");
  NUMPY("np.add.reduce(d, 0, dtype=np.int8)", ufuncs::add.reduce(d, {.axis = 0, .dtype = nd::int8}),
        "int8 (4) 11 9 8 8");
  NUMPY("np.hypot.reduce(np.array([-3.]))", ufuncs::hypot.reduce(nd::array({-3.})), "float64 () 3");
  NUMPY("np.maximum.reduce(one)", ufuncs::maximum.reduce(one), "float64 () 2.5");
  NUMPY("np.add.reduce(e)", ufuncs::add.reduce(e), "float64 () 0");
  NUMPY("np.multiply.reduce(e3, 0)", ufuncs::multiply.reduce(e3, 0), "float64 (3) 1 1 1");
  NUMPY("np.logaddexp.reduce(e3)", ufuncs::logaddexp.reduce(e3), "float64 (3) -inf -inf -inf");
  NUMPY("np.gcd.reduce(np.zeros((0, 2), np.int64))", ufuncs::gcd.reduce(nd::zeros({0, 2}, nd::int64)), "int64 (2) 0 0");
  NUMPY("np.bitwise_and.reduce(np.zeros((0, 2), np.uint8))", ufuncs::bitwise_and.reduce(nd::zeros({0, 2}, nd::uint8)),
        "uint8 (2) 255 255");
  NUMPY("np.maximum.reduce(g, 1)", ufuncs::maximum.reduce(g, 1), "float64 (3) nan nan 5");
  NUMPY("np.fmax.reduce(g, 1)", ufuncs::fmax.reduce(g, 1), "float64 (3) 3 nan 5");
  NUMPY("np.add.reduce(z)", ufuncs::add.reduce(z), "complex128 () 11 7.5");
  NUMPY("[np.add.reduce(x) for x in reals]", each(reals, [](auto& x) { return ufuncs::add.reduce(x); }),
        "int64 (4) 3 3 3 2 | int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | "
        "int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | float16 (4) 11 9 8 8 "
        "| float32 (4) 11 9 8 8 | float64 (4) 11 9 8 8");
  NUMPY("[np.multiply.reduce(x) for x in reals]", each(reals, [](auto& x) { return ufuncs::multiply.reduce(x); }),
        "int64 (4) 1 1 1 0 | int64 (4) 21 12 16 0 | uint64 (4) 21 12 16 0 | int64 (4) 21 12 16 0 | uint64 (4) 21 12 "
        "16 0 | int64 (4) 21 12 16 0 | uint64 (4) 21 12 16 0 | int64 (4) 21 12 16 0 | uint64 (4) 21 12 16 0 | "
        "float16 (4) 21 12 16 0 | float32 (4) 21 12 16 0 | float64 (4) 21 12 16 0");
  NUMPY("[np.maximum.reduce(x) for x in reals]", each(reals, [](auto& x) { return ufuncs::maximum.reduce(x); }),
        "bool (4) 1 1 1 1 | int8 (4) 7 6 4 5 | uint8 (4) 7 6 4 5 | int16 (4) 7 6 4 5 | uint16 (4) 7 6 4 5 | int32 "
        "(4) 7 6 4 5 | uint32 (4) 7 6 4 5 | int64 (4) 7 6 4 5 | uint64 (4) 7 6 4 5 | float16 (4) 7 6 4 5 | float32 "
        "(4) 7 6 4 5 | float64 (4) 7 6 4 5");
  NUMPY("[np.logical_and.reduce(x) for x in reals]", each(reals, [](auto& x) { return ufuncs::logical_and.reduce(x); }),
        "bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 "
        "1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool "
        "(4) 1 1 1 0");
  NUMPY("[np.logical_xor.reduce(x) for x in reals]", each(reals, [](auto& x) { return ufuncs::logical_xor.reduce(x); }),
        "bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 "
        "1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool (4) 1 1 1 0 | bool "
        "(4) 1 1 1 0");
  NUMPY("[np.fmin.reduce(x) for x in reals]", each(reals, [](auto& x) { return ufuncs::fmin.reduce(x); }),
        "bool (4) 1 1 1 0 | int8 (4) 1 1 2 0 | uint8 (4) 1 1 2 0 | int16 (4) 1 1 2 0 | uint16 (4) 1 1 2 0 | int32 "
        "(4) 1 1 2 0 | uint32 (4) 1 1 2 0 | int64 (4) 1 1 2 0 | uint64 (4) 1 1 2 0 | float16 (4) 1 1 2 0 | float32 "
        "(4) 1 1 2 0 | float64 (4) 1 1 2 0");
  NUMPY("[np.hypot.reduce(x) for x in reals]", each(reals, [](auto& x) { return ufuncs::hypot.reduce(x); }),
        "float16 (4) 1.73144531 1.73144531 1.73144531 1.4140625 | float16 (4) 7.68359375 6.40234375 4.8984375 "
        "5.83203125 | float16 (4) 7.68359375 6.40234375 4.8984375 5.83203125 | float32 (4) 7.68114567 6.40312433 "
        "4.89897966 5.83095169 | float32 (4) 7.68114567 6.40312433 4.89897966 5.83095169 | float64 (4) 7.68114575 "
        "6.40312424 4.89897949 5.83095189 | float64 (4) 7.68114575 6.40312424 4.89897949 5.83095189 | float64 (4) "
        "7.68114575 6.40312424 4.89897949 5.83095189 | float64 (4) 7.68114575 6.40312424 4.89897949 5.83095189 | "
        "float16 (4) 7.68359375 6.40234375 4.8984375 5.83203125 | float32 (4) 7.68114567 6.40312433 4.89897966 "
        "5.83095169 | float64 (4) 7.68114575 6.40312424 4.89897949 5.83095189");
  NUMPY("[np.bitwise_or.reduce(x) for x in reals[:9]]",
        each({reals.begin(), reals.begin() + 9}, [](auto& x) { return ufuncs::bitwise_or.reduce(x); }),
        "bool (4) 1 1 1 1 | int8 (4) 7 7 6 7 | uint8 (4) 7 7 6 7 | int16 (4) 7 7 6 7 | uint16 (4) 7 7 6 7 | int32 "
        "(4) 7 7 6 7 | uint32 (4) 7 7 6 7 | int64 (4) 7 7 6 7 | uint64 (4) 7 7 6 7");
  NUMPY("[np.bitwise_and.reduce(x) for x in reals[:9]]",
        each({reals.begin(), reals.begin() + 9}, [](auto& x) { return ufuncs::bitwise_and.reduce(x); }),
        "bool (4) 1 1 1 0 | int8 (4) 1 0 0 0 | uint8 (4) 1 0 0 0 | int16 (4) 1 0 0 0 | uint16 (4) 1 0 0 0 | int32 "
        "(4) 1 0 0 0 | uint32 (4) 1 0 0 0 | int64 (4) 1 0 0 0 | uint64 (4) 1 0 0 0");
  NUMPY("[np.bitwise_xor.reduce(x) for x in reals[:9]]",
        each({reals.begin(), reals.begin() + 9}, [](auto& x) { return ufuncs::bitwise_xor.reduce(x); }),
        "bool (4) 1 1 1 0 | int8 (4) 5 5 4 6 | uint8 (4) 5 5 4 6 | int16 (4) 5 5 4 6 | uint16 (4) 5 5 4 6 | int32 "
        "(4) 5 5 4 6 | uint32 (4) 5 5 4 6 | int64 (4) 5 5 4 6 | uint64 (4) 5 5 4 6");
  NUMPY_RAISES("np.add.reduce(a, 2)", ufuncs::add.reduce(a, 2), nd::ValueError);
  NUMPY_RAISES("np.maximum.reduce(e)", ufuncs::maximum.reduce(e), nd::ValueError);
  BOOST_CHECK_THROW(ufuncs::add.reduce(zero), nd::TypeError);
  NUMPY_RAISES("np.lcm.reduce(np.zeros(0, np.int64))", ufuncs::lcm.reduce(nd::zeros({0}, nd::int64)), nd::ValueError);
  BOOST_CHECK_THROW(ufuncs::subtract.reduce(a), nd::TypeError);
  BOOST_CHECK_THROW(ufuncs::add.reduce(nd::Array()), nd::TypeError);
  NUMPY_RAISES("np.bitwise_or.reduce(a)", ufuncs::bitwise_or.reduce(a), nd::TypeError);
  const nd::Array out = nd::zeros({4});
  ufuncs::maximum.reduce(b, {.out = out});
  NUMPY("np.maximum.reduce(b)", out, "float64 (4) 2 4 6 3");
  BOOST_CHECK_THROW(ufuncs::maximum.reduce(b, {.axis = 1, .out = out}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(initial_and_where, test::NumpyScene) {
  NUMPY("np.add.reduce(a, initial=10)", ufuncs::add.reduce(a, {.initial = 10}), "float64 (4) 17.5 19 20.5 22");
  NUMPY("np.add.reduce(a, 1, where=m)", ufuncs::add.reduce(a, 1, {.where = m}), "float64 (3) 0 13 21");
  NUMPY("np.add.reduce(d, 0, initial=2, where=m)", ufuncs::add.reduce(d, {.axis = 0, .initial = 2, .where = m}),
        "int64 (4) 10 10 8 10");
  NUMPY("np.multiply.reduce(a, None, where=m)", ufuncs::multiply.reduce(a, nd::None, {.where = m}),
        "float64 () 77962.5");
  NUMPY("np.maximum.reduce(a, 0, initial=4, where=m)", ufuncs::maximum.reduce(a, 0, {.initial = 4, .where = m}),
        "float64 (4) 4.5 5 5.5 6");
  NUMPY("np.minimum.reduce(e, initial=3)", ufuncs::minimum.reduce(e, {.initial = 3}), "float64 () 3");
  NUMPY("np.maximum.reduce(e3, 0, initial=-1.5)", ufuncs::maximum.reduce(e3, 0, {.initial = -1.5}),
        "float64 (3) -1.5 -1.5 -1.5");
  NUMPY("np.lcm.reduce(np.zeros((0, 2), np.int64), initial=3)",
        ufuncs::lcm.reduce(nd::zeros({0, 2}, nd::int64), {.initial = 3}), "int64 (2) 3 3");
  NUMPY("np.logical_and.reduce(d, 1, where=m)", ufuncs::logical_and.reduce(d, 1, {.where = m}), "bool (3) 1 1 1");
  NUMPY("np.bitwise_or.reduce(d, 0, where=m, initial=8)", ufuncs::bitwise_or.reduce(d, 0, {.initial = 8, .where = m}),
        "int64 (4) 15 14 14 15");
  NUMPY("np.hypot.reduce(a, 0, where=p[:4])", ufuncs::hypot.reduce(a, 0, {.where = p(nd::Slice(4))}),
        "float64 (4) 5.17204022 0 0 7.48331477");
  NUMPY("np.add.reduce(m, where=m)", ufuncs::add.reduce(m, {.where = m}), "int64 (4) 2 2 2 2");
  NUMPY_RAISES("np.maximum.reduce(a, where=m)", ufuncs::maximum.reduce(a, {.where = m}), nd::ValueError);
  NUMPY_RAISES("np.add.reduce(a, where=p)", ufuncs::add.reduce(a, {.where = p}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(running_results, test::NumpyScene) {
  NUMPY("np.add.accumulate(b)", ufuncs::add.accumulate(b), "float64 (3, 4) 2 -1 0.5 3 -0.5 3 1.5 3.25 1 2.25 7.5 5.25");
  NUMPY("np.add.accumulate(b, 1)", ufuncs::add.accumulate(b, 1),
        "float64 (3, 4) 2 1 1.5 4.5 -2.5 1.5 2.5 2.75 1.5 0.75 6.75 8.75");
  NUMPY("np.multiply.accumulate(b)", ufuncs::multiply.accumulate(b),
        "float64 (3, 4) 2 -1 0.5 3 -5 -4 0.5 0.75 -7.5 3 3 1.5");
  NUMPY("np.multiply.accumulate(b, 1)", ufuncs::multiply.accumulate(b, 1),
        "float64 (3, 4) 2 -2 -1 -3 -2.5 -10 -10 -2.5 1.5 -1.125 -6.75 -13.5");
  NUMPY("np.maximum.accumulate(b)", ufuncs::maximum.accumulate(b), "float64 (3, 4) 2 -1 0.5 3 2 4 1 3 2 4 6 3");
  NUMPY("np.maximum.accumulate(b, 1)", ufuncs::maximum.accumulate(b, 1),
        "float64 (3, 4) 2 2 2 3 -2.5 4 4 4 1.5 1.5 6 6");
  NUMPY("np.minimum.accumulate(b)", ufuncs::minimum.accumulate(b),
        "float64 (3, 4) 2 -1 0.5 3 -2.5 -1 0.5 0.25 -2.5 -1 0.5 0.25");
  NUMPY("np.minimum.accumulate(b, 1)", ufuncs::minimum.accumulate(b, 1),
        "float64 (3, 4) 2 -1 -1 -1 -2.5 -2.5 -2.5 -2.5 1.5 -0.75 -0.75 -0.75");
  NUMPY("np.fmax.accumulate(b)", ufuncs::fmax.accumulate(b), "float64 (3, 4) 2 -1 0.5 3 2 4 1 3 2 4 6 3");
  NUMPY("np.fmax.accumulate(b, 1)", ufuncs::fmax.accumulate(b, 1), "float64 (3, 4) 2 2 2 3 -2.5 4 4 4 1.5 1.5 6 6");
  NUMPY("np.fmin.accumulate(b)", ufuncs::fmin.accumulate(b),
        "float64 (3, 4) 2 -1 0.5 3 -2.5 -1 0.5 0.25 -2.5 -1 0.5 0.25");
  NUMPY("np.fmin.accumulate(b, 1)", ufuncs::fmin.accumulate(b, 1),
        "float64 (3, 4) 2 -1 -1 -1 -2.5 -2.5 -2.5 -2.5 1.5 -0.75 -0.75 -0.75");
  NUMPY("np.logical_and.accumulate(b)", ufuncs::logical_and.accumulate(b), "bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1");
  NUMPY("np.logical_and.accumulate(b, 1)", ufuncs::logical_and.accumulate(b, 1), "bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1");
  NUMPY("np.logical_or.accumulate(b)", ufuncs::logical_or.accumulate(b), "bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1");
  NUMPY("np.logical_or.accumulate(b, 1)", ufuncs::logical_or.accumulate(b, 1), "bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1");
  NUMPY("np.logical_xor.accumulate(b)", ufuncs::logical_xor.accumulate(b), "bool (3, 4) 1 1 1 1 0 0 0 0 1 1 1 1");
  NUMPY("np.logical_xor.accumulate(b, 1)", ufuncs::logical_xor.accumulate(b, 1), "bool (3, 4) 1 0 1 0 1 0 1 0 1 0 1 0");
  NUMPY("np.hypot.accumulate(b)", ufuncs::hypot.accumulate(b),
        "float64 (3, 4) 2 -1 0.5 3 3.20156212 4.12310563 1.11803399 3.01039864 3.53553391 4.19076365 6.10327781 "
        "3.61420807");
  NUMPY("np.hypot.accumulate(b, 1)", ufuncs::hypot.accumulate(b, 1),
        "float64 (3, 4) 2 2.23606798 2.29128785 3.77491722 -2.5 4.71699057 4.82182538 4.82830198 1.5 1.67705098 "
        "6.2299679 6.54312616");
  NUMPY("np.logaddexp.accumulate(b)", ufuncs::logaddexp.accumulate(b),
        "float64 (3, 4) 2 -1 0.5 3 2.01104774 4.00671535 1.47407698 3.06196759 2.48096808 4.01527242 6.01076655 "
        "3.35893749");
  NUMPY("np.logaddexp.accumulate(b, 1)", ufuncs::logaddexp.accumulate(b, 1),
        "float64 (3, 4) 2 2.04858735 2.2413113 3.3840917 -2.5 4.00150231 4.05001846 4.07214228 1.5 1.60020656 "
        "6.01220509 6.03013681");
  NUMPY("np.bitwise_and.accumulate(d, axis=1)", ufuncs::bitwise_and.accumulate(d, {.axis = 1}),
        "int64 (3, 4) 3 1 0 0 7 2 2 0 1 0 0 0");
  NUMPY("np.bitwise_or.accumulate(d, axis=1)", ufuncs::bitwise_or.accumulate(d, {.axis = 1}),
        "int64 (3, 4) 3 3 3 3 7 7 7 7 1 7 7 7");
  NUMPY("np.bitwise_xor.accumulate(d, axis=1)", ufuncs::bitwise_xor.accumulate(d, {.axis = 1}),
        "int64 (3, 4) 3 2 0 0 7 5 7 2 1 7 3 0");
  NUMPY("np.gcd.accumulate(d, axis=1)", ufuncs::gcd.accumulate(d, {.axis = 1}), "int64 (3, 4) 3 1 1 1 7 1 1 1 1 1 1 1");
  NUMPY("np.lcm.accumulate(d, axis=1)", ufuncs::lcm.accumulate(d, {.axis = 1}),
        "int64 (3, 4) 3 3 6 0 7 14 14 70 1 6 12 12");
  NUMPY("[np.add.accumulate(x, 1) for x in reals]", each(reals, [](auto& x) { return ufuncs::add.accumulate(x, 1); }),
        "int64 (3, 4) 1 2 3 3 1 2 3 4 1 2 3 4 | int64 (3, 4) 3 4 6 6 7 9 11 16 1 7 11 14 | uint64 (3, 4) 3 4 6 6 7 9 "
        "11 16 1 7 11 14 | int64 (3, 4) 3 4 6 6 7 9 11 16 1 7 11 14 | uint64 (3, 4) 3 4 6 6 7 9 11 16 1 7 11 14 | "
        "int64 (3, 4) 3 4 6 6 7 9 11 16 1 7 11 14 | uint64 (3, 4) 3 4 6 6 7 9 11 16 1 7 11 14 | int64 (3, 4) 3 4 6 6 "
        "7 9 11 16 1 7 11 14 | uint64 (3, 4) 3 4 6 6 7 9 11 16 1 7 11 14 | float16 (3, 4) 3 4 6 6 7 9 11 16 1 7 11 "
        "14 | float32 (3, 4) 3 4 6 6 7 9 11 16 1 7 11 14 | float64 (3, 4) 3 4 6 6 7 9 11 16 1 7 11 14");
  NUMPY("[np.maximum.accumulate(x, 1) for x in reals]",
        each(reals, [](auto& x) { return ufuncs::maximum.accumulate(x, 1); }),
        "bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | int8 (3, 4) 3 3 3 3 7 7 7 7 1 6 6 6 | uint8 (3, 4) 3 3 3 3 7 7 7 7 1 "
        "6 6 6 | int16 (3, 4) 3 3 3 3 7 7 7 7 1 6 6 6 | uint16 (3, 4) 3 3 3 3 7 7 7 7 1 6 6 6 | int32 (3, 4) 3 3 3 3 "
        "7 7 7 7 1 6 6 6 | uint32 (3, 4) 3 3 3 3 7 7 7 7 1 6 6 6 | int64 (3, 4) 3 3 3 3 7 7 7 7 1 6 6 6 | uint64 (3, "
        "4) 3 3 3 3 7 7 7 7 1 6 6 6 | float16 (3, 4) 3 3 3 3 7 7 7 7 1 6 6 6 | float32 (3, 4) 3 3 3 3 7 7 7 7 1 6 6 "
        "6 | float64 (3, 4) 3 3 3 3 7 7 7 7 1 6 6 6");
  NUMPY("[np.fmin.accumulate(x, 1) for x in reals]", each(reals, [](auto& x) { return ufuncs::fmin.accumulate(x, 1); }),
        "bool (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | int8 (3, 4) 3 1 1 0 7 2 2 2 1 1 1 1 | uint8 (3, 4) 3 1 1 0 7 2 2 2 1 "
        "1 1 1 | int16 (3, 4) 3 1 1 0 7 2 2 2 1 1 1 1 | uint16 (3, 4) 3 1 1 0 7 2 2 2 1 1 1 1 | int32 (3, 4) 3 1 1 0 "
        "7 2 2 2 1 1 1 1 | uint32 (3, 4) 3 1 1 0 7 2 2 2 1 1 1 1 | int64 (3, 4) 3 1 1 0 7 2 2 2 1 1 1 1 | uint64 (3, "
        "4) 3 1 1 0 7 2 2 2 1 1 1 1 | float16 (3, 4) 3 1 1 0 7 2 2 2 1 1 1 1 | float32 (3, 4) 3 1 1 0 7 2 2 2 1 1 1 "
        "1 | float64 (3, 4) 3 1 1 0 7 2 2 2 1 1 1 1");
  NUMPY("[np.logical_or.accumulate(x, 1) for x in reals]",
        each(reals, [](auto& x) { return ufuncs::logical_or.accumulate(x, 1); }),
        "bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 "
        "1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 "
        "1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 "
        "1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 "
        "1 1 1 1 1 1 1 1 1 1 1");
  NUMPY("[np.hypot.accumulate(x, 1) for x in reals]",
        each(reals, [](auto& x) { return ufuncs::hypot.accumulate(x, 1); }),
        "float16 (3, 4) 1 1.4140625 1.73144531 1.73144531 1 1.4140625 1.73144531 1.99902344 1 1.4140625 1.73144531 "
        "1.99902344 | float16 (3, 4) 3 3.16210938 3.7421875 3.7421875 7 7.28125 7.55078125 9.0546875 1 6.08203125 "
        "7.28125 7.875 | float16 (3, 4) 3 3.16210938 3.7421875 3.7421875 7 7.28125 7.55078125 9.0546875 1 6.08203125 "
        "7.28125 7.875 | float32 (3, 4) 3 3.1622777 3.7416575 3.7416575 7 7.28010988 7.54983425 9.05538464 1 "
        "6.08276272 7.28010988 7.8740077 | float32 (3, 4) 3 3.1622777 3.7416575 3.7416575 7 7.28010988 7.54983425 "
        "9.05538464 1 6.08276272 7.28010988 7.8740077 | float64 (3, 4) 3 3.16227766 3.74165739 3.74165739 7 "
        "7.28010989 7.54983444 9.05538514 1 6.08276253 7.28010989 7.87400787 | float64 (3, 4) 3 3.16227766 "
        "3.74165739 3.74165739 7 7.28010989 7.54983444 9.05538514 1 6.08276253 7.28010989 7.87400787 | float64 (3, "
        "4) 3 3.16227766 3.74165739 3.74165739 7 7.28010989 7.54983444 9.05538514 1 6.08276253 7.28010989 7.87400787 "
        "| float64 (3, 4) 3 3.16227766 3.74165739 3.74165739 7 7.28010989 7.54983444 9.05538514 1 6.08276253 "
        "7.28010989 7.87400787 | float16 (3, 4) 3 3.16210938 3.7421875 3.7421875 7 7.28125 7.55078125 9.0546875 1 "
        "6.08203125 7.28125 7.875 | float32 (3, 4) 3 3.1622777 3.7416575 3.7416575 7 7.28010988 7.54983425 "
        "9.05538464 1 6.08276272 7.28010988 7.8740077 | float64 (3, 4) 3 3.16227766 3.74165739 3.74165739 7 "
        "7.28010989 7.54983444 9.05538514 1 6.08276253 7.28010989 7.87400787");
  NUMPY("np.maximum.accumulate(v)", ufuncs::maximum.accumulate(v), "float64 (6) 3 3 3 5 5 5");
  NUMPY("np.maximum.accumulate(t, 1)", ufuncs::maximum.accumulate(t, 1),
        "float64 (4, 2, 2) 3 11 15 23 2 10 14 22 1 9 13 21 0 8 12 20");
  NUMPY("np.hypot.accumulate(t)", ufuncs::hypot.accumulate(t),
        "float64 (4, 2, 2) 3 11 15 23 3.60555128 14.8660687 20.5182845 31.8276609 3.74165739 17.3781472 24.2899156 "
        "38.1313519 3.74165739 19.1311265 27.0924344 43.0581003");
  NUMPY("np.maximum.accumulate(g, 1)", ufuncs::maximum.accumulate(g, 1), "float64 (3, 3) 1 nan nan nan nan nan 2 5 5");
  NUMPY("np.fmax.accumulate(g, 1)", ufuncs::fmax.accumulate(g, 1), "float64 (3, 3) 1 1 3 nan nan nan 2 5 5");
  NUMPY("np.add.accumulate(e)", ufuncs::add.accumulate(e), "float64 (0)");
  NUMPY("np.hypot.accumulate(e3, 0)", ufuncs::hypot.accumulate(e3, 0), "float64 (0, 3)");
  NUMPY("np.gcd.accumulate(d[:1])", ufuncs::gcd.accumulate(d(nd::Slice(1))), "int64 (1, 4) 3 1 2 0");
  NUMPY("np.add.accumulate(d, 0, np.int8)", ufuncs::add.accumulate(d, 0, nd::int8),
        "int8 (3, 4) 3 1 2 0 10 3 4 5 11 9 8 8");
  NUMPY("np.add.accumulate(z)", ufuncs::add.accumulate(z), "complex128 (4) 3 1 4 3 6 3.5 11 7.5");
  NUMPY_RAISES("np.add.accumulate(a, 2)", ufuncs::add.accumulate(a, 2), nd::ValueError);
  NUMPY_RAISES("np.add.accumulate(zero)", ufuncs::add.accumulate(zero), nd::TypeError);
  BOOST_CHECK_THROW(ufuncs::power.accumulate(a), nd::TypeError);
  const nd::Array out = nd::zeros({3, 4});
  ufuncs::minimum.accumulate(b, {.out = out});
  NUMPY("np.minimum.accumulate(b)", out, "float64 (3, 4) 2 -1 0.5 3 -2.5 -1 0.5 0.25 -2.5 -1 0.5 0.25");
}

BOOST_FIXTURE_TEST_CASE(slices, test::NumpyScene) {
  NUMPY("np.add.reduceat(v, [0, 3])", ufuncs::add.reduceat(v, {0, 3}), "float64 (2) 6 9.5");
  NUMPY("np.add.reduceat(v, [0, 4, 1, 5, 2])", ufuncs::add.reduceat(v, {0, 4, 1, 5, 2}),
        "float64 (5) 11 4 12 0.5 11.5");
  NUMPY("np.add.reduceat(v, [3, 3, 0])", ufuncs::add.reduceat(v, {3, 3, 0}), "float64 (3) 5 5 15.5");
  NUMPY("np.add.reduceat(v, i)", ufuncs::add.reduceat(v, i), "float64 (3) 2 3 12.5");
  NUMPY("np.maximum.reduceat(a, [0, 2], 1)", ufuncs::maximum.reduceat(a, {0, 2}, {.axis = 1}),
        "float64 (3, 2) 1 2 3 4 5 6");
  NUMPY("np.multiply.reduceat(q, [1, 0], axis=-1)", ufuncs::multiply.reduceat(q, {1, 0}, {.axis = -1}),
        "float64 (2, 3, 2) 1 0 5 840 9 7920 13 32760 17 93024 21 212520");
  NUMPY("np.hypot.reduceat(t, [0, 3, 1])", ufuncs::hypot.reduceat(t, {0, 3, 1}),
        "float64 (3, 2, 2) 3.74165739 17.3781472 24.2899156 38.1313519 0 8 12 20 2.23606798 15.6524758 22.5610283 "
        "36.4005494");
  NUMPY("np.add.reduceat(d, [0, 1], 0, np.float32)", ufuncs::add.reduceat(d, {0, 1}, {.axis = 0, .dtype = nd::float32}),
        "float32 (2, 4) 3 1 2 0 8 8 6 8");
  NUMPY("np.logical_or.reduceat(d, [0, 2], axis=1)", ufuncs::logical_or.reduceat(d, {0, 2}, {.axis = 1}),
        "bool (3, 2) 1 1 1 1 1 1");
  NUMPY("np.gcd.reduceat(d, [0, 1], axis=1)", ufuncs::gcd.reduceat(d, {0, 1}, {.axis = 1}), "int64 (3, 2) 3 1 7 1 1 1");
  const nd::Array sums = nd::zeros(2);
  ufuncs::add.reduceat(v, {0, 3}, {.out = sums});
  NUMPY("np.add.reduceat(v, [0, 3])", sums, "float64 (2) 6 9.5");
  NUMPY("np.minimum.reduceat(np.arange(2000.) % 37, [0, 900, 1500])",
        ufuncs::minimum.reduceat(nd::arange(2000.) % 37, {0, 900, 1500}), "float64 (3) 0 0 0");
  NUMPY("np.add.reduceat(np.arange(3000).reshape(1000, 3), [10, 500])",
        ufuncs::add.reduceat(nd::arange(3000).reshape({1000, 3}), {10, 500}),
        "int64 (2, 3) 374115 374605 375095 1124250 1124750 1125250");
  NUMPY("[np.add.reduceat(x, [0, 2], 1) for x in reals]",
        each(reals,
             [](auto& x) {
               return ufuncs::add.reduceat(x, {0, 2}, {.axis = 1});
             }),
        "int64 (3, 2) 2 1 2 2 2 2 | int64 (3, 2) 4 2 9 7 7 7 | uint64 (3, 2) 4 2 9 7 7 7 | int64 (3, 2) 4 2 9 7 7 7 "
        "| uint64 (3, 2) 4 2 9 7 7 7 | int64 (3, 2) 4 2 9 7 7 7 | uint64 (3, 2) 4 2 9 7 7 7 | int64 (3, 2) 4 2 9 7 7 "
        "7 | uint64 (3, 2) 4 2 9 7 7 7 | float16 (3, 2) 4 2 9 7 7 7 | float32 (3, 2) 4 2 9 7 7 7 | float64 (3, 2) 4 "
        "2 9 7 7 7");
  NUMPY("[np.maximum.reduceat(x, [0, 2], 1) for x in reals]",
        each(reals,
             [](auto& x) {
               return ufuncs::maximum.reduceat(x, {0, 2}, {.axis = 1});
             }),
        "bool (3, 2) 1 1 1 1 1 1 | int8 (3, 2) 3 2 7 5 6 4 | uint8 (3, 2) 3 2 7 5 6 4 | int16 (3, 2) 3 2 7 5 6 4 | "
        "uint16 (3, 2) 3 2 7 5 6 4 | int32 (3, 2) 3 2 7 5 6 4 | uint32 (3, 2) 3 2 7 5 6 4 | int64 (3, 2) 3 2 7 5 6 4 "
        "| uint64 (3, 2) 3 2 7 5 6 4 | float16 (3, 2) 3 2 7 5 6 4 | float32 (3, 2) 3 2 7 5 6 4 | float64 (3, 2) 3 2 "
        "7 5 6 4");
  NUMPY("[np.logical_and.reduceat(x, [0, 2], 1) for x in reals]",
        each(reals,
             [](auto& x) {
               return ufuncs::logical_and.reduceat(x, {0, 2}, {.axis = 1});
             }),
        "bool (3, 2) 1 0 1 1 1 1 | bool (3, 2) 1 0 1 1 1 1 | bool (3, 2) 1 0 1 1 1 1 | bool (3, 2) 1 0 1 1 1 1 | "
        "bool (3, 2) 1 0 1 1 1 1 | bool (3, 2) 1 0 1 1 1 1 | bool (3, 2) 1 0 1 1 1 1 | bool (3, 2) 1 0 1 1 1 1 | "
        "bool (3, 2) 1 0 1 1 1 1 | bool (3, 2) 1 0 1 1 1 1 | bool (3, 2) 1 0 1 1 1 1 | bool (3, 2) 1 0 1 1 1 1");
  NUMPY_RAISES("np.add.reduceat(v, [0, 6])", ufuncs::add.reduceat(v, {0, 6}), nd::IndexError);
  NUMPY_RAISES("np.add.reduceat(v, [-1])", ufuncs::add.reduceat(v, {-1}), nd::IndexError);
  BOOST_CHECK_THROW(ufuncs::add.reduceat(v, nd::array({1.5})), nd::TypeError);
  BOOST_CHECK_THROW(ufuncs::divide.reduceat(v, {0}), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(outer_products, test::NumpyScene) {
  NUMPY("np.multiply.outer(v, w)", ufuncs::multiply.outer(v, w), "float64 (6, 6) # 186 3516");
  NUMPY("np.subtract.outer(v, w)", ufuncs::subtract.outer(v, w), "float64 (6, 6) # 21 343.5");
  NUMPY("np.less.outer(i, n)", ufuncs::less.outer(i, n), "bool (3, 6) 1 0 0 0 0 1 1 1 1 1 0 1 1 0 1 0 0 1");
  NUMPY("np.add.outer(a, v[:2])", ufuncs::add.outer(a, v(nd::Slice(2))),
        "float64 (3, 4, 2) 3.5 1.5 4 2 4.5 2.5 5 3 5.5 3.5 6 4 6.5 4.5 7 5 7.5 5.5 8 6 8.5 6.5 9 7");
  NUMPY("np.power.outer(v, 2)", ufuncs::power.outer(v, 2), "float64 (6) 9 1 4 25 16 0.25");
  NUMPY("np.add.outer(2, i)", ufuncs::add.outer(2, i), "int64 (3) 4 2 3");
  NUMPY("np.arctan2.outer(t, w[:2]).shape", ufuncs::atan2.outer(t, w(nd::Slice(2))).shape(), "(4, 2, 2, 2)");
  NUMPY("np.add.outer(zero, i)", ufuncs::add.outer(zero, i), "float64 (3) 4.5 2.5 3.5");
  NUMPY("np.maximum.outer(e, v)", ufuncs::maximum.outer(e, v), "float64 (0, 6)");
  NUMPY("np.add.outer(i, n, dtype=np.float32)", ufuncs::add.outer(i, n, {.dtype = nd::float32}),
        "float32 (3, 6) 5 3 4 3 2 5 3 1 2 1 0 3 4 2 3 2 1 4");
  NUMPY("np.divide.outer(n, i + 1)", ufuncs::divide.outer(n, i + 1),
        "float64 (6, 3) 1 3 1.5 0.333333333 1 0.5 0.666666667 2 1 0.333333333 1 0.5 0 0 0 1 3 1.5");
}

BOOST_FIXTURE_TEST_CASE(at_indices, test::NumpyScene) {
  {
    // numpy: x = v.copy(); np.add.at(x, [0, 0, 1], 1)
    const nd::Array x = v.copy();
    ufuncs::add.at(x, {0, 0, 1}, 1);
    NUMPY("x", x, "float64 (6) 5 2 2 5 4 0.5");
  }
  {
    // numpy: x = v.copy(); np.subtract.at(x, [0, 0, -1], np.array([1., 2., 3.]))
    const nd::Array x = v.copy();
    ufuncs::subtract.at(x, {0, 0, -1}, nd::array({1., 2., 3.}));
    NUMPY("x", x, "float64 (6) 0 1 2 5 4 -2.5");
  }
  {
    // numpy: x = v.copy(); np.multiply.at(x, [0, 0, 1, 0], 2)
    const nd::Array x = v.copy();
    ufuncs::multiply.at(x, {0, 0, 1, 0}, 2);
    NUMPY("x", x, "float64 (6) 24 2 2 5 4 0.5");
  }
  {
    // numpy: x = v.copy(); np.divide.at(x, [0, 0, 1], np.array([2., 4., 8.]))
    const nd::Array x = v.copy();
    ufuncs::divide.at(x, {0, 0, 1}, nd::array({2., 4., 8.}));
    NUMPY("x", x, "float64 (6) 0.375 0.125 2 5 4 0.5");
  }
  {
    // numpy: x = v.copy(); np.power.at(x, [2, 2, 1], np.array([2., 3., 2.]))
    const nd::Array x = v.copy();
    ufuncs::power.at(x, {2, 2, 1}, nd::array({2., 3., 2.}));
    NUMPY("x", x, "float64 (6) 3 1 64 5 4 0.5");
  }
  {
    // numpy: x = v.copy(); np.maximum.at(x, [1, 1, 5], np.array([2., 7., 0.]))
    const nd::Array x = v.copy();
    ufuncs::maximum.at(x, {1, 1, 5}, nd::array({2., 7., 0.}));
    NUMPY("x", x, "float64 (6) 3 7 2 5 4 0.5");
  }
  {
    // numpy: x = a.copy(); np.minimum.at(x, (np.array([0, 0, 2]), np.array([1, 1, 3])), np.array([.5, .25, 9.]))
    const nd::Array x = a.copy();
    ufuncs::minimum.at(x, {nd::array({0, 0, 2}), nd::array({1, 1, 3})}, nd::array({0.5, 0.25, 9.}));
    NUMPY("x", x, "float64 (3, 4) 0.5 0.25 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  }
  {
    // numpy: x = a.copy(); np.multiply.at(x, m, 3)
    const nd::Array x = a.copy();
    ufuncs::multiply.at(x, m, 3);
    NUMPY("x", x, "float64 (3, 4) 0.5 1 1.5 2 7.5 9 10.5 12 13.5 15 16.5 18");
  }
  {
    // numpy: x = a.copy(); np.multiply.at(x, (slice(None), [0, 0]), 3)
    const nd::Array x = a.copy();
    ufuncs::multiply.at(x, {nd::Slice(), nd::array({0, 0})}, 3);
    NUMPY("x", x, "float64 (3, 4) 4.5 1 1.5 2 22.5 3 3.5 4 40.5 5 5.5 6");
  }
  {
    // numpy: x = a.copy(); np.multiply.at(x, [2, 2], w[:4])
    const nd::Array x = a.copy();
    ufuncs::multiply.at(x, {2, 2}, w(nd::Slice(4)));
    NUMPY("x", x, "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 20 1.375 96");
  }
  {
    // numpy: x = d.copy(); np.bitwise_xor.at(x, [0, 0, 1], np.array([[1], [2], [4]]))
    const nd::Array x = d.copy();
    ufuncs::bitwise_xor.at(x, {0, 0, 1}, nd::array({{1}, {2}, {4}}));
    NUMPY("x", x, "int64 (3, 4) 0 2 1 3 3 6 6 1 1 6 4 3");
  }
  {
    // numpy: x = d.copy(); np.floor_divide.at(x, [0, 0], 2)
    const nd::Array x = d.copy();
    ufuncs::floor_divide.at(x, {0, 0}, 2);
    NUMPY("x", x, "int64 (3, 4) 0 0 0 0 7 2 2 5 1 6 4 3");
  }
  {
    // numpy: y = d.copy(); x = y.T; np.multiply.at(x, [3, 3, 0], 2)
    const nd::Array x = d.copy().T();
    ufuncs::multiply.at(x, {3, 3, 0}, 2);
    NUMPY("x", x, "int64 (4, 3) 6 14 2 1 2 6 2 2 4 0 20 12");
  }
  {
    // numpy: x = m.copy(); np.logical_xor.at(x, [0, 0, 1], True)
    const nd::Array x = m.copy();
    ufuncs::logical_xor.at(x, {0, 0, 1}, true);
    NUMPY("x", x, "bool (3, 4) 0 0 0 0 0 0 0 0 1 1 1 1");
  }
  {
    // numpy: x = v.copy(); np.multiply.at(x, np.zeros(0, int), 2)
    const nd::Array x = v.copy();
    ufuncs::multiply.at(x, nd::zeros({0}, nd::int64), 2);
    NUMPY("x", x, "float64 (6) 3 1 2 5 4 0.5");
  }
  NUMPY_RAISES("np.add.at(d.copy(), [0], 1.5)", ufuncs::add.at(d.copy(), {0}, 1.5), nd::TypeError);
  NUMPY_RAISES("np.divide.at(d.copy(), [0], 2)", ufuncs::divide.at(d.copy(), {0}, 2), nd::TypeError);
  NUMPY_RAISES("np.multiply.at(v.copy(), [0, 1], w)", ufuncs::multiply.at(v.copy(), {0, 1}, w), nd::ValueError);
  BOOST_CHECK_THROW(ufuncs::multiply.at(nd::Array(), {0}, 1), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(calls_with_a_mask, test::NumpyScene) {
  {
    // numpy: x = np.zeros((3, 4)); np.add(a, b, out=x, where=m)
    const nd::Array x = nd::zeros({3, 4});
    ufuncs::add(a, b, {.out = x, .where = m});
    NUMPY("x", x, "float64 (3, 4) 0 0 0 0 0 7 4.5 4.25 6 4.25 11.5 8");
  }
  {
    // numpy: x = a.copy(); np.multiply(x, 2, out=x, where=p[:4])
    const nd::Array x = a.copy();
    ufuncs::multiply(x, 2, {.out = x, .where = p(nd::Slice(4))});
    NUMPY("x", x, "float64 (3, 4) 1 1 1.5 4 5 3 3.5 8 9 5 5.5 12");
  }
  NUMPY("np.where(m, a / b, 0)", ufuncs::divide(a, b, {.where = m}),
        "float64 (3, 4) 0 0 0 0 -1 0.75 3.5 16 3 -6.66666667 0.916666667 3");
  NUMPY("np.subtract(a, b)", ufuncs::subtract(a, b), "float64 (3, 4) -1.5 2 1 -1 5 -1 2.5 3.75 3 5.75 -0.5 4");
  NUMPY("np.mod(d, 3)", ufuncs::mod(d, 3), "int64 (3, 4) 0 1 2 0 1 2 2 2 1 0 1 0");
  NUMPY("np.add(f, 1, dtype=np.float64)", ufuncs::add(f, 1, {.dtype = nd::float64}), "float64 (2, 2) 2 3 4 5");
  const nd::Array ints = nd::zeros({3, 4}, nd::int64);
  BOOST_CHECK_THROW(ufuncs::add(a, b, {.out = ints, .where = m}), nd::TypeError);
  BOOST_CHECK_THROW(ufuncs::add(a, b, {.where = p}), nd::ValueError);
}

// Slices and positions of many sizes against loops over the elements.
BOOST_FIXTURE_TEST_CASE(against_loops, test::NumpyScene) {
  std::uint64_t state = 7;
  const auto draw = [&](std::int64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return std::int64_t(state >> 33) % below;
  };
  for (const std::int64_t n : {1, 2, 17, 600, 5000}) {
    std::vector<double> x;
    for (std::int64_t k = 0; k < n; ++k) x.push_back(double(draw(1000)) - 500);
    for (const std::int64_t count : {std::int64_t(1), std::int64_t(3), n}) {
      std::vector<std::int64_t> at;
      for (std::int64_t k = 0; k < count; ++k) at.push_back(draw(n));
      std::vector<double> sums, largest, norms;
      std::vector<double> product = x, top = x;
      for (std::size_t k = 0; k < at.size(); ++k) {
        const std::int64_t end = std::max(k + 1 < at.size() ? at[k + 1] : n, at[k] + 1);
        double sum = 0, most = x[std::size_t(at[k])], norm = most;
        for (std::int64_t i = at[k]; i < end; ++i) {
          sum += x[std::size_t(i)];
          most = std::max(most, x[std::size_t(i)]);
          if (i > at[k]) norm = std::hypot(norm, x[std::size_t(i)]);
        }
        sums.push_back(sum);
        largest.push_back(most);
        norms.push_back(norm);
        const auto here = std::size_t(at[k]);
        product[here] *= -2;
        top[here] = std::max(top[here], double(k));
      }
      const nd::Array a1 = nd::array(x);
      BOOST_TEST(bool(nd::array_equal(ufuncs::add.reduceat(a1, at), nd::array(sums))));
      BOOST_TEST(bool(nd::array_equal(ufuncs::maximum.reduceat(a1, at), nd::array(largest))));
      BOOST_TEST(bool(nd::allclose(ufuncs::hypot.reduceat(a1, at), nd::array(norms), 1e-12)));
      const nd::Array y = a1.copy(), u = a1.copy();
      ufuncs::multiply.at(y, at, -2);
      BOOST_TEST(bool(nd::array_equal(y, nd::array(product))));
      ufuncs::maximum.at(u, at, nd::arange(double(count)));
      BOOST_TEST(bool(nd::array_equal(u, nd::array(top))));
    }
    std::vector<double> running, least;
    for (const double value : x) {
      running.push_back(running.empty() ? std::fabs(value) : std::hypot(running.back(), value));
      least.push_back(least.empty() ? value : std::min(least.back(), value));
    }
    BOOST_TEST(bool(nd::allclose(ufuncs::hypot.accumulate(nd::abs(nd::array(x))), nd::array(running), 1e-12)));
    BOOST_TEST(bool(nd::array_equal(ufuncs::minimum.accumulate(nd::array(x)), nd::array(least))));
    BOOST_TEST(bool(nd::allclose(ufuncs::hypot.reduce(nd::array(x)), running.back(), 1e-12)));
  }
}

BOOST_FIXTURE_TEST_CASE(scattered_extrema, test::NumpyScene) {
  {
    // numpy: x = v.copy(); np.maximum.at(x, [1, 1, 0, 0, -1], np.array([2., np.nan, np.nan, 9., 7.]))
    const nd::Array x = v.copy();
    nd::scatter_max(x, {1, 1, 0, 0, -1}, nd::array({2., NAN, NAN, 9., 7.}));
    NUMPY("x", x, "float64 (6) nan nan 2 5 4 7");
  }
  {
    // numpy: x = a.copy(); np.minimum.at(x, (slice(None), [0, 0]), np.array([[.7, .2]]))
    const nd::Array x = a.copy();
    nd::scatter_min(x, {nd::Slice(), nd::array({0, 0})}, nd::array({{0.7, 0.2}}));
    NUMPY("x", x, "float64 (3, 4) 0.2 1 1.5 2 0.2 3 3.5 4 0.2 5 5.5 6");
  }
  {
    // numpy: x = a.copy(); np.minimum.at(x, m, 3)
    const nd::Array x = a.copy();
    nd::scatter_min(x, m, 3);
    NUMPY("x", x, "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3 3 3 3 3 3");
  }
  {  // values in the memory of the array
    // numpy: x = v.copy(); np.maximum.at(x, [1, 2], x[:2])
    const nd::Array x = v.copy();
    nd::scatter_max(x, {1, 2}, x(nd::Slice(2)));
    NUMPY("x", x, "float64 (6) 3 3 2 5 4 0.5");
  }
  for (nd::Dtype t : {nd::int8, nd::uint8, nd::int16, nd::int32, nd::uint32, nd::int64, nd::uint64, nd::float16,
                      nd::bfloat16, nd::float32, nd::float64}) {
    const nd::Array low = nd::full(4, 5, t), high = low.copy(), values = nd::array({9, 1, 7, 2, 3}).astype(t);
    nd::scatter_max(low, {0, 0, 1, 2, 1}, values);
    nd::scatter_min(high, {0, 0, 1, 2, 1}, values);
    BOOST_TEST(bool(nd::array_equal(low, nd::array({9, 7, 5, 5}).astype(t))));
    BOOST_TEST(bool(nd::array_equal(high, nd::array({1, 3, 2, 5}).astype(t))));
  }
  // Integers wrap, and reduceat adds them in their dtype of sums.
  const nd::Array bytes = nd::array({100, 3}).astype(nd::int8);
  ufuncs::multiply.at(bytes, {0, 0, 1}, nd::array({2, 2, 5}).astype(nd::int8));
  BOOST_TEST(bool(nd::array_equal(bytes, nd::array({-112, 15}))));
  NUMPY("np.add.reduceat(reals[1].ravel(), [0, 5, 2])", ufuncs::add.reduceat(reals[1].ravel(), {0, 5, 2}),
        "int64 (3) 13 2 32");
  NUMPY("np.maximum.reduceat(g.ravel(), [0, 3, 6, 7])", ufuncs::maximum.reduceat(g.ravel(), {0, 3, 6, 7}),
        "float64 (4) nan nan 2 5");
  if (nd::current_device().kind == nd::Device::Kind::cpu)  // on CUDA indices wrap
    BOOST_CHECK_THROW(nd::scatter_max(v.copy(), {6}, 1), nd::IndexError);
}

// Rows that fit the caches and rows that do not; indices of both signs; a value for each index or one for all.
BOOST_AUTO_TEST_CASE(at_many_elements) {
  for (const std::int64_t n : {50, 300001}) {
    const nd::Array a = nd::arange(n) % 97 - 48.0, b = nd::arange(3 * n) * 31 % 101 - 50.0;
    const nd::Array index = nd::arange(3 * n) * 7919 % (2 * n) - n;
    const std::vector<double> values = b.to_vector<double>();
    std::vector<double> sums = a.to_vector<double>(), maxima = sums;
    const std::vector<std::int64_t> at = index.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto to = std::size_t(at[i] < 0 ? at[i] + n : at[i]);
      sums[to] += values[i];
      maxima[to] = std::max(maxima[to], values[i]);
    }
    for (const nd::Array& i : {index, index.astype(nd::int32)}) {
      const nd::Array x = a.copy(), y = a.copy(), z = a.copy();
      const auto version = x.version();
      ufuncs::add.at(x, i, b);
      BOOST_TEST((x.version() > version));
      ufuncs::maximum.at(y, i, b);
      ufuncs::minimum.at(z, i, -49);
      BOOST_TEST((x.to_vector<double>() == sums));
      BOOST_TEST((y.to_vector<double>() == maxima));
      BOOST_TEST(nd::amax(z).item<double>() == -49);
      if (nd::current_device().kind == nd::Device::Kind::cpu)
        BOOST_CHECK_THROW(ufuncs::add.at(x, nd::array({std::int64_t(0), n}).astype(i.dtype()), 1), nd::IndexError);
      BOOST_TEST((x.to_vector<double>() == sums));
    }
    std::vector<std::int64_t> starts;
    std::vector<double> expected;
    for (std::int64_t first = 0, length = 1; first < n; first += length, length = length * 3 / 2 + 1) {
      starts.push_back(first);
      expected.push_back(a(nd::Slice(first, std::min(first + length, n))).sum().item<double>());
    }
    BOOST_TEST((ufuncs::add.reduceat(a, starts).to_vector<double>() == expected));
  }
}

BOOST_AUTO_TEST_SUITE_END()
