// cuSOLVER and cuRAND on a device, and the profiler's functions. Decompositions are checked by what defines them.
#include <boost/test/unit_test.hpp>

#include <dlfcn.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/blas.h>
#include <catena/ndarray/cuda/vendor/curand_library.h>
#include <catena/ndarray/cuda/vendor/nccl.h>
#include <catena/ndarray/cuda/vendor/solver.h>
#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/profile/nvtx.h>
#include <catena/ndarray/profile/profiler.h>
#include <catena/ndarray/routines/curand.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using namespace nd::cuda;
using solver::Triangle;

const nd::Device kCuda{nd::Device::Kind::cuda, 0};

nd::Array on_cpu(const nd::Array& a) { return a.to_device(nd::cpu_device); }
nd::Array on_cuda(const nd::Array& a) { return a.to_device(kCuda); }
// The transpose of a C-contiguous array, with the elements of `a`.
nd::Array column_major(const nd::Array& a) { return on_cuda(nd::swapaxes(a, 0, 1).copy()).transpose(); }
nd::Array eye(std::int64_t n, nd::Dtype dtype) { return nd::eye(n, {.dtype = dtype}); }

// A symmetric matrix with all eigenvalues above 0, on the CPU.
nd::Array positive(std::int64_t n, nd::Dtype dtype, std::mt19937& random) {
  const nd::Array a = test::random_array({n, n}, dtype, random);
  return nd::matmul(a, a.transpose()) + eye(n, dtype) * double(n);
}

// The elements on and below the diagonal, or on and above it; elsewhere 0.
nd::Array half(const nd::Array& a, bool below) {
  auto values = a.to_vector<double>();
  const std::int64_t columns = a.shape(1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t row = std::int64_t(i) / columns, column = std::int64_t(i) % columns;
    if (below ? column > row : column < row) values[i] = 0;
  }
  return nd::array(values, a.shape(), {.dtype = a.dtype()});
}

bool have_solver() {
  try {
    cusolver();
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
  try {
    solver::potrf(column_major(on_cpu(nd::eye(1))));
    return true;
  } catch (const catena::CudaError& e) {
    if (e.symbol() != "CUSOLVER_STATUS_NOT_INITIALIZED" || std::getenv("CATENA_CUDA_LIBRARIES") == nullptr) throw;
    std::cout << "skipped: the software device has no LAPACK: " << e.what() << "\n";
    return false;
  }
}

void check_close(const nd::Array& actual, const nd::Array& expected, const std::string& what) {
  if (catena::is_complex_dtype(expected.dtype())) {
    BOOST_TEST((actual.dtype() == expected.dtype()), what);
    check_close(actual.real(), expected.real(), what + ", real parts");
    return check_close(actual.imag(), expected.imag(), what + ", imaginary parts");
  }
  const double tolerance = expected.dtype() == nd::float32 ? 2e-4 : 1e-11;
  CHECK_SAME(test::difference(actual, expected, tolerance, tolerance), what << " " << expected.dtype());
}

// With imaginary parts for complex dtypes.
nd::Array random_matrix(const nd::Shape& shape, nd::Dtype dtype, std::mt19937& random) {
  const nd::Dtype real = catena::real_dtype(dtype);
  const nd::Array a = test::random_array(shape, real, random).astype(dtype);
  if (real == dtype) return a;
  return (a + test::random_array(shape, real, random).astype(dtype) * std::complex<float>(0, 1)).astype(dtype);
}

constexpr nd::Dtype kFloats[] = {nd::float32, nd::float64};

BOOST_AUTO_TEST_SUITE(device_libraries)

BOOST_AUTO_TEST_CASE(cholesky) {
  if (!have_solver()) return;
  const nd::DeviceScope on(nd::cpu_device);
  std::mt19937 random(1);
  for (const nd::Dtype dtype : kFloats)
    for (const std::int64_t n : {1, 2, 9})
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        const nd::Array a = positive(n, dtype, random), b = test::random_array({n, 3}, dtype, random);
        const nd::Array factor = column_major(a), x = column_major(b);
        solver::potrf(factor, triangle);
        const nd::Array f =
            triangle == Triangle::lower ? half(on_cpu(factor), true) : half(on_cpu(factor), false).transpose();
        check_close(nd::matmul(f, f.transpose()), a, "L L^T");
        solver::potrs(factor, x, triangle);
        check_close(nd::matmul(a, on_cpu(x)), b, "a x");
      }
  const nd::Array bad = nd::array(std::vector<double>{1, 2, 2, 1}, {2, 2});
  BOOST_TEST(test::message_of<catena::LinAlgError>([&] { solver::potrf(column_major(bad)); }) ==
             "potrf: the matrix is not positive definite: its leading minor of order 2 is not positive");
}

