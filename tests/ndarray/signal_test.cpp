// convolve, correlate and window functions as in NumPy; sums against brute force for all methods.
#include <algorithm>
#include <cmath>
#include <complex>
#include <string_view>
#include <vector>

#include <catena/kernels/numeric.h>
#include <catena/tests/support/ndarray_numpy.h>

using test::each;

BOOST_AUTO_TEST_SUITE(signal)

BOOST_FIXTURE_TEST_CASE(convolution, test::NumpyScene) {
  NUMPY("np.convolve(v, w)", nd::convolve(v, w), "float64 (11) 3 7 5.5 21.5 23.5 29.5 29 29.75 23 12.75 1.5");
  NUMPY("np.convolve([1, 2, 3], [0, 1, 0.5])", nd::convolve({1, 2, 3}, {0, 1, 0.5}), "float64 (5) 0 1 2.5 4 1.5");
  NUMPY("np.convolve(v, w[:3], mode='full')", nd::convolve(v, w(nd::Slice(3)), {.mode = "full"}),
        "float64 (8) 3 7 5.5 9.5 15 11 3 0.25");
  NUMPY("np.convolve(v, w[:3], mode='same')", nd::convolve(v, w(nd::Slice(3)), {.mode = "same"}),
        "float64 (6) 7 5.5 9.5 15 11 3");
  NUMPY("np.convolve(v, w[:3], 'valid')", nd::convolve(v, w(nd::Slice(3)), "valid"), "float64 (4) 5.5 9.5 15 11");
  NUMPY("np.convolve(v, w[:4], 'same')", nd::convolve(v, w(nd::Slice(4)), "same"), "float64 (6) 7 5.5 21.5 19 19 23");
  NUMPY("np.convolve(v[:3], w, 'same')", nd::convolve(v(nd::Slice(3)), w, "same"), "float64 (6) 7 5.5 16.5 9.5 18.5 6");
  NUMPY("np.convolve(v[:2], w, 'same')", nd::convolve(v(nd::Slice(2)), w, "same"), "float64 (6) 3 7 3.5 12.5 8.5 10.5");
  NUMPY("np.convolve(v[:2], w, 'valid')", nd::convolve(v(nd::Slice(2)), w, "valid"), "float64 (5) 7 3.5 12.5 8.5 10.5");
  NUMPY("np.convolve(v, w, 'valid')", nd::convolve(v, w, "valid"), "float64 (1) 29.5");
  NUMPY("np.convolve(v, 2)", nd::convolve(v, 2), "float64 (6) 6 2 4 10 8 1");
  NUMPY("np.convolve(3, 2)", nd::convolve(3, 2), "int64 (1) 6");
  NUMPY("np.convolve(one, v)", nd::convolve(one, v), "float64 (6) 7.5 2.5 5 12.5 10 1.25");
  NUMPY("np.convolve(n, i)", nd::convolve(n, i), "int64 (8) 6 2 7 3 2 7 0 3");
  NUMPY("np.convolve(n, v)", nd::convolve(n, v), "float64 (11) 9 6 13 22 22 26.5 16.5 11 15.5 12 1.5");
  NUMPY("np.convolve(z, w)", nd::convolve(z, w),
        "complex128 (9) 3 1 7 4 5.5 5 21.5 10 19.5 17.75 21 10 26 22.75 13.5 7.5 15 12");
  NUMPY("np.convolve(z, z, 'same')", nd::convolve(z, z, "same"), "complex128 (4) 2 14 8 11 24 43 -2.25 30");
  NUMPY("np.convolve(h, [1., 2., 3.])", nd::convolve(h, {1., 2., 3.}), "float64 (6) 1 nan nan nan inf inf");
  NUMPY("np.convolve([1., 2., 3.], h)", nd::convolve({1., 2., 3.}, h), "float64 (6) 1 nan nan nan inf inf");
  NUMPY("np.convolve(t[:, 1, 1], t[0, 0])", nd::convolve(t(nd::_, 1, 1), t(0, 0)), "float64 (5) 69 319 305 291 220");
  NUMPY("np.convolve(p, m[1])", nd::convolve(p, m(1)), "bool (9) 1 1 1 1 1 1 1 1 0");
  NUMPY("np.convolve(p, [True, False, True])", nd::convolve(p, {true, false, true}), "bool (8) 1 0 1 1 1 1 1 0");
  NUMPY("[np.convolve(x[1], x[0]) for x in reals]", each(reals, [](auto& x) { return nd::convolve(x(1), x(0)); }),
        "bool (7) 1 1 1 1 1 1 0 | int8 (7) 21 13 22 21 9 10 0 | uint8 (7) 21 13 22 21 9 10 0 | int16 (7) 21 13 22 21 "
        "9 10 0 | uint16 (7) 21 13 22 21 9 10 0 | int32 (7) 21 13 22 21 9 10 0 | uint32 (7) 21 13 22 21 9 10 0 | "
        "int64 (7) 21 13 22 21 9 10 0 | uint64 (7) 21 13 22 21 9 10 0 | float16 (7) 21 13 22 21 9 10 0 | float32 (7) "
        "21 13 22 21 9 10 0 | float64 (7) 21 13 22 21 9 10 0");
  NUMPY("[np.convolve(x[1] * 50, x[2]) for x in reals[1:5]]",
        each({reals.begin() + 1, reals.begin() + 5}, [](auto& x) { return nd::convolve(x(1) * 50, x(2)); }),
        "int8 (7) 94 -104 52 -4 -104 20 -18 | uint8 (7) 94 152 52 252 152 20 238 | int16 (7) 350 2200 2100 2300 2200 "
        "1300 750 | uint16 (7) 350 2200 2100 2300 2200 1300 750");
  NUMPY("[np.convolve(x[1], x[0], 'same') for x in complexes]",
        each(complexes, [](auto& x) { return nd::convolve(x(1), x(0), "same"); }),
        "complex64 (4) -163 -114 -146 -128 -163 -134 -167 -106 | complex128 (4) -163 -114 -146 -128 -163 -134 -167 "
        "-106");
  BOOST_TEST(test::text(nd::convolve(nd::array({1, 2}, nd::bfloat16), nd::array({3, 5}, nd::bfloat16))) ==
             test::text(nd::array({3, 11, 10}, nd::bfloat16)));
  NUMPY_RAISES("np.convolve(e, v)", nd::convolve(e, v), nd::ValueError);
  NUMPY_RAISES("np.convolve(v, e)", nd::convolve(v, e), nd::ValueError);
  NUMPY_RAISES("np.convolve(b, v)", nd::convolve(b, v), nd::ValueError);
  NUMPY_RAISES("np.convolve(v, w, 'best')", nd::convolve(v, w, "best"), nd::ValueError);
  BOOST_CHECK_THROW(nd::convolve(nd::Array(), v), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(correlation, test::NumpyScene) {
  NUMPY("np.correlate(v, w)", nd::correlate(v, w), "float64 (1) 33.5");
  NUMPY("np.correlate([1, 2, 3], [0, 1, 0.5])", nd::correlate({1, 2, 3}, {0, 1, 0.5}), "float64 (1) 3.5");
  NUMPY("np.correlate(v, w[:3])", nd::correlate(v, w(nd::Slice(3))), "float64 (4) 6 7.5 14 13.25");
  NUMPY("np.correlate(v, w[:3], mode='same')", nd::correlate(v, w(nd::Slice(3)), {.mode = "same"}),
        "float64 (6) 6.5 6 7.5 14 13.25 5");
  NUMPY("np.correlate(v, w[:3], 'full')", nd::correlate(v, w(nd::Slice(3)), "full"),
        "float64 (8) 1.5 6.5 6 7.5 14 13.25 5 0.5");
  NUMPY("np.correlate(v, w[:4], 'same')", nd::correlate(v, w(nd::Slice(4)), "same"),
        "float64 (6) 5.5 14.5 26 23.5 16 13.25");
  NUMPY("np.correlate(v[:3], w, 'same')", nd::correlate(v(nd::Slice(3)), w, "same"),
        "float64 (6) 7.5 19.5 8.5 14.5 6 5");
  NUMPY("np.correlate(v[:2], w, 'same')", nd::correlate(v(nd::Slice(2)), w, "same"),
        "float64 (6) 7.5 13.5 5.5 6.5 5 1");
  NUMPY("np.correlate(v[:4], w, 'same')", nd::correlate(v(nd::Slice(4)), w, "same"),
        "float64 (6) 19.5 23.5 22 26 7.5 12");
  NUMPY("np.correlate(v[:2], w, 'valid')", nd::correlate(v(nd::Slice(2)), w, "valid"),
        "float64 (5) 7.5 13.5 5.5 6.5 5");
  NUMPY("np.correlate(v[:2], w, 'full')", nd::correlate(v(nd::Slice(2)), w, "full"),
        "float64 (7) 9 7.5 13.5 5.5 6.5 5 1");
  NUMPY("np.correlate(z, z, 'full')", nd::correlate(z, z, "full"),
        "complex128 (7) 19 -7 19.5 6.5 20 -7 60.25 0 20 7 19.5 -6.5 19 7");
  NUMPY("np.correlate(z, v, 'same')", nd::correlate(z, v, "same"),
        "complex128 (6) 20 13.25 21.5 16 35 23.5 39 26 15 14.5 11 5.5");
  NUMPY("np.correlate(v[:3], z, 'full')", nd::correlate(v(nd::Slice(3)), z, "full"),
        "complex128 (6) 15 -12 11 -5.5 15 -14.5 14 -6 5 -5 6 -2");
  NUMPY("np.correlate(z[:2], z, 'same')", nd::correlate(z(nd::Slice(2)), z, "same"),
        "complex128 (4) 19.5 6.5 8 -1.5 15 0 5 5");
  NUMPY("np.correlate(t[:, 1, 1], t[0, 0])", nd::correlate(t(nd::_, 1, 1), t(0, 0)), "float64 (3) 311 297 283");
  NUMPY("[np.correlate(x[1], x[0], 'full') for x in reals]",
        each(reals, [](auto& x) { return nd::correlate(x(1), x(0), "full"); }),
        "bool (7) 0 1 1 1 1 1 1 | int8 (7) 0 14 11 27 18 11 15 | uint8 (7) 0 14 11 27 18 11 15 | int16 (7) 0 14 11 "
        "27 18 11 15 | uint16 (7) 0 14 11 27 18 11 15 | int32 (7) 0 14 11 27 18 11 15 | uint32 (7) 0 14 11 27 18 11 "
        "15 | int64 (7) 0 14 11 27 18 11 15 | uint64 (7) 0 14 11 27 18 11 15 | float16 (7) 0 14 11 27 18 11 15 | "
        "float32 (7) 0 14 11 27 18 11 15 | float64 (7) 0 14 11 27 18 11 15");
  NUMPY("[np.correlate(x[1], x[0], 'full') for x in complexes]",
        each(complexes, [](auto& x) { return nd::correlate(x(1), x(0), "full"); }),
        "complex64 (7) 84 42 150 40 235 90 195 30 154 32 139 42 35 -20 | complex128 (7) 84 42 150 40 235 90 195 30 "
        "154 32 139 42 35 -20");
  NUMPY_RAISES("np.correlate(e, v)", nd::correlate(e, v), nd::ValueError);
  NUMPY_RAISES("np.correlate(v, b)", nd::correlate(v, b), nd::ValueError);
  NUMPY_RAISES("np.correlate(v, w, 'best')", nd::correlate(v, w, "best"), nd::ValueError);
}

// Functions of numbers in kernels/numeric.h have names of functions of arrays, and must not be found for arrays.
BOOST_AUTO_TEST_CASE(names_without_namespace) {
  const nd::Array a = nd::array({-7, 3}), b = nd::array({2, -2});
  BOOST_TEST(absolute(a).to_vector<std::int64_t>() == std::vector<std::int64_t>({7, 3}));
  BOOST_TEST(floor_divide(a, b).to_vector<std::int64_t>() == std::vector<std::int64_t>({-4, -2}));
}

BOOST_FIXTURE_TEST_CASE(windows, test::NumpyScene) {
  NUMPY("np.bartlett(7)", nd::bartlett(7), "float64 (7) 0 0.333333333 0.666666667 1 0.666666667 0.333333333 0");
  NUMPY("np.bartlett(8)", nd::bartlett(8),
        "float64 (8) 0 0.285714286 0.571428571 0.857142857 0.857142857 0.571428571 0.285714286 0");
  NUMPY("np.blackman(7)", nd::blackman(7), "float64 (7) -1.38777878e-17 0.13 0.63 1 0.63 0.13 -1.38777878e-17");
  NUMPY("np.blackman(8) + 1", nd::blackman(8) + 1,
        "float64 (8) 1 1.09045342 1.45918296 1.92036362 1.92036362 1.45918296 1.09045342 1");
  NUMPY("np.hamming(7)", nd::hamming(7), "float64 (7) 0.08 0.31 0.77 1 0.77 0.31 0.08");
  NUMPY("np.hamming(8)", nd::hamming(8),
        "float64 (8) 0.08 0.253194691 0.64235963 0.954445679 0.954445679 0.64235963 0.253194691 0.08");
  NUMPY("np.hanning(10)", nd::hanning(10),
        "float64 (10) 0 0.116977778 0.413175911 0.75 0.96984631 0.96984631 0.75 0.413175911 0.116977778 0");
  NUMPY("np.hanning(7)", nd::hanning(7), "float64 (7) 0 0.25 0.75 1 0.75 0.25 0");
  NUMPY("np.kaiser(7, 14)", nd::kaiser(7, 14),
        "float64 (7) 7.72686684e-06 0.032885526 0.462716498 1 0.462716498 0.032885526 7.72686684e-06");
  NUMPY("np.kaiser(8, 0)", nd::kaiser(8, 0), "float64 (8) 1 1 1 1 1 1 1 1");
  NUMPY("np.kaiser(9, 2.5)", nd::kaiser(9, 2.5),
        "float64 (9) 0.303966229 0.550082204 0.779166975 0.941407325 1 0.941407325 0.779166975 0.550082204 "
        "0.303966229");
  NUMPY("np.kaiser(10, -8.6)", nd::kaiser(10, -8.6),
        "float64 (10) 0.001332514 0.0522353575 0.258316166 0.630411927 0.951189566 0.951189566 0.630411927 "
        "0.258316166 0.0522353575 0.001332514");
  NUMPY("np.kaiser(1001, 100)", nd::kaiser(1001, 100), "float64 (1001) # 125.174057 62712.2024");
  NUMPY("[np.bartlett(1), np.blackman(1), np.hamming(1), np.hanning(1), np.kaiser(1, 5)]",
        (std::vector<nd::Array>{nd::bartlett(1), nd::blackman(1), nd::hamming(1), nd::hanning(1), nd::kaiser(1, 5)}),
        "float64 (1) 1 | float64 (1) 1 | float64 (1) 1 | float64 (1) 1 | float64 (1) 1");
  NUMPY("[np.bartlett(0), np.blackman(0), np.hamming(-1), np.hanning(0), np.kaiser(0, 5)]",
        (std::vector<nd::Array>{nd::bartlett(0), nd::blackman(0), nd::hamming(-1), nd::hanning(0), nd::kaiser(0, 5)}),
        "float64 (0) | float64 (0) | float64 (0) | float64 (0) | float64 (0)");
  NUMPY("[np.bartlett(2), np.hanning(2), np.kaiser(2, 5)]",
        (std::vector<nd::Array>{nd::bartlett(2), nd::hanning(2), nd::kaiser(2, 5)}),
        "float64 (2) 0 0 | float64 (2) 0 0 | float64 (2) 0.0367108923 0.0367108923");
}

namespace {

std::vector<std::complex<double>> brute_force(const std::vector<std::complex<double>>& a,
                                              const std::vector<std::complex<double>>& v) {
  std::vector<std::complex<double>> sums(a.size() + v.size() - 1);
  for (std::size_t j = 0; j < a.size(); ++j)
    for (std::size_t k = 0; k < v.size(); ++k) sums[j + k] += a[j] * v[k];
  return sums;
}

}  // namespace

// Lengths around those at which the method changes, in all modes. The imaginary parts are used by complex dtypes only.
BOOST_AUTO_TEST_CASE(all_methods) {
  for (const auto& [n, m] : std::vector<std::pair<int, int>>{{40, 3}, {500, 17}, {1200, 300}, {400, 1000}})
    for (const nd::Dtype dtype : {nd::int32, nd::float32, nd::float64, nd::complex64, nd::complex128}) {
      std::vector<std::complex<double>> a, v;
      const bool complex = dtype == nd::complex64 || dtype == nd::complex128;
      for (int k = 0; k < n; ++k) a.emplace_back(k * 7 % 11 - 4, complex ? k * 5 % 7 - 3 : 0);
      for (int k = 0; k < m; ++k) v.emplace_back(k * 3 % 13 - 5, complex ? k % 5 - 2 : 0);
      const nd::Array x = nd::array(a).real().copy(), y = nd::array(v).real().copy();
      const nd::Array left = (complex ? nd::array(a) : x).astype(dtype),
                      right = (complex ? nd::array(v) : y).astype(dtype);
      const std::vector<std::complex<double>> sums = brute_force(a, v);
      const int longer = std::max(n, m), shorter = std::min(n, m);
      const double tolerance = dtype == nd::float32 || dtype == nd::complex64 ? 0.2 : 1e-8;
      for (const auto& [mode, first, length] : {std::tuple<std::string_view, int, int>{"full", 0, n + m - 1},
                                                {"same", (shorter - 1) / 2, longer},
                                                {"valid", shorter - 1, longer - shorter + 1}}) {
        const nd::Array result = nd::convolve(left, right, mode);
        BOOST_TEST((result.dtype() == dtype));
        const std::vector<std::complex<double>> ours = result.to_vector<std::complex<double>>();
        BOOST_TEST_REQUIRE(ours.size() == static_cast<std::size_t>(length));
        double worst = 0;
        for (std::size_t k = 0; k < ours.size(); ++k)
          worst = std::max(worst, std::abs(ours[k] - sums[static_cast<std::size_t>(first) + k]));
        BOOST_TEST(worst <= (dtype == nd::int32 ? 0 : tolerance));
      }
    }
}

// A NaN stays where it is also in signals that are long enough for transforms.
BOOST_AUTO_TEST_CASE(nan_in_long_signals) {
  const nd::Array a = nd::ones(2000), v = nd::ones(300);
  a(100).fill(nd::nan);
  const nd::Array result = nd::convolve(a, v);
  BOOST_TEST(nd::isnan(result).sum().item<int>() == 300);
  BOOST_TEST(result(99).item<double>() == 100);
  BOOST_TEST(result(700).item<double>() == 300);
}

BOOST_AUTO_TEST_SUITE_END()
