// Functions of the user's own on parts of an array, against NumPy.
#include <catena/tests/support/ndarray_numpy.h>
#include <catena/tests/support/ndarray_values.h>

using nd::Array;
using test::NumpyScene;

BOOST_AUTO_TEST_SUITE(apply)

BOOST_FIXTURE_TEST_CASE(along_an_axis, NumpyScene) {
  const auto spread = [](const Array& x) { return x.max() - x.min(); };
  // numpy: spread = lambda x: x.max() - x.min()
  NUMPY("np.apply_along_axis(spread, 0, a)", nd::apply_along_axis(spread, 0, a), "float64 (4) 4 4 4 4");
  NUMPY("np.apply_along_axis(spread, -1, q)", nd::apply_along_axis(spread, -1, q), "float64 (2, 3) 3 3 3 3 3 3");
  NUMPY("np.apply_along_axis(lambda x: float(x.sum()) / 2, 1, d)",
        nd::apply_along_axis([](const Array& x) { return double(x.sum()) / 2; }, 1, d), "float64 (3) 3 8 7");
  NUMPY("np.apply_along_axis(np.sort, 1, t)", nd::apply_along_axis([](Array x) { return nd::sort(x); }, 1, t),
        "float64 (4, 2, 2) 3 11 15 23 2 10 14 22 1 9 13 21 0 8 12 20");
  NUMPY("np.apply_along_axis(np.diag, 1, q)", nd::apply_along_axis([](const Array& x) { return nd::diag(x); }, 1, q),
        "float64 (2, 3, 3, 4) # 276 13720");
  NUMPY("np.apply_along_axis(np.diag, -1, v)", nd::apply_along_axis([](const Array& x) { return nd::diag(x); }, -1, v),
        "float64 (6, 6) # 15.5 285");
  NUMPY("np.apply_along_axis(lambda x: x[:2] > 2, 0, a)",
        nd::apply_along_axis([](const Array& x) { return x(nd::Slice(2)) > 2; }, 0, a), "bool (2, 4) 0 0 0 0 1 1 1 1");
  NUMPY("np.apply_along_axis(len, 1, np.zeros((2, 0)))",
        nd::apply_along_axis([](const Array& x) { return x.size(); }, 1, nd::zeros({2, 0})), "int64 (2) 0 0");
  NUMPY("np.apply_along_axis(lambda x: x.sum(), 0, one)",
        nd::apply_along_axis([](const Array& x) { return x.sum(); }, 0, one), "float64 () 2.5");
  NUMPY_RAISES("np.apply_along_axis(np.sum, 1, e3)",
               nd::apply_along_axis([](const Array& x) { return x.sum(); }, 1, e3), nd::ValueError);
  NUMPY_RAISES("np.apply_along_axis(np.sum, 2, a)", nd::apply_along_axis([](const Array& x) { return x.sum(); }, 2, a),
               nd::ValueError);
  NUMPY_RAISES("np.apply_along_axis(lambda x: x[x > 1.75], 0, a)",
               nd::apply_along_axis([](const Array& x) { return Array(x(x > 1.75)); }, 0, a), nd::ValueError);
  // Exceptions of the function reach the caller.
  BOOST_CHECK_THROW(nd::apply_along_axis([](const Array&) -> Array { throw nd::IndexError("mine"); }, 0, a),
                    nd::IndexError);
}

BOOST_FIXTURE_TEST_CASE(over_axes, NumpyScene) {
  const auto sum = [](const Array& x, int axis) { return nd::sum(x, axis); };
  NUMPY("np.apply_over_axes(np.sum, q, [0, 2])", nd::apply_over_axes(sum, q, {0, 2}), "float64 (1, 3, 1) 60 92 124");
  NUMPY("np.apply_over_axes(np.sum, q, -1)", nd::apply_over_axes(sum, q, -1), "float64 (2, 3, 1) 6 22 38 54 70 86");
  NUMPY("np.apply_over_axes(np.sort, d, [0, 1])",
        nd::apply_over_axes([](const Array& x, int axis) { return nd::sort(x, axis); }, d, {0, 1}),
        "int64 (3, 4) 0 1 1 2 2 2 3 3 4 5 6 7");
  NUMPY("np.apply_over_axes(np.sum, a, (0, 1))", nd::apply_over_axes(sum, a, {}), "float64 (1, 1) 39");
  NUMPY_RAISES("np.apply_over_axes(lambda x, k: x.sum(), q, [0])",
               nd::apply_over_axes([](const Array& x, int) { return x.sum(); }, q, {0}), nd::ValueError);
  NUMPY_RAISES("np.apply_over_axes(np.sum, a, [2])", nd::apply_over_axes(sum, a, {2}), nd::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
