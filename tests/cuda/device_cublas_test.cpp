// cuBLAS by its own functions, against loops in double precision: increments, leading dimensions, transposes, pointer
// modes, streams, batches, errors.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <catena/ndarray/cuda/vendor/cublas.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

namespace cublas = nd::cuda::cublas;
using namespace nd::cuda::api;
using nd::Array;

bool have_cublas() {
  try {
    nd::cuda::cublas_library();
    return true;
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
}

// The functions of one type.
template <class T> struct Blas;
#define FUNCTIONS_OF(T, l)                                           \
  template <> struct Blas<T> {                                       \
    static constexpr auto& amax = cublas::i##l##amax;                \
    static constexpr auto& amin = cublas::i##l##amin;                \
    static constexpr auto& asum = cublas::l##asum;                   \
    static constexpr auto& nrm2 = cublas::l##nrm2;                   \
    static constexpr auto& dot = cublas::l##dot;                     \
    static constexpr auto& axpy = cublas::l##axpy;                   \
    static constexpr auto& scal = cublas::l##scal;                   \
    static constexpr auto& gemv = cublas::l##gemv;                   \
    static constexpr auto& ger = cublas::l##ger;                     \
    static constexpr auto& gemm = cublas::l##gemm;                   \
    static constexpr auto& gemm_batched = cublas::l##gemm_batched;   \
    static constexpr auto& geam = cublas::l##geam;                   \
    static constexpr auto& dgmm = cublas::l##dgmm;                   \
    static constexpr auto& getrf_batched = cublas::l##getrf_batched; \
    static constexpr auto& getri_batched = cublas::l##getri_batched; \
  }
FUNCTIONS_OF(float, s);
FUNCTIONS_OF(double, d);

cublas_handle handle() { return nd::cuda::get_cublas_handle(); }

// Random numbers on the device and the same ones here.
template <class T> struct Numbers {
  Numbers(std::int64_t n, std::mt19937& random)
      : array(test::random_array({n}, catena::dtype_of<T>, random)), values(array.to_vector<double>()) {}
  T* data() const { return array.data<T>(); }
  double operator[](std::int64_t k) const { return values[static_cast<std::size_t>(k)]; }
  void check(const std::vector<double>& expected, const char* what) const {
    const auto actual = array.to_vector<double>();
    const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-11;
    for (std::size_t k = 0; k < expected.size(); ++k)
      BOOST_TEST(std::abs(actual[k] - expected[k]) <= tolerance * std::max(1.0, std::abs(expected[k])),
                 what << " of " << array.dtype() << " at " << k << ": " << actual[k] << ", expected " << expected[k]);
  }
  Array array;
  std::vector<double> values;
};
template <class T> void near(double actual, double expected, const char* what) {
  BOOST_TEST(std::abs(actual - expected) <= (sizeof(T) == 4 ? 1e-4 : 1e-12) * std::max(1.0, std::abs(expected)), what);
}

template <class T> void vectors(std::mt19937& random) {
  using B = Blas<T>;
  const int n = 13;
  const Numbers<T> x(2 * n, random), y(3 * n, random);
  const auto h = handle();
  const auto element = [&](int i) { return x[2 * i]; };
  int largest = 0, smallest = 0;
  double sum = 0, squares = 0, product = 0;
  for (int i = 0; i < n; ++i) {
    if (std::abs(element(i)) > std::abs(element(largest))) largest = i;
    if (std::abs(element(i)) < std::abs(element(smallest))) smallest = i;
    sum += std::abs(element(i));
    squares += element(i) * element(i);
    product += element(i) * y[3 * (n - 1 - i)];
  }
  BOOST_TEST(B::amax(h, n, x.data(), 2) == largest + 1);
  BOOST_TEST(B::amin(h, n, x.data(), 2) == smallest + 1);
  near<T>(double(B::asum(h, n, x.data(), 2)), sum, "asum");
  near<T>(double(B::nrm2(h, n, x.data(), 2)), std::sqrt(squares), "nrm2");
  near<T>(double(B::dot(h, n, x.data(), 2, y.data(), -3)), product, "dot");
  const T alpha = T(1.5);
  std::vector<double> expected = y.values;
  for (int i = 0; i < n; ++i) expected[std::size_t(3 * i)] += 1.5 * element(i);
  B::axpy(h, n, &alpha, x.data(), 2, y.data(), 3);
  y.check(expected, "axpy");
  expected = x.values;
  for (int i = 0; i < n; ++i) expected[std::size_t(2 * i)] *= 1.5;
  B::scal(h, n, &alpha, x.data(), 2);
  x.check(expected, "scal");
}

// Element (i, j) of a column-major matrix after transposition.
template <class T> double at(const Numbers<T>& a, int ld, bool transposed, int i, int j) {
  return transposed ? a[i * ld + j] : a[j * ld + i];
}

template <class T> void matrices(std::mt19937& random) {
  using B = Blas<T>;
  const auto h = handle();
  const int m = 4, n = 3, k = 5, ld = 7;
  const T alpha = T(2), beta = T(-0.5);
  for (const bool ta : {false, true}) {
    const int op_a = ta ? cublas_op_t : cublas_op_n;
    const Numbers<T> a(ld * 5, random), x(5, random), y(5, random);
    const int rows = ta ? n : m, columns = ta ? m : n;
    std::vector<double> expected = y.values;
    for (int i = 0; i < rows; ++i) {
      double sum = 0;
      for (int j = 0; j < columns; ++j) sum += at(a, ld, ta, i, j) * x[j];
      expected[std::size_t(i)] = 2 * sum - 0.5 * y[i];
    }
    B::gemv(h, op_a, m, n, &alpha, a.data(), ld, x.data(), 1, &beta, y.data(), 1);
    y.check(expected, "gemv");
    for (const bool tb : {false, true}) {
      const int op_b = tb ? cublas_op_t : cublas_op_n;
      const Numbers<T> b(ld * 5, random), c(ld * n, random), sum(ld * n, random);
      expected = c.values;
      std::vector<double> added = sum.values;
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          double products = 0;
          for (int l = 0; l < k; ++l) products += at(a, ld, ta, i, l) * at(b, ld, tb, l, j);
          expected[std::size_t(j * ld + i)] = 2 * products - 0.5 * c[j * ld + i];
          added[std::size_t(j * ld + i)] = 2 * at(a, ld, ta, i, j) - 0.5 * at(b, ld, tb, i, j);
        }
      B::gemm(h, op_a, op_b, m, n, k, &alpha, a.data(), ld, b.data(), ld, &beta, c.data(), ld);
      c.check(expected, "gemm");
      B::geam(h, op_a, op_b, m, n, &alpha, a.data(), ld, &beta, b.data(), ld, sum.data(), ld);
      sum.check(added, "geam");
    }
  }
  const Numbers<T> a(ld * n, random), x(m, random), y(n, random);
  std::vector<double> expected = a.values;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) expected[std::size_t(j * ld + i)] += 2 * x[i] * y[j];
  B::ger(h, m, n, &alpha, x.data(), 1, y.data(), 1, a.data(), ld);
  a.check(expected, "ger");
  for (const int side : {cublas_side_left, cublas_side_right}) {
    const Numbers<T> in(ld * n, random), d(m, random), out(ld * n, random);
    expected = out.values;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        expected[std::size_t(j * ld + i)] = in[j * ld + i] * d[side == cublas_side_left ? i : j];
    B::dgmm(h, side, m, n, in.data(), ld, d.data(), 1, out.data(), ld);
    out.check(expected, "dgmm");
  }
}

