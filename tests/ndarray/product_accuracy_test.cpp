// Products with long inner lengths beside float64: what naive sums of float32 lose (1e-3 of ten million equal terms)
// and sums in parts keep. Terms are positive, so an error is relative to the sum of their magnitudes.
#include <catena/ndarray/routines/linalg.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <vector>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/gemm.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/tests/support/host_matrices.h>

namespace {

using nd::Array;
using nd::Dtype;

// The simulated device takes a second for what a processor does in a millisecond.
std::int64_t long_length() { return nd::current_device().kind == nd::Device::Kind::cpu ? 3'000'037 : 300'037; }

// Numbers in [0.05, 0.15], all equal or not.
double term(std::int64_t i, bool equal) {
  return equal ? 0.1 : 0.05 + 0.1 * double((std::uint64_t(i) * 2654435761u) % (1u << 24)) / double(1 << 24);
}
std::vector<float> terms(std::int64_t n, bool equal, std::int64_t first = 0) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) x[std::size_t(i)] = float(term(first + i, equal));
  return x;
}
long double exact_dot(const std::vector<float>& x, const std::vector<float>& y) {
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<long double>(x[i]) * y[i];
  return sum;
}
double error(const Array& got, long double exact) { return double(std::abs(got.item<double>() / exact - 1)); }

// A copy whose elements are two apart, which the libraries of products refuse.
Array spaced(const Array& a) {
  nd::Shape shape = a.shape();
  shape.push_back(2);
  Array wide = nd::zeros(shape, a.dtype());
  const Array view = wide(nd::ellipsis, 0);
  nd::copyto(view, a);
  return view;
}

constexpr double kBound = 2e-6;

BOOST_AUTO_TEST_SUITE(product_accuracy)

BOOST_AUTO_TEST_CASE(products_of_vectors) {
  const std::int64_t n = long_length();
  for (const bool equal : {true, false}) BOOST_TEST_CONTEXT((equal ? "equal terms" : "different terms")) {
      const std::vector<float> xs = terms(n, equal), ys = terms(n, equal, 1000);
      const long double exact = exact_dot(xs, ys);
      const Array x = nd::array(xs), y = nd::array(ys);
      BOOST_TEST(error(nd::dot(x, y), exact) < kBound);
      BOOST_TEST(error(nd::vdot(x, y), exact) < kBound);
      BOOST_TEST(error(nd::inner(x, y), exact) < kBound);
      BOOST_TEST(error(nd::tensordot(x, y, 1), exact) < kBound);
      BOOST_TEST(error(nd::matmul(x, y), exact) < kBound);
      BOOST_TEST(error(nd::dot(spaced(x), spaced(y)), exact) < kBound, "elements that are not neighbours");
    }
}

// Few or many rows and columns, in the storage orders that choose between the kernels: along k, along the result, and
// strided, for which the portable kernels of a device are used.
BOOST_AUTO_TEST_CASE(products_of_matrices) {
  const std::int64_t n = long_length() / 3;
  for (const bool equal : {true, false})
    for (const std::int64_t rows : {1, 3, 7})
      for (const std::int64_t columns : {1, 2, 4, 6, 40}) {
        if (rows * columns > 60) continue;
        std::vector<std::vector<float>> left, right;
        for (std::int64_t i = 0; i < rows; ++i) left.push_back(terms(n, equal, 77 * i));
        for (std::int64_t j = 0; j < columns; ++j) right.push_back(terms(n, equal, 5 + 99 * j));
        std::vector<Array> a_rows, b_columns;
        for (const auto& l : left) a_rows.push_back(nd::array(l));
        for (const auto& r : right) b_columns.push_back(nd::array(r));
        const Array a = nd::stack(a_rows), bt = nd::stack(b_columns), b = nd::ascontiguousarray(bt.T());
        const Array at = nd::ascontiguousarray(a.T());
        const Array products[] = {nd::matmul(a, b), nd::matmul(a, bt.T()), nd::matmul(at.T(), b),
                                  nd::matmul(at.T(), bt.T()), nd::matmul(spaced(a), spaced(b))};
        for (std::size_t k = 0; k < std::size(products); ++k)
          for (const std::int64_t i : {std::int64_t(0), rows - 1})
            for (const std::int64_t j : {std::int64_t(0), columns - 1})
              BOOST_TEST(error(products[k](i, j), exact_dot(left[std::size_t(i)], right[std::size_t(j)])) < kBound,
                         rows << " x " << n << " x " << columns << ", order " << k << ", element " << i << ' ' << j
                              << (equal ? ", equal terms: " : ", different terms: ")
                              << products[k](i, j).item<double>());
      }
}

