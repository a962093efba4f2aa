// Linear algebra of stacks on a device: products with the results give back the matrices, whatever function of a
// library computes them; its number of calls does not depend on the number of matrices.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/cuda_device/launches.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using cuda_device::launches_of;
using nd::Array;
using nd::Dtype;
using nd::Shape;

const nd::Device kCuda{nd::Device::Kind::cuda, 0};
const std::vector<Dtype> kDtypes = {nd::float32, nd::float64, nd::complex64, nd::complex128};
// On both sides of the sizes at which the functions change: 32 and 64, one, two and more matrices.
const std::vector<std::int64_t> kOrders = {1, 2, 5, 32, 33, 64}, kCounts = {1, 2, 3};

Array random_array(const Shape& shape, Dtype dtype, std::mt19937& random) {
  const Array real = test::random_array(shape, catena::real_dtype(dtype), random);
  if (!catena::is_complex_dtype(dtype)) return real;
  return real + test::random_array(shape, catena::real_dtype(dtype), random) * std::complex<double>(0, 1);
}
// Matrices with eigenvalues far from 0.
Array regular(std::int64_t count, std::int64_t n, Dtype dtype, std::mt19937& random) {
  return (random_array({count, n, n}, dtype, random) / double(n) + nd::eye(n, dtype) * 2.0).astype(dtype);
}
Array adjoint(const Array& a) { return nd::conjugate(a.swapaxes(-2, -1)); }
double distance(const Array& a, const Array& b) {
  BOOST_REQUIRE(a.shape() == b.shape());
  return a.size() == 0 ? 0 : nd::amax(nd::absolute(a - b)).item<double>();
}
double tolerance(Dtype dtype, std::int64_t n) {
  const bool single = catena::real_dtype(dtype) == nd::float32;
  return 30 * std::sqrt(double(n)) * (single ? 1.2e-7 : 2.3e-16);
}
Array unit(std::int64_t count, std::int64_t n, Dtype dtype) {
  return nd::broadcast_to(nd::eye(n, dtype), {count, n, n});
}

template <class F> void for_all(F&& f) {
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(1);
  for (const Dtype dtype : kDtypes)
    for (const std::int64_t n : kOrders)
      for (const std::int64_t count : kCounts)
        BOOST_TEST_CONTEXT(count << " matrices of order " << n << ", " << dtype) { f(dtype, n, count, random); }
}

BOOST_AUTO_TEST_SUITE(device_stacks)

BOOST_AUTO_TEST_CASE(inverses_and_solutions) {
  for_all([](Dtype dtype, std::int64_t n, std::int64_t count, std::mt19937& random) {
    const Array a = regular(count, n, dtype, random), before = a.copy(), b = random_array({count, n, 3}, dtype, random);
    const double limit = tolerance(dtype, n);
    BOOST_TEST(distance(nd::matmul(a, nd::linalg::inv(a)), unit(count, n, dtype)) < limit);
    BOOST_TEST(distance(nd::matmul(a, nd::linalg::solve(a, b)), b) < 3 * limit);
    BOOST_TEST(distance(a, before) == 0);
    const auto factors = nd::linalg::lu_factor(a);
    BOOST_TEST(distance(nd::matmul(a, nd::linalg::lu_solve(factors, b, 0)), b) < 3 * limit);
    BOOST_TEST(distance(nd::matmul(a.swapaxes(-2, -1), nd::linalg::lu_solve(factors, b, 1)), b) < 3 * limit);
    BOOST_TEST(distance(nd::matmul(adjoint(a), nd::linalg::lu_solve(factors, b, 2)), b) < 3 * limit);
  });
}

BOOST_AUTO_TEST_CASE(determinants) {
  for_all([](Dtype dtype, std::int64_t n, std::int64_t count, std::mt19937& random) {
    const Array a = regular(count, n, dtype, random), rows = a(nd::ellipsis, nd::Slice({}, {}, -1), nd::Slice());
    const auto [sign, size] = nd::linalg::slogdet(a);
    const auto wide = [](const Array& x) {  // the CPU in double precision
      return x.to_device(nd::cpu_device).astype(catena::is_complex_dtype(x.dtype()) ? nd::complex128 : nd::float64);
    };
    const auto [expected_sign, expected_size] = nd::linalg::slogdet(wide(a));
    BOOST_TEST(distance(wide(sign), expected_sign) < tolerance(dtype, n));
    BOOST_TEST(distance(size.to_device(nd::cpu_device).astype(nd::float64), expected_size) <
               double(n) * tolerance(dtype, n));
    // Reversing the order of the rows is n / 2 swaps.
    BOOST_TEST(distance(nd::linalg::slogdet(rows).sign, sign * (n / 2 % 2 == 0 ? 1.0 : -1.0)) < tolerance(dtype, n));
  });
}