// Addresses of n matrices of that many elements, in the device's memory.
Array addresses(const Array& stack, std::int64_t n) {
  std::vector<std::int64_t> all;
  const auto bytes = static_cast<std::int64_t>(stack.nbytes()) / n;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(reinterpret_cast<std::int64_t>(stack->data) + i * bytes);
  return nd::array(all);
}

template <class T> void batches(std::mt19937& random) {
  using B = Blas<T>;
  const auto h = handle();
  const int n = 4, batch = 3;
  const T one = 1, zero = 0;
  const Numbers<T> a(n * n * batch, random);
  const Array lu = a.array.copy(), inverse = nd::zeros_like(lu), products = nd::zeros_like(lu),
              pivots = nd::zeros({n * batch}, nd::int32), info = nd::full({batch}, 7, nd::int32);
  const Array at_a = addresses(a.array, batch), at_lu = addresses(lu, batch), at_inverse = addresses(inverse, batch),
              at_products = addresses(products, batch);
  const auto list = [](const Array& x) { return reinterpret_cast<T* const*>(x->data); };
  const auto const_list = [](const Array& x) { return reinterpret_cast<const T* const*>(x->data); };
  B::getrf_batched(h, n, list(at_lu), n, pivots.data<int>(), info.data<int>(), batch);
  BOOST_TEST(info.to_vector<int>() == std::vector<int>(batch, 0));
  BOOST_TEST(nd::amax(pivots).item<int>() <= n);
  BOOST_TEST(nd::amin(pivots).item<int>() >= 1);
  B::getri_batched(h, n, const_list(at_lu), n, pivots.data<const int>(), list(at_inverse), n, info.data<int>(), batch);
  BOOST_TEST(info.to_vector<int>() == std::vector<int>(batch, 0));
  B::gemm_batched(h, cublas_op_n, cublas_op_n, n, n, n, &one, const_list(at_a), n, const_list(at_inverse), n, &zero,
                  list(at_products), n, batch);
  const auto identity = products.to_vector<double>();
  for (int i = 0; i < batch * n * n; ++i)
    BOOST_TEST(
        std::abs(identity[std::size_t(i)] - (i % (n * n) % (n + 1) == 0 ? 1 : 0)) < (sizeof(T) == 4 ? 2e-3 : 1e-9),
        "a a^-1 at " << i);
  lu.fill(0);  // singular
  B::getrf_batched(h, n, list(at_lu), n, pivots.data<int>(), info.data<int>(), batch);
  BOOST_TEST(info.to_vector<int>() == std::vector<int>(batch, 1));
}

