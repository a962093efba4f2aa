// `where` and `initial` of sum, prod, max, min and mean.
#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(reduction_where)

BOOST_FIXTURE_TEST_CASE(selected_elements, test::NumpyScene) {
  NUMPY("a.sum(where=m)", a.sum({.where = m}), "float64 () 34");
  NUMPY("a.sum(0, where=m, keepdims=True)", a.sum(0, {.keepdims = true, .where = m}), "float64 (1, 4) 7 8 9 10");
  NUMPY("np.sum(a, 1, where=m[0])", nd::sum(a, 1, {.where = m(0)}), "float64 (3) 0 0 0");
  NUMPY("np.prod(a, axis=1, where=m)", nd::prod(a, {.axis = 1, .where = m}), "float64 (3) 1 105 742.5");
  NUMPY("np.max(a, 0, initial=-1, where=~m)", nd::max(a, 0, {.initial = -1, .where = ~m}), "float64 (4) 0.5 1 1.5 2");
  NUMPY("np.min(b, 1, initial=0.25, where=m)", nd::min(b, 1, {.initial = 0.25, .where = m}),
        "float64 (3) 0.25 -2.5 -0.75");
  NUMPY("np.mean(a, where=m)", nd::mean(a, {.where = m}), "float64 () 4.25");
  NUMPY("np.mean(a, 0, where=m)", nd::mean(a, 0, {.where = m}), "float64 (4) 3.5 4 4.5 5");
  NUMPY("np.mean(d, 1, where=d > 1, keepdims=True)", nd::mean(d, 1, {.keepdims = true, .where = d > 1}),
        "float64 (3, 1) 2.5 4 4.33333333");
  NUMPY("z.sum(where=[True, False, True, True])", z.sum({.where = nd::array({true, false, true, true})}),
        "complex128 () 10 5.5");
  NUMPY("np.mean(z, where=[True, False, True, True])", nd::mean(z, {.where = nd::array({true, false, true, true})}),
        "complex128 () 3.33333333 1.83333333");
  NUMPY("t.sum(where=t > 9)", t.sum({.where = t > 9}), "float64 () 161");
  NUMPY("np.max(e, initial=3.5)", nd::max(e, {.initial = 3.5}), "float64 () 3.5");
  NUMPY("[np.sum(x, 0, where=m) for x in reals]", each(reals, [&](auto& x) { return nd::sum(x, 0, {.where = m}); }),
        "int64 (4) 2 2 2 2 | int64 (4) 8 8 6 8 | uint64 (4) 8 8 6 8 | int64 (4) 8 8 6 8 | uint64 (4) 8 8 6 8 | int64 "
        "(4) 8 8 6 8 | uint64 (4) 8 8 6 8 | int64 (4) 8 8 6 8 | uint64 (4) 8 8 6 8 | float16 (4) 8 8 6 8 | float32 "
        "(4) 8 8 6 8 | float64 (4) 8 8 6 8");
  NUMPY("[np.mean(x, 0, where=d > 1) for x in reals]",
        each(reals, [&](auto& x) { return nd::mean(x, 0, {.where = d > 1}); }),
        "float64 (4) 1 1 1 1 | float64 (4) 5 4 2.66666667 4 | float64 (4) 5 4 2.66666667 4 | float64 (4) 5 4 "
        "2.66666667 4 | float64 (4) 5 4 2.66666667 4 | float64 (4) 5 4 2.66666667 4 | float64 (4) 5 4 2.66666667 4 | "
        "float64 (4) 5 4 2.66666667 4 | float64 (4) 5 4 2.66666667 4 | float16 (4) 5 4 2.66601562 4 | float32 (4) 5 "
        "4 2.66666675 4 | float64 (4) 5 4 2.66666667 4");
  NUMPY_RAISES("np.max(a, where=m)", nd::max(a, {.where = m}), nd::ValueError);
  NUMPY_RAISES("np.sum(a, where=p)", nd::sum(a, {.where = p}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(initial_numbers, test::NumpyScene) {
  NUMPY("a.sum(initial=10)", a.sum({.initial = 10}), "float64 () 49");
  NUMPY("a.max(initial=0.)", a.max({.initial = 0.}), "float64 () 6");
  NUMPY("a.max(1, initial=3)", a.max(1, {.initial = 3}), "float64 (3) 3 4 6");
  NUMPY("np.prod(d, 0, initial=2)", nd::prod(d, 0, {.initial = 2}), "int64 (4) 42 24 32 0");
  NUMPY("np.sum(e3, 0, initial=1.5)", nd::sum(e3, 0, {.initial = 1.5}), "float64 (3) 1.5 1.5 1.5");
  NUMPY("np.min(v, initial=2)", nd::min(v, {.initial = 2}), "float64 () 0.5");
  const nd::Array out = nd::zeros(4);
  nd::sum(a, {.axis = 0, .out = out, .initial = 1});
  NUMPY("a.sum(0, initial=1)", out, "float64 (4) 8.5 10 11.5 13");
  BOOST_CHECK_THROW(nd::mean(a, {.initial = 1}), nd::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