BOOST_AUTO_TEST_CASE(cholesky_factors) {
  for_all([](Dtype dtype, std::int64_t n, std::int64_t count, std::mt19937& random) {
    const Array root = random_array({count, n, n}, dtype, random);
    const Array a = (nd::matmul(root, adjoint(root)) / double(n) + nd::eye(n, dtype)).astype(dtype);
    const Array lower = nd::linalg::cholesky(a), upper = nd::linalg::cholesky(a, {.upper = true});
    BOOST_TEST(distance(nd::matmul(lower, adjoint(lower)), a) < tolerance(dtype, n));
    BOOST_TEST(distance(adjoint(upper), lower) < tolerance(dtype, n));
    BOOST_TEST(distance(nd::tril(lower(0)), lower(0)) == 0);
  });
}

BOOST_AUTO_TEST_CASE(eigenvalues) {
  for_all([](Dtype dtype, std::int64_t n, std::int64_t count, std::mt19937& random) {
    const Array half = random_array({count, n, n}, dtype, random), a = half + adjoint(half);
    for (const char* triangle : {"L", "U"}) {
      const auto [values, vectors] = nd::linalg::eigh(a, triangle);
      const double limit = 10 * tolerance(dtype, n);
      BOOST_TEST(values.dtype() == catena::real_dtype(dtype));
      BOOST_TEST(distance(nd::matmul(a, vectors), vectors * nd::expand_dims(values, -2)) < limit);
      BOOST_TEST(distance(nd::matmul(adjoint(vectors), vectors), unit(count, n, dtype)) < limit);
      BOOST_TEST(distance(nd::sort(values), values) == 0);
      BOOST_TEST(distance(nd::linalg::eigvalsh(a, triangle), values) < limit);
    }
  });
}

void check_svd(const Array& a, Dtype dtype, std::int64_t count) {
  const std::int64_t m = a.shape(1), n = a.shape(2), least = std::min(m, n);
  const double limit = 10 * tolerance(dtype, std::max(m, n));
  for (const bool full : {false, true}) {
    const auto [u, s, vh] = nd::linalg::svd(a, {.full_matrices = full});
    const auto first = [&](std::int64_t k) { return nd::Slice(0, k); };
    BOOST_TEST((u.shape() == Shape{count, m, full ? m : least}));
    BOOST_TEST((vh.shape() == Shape{count, full ? n : least, n}));
    BOOST_TEST(s.dtype() == catena::real_dtype(dtype));
    const Array scaled = u(nd::ellipsis, first(least)) * nd::expand_dims(s, -2);
    BOOST_TEST(distance(nd::matmul(scaled, vh(nd::ellipsis, first(least), nd::Slice())), a) < limit);
    BOOST_TEST(distance(nd::matmul(adjoint(u), u), unit(count, u.shape(2), dtype)) < limit);
    BOOST_TEST(distance(nd::matmul(vh, adjoint(vh)), unit(count, vh.shape(1), dtype)) < limit);
    BOOST_TEST(distance(nd::sort(s), s(nd::ellipsis, nd::Slice({}, {}, -1))) == 0);
    BOOST_TEST(distance(nd::linalg::svd(a, {.compute_uv = false}).S, s) < limit);
  }
}

BOOST_AUTO_TEST_CASE(singular_values) {
  for_all([](Dtype dtype, std::int64_t n, std::int64_t count, std::mt19937& random) {
    check_svd(random_array({count, n, n}, dtype, random), dtype, count);
    if (n > 33) return;
    check_svd(random_array({count, n + 3, n}, dtype, random), dtype, count);
    check_svd(random_array({count, n, n + 3}, dtype, random), dtype, count);
  });
  const nd::DeviceScope on(kCuda);
  check_svd(nd::zeros({3, 4, 4}, nd::float64), nd::float64, 3);
}

