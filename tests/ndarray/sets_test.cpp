// Distinct elements and set functions as in NumPy: options, dtypes, NaN, layouts, axes, errors; large random arrays
// against std::map.
#include <complex>
#include <cstdint>
#include <map>
#include <vector>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;

namespace {

std::vector<nd::Array> given_arrays(std::initializer_list<nd::Array> arrays) {
  std::vector<nd::Array> result;
  for (const nd::Array& a : arrays)
    if (!a.is_null()) result.push_back(a);
  return result;
}
std::vector<nd::Array> all_of(const nd::UniqueResult& r) {
  return given_arrays({r.values, r.indices, r.inverse_indices, r.counts});
}
std::vector<nd::Array> all_of(const nd::Intersect1dResult& r) {
  return given_arrays({r.values, r.indices1, r.indices2});
}
std::vector<nd::Array> all_of(const nd::UniqueCountsResult& r) { return {r.values, r.counts}; }
std::vector<nd::Array> all_of(const nd::UniqueInverseResult& r) { return {r.values, r.inverse_indices}; }

// Pseudo-random integers from 0 to `range` - 1.
std::vector<std::int64_t> numbers(std::int64_t n, std::int64_t range, std::uint64_t seed) {
  std::vector<std::int64_t> list;
  for (std::int64_t k = 0; k < n; ++k) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    list.push_back(static_cast<std::int64_t>((seed >> 33) % static_cast<std::uint64_t>(range)));
  }
  return list;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sets)