BOOST_AUTO_TEST_SUITE(device_cublas)

BOOST_AUTO_TEST_CASE(level_1) {
  if (!have_cublas()) return;
  std::mt19937 random(1);
  vectors<float>(random);
  vectors<double>(random);
}

BOOST_AUTO_TEST_CASE(level_2_and_3) {
  if (!have_cublas()) return;
  std::mt19937 random(2);
  matrices<float>(random);
  matrices<double>(random);
}

BOOST_AUTO_TEST_CASE(stacks) {
  if (!have_cublas()) return;
  std::mt19937 random(3);
  batches<float>(random);
  batches<double>(random);
}

BOOST_AUTO_TEST_CASE(half_precision_operands) {
  if (!have_cublas()) return;
  const float one = 1, zero = 0;
  const Array a = nd::array({1, 2, 3, 4}, nd::float16), b = nd::array({5, 6, 7, 8}, nd::float16),
              wide = nd::zeros(4, nd::float32), narrow = nd::zeros(4, nd::float16);
  cublas::sgemm_ex(handle(), cublas_op_n, cublas_op_n, 2, 2, 2, &one, a->data, cuda_r_16f, 2, b->data, cuda_r_16f, 2,
                   &zero, wide->data, cuda_r_32f, 2);
  cublas::sgemm_ex(handle(), cublas_op_t, cublas_op_n, 2, 2, 2, &one, a->data, cuda_r_16f, 2, b->data, cuda_r_16f, 2,
                   &zero, narrow->data, cuda_r_16f, 2);
  test::check_values<double>(wide, {23, 34, 31, 46});
  test::check_values<double>(narrow, {17, 39, 23, 53});
}

BOOST_AUTO_TEST_CASE(handles_modes_and_streams) {
  if (!have_cublas()) return;
  const cublas_handle h = cublas::create();
  BOOST_TEST(cublas::get_version(h) >= 12000);
  BOOST_TEST(cublas::get_pointer_mode(h) == cublas_pointer_mode_host);
  BOOST_TEST(cublas::get_stream(h) == nullptr);
  const nd::Stream stream({.non_blocking = true});
  cublas::set_stream(h, static_cast<cu_stream>(stream.ptr()));
  BOOST_TEST(cublas::get_stream(h) == stream.ptr());
  cublas::set_pointer_mode(h, cublas_pointer_mode_device);
  BOOST_TEST(cublas::get_pointer_mode(h) == cublas_pointer_mode_device);
  // The factor and the result are on the device.
  const Array x = nd::array({3, -4}, nd::float32), factor = nd::array({2}, nd::float32),
              norm = nd::zeros(1, nd::float32);
  nd::synchronize(x.device());
  cublas::sscal(h, 2, factor.data<const float>(), x.data<float>(), 1);
  const nd::cuda::Cublas& library = nd::cuda::cublas_library();
  BOOST_TEST(library.snrm2(h, 2, x.data<const float>(), 1, norm.data<float>()) == cublas_success);
  stream.synchronize();
  BOOST_TEST(norm.item<float>() == 10);
  BOOST_CHECK_THROW(cublas::set_pointer_mode(h, 7), nd::CublasError);
  cublas::destroy(h);
}

BOOST_AUTO_TEST_CASE(statuses_are_errors) {
  if (!have_cublas()) return;
  const Array x = nd::ones(4, nd::float32);
  const float one = 1;
  try {
    cublas::sgemv(handle(), cublas_op_n, 4, 1, &one, x.data<const float>(), 1, x.data<const float>(), 1, &one,
                  x.data<float>(), 1);  // a leading dimension below the number of rows
    BOOST_ERROR("nothing was thrown");
  } catch (const nd::CublasError& e) {
    BOOST_TEST(e.library() == "cuBLAS");
    BOOST_TEST(e.code() == cublas_invalid_value);
    BOOST_TEST(e.symbol() == "CUBLAS_STATUS_INVALID_VALUE");
    BOOST_TEST(std::string(e.what()) == "cublasSgemv_v2: cuBLAS error 7 (CUBLAS_STATUS_INVALID_VALUE)");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