BOOST_AUTO_TEST_CASE(lu) {
  if (!have_solver()) return;
  const nd::DeviceScope on(nd::cpu_device);
  std::mt19937 random(2);
  for (const nd::Dtype dtype : kFloats)
    for (const std::int64_t n : {1, 2, 9}) {
      const nd::Array a = test::random_array({n, n}, dtype, random) + eye(n, dtype) * 3,
                      b = test::random_array({n, 2}, dtype, random);
      const nd::Array lu = column_major(a), pivots = on_cuda(nd::zeros({n}, nd::int32));
      BOOST_TEST(solver::getrf(lu, pivots) == 0);
      for (const bool transpose : {false, true}) {
        const nd::Array x = column_major(b);
        solver::getrs(lu, pivots, x, transpose);
        check_close(nd::matmul(transpose ? a.transpose() : a, on_cpu(x)), b, "a x");
      }
    }
  const nd::Array singular = column_major(nd::array(std::vector<double>{1, 2, 2, 4}, {2, 2}));
  BOOST_TEST(solver::getrf(singular, on_cuda(nd::zeros({2}, nd::int32))) == 2);
}

BOOST_AUTO_TEST_CASE(qr) {
  if (!have_solver()) return;
  const nd::DeviceScope on(nd::cpu_device);
  std::mt19937 random(3);
  for (const nd::Dtype dtype : kFloats)
    for (const std::int64_t m : {4, 7}) {
      constexpr std::int64_t n = 4;
      const nd::Array a = test::random_array({m, n}, dtype, random);
      const nd::Array q = column_major(a), tau = on_cuda(nd::zeros({n}, dtype));
      solver::geqrf(q, tau);
      const nd::Array r = half(on_cpu(q)(nd::Slice(0, n)), false);
      solver::orgqr(q, tau);
      check_close(nd::matmul(on_cpu(q), r), a, "q r");
      check_close(nd::matmul(on_cpu(q).transpose(), on_cpu(q)), eye(n, dtype), "q^T q");
    }
}

// Q as geqrf leaves it is applied without being formed.
BOOST_AUTO_TEST_CASE(products_with_q) {
  if (!have_solver()) return;
  const nd::DeviceScope on(nd::cpu_device);
  std::mt19937 random(7);
  for (const nd::Dtype dtype : {nd::float32, nd::float64, nd::complex64, nd::complex128}) {
    const nd::Array a = random_matrix({5, 5}, dtype, random), c = random_matrix({5, 3}, dtype, random);
    const nd::Array reflectors = column_major(a), tau = on_cuda(nd::zeros({5}, dtype));
    solver::geqrf(reflectors, tau);
    const nd::Array full = reflectors.copy(nd::Order::F);
    solver::orgqr(full, tau);
    const nd::Array q = on_cpu(full), q_h = nd::conj(q.transpose());
    const auto applied = [&](const nd::Array& to, bool left, bool transpose) {
      const nd::Array result = column_major(to);
      solver::ormqr(reflectors, tau, result, left, transpose);
      return on_cpu(result);
    };
    const nd::Array ct = c.transpose().copy();
    check_close(applied(c, true, false), nd::matmul(q, c), "Q c");
    check_close(applied(c, true, true), nd::matmul(q_h, c), "Q^H c");
    check_close(applied(ct, false, false), nd::matmul(ct, q), "c Q");
    check_close(applied(ct, false, true), nd::matmul(ct, q_h), "c Q^H");
  }
  const nd::Array a = column_major(nd::eye(3)), tau = on_cuda(nd::zeros({3}));
  BOOST_TEST(test::message_of<catena::ValueError>([&] {
               solver::ormqr(a, tau, column_major(nd::ones({2, 3})));
             }) == "ormqr: a (3, 3) with 3 reflectors does not fit c (2, 3)");
}