BOOST_FIXTURE_TEST_CASE(distinct_elements, test::NumpyScene) {
  // numpy: c = np.array([2 + 1j, 1, 2 - 1j, 1, 2 + 1j]); k = np.array([np.nan, 1, np.nan, 0., -0.])
  const nd::Array c = nd::array({std::complex<double>(2, 1), std::complex<double>(1), std::complex<double>(2, -1),
                                 std::complex<double>(1), std::complex<double>(2, 1)});
  const nd::Array k = nd::array({nd::nan, 1., nd::nan, 0., -0.});
  NUMPY("np.unique(n)", nd::unique(n), "int64 (4) 0 1 2 3");
  NUMPY("np.unique(d)", nd::unique(d), "int64 (8) 0 1 2 3 4 5 6 7");
  NUMPY("np.unique(n, return_index=True)", all_of(nd::unique(n, {.return_index = true})),
        "int64 (4) 0 1 2 3 | int64 (4) 4 1 2 0");
  NUMPY("np.unique(d, return_inverse=True)", all_of(nd::unique(d, {.return_inverse = true})),
        "int64 (8) 0 1 2 3 4 5 6 7 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3");
  NUMPY("np.unique(n, return_counts=True)", all_of(nd::unique(n, {.return_counts = true})),
        "int64 (4) 0 1 2 3 | int64 (4) 1 2 1 2");
  NUMPY("np.unique(d, return_index=True, return_counts=True)",
        all_of(nd::unique(d, {.return_index = true, .return_counts = true})),
        "int64 (8) 0 1 2 3 4 5 6 7 | int64 (8) 3 1 2 0 10 7 9 4 | int64 (8) 1 2 3 2 1 1 1 1");
  NUMPY("np.unique(n, True, True, True)", all_of(nd::unique(n, true, true, true)),
        "int64 (4) 0 1 2 3 | int64 (4) 4 1 2 0 | int64 (6) 3 1 2 1 0 3 | int64 (4) 1 2 1 2");
  NUMPY("np.unique(n, True)", all_of(nd::unique(n, true)), "int64 (4) 0 1 2 3 | int64 (4) 4 1 2 0");
  NUMPY("np.unique([3, 1, 3])", nd::unique({3, 1, 3}), "int64 (2) 1 3");
  NUMPY("np.unique(2.5)", nd::unique(2.5), "float64 (1) 2.5");
  NUMPY("np.unique(zero, return_inverse=True)", all_of(nd::unique(zero, {.return_inverse = true})),
        "float64 (1) 2.5 | int64 () 0");
  NUMPY("np.unique(one, return_counts=True)", all_of(nd::unique(one, {.return_counts = true})),
        "float64 (1) 2.5 | int64 (1) 1");
  NUMPY("np.unique(e)", nd::unique(e), "float64 (0)");
  NUMPY("np.unique(e, True, True, True)", all_of(nd::unique(e, true, true, true)),
        "float64 (0) | int64 (0) | int64 (0) | int64 (0)");
  NUMPY("np.unique(t)", nd::unique(t), "float64 (16) 0 1 2 3 8 9 10 11 12 13 14 15 20 21 22 23");
  NUMPY("np.unique(t % 5, True, True, True)", all_of(nd::unique(t % 5, true, true, true)),
        "float64 (5) 0 1 2 3 4 | int64 (5) 2 1 4 0 6 | int64 (4, 2, 2) 3 1 0 3 2 0 4 2 1 4 3 1 0 3 2 0 | int64 (5) 4 "
        "3 3 4 2");
  NUMPY("np.unique(t[:, :, 1])", nd::unique(t(nd::_, nd::_, 1)), "float64 (8) 8 9 10 11 20 21 22 23");
  NUMPY("np.unique(h)", nd::unique(h), "float64 (4) 1 3 inf nan");
  NUMPY("np.unique(g)", nd::unique(g), "float64 (6) -inf 1 2 3 5 nan");
  NUMPY("np.unique(g, equal_nan=False)", nd::unique(g, {.equal_nan = false}).values,
        "float64 (9) -inf 1 2 3 5 nan nan nan nan");
  NUMPY("np.unique(g, return_counts=True)", all_of(nd::unique(g, {.return_counts = true})),
        "float64 (6) -inf 1 2 3 5 nan | int64 (6) 1 1 1 1 1 4");
  NUMPY("np.unique(g, return_inverse=True, equal_nan=False)",
        all_of(nd::unique(g, {.return_inverse = true, .equal_nan = false})),
        "float64 (9) -inf 1 2 3 5 nan nan nan nan | int64 (3, 3) 1 5 3 6 7 8 2 4 0");
  NUMPY("np.unique(k, return_index=True)", all_of(nd::unique(k, {.return_index = true})),
        "float64 (3) 0 1 nan | int64 (3) 3 1 0");
  NUMPY("np.unique(c)", nd::unique(c), "complex128 (3) 1 0 2 -1 2 1");
  NUMPY("np.unique(c, True, True, True)", all_of(nd::unique(c, true, true, true)),
        "complex128 (3) 1 0 2 -1 2 1 | int64 (3) 1 2 0 | int64 (5) 2 0 1 0 2 | int64 (3) 2 1 2");
  NUMPY("[np.unique(x) for x in reals]", each(reals, [](auto& x) { return nd::unique(x); }),
        "bool (2) 0 1 | int8 (8) 0 1 2 3 4 5 6 7 | uint8 (8) 0 1 2 3 4 5 6 7 | int16 (8) 0 1 2 3 4 5 6 7 | uint16 "
        "(8) 0 1 2 3 4 5 6 7 | int32 (8) 0 1 2 3 4 5 6 7 | uint32 (8) 0 1 2 3 4 5 6 7 | int64 (8) 0 1 2 3 4 5 6 7 | "
        "uint64 (8) 0 1 2 3 4 5 6 7 | float16 (8) 0 1 2 3 4 5 6 7 | float32 (8) 0 1 2 3 4 5 6 7 | float64 (8) 0 1 2 "
        "3 4 5 6 7");
  NUMPY("[np.unique(x, return_inverse=True)[1] for x in reals]",
        each(reals, [](auto& x) { return nd::unique(x, {.return_inverse = true}).inverse_indices; }),
        "int64 (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | int64 (3, 4) 3 1 2 0 7 2 2 5 "
        "1 6 4 3 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | int64 (3, 4) 3 1 2 "
        "0 7 2 2 5 1 6 4 3 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | int64 (3, "
        "4) 3 1 2 0 7 2 2 5 1 6 4 3 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | "
        "int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3");
  NUMPY("[np.unique(x, return_counts=True)[1] for x in floats]",
        each(floats, [](auto& x) { return nd::unique(x, {.return_counts = true}).counts; }),
        "int64 (8) 1 2 3 2 1 1 1 1 | int64 (8) 1 2 3 2 1 1 1 1 | int64 (8) 1 2 3 2 1 1 1 1");
  NUMPY("[np.unique(x) for x in complexes]", each(complexes, [](auto& x) { return nd::unique(x); }),
        "complex64 (11) 0 -6 1 -12 1 -6 2 -8 2 -4 3 -2 3 0 4 -4 5 -10 6 -2 7 -14 | complex128 (11) 0 -6 1 -12 1 -6 2 "
        "-8 2 -4 3 -2 3 0 4 -4 5 -10 6 -2 7 -14");
  const nd::Array b16 = nd::array({2, 1, 2}, nd::bfloat16);
  BOOST_TEST(test::text(nd::unique(b16)) == test::text(nd::array({1, 2}, nd::bfloat16)));
  const nd::Array only = nd::unique(n, {.equal_nan = false});
  BOOST_TEST(test::text(only) == test::text(nd::unique(n)));
  BOOST_CHECK_THROW(nd::Array(nd::unique(n, {.return_counts = true})), nd::TypeError);
  BOOST_CHECK_THROW(nd::unique(nd::Array()), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(standard_functions, test::NumpyScene) {
  NUMPY("np.unique_all(d)", all_of(nd::unique_all(d)),
        "int64 (8) 0 1 2 3 4 5 6 7 | int64 (8) 3 1 2 0 10 7 9 4 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3 | int64 (8) 1 "
        "2 3 2 1 1 1 1");
  NUMPY("np.unique_all(g)", all_of(nd::unique_all(g)),
        "float64 (9) -inf 1 2 3 5 nan nan nan nan | int64 (9) 8 0 6 2 7 1 3 4 5 | int64 (3, 3) 1 5 3 6 7 8 2 4 0 | "
        "int64 (9) 1 1 1 1 1 1 1 1 1");
  NUMPY("np.unique_counts(n)", all_of(nd::unique_counts(n)), "int64 (4) 0 1 2 3 | int64 (4) 1 2 1 2");
  NUMPY("np.unique_counts(g)", all_of(nd::unique_counts(g)),
        "float64 (9) -inf 1 2 3 5 nan nan nan nan | int64 (9) 1 1 1 1 1 1 1 1 1");
  NUMPY("np.unique_inverse(d)", all_of(nd::unique_inverse(d)),
        "int64 (8) 0 1 2 3 4 5 6 7 | int64 (3, 4) 3 1 2 0 7 2 2 5 1 6 4 3");
  NUMPY("np.sort(np.unique_values(d))", nd::unique_values(d), "int64 (8) 0 1 2 3 4 5 6 7");
  NUMPY("np.unique(h, equal_nan=False)", nd::unique_values(h), "float64 (4) 1 3 inf nan");
}

BOOST_FIXTURE_TEST_CASE(distinct_slices, test::NumpyScene) {
  // numpy: r = np.array([[1, 0, 0], [1, 0, 0], [0, 2, 4], [1, 0, -1]])
  const nd::Array r = nd::array({{1, 0, 0}, {1, 0, 0}, {0, 2, 4}, {1, 0, -1}});
  // numpy: k = np.array([[np.nan, 1.], [0, 1], [np.nan, 1]])
  const nd::Array k = nd::array({{nd::nan, 1.}, {0., 1.}, {nd::nan, 1.}});
  NUMPY("np.unique(r, axis=0)", nd::Array(nd::unique(r, {.axis = 0})), "int64 (3, 3) 0 2 4 1 0 -1 1 0 0");
  NUMPY("np.unique(r, axis=1)", nd::Array(nd::unique(r, {.axis = 1})), "int64 (4, 3) 0 0 1 0 0 1 2 4 0 0 -1 1");
  NUMPY("np.unique(r.T, axis=-1)", nd::Array(nd::unique(r.T(), {.axis = -1})), "int64 (3, 3) 0 1 1 2 0 0 4 -1 0");
  NUMPY("np.unique(r, True, True, True, 0)", all_of(nd::unique(r, true, true, true, 0)),
        "int64 (3, 3) 0 2 4 1 0 -1 1 0 0 | int64 (3) 2 3 0 | int64 (4) 2 2 0 1 | int64 (3) 1 1 2");
  NUMPY("np.unique(r[:, :1], return_counts=True, axis=0)",
        all_of(nd::unique(r(nd::_, nd::Slice(0, 1)), {.return_counts = true, .axis = 0})),
        "int64 (2, 1) 0 1 | int64 (2) 1 3");
  NUMPY("np.unique(t % 3, axis=1)", nd::Array(nd::unique(t % 3, {.axis = 1})), "float64 (4, 1, 2) 0 2 2 1 1 0 0 2");
  NUMPY("np.unique(n, axis=0)", nd::Array(nd::unique(n, {.axis = 0})), "int64 (4) 0 1 2 3");
  NUMPY("np.unique(k, axis=0)", nd::Array(nd::unique(k, {.axis = 0})), "float64 (3, 2) 0 1 nan 1 nan 1");
  NUMPY("np.unique(e3, True, True, True, 0)", all_of(nd::unique(e3, true, true, true, 0)),
        "float64 (0, 3) | int64 (0) | int64 (0) | int64 (0)");
  NUMPY("np.unique(r > 0, axis=0)", nd::Array(nd::unique(r > 0, {.axis = 0})), "bool (2, 3) 0 1 1 1 0 0");
  NUMPY("np.unique(r * (1 + 1j), axis=0)", nd::Array(nd::unique(r * std::complex<double>(1, 1), {.axis = 0})),
        "complex128 (3, 3) 0 0 2 2 4 4 1 1 0 0 -1 -1 1 1 0 0 0 0");
  NUMPY_RAISES("np.unique(r, axis=2)", nd::unique(r, {.axis = 2}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(membership, test::NumpyScene) {
  // numpy: u = np.array([3, 200], np.uint8); x = np.array([2**63, 5], np.uint64); y = np.array([-2**63, 2**63 - 1])
  const nd::Array u = nd::array({3, 200}, nd::uint8);
  const nd::Array x = nd::array({std::uint64_t(1) << 63, std::uint64_t(5)});
  const nd::Array y = nd::array({std::int64_t(-9223372036854775807) - 1, std::int64_t(9223372036854775807)});
  NUMPY("np.isin(n, [1, 3])", nd::isin(n, {1, 3}), "bool (6) 1 1 0 1 0 1");
  NUMPY("np.isin(d, i)", nd::isin(d, i), "bool (3, 4) 0 1 1 1 0 1 1 0 1 0 0 0");
  NUMPY("np.isin(d, i, invert=True)", nd::isin(d, i, {.invert = true}), "bool (3, 4) 1 0 0 0 1 0 0 1 0 1 1 1");
  NUMPY("np.isin(d, i, False, True)", nd::isin(d, i, false, true), "bool (3, 4) 1 0 0 0 1 0 0 1 0 1 1 1");
  NUMPY("np.isin(d, i, kind='sort')", nd::isin(d, i, {.kind = "sort"}), "bool (3, 4) 0 1 1 1 0 1 1 0 1 0 0 0");
  NUMPY("np.isin(d, i, kind='table')", nd::isin(d, i, {.kind = "table"}), "bool (3, 4) 0 1 1 1 0 1 1 0 1 0 0 0");
  NUMPY("np.isin(d, n, invert=True, kind='table')", nd::isin(d, n, {.invert = true, .kind = "table"}),
        "bool (3, 4) 0 0 0 0 1 0 0 1 0 1 1 0");
  NUMPY("np.isin(i, n, assume_unique=True)", nd::isin(i, n, {.assume_unique = true}), "bool (3) 1 1 1");
  NUMPY("np.isin(2, d)", nd::isin(2, d), "bool () 1");
  NUMPY("np.isin(d, 2)", nd::isin(d, 2), "bool (3, 4) 0 0 1 0 0 1 1 0 0 0 0 0");
  NUMPY("np.isin(v, w)", nd::isin(v, w), "bool (6) 1 1 1 0 1 1");
  NUMPY("np.isin(t, [3, 22, 100])", nd::isin(t, {3, 22, 100}), "bool (4, 2, 2) 1 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0");
  NUMPY("np.isin(t.astype(int), [3, 22, 100])", nd::isin(t.astype(nd::int64), {3, 22, 100}),
        "bool (4, 2, 2) 1 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0");
  NUMPY("np.isin(h, h)", nd::isin(h, h), "bool (4) 1 0 1 1");
  NUMPY("np.isin(h, h, invert=True)", nd::isin(h, h, {.invert = true}), "bool (4) 0 1 0 0");
  NUMPY("np.isin(z, z[1:3])", nd::isin(z, z(nd::Slice(1, 3))), "bool (4) 0 1 1 0");
  NUMPY("np.isin(z, [1, 1 + 2j, 3 + 1j])",
        nd::isin(z, {std::complex<double>(1), std::complex<double>(1, 2), std::complex<double>(3, 1)}),
        "bool (4) 1 1 0 0");
  NUMPY("np.isin(m, True)", nd::isin(m, true), "bool (3, 4) 0 0 0 0 1 1 1 1 1 1 1 1");
  NUMPY("np.isin(m, False)", nd::isin(m, false), "bool (3, 4) 1 1 1 1 0 0 0 0 0 0 0 0");
  NUMPY("np.isin(e, v)", nd::isin(e, v), "bool (0)");
  NUMPY("np.isin(v, e)", nd::isin(v, e), "bool (6) 0 0 0 0 0 0");
  NUMPY("np.isin(v, e, invert=True)", nd::isin(v, e, {.invert = true}), "bool (6) 1 1 1 1 1 1");
  NUMPY("np.isin(d, u)", nd::isin(d, u), "bool (3, 4) 1 0 0 0 0 0 0 0 0 0 0 1");
  NUMPY("np.isin(u, d)", nd::isin(u, d), "bool (2) 1 0");
  NUMPY("np.isin(x, x)", nd::isin(x, x), "bool (2) 1 1");
  NUMPY("np.isin(y, y)", nd::isin(y, y), "bool (2) 1 1");
  NUMPY("np.isin(y, y + np.array([1, -1]))", nd::isin(y, y + nd::array({1, -1})), "bool (2) 0 0");
  NUMPY("[np.isin(x, [1, 3, 7]) for x in reals]",
        each(reals,
             [](auto& r) {
               return nd::isin(r, {1, 3, 7});
             }),
        "bool (3, 4) 1 1 1 0 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 0 0 1 0 0 0 1 0 0 1 | bool (3, 4) 1 1 0 0 1 0 0 0 1 0 "
        "0 1 | bool (3, 4) 1 1 0 0 1 0 0 0 1 0 0 1 | bool (3, 4) 1 1 0 0 1 0 0 0 1 0 0 1 | bool (3, 4) 1 1 0 0 1 0 0 "
        "0 1 0 0 1 | bool (3, 4) 1 1 0 0 1 0 0 0 1 0 0 1 | bool (3, 4) 1 1 0 0 1 0 0 0 1 0 0 1 | bool (3, 4) 1 1 0 0 "
        "1 0 0 0 1 0 0 1 | bool (3, 4) 1 1 0 0 1 0 0 0 1 0 0 1 | bool (3, 4) 1 1 0 0 1 0 0 0 1 0 0 1 | bool (3, 4) 1 "
        "1 0 0 1 0 0 0 1 0 0 1");
  NUMPY("[np.isin(x, d) for x in reals]", each(reals, [&](auto& r) { return nd::isin(r, d); }),
        "bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 "
        "1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 "
        "1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 "
        "1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 "
        "1 1 1 1 1 1 1 1 1 1 1");
  NUMPY("[np.isin(x, x[0, :2]) for x in complexes]",
        each(complexes, [](auto& r) { return nd::isin(r, r(0, nd::Slice(0, 2))); }),
        "bool (3, 4) 1 1 0 0 0 0 0 0 0 0 0 0 | bool (3, 4) 1 1 0 0 0 0 0 0 0 0 0 0");
  NUMPY("np.isin(d, i).ravel()", nd::in1d(d, i), "bool (12) 0 1 1 1 0 1 1 0 1 0 0 0");
  NUMPY("np.isin(d, i, invert=True).ravel()", nd::in1d(d, i, {.invert = true}), "bool (12) 1 0 0 0 1 0 0 1 0 1 1 1");
  NUMPY_RAISES("np.isin(d, i, kind='hash')", nd::isin(d, i, {.kind = "hash"}), nd::ValueError);
  NUMPY_RAISES("np.isin(v, w, kind='table')", nd::isin(v, w, {.kind = "table"}), nd::ValueError);
  NUMPY_RAISES("np.isin(y, y, kind='table')", nd::isin(y, y, {.kind = "table"}), nd::ValueError);
  BOOST_CHECK_THROW(nd::isin(nd::Array(), d), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(two_sets, test::NumpyScene) {
  NUMPY("np.intersect1d(n, i)", nd::intersect1d(n, i), "int64 (3) 0 1 2");
  NUMPY("np.intersect1d(n, i, return_indices=True)", all_of(nd::intersect1d(n, i, {.return_indices = true})),
        "int64 (3) 0 1 2 | int64 (3) 4 1 2 | int64 (3) 1 2 0");
  NUMPY("np.intersect1d(d, n, False, True)", all_of(nd::intersect1d(d, n, false, true)),
        "int64 (4) 0 1 2 3 | int64 (4) 3 1 2 0 | int64 (4) 4 1 2 0");
  NUMPY("np.intersect1d(i, [1, 5, 2], assume_unique=True)",
        nd::Array(nd::intersect1d(i, {1, 5, 2}, {.assume_unique = true})), "int64 (2) 1 2");
  NUMPY("np.intersect1d(i, [1, 5, 2], True, True)", all_of(nd::intersect1d(i, {1, 5, 2}, true, true)),
        "int64 (2) 1 2 | int64 (2) 2 0 | int64 (2) 0 2");
  NUMPY("np.intersect1d(v, n)", nd::intersect1d(v, n), "float64 (3) 1 2 3");
  NUMPY("np.intersect1d(h, h)", nd::intersect1d(h, h), "float64 (3) 1 3 inf");
  NUMPY("np.intersect1d(z, z[:2], return_indices=True)",
        all_of(nd::intersect1d(z, z(nd::Slice(2)), {.return_indices = true})),
        "complex128 (2) 1 2 3 1 | int64 (2) 1 0 | int64 (2) 1 0");
  NUMPY("np.intersect1d(n, e)", nd::intersect1d(n, e), "float64 (0)");
  NUMPY("np.intersect1d(e, n, return_indices=True)", all_of(nd::intersect1d(e, n, {.return_indices = true})),
        "float64 (0) | int64 (0) | int64 (0)");
  NUMPY("np.setdiff1d(n, i)", nd::setdiff1d(n, i), "int64 (1) 3");
  NUMPY("np.setdiff1d(d, [1, 7, 2.5])", nd::setdiff1d(d, {1, 7, 2.5}), "int64 (6) 0 2 3 4 5 6");
  NUMPY("np.setdiff1d(v, [1, 5], assume_unique=True)", nd::setdiff1d(v, {1, 5}, {.assume_unique = true}),
        "float64 (4) 3 2 4 0.5");
  NUMPY("np.setdiff1d(v, [1, 5], True)", nd::setdiff1d(v, {1, 5}, true), "float64 (4) 3 2 4 0.5");
  NUMPY("np.setdiff1d(h, h)", nd::setdiff1d(h, h), "float64 (1) nan");
  NUMPY("np.setdiff1d(n, e)", nd::setdiff1d(n, e), "int64 (4) 0 1 2 3");
  NUMPY("np.setxor1d(n, i)", nd::setxor1d(n, i), "int64 (1) 3");
  NUMPY("np.setxor1d(v, w)", nd::setxor1d(v, w), "float64 (2) 1.5 5");
  NUMPY("np.setxor1d(i, [7, 1], assume_unique=True)", nd::setxor1d(i, {7, 1}, {.assume_unique = true}),
        "int64 (3) 0 2 7");
  NUMPY("np.setxor1d(i, [7, 1], True)", nd::setxor1d(i, {7, 1}, true), "int64 (3) 0 2 7");
  NUMPY("np.setxor1d(h, h)", nd::setxor1d(h, h), "float64 (2) nan nan");
  NUMPY("np.setxor1d(z, z[:2])", nd::setxor1d(z, z(nd::Slice(2))), "complex128 (2) 2 0.5 5 4");
  NUMPY("np.setxor1d(e, e)", nd::setxor1d(e, e), "float64 (0)");
  NUMPY("np.union1d(n, i)", nd::union1d(n, i), "int64 (4) 0 1 2 3");
  NUMPY("np.union1d(d, v)", nd::union1d(d, v), "float64 (9) 0 0.5 1 2 3 4 5 6 7");
  NUMPY("np.union1d(h, h)", nd::union1d(h, h), "float64 (4) 1 3 inf nan");
  NUMPY("np.union1d(z, v)", nd::union1d(z, v), "complex128 (10) 0.5 0 1 0 1 2 2 0 2 0.5 3 0 3 1 4 0 5 0 5 4");
  NUMPY("[np.intersect1d(x, i) for x in reals]", each(reals, [&](auto& r) { return nd::intersect1d(r, i); }),
        "int64 (2) 0 1 | int64 (3) 0 1 2 | int64 (3) 0 1 2 | int64 (3) 0 1 2 | int64 (3) 0 1 2 | int64 (3) 0 1 2 | "
        "int64 (3) 0 1 2 | int64 (3) 0 1 2 | float64 (3) 0 1 2 | float64 (3) 0 1 2 | float64 (3) 0 1 2 | float64 (3) "
        "0 1 2");
  NUMPY("[np.setdiff1d(x, i) for x in reals]", each(reals, [&](auto& r) { return nd::setdiff1d(r, i); }),
        "bool (0) | int8 (5) 3 4 5 6 7 | uint8 (5) 3 4 5 6 7 | int16 (5) 3 4 5 6 7 | uint16 (5) 3 4 5 6 7 | int32 "
        "(5) 3 4 5 6 7 | uint32 (5) 3 4 5 6 7 | int64 (5) 3 4 5 6 7 | uint64 (5) 3 4 5 6 7 | float16 (5) 3 4 5 6 7 | "
        "float32 (5) 3 4 5 6 7 | float64 (5) 3 4 5 6 7");
  NUMPY("[np.union1d(x, x[0]) for x in complexes]", each(complexes, [](auto& r) { return nd::union1d(r, r(0)); }),
        "complex64 (11) 0 -6 1 -12 1 -6 2 -8 2 -4 3 -2 3 0 4 -4 5 -10 6 -2 7 -14 | complex128 (11) 0 -6 1 -12 1 -6 2 "
        "-8 2 -4 3 -2 3 0 4 -4 5 -10 6 -2 7 -14");
  BOOST_CHECK_THROW(nd::Array(nd::intersect1d(n, i, {.return_indices = true})), nd::TypeError);
}

// Against std::map: long arrays with few and with many equal elements, and tables of different lengths.
BOOST_AUTO_TEST_CASE(long_arrays) {
  for (const std::int64_t range : {7, 3000, 1000000000}) {
    const std::vector<std::int64_t> list = numbers(5000, range, 1), other = numbers(300, range, 2);
    std::map<std::int64_t, std::vector<std::int64_t>> places;
    for (std::size_t k = 0; k < list.size(); ++k) places[list[k]].push_back(static_cast<std::int64_t>(k));
    for (const nd::Dtype dtype : {nd::int64, nd::float64}) {
      const nd::Array a = nd::array(list).astype(dtype), b = nd::array(other).astype(dtype);
      const nd::UniqueResult r = nd::unique_all(a);
      std::vector<std::int64_t> values, firsts, counts, inside;
      for (const auto& [value, at] : places) {
        values.push_back(value);
        firsts.push_back(at[0]);
        counts.push_back(static_cast<std::int64_t>(at.size()));
      }
      BOOST_TEST(r.values.to_vector<std::int64_t>() == values);
      BOOST_TEST(r.indices.to_vector<std::int64_t>() == firsts);
      BOOST_TEST(r.counts.to_vector<std::int64_t>() == counts);
      BOOST_TEST(nd::unique(a).to_vector<std::int64_t>() == values);
      BOOST_TEST(nd::take(r.values, r.inverse_indices).to_vector<std::int64_t>() == list);
      for (const std::int64_t x : other) inside.push_back(places.count(x) != 0);
      BOOST_TEST(nd::isin(b, a).to_vector<std::int64_t>() == inside);
      BOOST_TEST(nd::isin(b, a, {.kind = "sort"}).to_vector<std::int64_t>() == inside);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