BOOST_AUTO_TEST_CASE(batches_of_products) {
  const std::int64_t n = long_length() / 10;
  const std::vector<float> xs = terms(6 * n, true);
  const Array x = nd::array(xs);
  const long double exact = exact_dot({xs.begin(), xs.begin() + n}, {xs.begin(), xs.begin() + n});
  for (const Array& y : {nd::matmul(x.reshape({3, 2, n}), x.reshape({3, n, 2})),
                         nd::matmul(spaced(x.reshape({3, 2, n})), spaced(x.reshape({3, n, 2})))})
    for (int i = 0; i < 3; ++i) BOOST_TEST(error(y(i, 1, 0), exact) < kBound);
}

// A product of 16-bit floats is rounded once.
BOOST_AUTO_TEST_CASE(products_of_16_bit_floats) {
  const std::int64_t n = 100'003;
  for (const Dtype t : {Dtype::float16, Dtype::bfloat16}) BOOST_TEST_CONTEXT(t) {
      const Array x = nd::array(terms(n, true)).astype(t), rows = spaced(nd::stack({x, x, x, x, x}));
      const double v = x(0).item<double>(), half_ulp = t == Dtype::float16 ? 0x1p-11 : 0x1p-8;
      const long double exact = static_cast<long double>(v) * v * n;
      BOOST_TEST(error(nd::matmul(rows, rows.T())(4, 2), exact) < half_ulp * 1.01);
      BOOST_TEST(error(nd::matmul(rows, rows.T()(nd::Slice(), nd::Slice(0, 2)))(4, 1), exact) < half_ulp * 1.01);
      if (nd::current_device().kind == nd::Device::Kind::cpu) BOOST_TEST(error(nd::dot(x, x), exact) < half_ulp * 1.01);
    }
}

BOOST_AUTO_TEST_CASE(products_of_complex_numbers) {
  const std::int64_t n = long_length() / 3;
  const std::vector<std::complex<float>> z(std::size_t(n), {0.1f, 0.05f});
  const long double re = 0.1f, im = 0.05f;
  for (const bool strided : {false, true}) {
    const Array x = strided ? spaced(nd::array(z)) : nd::array(z);
    for (const std::int64_t rows : {1, 2}) {
      const Array square = nd::matmul(nd::broadcast_to(x, {rows, n}), x);
      const auto got = square.reshape({rows})(0).item<std::complex<double>>();
      BOOST_TEST(double(std::abs(got.real() / (re * re - im * im) / n - 1)) < 2 * kBound);
      BOOST_TEST(double(std::abs(got.imag() / (2 * re * im) / n - 1)) < 2 * kBound);
    }
  }
}

// Elements that are infinite or not a number stay so, and an infinity of one element leaves the others alone.
BOOST_AUTO_TEST_CASE(infinities_in_long_products) {
  const std::int64_t n = 100'000;
  std::vector<float> xs = terms(n, false);
  const Array ones = nd::ones({n, 2}, Dtype::float32);
  const auto product = [&](float at_begin, float at_end) {
    xs[5] = at_begin;
    xs[std::size_t(n - 7)] = at_end;
    const Array x = nd::array(xs);
    std::vector<double> all{nd::dot(x, ones(nd::Slice(), 0)).item<double>()};
    const Array y = nd::matmul(nd::stack({x, nd::ones({n}, Dtype::float32)}), ones);
    for (const int i : {0, 1}) all.push_back(y(i, 1).item<double>());
    return all;
  };
  constexpr float inf = std::numeric_limits<float>::infinity();
  BOOST_TEST(product(inf, 1) == (std::vector<double>{inf, inf, double(n)}), boost::test_tools::per_element());
  BOOST_TEST(product(1, -inf) == (std::vector<double>{-inf, -inf, double(n)}), boost::test_tools::per_element());
  BOOST_TEST(std::isnan(product(inf, -inf)[0]));
  BOOST_TEST(std::isnan(product(inf, -inf)[1]));
  BOOST_TEST(std::isnan(product(1, std::nanf(""))[1]));
}

// The order of additions depends on the lengths alone.
BOOST_AUTO_TEST_CASE(threads_do_not_change_thin_products) {
  if (nd::current_device().kind != nd::Device::Kind::cpu) return;
  const int before = catena::max_threads();
  const Array x = nd::array(terms(1'000'003, false)), w = nd::array(terms(8'000'024, false)).reshape({1'000'003, 8});
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2}) {
    catena::set_max_threads(threads);
    std::vector<float> all = nd::matmul(x, w).to_vector<float>();
    all.push_back(nd::dot(x, x).item<float>());
    for (const float v : nd::matmul(w.T()(nd::Slice(0, 3)), x).to_vector<float>()) all.push_back(v);
    results.push_back(all);
  }
  catena::set_max_threads(before);
  BOOST_TEST(results[0] == results[1], boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