// L D L^T from the factors of LAPACK's form, with its blocks of order 2, equals the matrix.
BOOST_AUTO_TEST_CASE(symmetric_indefinite) {
  if (!have_solver()) return;
  const nd::DeviceScope on(nd::cpu_device);
  for (const nd::Dtype dtype : kFloats) {
    // The diagonal is 0, so the first pivot is a block of order 2.
    const nd::Array a = nd::array(std::vector<double>{0, 2, 1, 2, 0, 3, 1, 3, 4}, {3, 3}, {.dtype = dtype});
    const nd::Array factors = column_major(a), pivots = on_cuda(nd::zeros({3}, nd::int32));
    BOOST_TEST(solver::sytrf(factors, pivots) == 0);
    const auto f = on_cpu(factors).to_vector<double>();  // (row, column) at 3 row + column
    const auto p = on_cpu(pivots).to_vector<int>();
    BOOST_REQUIRE(p[0] < 0);
    BOOST_TEST(p[0] == p[1]);
    BOOST_TEST(p[2] == 3);
    std::vector<double> l{1, 0, 0, 0, 1, 0, f[6], f[7], 1}, d{f[0], f[3], 0, f[3], f[4], 0, 0, 0, f[8]};
    const nd::Array lower = nd::array(l, {3, 3}), middle = nd::array(d, {3, 3});
    nd::Array product = nd::matmul(nd::matmul(lower, middle), lower.transpose());
    const std::int64_t other = -p[0] - 1;  // rows and columns 1 and `other` were swapped
    std::vector<std::int64_t> order{0, 1, 2};
    std::swap(order[1], order[std::size_t(other)]);
    const nd::Array rows = nd::array(order);
    product = nd::take(nd::take(product, rows, 0), rows, 1);
    check_close(product, a.astype(nd::float64), "L D L^T");
  }
  // Of several zeros on the diagonal, LAPACK tells the first one, cuSOLVER the last.
  const int zero = solver::sytrf(column_major(nd::zeros({2, 2})), on_cuda(nd::zeros({2}, nd::int32)));
  BOOST_TEST(zero == (cuda_device::Control::available() ? 1 : 2));
}