template <class F> std::string message(F&& f) {
  try {
    f();
  } catch (const catena::LinAlgError& e) {
    return e.what();
  }
  return "";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_CASE(matrices_without_a_result_are_named) {
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(2);
  for (const Dtype dtype : kDtypes)
    for (const std::int64_t n : {4, 32, 33, 65}) {
      Array a = regular(6, n, dtype, random);
      a(3, nd::Slice(), 2).fill(0);
      a(5, nd::Slice(), 1).fill(0);
      a = a.reshape({2, 3, n, n});
      BOOST_TEST_CONTEXT(dtype << " of order " << n) {
        BOOST_TEST(contains(message([&] { nd::linalg::inv(a); }), "matrix (1, 0) of the stack"));
        BOOST_TEST(contains(message([&] { nd::linalg::solve(a, a); }), "matrix (1, 0) of the stack"));
        BOOST_TEST(contains(message([&] { nd::linalg::solve(a, a); }), "pivot 3 "));
        const Array inverses = nd::linalg::inv(a, {.check = false});
        BOOST_TEST((nd::all(nd::isnan(inverses.real()), {-2, -1}).to_vector<bool>() ==
                    std::vector<bool>{false, false, false, true, false, true}));
        BOOST_TEST(distance(nd::matmul(a(0), inverses(0)), unit(3, n, dtype)) < tolerance(dtype, n));
        BOOST_TEST(nd::absolute(nd::linalg::det(a)(1, 0)).item<double>() == 0);
        const Array definite = (nd::matmul(a, adjoint(a)) + nd::eye(n, dtype)).astype(dtype);
        definite(0, 2, 1, 1) = -1;
        BOOST_TEST(contains(message([&] { nd::linalg::cholesky(definite); }), "matrix (0, 2) of the stack"));
        BOOST_TEST(contains(message([&] { nd::linalg::cholesky(definite); }), "minor of order 2"));
      }
    }
}

// Where Jacobi's method does not converge, the other method decides, and only about those matrices.
BOOST_AUTO_TEST_CASE(singular_values_that_do_not_converge) {
  if (!cuda_device::Control::available()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(3);
  for (const std::int64_t n : {5, 40}) {
    const Array a = random_array({3, n, n}, nd::float64, random);
    a(1, 2, 2) = std::numeric_limits<double>::quiet_NaN();
    cuda_device::Control control;
    const auto calls = control.calls("cusolverDnDgesvd");
    BOOST_TEST(contains(message([&] { nd::linalg::svd(a); }), "matrix (1,) of the stack"));
    BOOST_TEST(control.calls("cusolverDnDgesvd") == calls + 1);
  }
}

BOOST_AUTO_TEST_CASE(launches_do_not_depend_on_the_number_of_matrices) {
  if (!cuda_device::Control::available()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(4);
  const auto same = [&](const char* library, auto&& f) {
    const auto few = launches_of([&] { f(regular(3, 16, nd::float32, random)); }),
               many = launches_of([&] { f(regular(90, 16, nd::float32, random)); });
    BOOST_TEST(few == many, boost::test_tools::per_element());
    BOOST_TEST(std::count(few.begin(), few.end(), library) == 1, library);
    return few.size();
  };
  same("cublasmatinvBatched", [](const Array& a) { nd::linalg::inv(a); });
  same("cublasgetrsBatched", [](const Array& a) { nd::linalg::solve(a, a); });
  same("cublasgetrfBatched", [](const Array& a) { nd::linalg::det(a); });
  same("cublasgetrfBatched", [](const Array& a) { nd::linalg::slogdet(a); });
  same("cusolverDnpotrfBatched", [](const Array& a) { nd::linalg::cholesky(nd::matmul(a, a.swapaxes(-2, -1))); });
  same("cusolverDnsyevjBatched", [](const Array& a) { nd::linalg::eigh(a + a.swapaxes(-2, -1)); });
  same("cusolverDngesvdjBatched", [](const Array& a) { nd::linalg::svd(a); });
  // A copy of the matrices, the unit matrices, two lists of addresses, the inverses.
  const Array a = regular(50, 16, nd::float32, random);
  for (const auto& name : launches_of([&] { nd::linalg::inv(a); })) BOOST_TEST_MESSAGE(name);
  BOOST_TEST(launches_of([&] { nd::linalg::inv(a); }).size() <= 7);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