// Q^T A P is bidiagonal, and orthogonal factors keep the singular values.
BOOST_AUTO_TEST_CASE(bidiagonal_form) {
  if (!have_solver()) return;
  const nd::DeviceScope on(nd::cpu_device);
  std::mt19937 random(9);
  for (const nd::Dtype dtype : {nd::float32, nd::float64, nd::complex128}) {
    const nd::Dtype real = catena::real_dtype(dtype);
    const nd::Array a = random_matrix({6, 4}, dtype, random);
    const nd::Array work = column_major(a), d = on_cuda(nd::zeros({4}, real)), e = on_cuda(nd::zeros({3}, real));
    solver::gebrd(work, d, e, on_cuda(nd::zeros({4}, dtype)), on_cuda(nd::zeros({4}, dtype)));
    const nd::Array b = nd::diag(on_cpu(d)) + nd::diag(on_cpu(e), 1);
    const nd::Array expected = on_cuda(nd::zeros({4}, real)), actual = on_cuda(nd::zeros({4}, real));
    solver::gesvd(column_major(a), expected);
    solver::gesvd(column_major(b), actual);
    check_close(on_cpu(actual), on_cpu(expected), "singular values");
  }
  const nd::Array none = on_cuda(nd::zeros({0}));
  BOOST_CHECK_THROW(solver::gebrd(column_major(nd::ones({2, 3})), none, none, none, none), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(singular_values) {
  if (!have_solver()) return;
  const nd::DeviceScope on(nd::cpu_device);
  std::mt19937 random(4);
  for (const nd::Dtype dtype : kFloats)
    for (const bool full : {false, true}) {
      constexpr std::int64_t m = 6, n = 4;
      const nd::Array a = test::random_array({m, n}, dtype, random);
      const nd::Array s = on_cuda(nd::zeros({n}, dtype)), values = on_cuda(nd::zeros({n}, dtype));
      const nd::Array u = column_major(nd::zeros({m, full ? m : n}, dtype)),
                      vt = column_major(nd::zeros({n, n}, dtype));
      solver::gesvd(column_major(a), s, u, vt);
      solver::gesvd(column_major(a), values);
      check_close(on_cpu(values), on_cpu(s), "values alone");
      const nd::Array left = on_cpu(u), right = on_cpu(vt);
      check_close(nd::matmul(left(nd::ellipsis, nd::Slice(0, n)) * on_cpu(s), right), a, "u s vt");
      check_close(nd::matmul(left.transpose(), left), eye(full ? m : n, dtype), "u^T u");
      check_close(nd::matmul(right, right.transpose()), eye(n, dtype), "vt v");
      const auto list = on_cpu(s).to_vector<double>();
      for (std::size_t i = 0; i < list.size(); ++i) BOOST_TEST((list[i] >= 0 && (i == 0 || list[i] <= list[i - 1])));
    }
  BOOST_CHECK_THROW(solver::gesvd(column_major(nd::zeros({2, 3})), on_cuda(nd::zeros({3}))), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(eigenvalues) {
  if (!have_solver()) return;
  const nd::DeviceScope on(nd::cpu_device);
  std::mt19937 random(5);
  for (const nd::Dtype dtype : kFloats)
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      constexpr std::int64_t n = 7;
      const nd::Array a = positive(n, dtype, random);
      const nd::Array v = column_major(a), w = on_cuda(nd::zeros({n}, dtype));
      const nd::Array alone = on_cuda(nd::zeros({n}, dtype));
      solver::syevd(v, w, true, triangle);
      solver::syevd(column_major(a), alone, false, triangle);
      check_close(on_cpu(alone), on_cpu(w), "values alone");
      check_close(nd::matmul(a, on_cpu(v)), on_cpu(v) * on_cpu(w), "a v");
      check_close(nd::matmul(on_cpu(v).transpose(), on_cpu(v)), eye(n, dtype), "v^T v");
    }
}

BOOST_AUTO_TEST_CASE(layouts_and_devices_are_checked) {
  if (!have_solver()) return;
  const nd::DeviceScope on(kCuda);
  const nd::Array rows = nd::zeros({3, 3});
  BOOST_TEST(test::message_of<catena::ValueError>([&] { solver::potrf(rows); }) ==
             "potrf: a of shape (3, 3) and strides (24, 8) must be Fortran-contiguous");
  BOOST_CHECK_THROW(solver::getrf(rows.transpose(), nd::zeros({3}, nd::int64)), catena::TypeError);
  BOOST_CHECK_THROW(solver::getrf(rows.transpose(), nd::zeros({2}, nd::int32)), catena::ValueError);
  BOOST_CHECK_THROW(solver::potrs(rows.transpose(), nd::zeros({2, 4}).transpose()), catena::ValueError);
  BOOST_CHECK_THROW(solver::potrs(rows.transpose(), nd::zeros({4, 3}, nd::float32).transpose()), catena::TypeError);
}

// ---- cuRAND -------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(curand_fills_arrays_of_the_device) {
  const nd::DeviceScope on(kCuda);
  for (const CurandMethod method : {CurandMethod::xorwow, CurandMethod::mrg32k3a, CurandMethod::mtgp32,
                                    CurandMethod::mt19937, CurandMethod::philox4_32_10}) {
    BOOST_TEST_CONTEXT("method " << int(method)) {
      CurandGenerator first(method, {.seed = 7}), same(method, {.seed = 7});
      BOOST_TEST(first.device() == kCuda);
      const nd::Array a = nd::zeros({1000}, nd::float32), b = nd::zeros({1000}, nd::float32);
      first.uniform(a);
      same.uniform(b);
      BOOST_TEST(test::same_bits(a, b));
      const auto values = a.to_vector<double>();
      for (const double v : values) BOOST_REQUIRE((v > 0 && v <= 1));
      first.normal(a, 2, 3);
      BOOST_TEST(std::abs(nd::mean(a).item<double>() - 2) < 5 * 3 / std::sqrt(1000.0));
      first.set_seed(7);
      first.uniform(a);
      BOOST_TEST(test::same_bits(a, b));
      BOOST_CHECK_THROW(first.uniform(on_cpu(a)), catena::ValueError);
    }
  }
}

// ---- NCCL, NVTX, profiler -----------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(one_rank_reduces_to_itself) {
  try {
    nccl();
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return;
  }
  const nd::DeviceScope on(kCuda);
  const std::vector<NcclCommunicator> all = NcclCommunicator::all({0});
  const nd::Array in = nd::arange(12, {.dtype = nd::float32}), out = nd::zeros({12}, nd::float32);
  all[0].all_reduce(in, out);
  all[0].check_async_error();
  CHECK_SAME(test::difference(out, in), "all_reduce");
  BOOST_CHECK_THROW(all[0].broadcast(in, 1), catena::ValueError);
  BOOST_CHECK_THROW(all[0].all_reduce(in, nd::zeros({3}, nd::float32)), catena::ValueError);
}

// Libraries and copies are among the launches of an error's message, with the sizes that their time depends on. A
// stream of its own: the message begins with what was put on it last.
BOOST_AUTO_TEST_CASE(what_libraries_and_copies_put_on_a_stream_is_on_record) {
  if (!have_solver()) return;
  const nd::DeviceScope on(kCuda);
  const nd::Array a = nd::full({33, 20}, 1, {.dtype = nd::float32}), b = nd::full({20, 7}, 2, {.dtype = nd::float32});
  const nd::Array square = column_major(on_cpu(nd::eye(5)));
  const nd::Stream stream;
  const nd::StreamScope in(stream);
  std::ostringstream start;
  start << "; last launches on cuda:0 stream " << stream.ptr() << ", newest first: ";
  const auto check_last = [&](const std::string& launch) {
    const std::string all = recent_launches();
    const std::size_t at = all.find(start.str());
    BOOST_REQUIRE(at != std::string::npos);
    const std::string newest = all.substr(at + start.str().size(), launch.size() + 1);
    BOOST_TEST(newest.starts_with(launch), newest << " instead of " << launch);
    BOOST_TEST((newest.size() == launch.size() || newest.back() == ',' || newest.back() == ';'));
  };
  nd::matmul(a, b);
  if (last_matmul() == "cublaslt") check_last("cublasLtMatmul(7, 33, 20, 1)");
  CurandGenerator(CurandMethod::xorwow).normal(a);
  check_last("curandGenerateNormal(660)");
  solver::potrf(square);
  check_last("cuMemcpyDtoHAsync_v2(4)");  // the outcome
  BOOST_TEST(recent_launches().find(", cusolverDnDpotrf(5, 5), ") != std::string::npos);
  const nd::MemoryPointer from(nd::alloc(4096)), to(nd::alloc(4096));
  std::vector<char> host(5000);
  from.copy_from_async(host.data(), 4000, stream);
  check_last("cuMemcpyHtoDAsync_v2(4000)");
  to.copy_from_async(from, 3000, stream);
  check_last("cuMemcpyDtoDAsync_v2(3000)");
  to.copy_to_host_async(host.data(), 2000, stream);
  check_last("cuMemcpyDtoHAsync_v2(2000)");
  to.memset_async(1, 1000, stream);  // a kernel
  const std::string all = recent_launches();
  BOOST_TEST(all.substr(all.find(start.str()) + start.str().size(), 4) == "copy");
  if (nd::device_count(nd::Device::Kind::cuda) < 2) {
    std::cout << "skipped: a copy between two devices (there is one)\n";
    return;
  }
  const nd::Array other = a.to_device({nd::Device::Kind::cuda, 1});
  BOOST_TEST(recent_launches().find("cuMemcpyPeerAsync(2640)") != std::string::npos);
}

// The tool is the software device's own library; on a real device a test would be in the way of the profiler that
// listens there.
int thrice(int x) { return 3 * x; }
struct Halve {
  int operator()(int x) const { return x / 2; }
};

BOOST_AUTO_TEST_CASE(what_a_profiler_hears) {
  const char* folder = std::getenv("CATENA_CUDA_LIBRARIES");
  if (folder == nullptr) {
    std::cout << "skipped: the tool that listens comes with the software device\n";
    return;
  }
  const std::string path = std::string(folder) + "/libcuda.so.1";
  setenv("NVTX_INJECTION64_PATH", path.c_str(), 1);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  BOOST_REQUIRE(library != nullptr);
  const auto log = reinterpret_cast<void (*)(char*, std::size_t)>(dlsym(library, "software_cuda_nvtx_log"));
  BOOST_REQUIRE(log != nullptr);
  BOOST_TEST(nd::nvtx::is_listening());
  nd::nvtx::mark("here", 13);
  nd::nvtx::mark_c("there", 0x80112233u);
  nd::nvtx::range_push("outer", 12);
  nd::nvtx::range_push_c("coloured", 0xFF0A0B0Cu);
  nd::nvtx::range_pop();
  nd::nvtx::range_pop();
  try {
    const nd::TimeRange range("inner", {.color_id = 0});
    throw std::runtime_error("stop");
  } catch (const std::runtime_error&) {}
  const auto twice = nd::time_range_decorator([](int x) { return 2 * x; }, {.message = "twice"});
  BOOST_TEST(nd::time_range_decorator(twice, {.message = "again", .range = {.argb_color = 1u}})(4) == 8);
  // The name is that of the function, as far as it has one.
  BOOST_TEST(nd::time_range_decorator<thrice>()(2) == 6);
  BOOST_TEST(nd::time_range_decorator(Halve())(8) == 4);
  BOOST_TEST(nd::time_range_decorator([](int x) { return x; })(5) == 5);
  BOOST_TEST(nd::TimeRangeDecorator("named", {.color_id = 1})(thrice)(1) == 3);
  char text[1024];
  log(text, sizeof text);
  BOOST_TEST(std::string(text) ==
             "mark here ffff0000;mark there 80112233;push outer ff7f00ff;push coloured ff0a0b0c;pop;pop;push inner "
             "ff00ff00;pop;"
             "push again 1;push twice;pop;pop;push thrice;pop;push Halve;pop;push call;pop;push named ff007fff;pop;");
}

BOOST_AUTO_TEST_CASE(profiles_are_begun_and_ended) {
  std::optional<cuda_device::Control> control;
  if (cuda_device::Control::available()) control.emplace().reset_records();
  else std::cout << "not counted: the profiler's calls, which the software CUDA device counts\n";
  const auto check_calls = [&](std::uint64_t started, std::uint64_t stopped) {
    if (!control) return;
    BOOST_TEST(control->calls("cuProfilerStart") == started);
    BOOST_TEST(control->calls("cuProfilerStop") == stopped);
  };
  BOOST_CHECK_NO_THROW(nd::profiler::start());
  check_calls(1, 0);
  BOOST_CHECK_NO_THROW(nd::profiler::stop());
  check_calls(1, 1);
  {
    const nd::ProfileScope profile;
    check_calls(2, 1);
  }
  check_calls(2, 2);
  bool caught = false;
  try {
    const nd::ProfileScope profile;
    check_calls(3, 2);
    throw std::runtime_error("stop");
  } catch (const std::runtime_error& e) {
    caught = std::string(e.what()) == "stop";
  }
  BOOST_TEST(caught);
  check_calls(3, 3);
  if (!control) return;
  control->fail("cuProfilerStart", 1, api::cu_error_invalid_value);
  BOOST_CHECK_EXCEPTION(nd::ProfileScope(), catena::CudaError,
                        [](const catena::CudaError& e) { return e.symbol() == "CUDA_ERROR_INVALID_VALUE"; });
  control->clear_faults();
  check_calls(4, 3);  // what was not begun is not ended
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
