// NVIDIA's libraries as far as they go without a GPU: that they are found, what is said when they are not, the checks
// of arguments, cuRAND's host generators, and NVTX.
#include <boost/test/unit_test.hpp>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include <catena/kernels/base/cuda_error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/ndarray/cuda/vendor/blas.h>
#include <catena/ndarray/cuda/vendor/cublas.h>
#include <catena/ndarray/cuda/vendor/cufft.h>
#include <catena/ndarray/cuda/vendor/curand_library.h>
#include <catena/ndarray/cuda/vendor/cusparse.h>
#include <catena/ndarray/cuda/vendor/nccl.h>
#include <catena/ndarray/cuda/vendor/nvjpeg.h>
#include <catena/ndarray/cuda/vendor/solver.h>
#include <catena/ndarray/cuda/vendor/vendor.h>
#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/profile/nvtx.h>
#include <catena/ndarray/profile/profiler.h>
#include <catena/ndarray/routines/curand.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using namespace nd::cuda;

// The message of the RuntimeError of `f` in a process of its own, in which no library has been opened yet.
std::string message_in_child(const char* variable, const char* value, const std::function<void()>& f) {
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv(variable, value, 1);
    std::string text = "nothing was thrown";
    try {
      f();
    } catch (const catena::RuntimeError& e) {
      text = e.what();
    } catch (const std::exception& e) {
      text = std::string("another exception: ") + e.what();
    }
    const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t n = read(ends[0], text.data(), text.size());
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

// A folder of this process, which does not exist yet.
std::filesystem::path own_folder(const char* name) {
  return std::filesystem::temp_directory_path() / ("catena-libraries-" + std::to_string(getpid())) / name;
}
// The file of the library that has this function.
std::filesystem::path file_of(void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 ? info.dli_fname : "";
}

// True when the library can be opened; otherwise says why the test is skipped.
template <class Open> bool have(Open open) {
  try {
    open();
    return true;
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
}
bool have_curand() {
  return have([] { curand(); });
}

catena::BoundOperand operand(const nd::Array& a) { return {a->data, a.dtype(), false, &a.shape(), &a.strides()}; }

BOOST_AUTO_TEST_SUITE(libraries)

BOOST_AUTO_TEST_CASE(a_library_that_is_not_there_is_named_with_what_was_tried) {
  const auto missing = [](const char* library, const char* file, const std::function<void()>& open) {
    const std::string said = message_in_child("CATENA_CUDA_LIBRARIES", "/nowhere", open);
    const std::string start = std::string(library) + " is unavailable: " + file + " not found (tried: /nowhere/" + file;
    BOOST_TEST(said.substr(0, start.size()) == start, said);
  };
  missing("cuBLASLt", "libcublasLt.so.13", [] { cublaslt(); });
  missing("cuBLAS", "libcublas.so.13", [] { cublas_library(); });
  missing("cuRAND", "libcurand.so.10", [] { curand(); });
  missing("cuSOLVER", "libcusolver.so.12", [] { cusolver(); });
  missing("cuFFT", "libcufft.so.12", [] { cufft(); });
  missing("cuSPARSE", "libcusparse.so.12", [] { cusparse(); });
  missing("nvJPEG", "libnvjpeg.so.13", [] { nvjpeg(); });
  missing("NCCL", "libnccl.so.2", [] { nccl(); });
  // The second time it says the same.
  missing("cuRAND", "libcurand.so.10", [] {
    try {
      curand();
    } catch (const catena::RuntimeError&) {}
    curand();
  });
}

// ---- cuBLASLt: from strides to a problem --------------------------------------------------------
// Element (row, column) of an operand of the product, read as cuBLASLt reads it.
double element(const std::vector<double>& memory, std::int64_t first, const nd::cuda::internal::BlasMatrix& m,
               std::int64_t batch, std::int64_t row, std::int64_t column) {
  if (m.transpose) std::swap(row, column);
  BOOST_REQUIRE(row < m.rows && column < m.columns && m.ld >= m.rows);
  return memory[static_cast<std::size_t>(first + batch * m.batch_stride + column * m.ld + row)];
}

struct Block {
  explicit Block(const nd::Array& view)
      : first(reinterpret_cast<double*>(view->storage->data)),
        values(first, first + view->storage->bytes / sizeof(double)),
        offset(reinterpret_cast<double*>(view->data) - first) {}
  double* first;
  std::vector<double> values;
  std::int64_t offset;
};

// Executes the problem as its description says and compares with the product over the logical elements. False: not
// expressible.
bool problem_is_right(const nd::Array& a, const nd::Array& b, const nd::Array& out) {
  const auto p = nd::cuda::internal::blas_problem({operand(a), operand(b), operand(out)});
  if (!p) return false;
  nd::Array expected = nd::matmul(a, b);
  Block left(p->swapped ? b : a), right(p->swapped ? a : b), result(out);
  const std::int64_t k = p->a.transpose ? p->a.rows : p->a.columns;
  for (std::int64_t call = 0; call < p->calls(); ++call) {
    std::int64_t rest = call, at_a = left.offset, at_b = right.offset, at_d = result.offset;
    for (const nd::cuda::internal::BlasAxis& axis : p->outer) {
      const std::int64_t at = rest % axis.count;
      rest /= axis.count;
      at_a += at * axis.a;
      at_b += at * axis.b;
      at_d += at * axis.d;
    }
    for (std::int64_t i = 0; i < p->batch; ++i)
      for (std::int64_t row = 0; row < p->d.rows; ++row)
        for (std::int64_t column = 0; column < p->d.columns; ++column) {
          double sum = 0;
          for (std::int64_t j = 0; j < k; ++j)
            sum += element(left.values, at_a, p->a, i, row, j) * element(right.values, at_b, p->b, i, j, column);
          result.first[at_d + i * p->d.batch_stride + column * p->d.ld + row] = sum;
        }
  }
  BOOST_TEST(!p->d.transpose);
  CHECK_SAME(test::difference(out, expected, 1e-9, 1e-9),
             "a " << a.shape() << a.strides() << " b " << b.shape() << b.strides());
  return true;
}

nd::Array numbers(const nd::Shape& shape, std::mt19937& random) {
  return test::random_array(shape, nd::float64, random);
}
nd::Array swapped(const nd::Array& a) { return nd::swapaxes(a, -1, -2); }

BOOST_AUTO_TEST_CASE(every_mixture_of_row_and_column_major_matrices_is_expressed) {
  const nd::DeviceScope on(nd::cpu_device);
  std::mt19937 random(1);
  for (const std::int64_t m : {1, 5})
    for (const std::int64_t n : {1, 3})
      for (const std::int64_t k : {1, 4})
        for (int which = 0; which < 8; ++which) {
          const nd::Array a = which & 1 ? swapped(numbers({k, m}, random)) : numbers({m, k}, random);
          const nd::Array b = which & 2 ? swapped(numbers({n, k}, random)) : numbers({k, n}, random);
          const nd::Array out = which & 4 ? swapped(nd::zeros({n, m})) : nd::zeros({m, n});
          BOOST_TEST(problem_is_right(a, b, out), m << "x" << k << "x" << n << " layout " << which);
        }
}

BOOST_AUTO_TEST_CASE(parts_of_larger_matrices_and_batches_are_expressed) {
  const nd::DeviceScope on(nd::cpu_device);
  std::mt19937 random(2);
  const auto part = [&](const nd::Shape& shape) {  // the middle columns of wider rows
    nd::Shape wide = shape;
    wide.back() += 5;
    return numbers(wide, random)(nd::ellipsis, nd::Slice(2, 2 + shape.back()));
  };
  BOOST_TEST(problem_is_right(part({5, 4}), part({4, 3}), part({5, 3})));
  BOOST_TEST(problem_is_right(part({2, 5, 4}), part({2, 4, 3}), part({2, 5, 3})));
  BOOST_TEST(problem_is_right(numbers({2, 3, 5, 4}, random), numbers({2, 3, 4, 3}, random), nd::zeros({2, 3, 5, 3})));
  // One b for all of a batch: its rows lie one after the other, so it is one large product.
  const nd::Array a = numbers({6, 5, 4}, random), b = nd::broadcast_to(numbers({4, 3}, random), {6, 4, 3}),
                  out = nd::zeros({6, 5, 3});
  BOOST_TEST(problem_is_right(a, b, out));
  BOOST_TEST(nd::cuda::internal::blas_problem({operand(a), operand(b), operand(out)})->batch == 1);
  // One a for all: a batch with stride 0.
  BOOST_TEST(problem_is_right(nd::broadcast_to(numbers({5, 4}, random), {6, 5, 4}), numbers({6, 4, 3}, random),
                              nd::zeros({6, 5, 3})));
  // Vectors.
  BOOST_TEST(problem_is_right(numbers({6, 1, 4}, random), nd::broadcast_to(numbers({4, 3}, random), {6, 4, 3}),
                              nd::zeros({6, 1, 3})));
}

// The longest of the leading axes that do not merge is the batch; the others are separate calls.
BOOST_AUTO_TEST_CASE(leading_axes_that_do_not_merge_are_several_calls) {
  const nd::DeviceScope on(nd::cpu_device);
  std::mt19937 random(4);
  const auto calls = [](const nd::Array& a, const nd::Array& b, const nd::Array& out) {
    BOOST_TEST(problem_is_right(a, b, out));
    const auto p = nd::cuda::internal::blas_problem({operand(a), operand(b), operand(out)});
    return std::pair(p->calls(), p->batch);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  for (const std::int64_t heads : {2, 4}) {
    const auto projected = [&] { return numbers({3, 5, heads, 6}, random); };  // (sentences, words, heads, features)
    const nd::Array q = projected().transpose({0, 2, 1, 3}), k = projected().transpose({0, 2, 3, 1}),
                    v = projected().transpose({0, 2, 1, 3}), scores = nd::zeros({3, heads, 5, 5});
    const Pair expected = heads > 3 ? Pair(3, heads) : Pair(heads, 3);
    BOOST_TEST((calls(q, k, scores) == expected));
    BOOST_TEST((calls(numbers({3, heads, 5, 5}, random), v, nd::zeros({3, heads, 5, 6})) == expected));
    // The result in the layout of q.
    BOOST_TEST(
        (calls(numbers({3, heads, 5, 5}, random), v, nd::zeros({3, 5, heads, 6}).transpose({0, 2, 1, 3})) == expected));
  }
  // One b for the second of three axes, one a for the first.
  const nd::Array a = nd::broadcast_to(numbers({1, 4, 2, 5, 6}, random), {3, 4, 2, 5, 6}),
                  b = nd::broadcast_to(numbers({3, 1, 2, 6, 2}, random), {3, 4, 2, 6, 2});
  BOOST_TEST((calls(a, b, nd::zeros({3, 4, 2, 5, 2})) == Pair(6, 4)));
  // Both are repeated along the last axis.
  BOOST_TEST(
      (calls(nd::broadcast_to(numbers({3, 1, 1, 6}, random), {3, 4, 1, 6}),
             nd::broadcast_to(numbers({3, 1, 6, 2}, random), {3, 4, 6, 2}), nd::zeros({3, 4, 1, 2})) == Pair(3, 4)));
}

BOOST_AUTO_TEST_CASE(what_has_no_such_form_is_left_to_others) {
  const nd::DeviceScope on(nd::cpu_device);
  std::mt19937 random(3);
  const nd::Array a = numbers({4, 4}, random), out = nd::zeros({4, 4});
  const auto expressed = [](const nd::Array& x, const nd::Array& y, const nd::Array& z) {
    return nd::cuda::internal::blas_problem({operand(x), operand(y), operand(z)}).has_value();
  };
  BOOST_TEST(expressed(a, a, out));
  BOOST_TEST(
      !expressed(numbers({4, 8}, random)(nd::ellipsis, nd::Slice({}, {}, 2)), a, out));  // steps in both directions
  BOOST_TEST(!expressed(a(nd::Slice({}, {}, -1)), a, out));                              // backwards
  BOOST_TEST(!expressed(nd::broadcast_to(numbers({4, 1}, random), {4, 4}), a, out));     // one column repeated
  BOOST_TEST(!expressed(nd::zeros({4, 0}), nd::zeros({0, 4}), out));                     // nothing to sum
  BOOST_TEST(!expressed(nd::zeros({0, 4}), a, nd::zeros({0, 4})));                       // nothing to store
  // Random layouts: whatever is expressed is right.
  int right = 0;
  for (int i = 0; i < 300; ++i) {
    const auto length = [&] { return std::int64_t(1 + random() % 3); };
    const std::int64_t batch = length(), m = length(), k = length(), n = length();
    const nd::Array x = test::scattered(numbers({batch, m, k}, random), random);
    const nd::Array y = test::scattered(numbers({batch, k, n}, random), random);
    right += problem_is_right(x, y, test::scattered(nd::zeros({batch, m, n}), random));
  }
  BOOST_TEST(right > 0);
}

// The descriptors of the real library are plain memory and can be filled without a GPU.
BOOST_AUTO_TEST_CASE(cublaslt_accepts_every_attribute_that_is_set) {
  if (!have([] { cublaslt(); })) return;
  const CublasLt& lt = cublaslt();
  BOOST_TEST(lt.get_version() >= 110000u);
  BOOST_TEST(std::string(lt.get_status_name(api::cublas_not_supported)) == "CUBLAS_STATUS_NOT_SUPPORTED");
  api::cublaslt_matmul_desc desc = nullptr;
  BOOST_TEST(lt.matmul_desc_create(&desc, api::cublas_compute_32f, api::cuda_r_32f) == api::cublas_success);
  const std::int32_t transposed = api::cublas_op_t;
  const std::uint32_t epilogue = api::cublaslt_epilogue_relu | api::cublaslt_epilogue_bias;
  const void* bias = &bias;
  BOOST_TEST(lt.matmul_desc_set(desc, api::cublaslt_desc_transpose_a, &transposed, sizeof transposed) ==
             api::cublas_success);
  BOOST_TEST(lt.matmul_desc_set(desc, api::cublaslt_desc_transpose_b, &transposed, sizeof transposed) ==
             api::cublas_success);
  BOOST_TEST(lt.matmul_desc_set(desc, api::cublaslt_desc_epilogue, &epilogue, sizeof epilogue) == api::cublas_success);
  BOOST_TEST(lt.matmul_desc_set(desc, api::cublaslt_desc_bias_pointer, &bias, sizeof bias) == api::cublas_success);
  BOOST_TEST(lt.matmul_desc_set(desc, api::cublaslt_desc_epilogue, &epilogue, 1) != api::cublas_success);
  BOOST_TEST(lt.matmul_desc_destroy(desc) == api::cublas_success);
  api::cublaslt_matrix_layout layout = nullptr;
  BOOST_TEST(lt.layout_create(&layout, api::cuda_r_16bf, 5, 7, 8) == api::cublas_success);
  const std::int32_t count = 3;
  const std::int64_t stride = 56;
  BOOST_TEST(lt.layout_set(layout, api::cublaslt_layout_batch_count, &count, sizeof count) == api::cublas_success);
  BOOST_TEST(lt.layout_set(layout, api::cublaslt_layout_batch_stride, &stride, sizeof stride) == api::cublas_success);
  BOOST_TEST(lt.layout_destroy(layout) == api::cublas_success);
  api::cublaslt_preference preference = nullptr;
  BOOST_TEST(lt.preference_create(&preference) == api::cublas_success);
  const std::uint64_t workspace = 1 << 20;
  const std::uint32_t value = 2;
  BOOST_TEST(lt.preference_set(preference, api::cublaslt_preference_workspace_bytes, &workspace, sizeof workspace) ==
             api::cublas_success);
  for (const int name : {api::cublaslt_preference_reduction_scheme, api::cublaslt_preference_alignment_a,
                         api::cublaslt_preference_alignment_b, api::cublaslt_preference_alignment_c,
                         api::cublaslt_preference_alignment_d})
    BOOST_TEST(lt.preference_set(preference, name, &value, sizeof value) == api::cublas_success, "attribute " << name);
  BOOST_TEST(lt.preference_destroy(preference) == api::cublas_success);
}

BOOST_AUTO_TEST_CASE(tf32_is_off_until_it_is_allowed) {
  BOOST_TEST(!tf32_allowed());
  allow_tf32(true);
  BOOST_TEST(tf32_allowed());
  allow_tf32(false);
  BOOST_TEST(!tf32_allowed());
}

// ---- cuRAND: its host generators ----------------------------------------------------------------
constexpr CurandMethod kPseudo[] = {CurandMethod::xorwow, CurandMethod::mrg32k3a, CurandMethod::mtgp32,
                                    CurandMethod::mt19937, CurandMethod::philox4_32_10};
constexpr CurandMethod kQuasi32[] = {CurandMethod::sobol32, CurandMethod::scrambled_sobol32};
constexpr CurandMethod kQuasi64[] = {CurandMethod::sobol64, CurandMethod::scrambled_sobol64};

nd::Array bits(CurandGenerator& g, std::int64_t n, nd::Dtype dtype = nd::uint32) {
  const nd::Array a = nd::zeros({n}, dtype);
  g.generate(a);
  return a;
}

struct Moments {
  double mean = 0, deviation = 0, least = std::numeric_limits<double>::infinity(), most = -least;
};
Moments moments(const nd::Array& a) {
  Moments m;
  double sum = 0, squares = 0;
  const auto values = a.to_vector<double>();
  for (const double v : values) {
    sum += v;
    squares += v * v;
    m.least = std::min(m.least, v);
    m.most = std::max(m.most, v);
  }
  m.mean = sum / double(values.size());
  m.deviation = std::sqrt(squares / double(values.size()) - m.mean * m.mean);
  return m;
}

BOOST_AUTO_TEST_CASE(curand_sequences_depend_on_seed_and_offset) {
  if (!have_curand()) return;
  const nd::DeviceScope on(nd::cpu_device);
  // Few seeds, because cuRAND computes for seconds on each one of mt19937.
  for (const CurandMethod method : kPseudo) {
    BOOST_TEST_CONTEXT("method " << int(method)) {
      CurandGenerator first(method, {.seed = 7}), other(method, {.seed = 8});
      const nd::Array a = bits(first, 1000);
      // A generator goes on where it was, and begins at the start of a seed that it is given.
      BOOST_TEST(!test::same_bits(a, bits(first, 1000)));
      BOOST_TEST(!test::same_bits(a, bits(other, 1000)));
      other.set_seed(7);
      BOOST_TEST(test::same_bits(a, bits(other, 1000)));
      first.set_ordering(CurandOrdering::legacy);
      first.set_seed(7);
      const nd::Array legacy = bits(first, 1000);
      CurandGenerator ordered(method, {.seed = 7, .ordering = CurandOrdering::legacy});
      BOOST_TEST(test::same_bits(legacy, bits(ordered, 1000)));
    }
  }
  for (const CurandMethod method : {CurandMethod::xorwow, CurandMethod::mrg32k3a, CurandMethod::philox4_32_10}) {
    CurandGenerator whole(method, {.seed = 3}), tail(method, {.seed = 3, .offset = 40});
    const nd::Array a = bits(whole, 400), b = bits(tail, 360);
    BOOST_TEST(test::same_bits(a(nd::Slice(40, 400)).copy(), b), "method " << int(method));
  }
}

// Sobol's sequence in one dimension in Gray-code order: element n is the bits of the Gray code of n, the first one
// last.
BOOST_AUTO_TEST_CASE(curand_sobol_is_the_sequence_of_sobol) {
  if (!have_curand()) return;
  const nd::DeviceScope on(nd::cpu_device);
  CurandGenerator g32(CurandMethod::sobol32), g64(CurandMethod::sobol64);
  const auto x = bits(g32, 200).to_vector<std::uint32_t>();
  const auto y = bits(g64, 200, nd::uint64).to_vector<std::uint64_t>();
  for (std::uint64_t n = 0; n < x.size(); ++n) {
    const std::uint64_t gray = n ^ (n >> 1);
    std::uint64_t reversed = 0;
    for (int bit = 0; bit < 64; ++bit) reversed |= (gray >> bit & 1) << (63 - bit);
    BOOST_TEST(y[n] == reversed, "64-bit element " << n);
    BOOST_TEST(x[n] == static_cast<std::uint32_t>(reversed >> 32), "32-bit element " << n);
  }
}

BOOST_AUTO_TEST_CASE(curand_distributions) {
  if (!have_curand()) return;
  const nd::DeviceScope on(nd::cpu_device);
  constexpr std::int64_t n = 40000;
  std::vector<CurandMethod> methods(std::begin(kPseudo), std::end(kPseudo));
  methods.insert(methods.end(), std::begin(kQuasi32), std::end(kQuasi32));
  methods.insert(methods.end(), std::begin(kQuasi64), std::end(kQuasi64));
  for (const CurandMethod method : methods) {
    CurandGenerator g(method);
    for (const nd::Dtype dtype : {nd::float32, nd::float64}) {
      BOOST_TEST_CONTEXT("method " << int(method) << " " << dtype) {
        const nd::Array a = nd::zeros({n}, dtype);
        g.uniform(a);
        const Moments u = moments(a);  // bounds: five standard errors
        BOOST_TEST(std::abs(u.mean - 0.5) < 5 * 0.2887 / std::sqrt(double(n)));
        BOOST_TEST(std::abs(u.deviation - std::sqrt(1 / 12.0)) < 0.005);
        BOOST_TEST((u.least > 0 && u.most <= 1));
        g.normal(a, 3, 2);
        const Moments z = moments(a);
        BOOST_TEST(std::abs(z.mean - 3) < 5 * 2 / std::sqrt(double(n)));
        BOOST_TEST(std::abs(z.deviation - 2) < 0.05);
        g.lognormal(a, 0, 0.5);
        const Moments l = moments(a);
        BOOST_TEST(std::abs(l.mean - std::exp(0.125)) < 0.02);
        BOOST_TEST(l.least > 0);
      }
    }
    if (std::find(std::begin(kPseudo), std::end(kPseudo), method) == std::end(kPseudo)) continue;
    const nd::Array k = nd::zeros({n}, nd::uint32);
    g.poisson(k, 4.5);
    const Moments p = moments(k);
    BOOST_TEST(std::abs(p.mean - 4.5) < 0.1, "method " << int(method));
    BOOST_TEST(std::abs(p.deviation - std::sqrt(4.5)) < 0.1, "method " << int(method));
  }
}

BOOST_AUTO_TEST_CASE(curand_refuses_what_it_cannot_do) {
  if (!have_curand()) return;
  const nd::DeviceScope on(nd::cpu_device);
  using test::message_of;
  CurandGenerator g;
  BOOST_TEST(message_of<catena::ValueError>([&] { g.normal(nd::zeros({5}, nd::float32)); }) ==
             "CurandGenerator::normal: 5 elements: normal numbers come in pairs, their count must be even");
  BOOST_CHECK_THROW(g.lognormal(nd::zeros({5}, nd::float64)), catena::ValueError);
  BOOST_CHECK_THROW(g.normal(nd::zeros({4}, nd::float32), 0, -1), catena::ValueError);
  BOOST_CHECK_THROW(g.uniform(nd::zeros({4}, nd::int32)), catena::TypeError);
  BOOST_CHECK_THROW(g.generate(nd::zeros({4}, nd::float32)), catena::TypeError);
  BOOST_CHECK_THROW(g.generate(nd::zeros({4}, nd::uint64)), catena::TypeError);
  BOOST_CHECK_THROW(g.poisson(nd::zeros({4}, nd::uint32), 0), catena::ValueError);
  BOOST_CHECK_THROW(g.uniform(nd::zeros({4, 4}, nd::float32)(nd::ellipsis, 0)), catena::ValueError);
  BOOST_CHECK_THROW(g.set_ordering(CurandOrdering::quasi), catena::ValueError);
  BOOST_CHECK_THROW(CurandGenerator(static_cast<CurandMethod>(102)), catena::ValueError);
  BOOST_CHECK_THROW(CurandGenerator(CurandMethod::sobol32, {.seed = 1}), catena::ValueError);
  BOOST_CHECK_THROW(CurandGenerator(CurandMethod::xorwow, {.dimensions = 2}), catena::ValueError);
  BOOST_CHECK_THROW(CurandGenerator(CurandMethod::sobol32, {.dimensions = 0}), catena::ValueError);
  BOOST_CHECK_THROW(CurandGenerator(CurandMethod::mt19937, {.offset = 4}), catena::ValueError);
  CurandGenerator pairs(CurandMethod::sobol32, {.dimensions = 3});
  BOOST_CHECK_THROW(pairs.normal(nd::zeros({4}, nd::float32)), catena::ValueError);
  pairs.normal(nd::zeros({6}, nd::float32));
  g.uniform(nd::zeros({0}, nd::float32));
}

// ---- errors and arguments -----------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(statuses_become_exceptions_that_name_library_code_and_symbol) {
  try {
    fail_vendor({"cuBLASLt", 14, "CUBLAS_STATUS_INTERNAL_ERROR"}, "cublasLtMatmul");
    BOOST_ERROR("nothing was thrown");
  } catch (const catena::CudaError& e) {
    BOOST_TEST(e.library() == "cuBLASLt");
    BOOST_TEST(e.code() == 14);
    BOOST_TEST(e.symbol() == "CUBLAS_STATUS_INTERNAL_ERROR");
    BOOST_TEST(std::string(e.what()) == "cublasLtMatmul: cuBLASLt error 14 (CUBLAS_STATUS_INTERNAL_ERROR)");
  }
  BOOST_TEST(test::message_of<catena::OutOfMemoryError>([] {
               fail_vendor({"cuSOLVER", 2, "CUSOLVER_STATUS_ALLOC_FAILED", true}, "cusolverDnCreate");
             }) == "cuSOLVER: cusolverDnCreate: out of memory (CUSOLVER_STATUS_ALLOC_FAILED)");
}

// Every library has a class, which a function that adds its name to the message keeps.
BOOST_AUTO_TEST_CASE(every_library_has_an_error_class) {
  const auto check_class = []<class E>(const char* library, E*) {
    try {
      try {
        catena::throw_cuda_error(library, 7, "SYMBOL", "call");
      } catch (...) {
        catena::rethrow_from("outer");
      }
      BOOST_ERROR("nothing was thrown");
    } catch (const catena::CudaError& e) {
      BOOST_TEST((typeid(e) == typeid(E)), library);
      BOOST_TEST(e.library() == library);
      BOOST_TEST(e.code() == 7);
      BOOST_TEST(e.symbol() == "SYMBOL");
      BOOST_TEST(e.what() == "outer: call: " + std::string(library) + " error 7 (SYMBOL)");
    }
  };
  check_class("CUDA", static_cast<nd::CudaDriverError*>(nullptr));
  check_class("CUDA runtime", static_cast<nd::CudaRuntimeError*>(nullptr));
  check_class("cuBLAS", static_cast<nd::CublasError*>(nullptr));
  check_class("cuBLASLt", static_cast<nd::CublasError*>(nullptr));
  check_class("cuSOLVER", static_cast<nd::CusolverError*>(nullptr));
  check_class("cuRAND", static_cast<nd::CurandError*>(nullptr));
  check_class("NCCL", static_cast<nd::NcclError*>(nullptr));
  check_class("cuDNN", static_cast<nd::CudnnError*>(nullptr));
  check_class("NVRTC", static_cast<nd::NvrtcError*>(nullptr));
  check_class("another", static_cast<nd::CudaError*>(nullptr));
  static_assert(!std::is_base_of_v<nd::CudaError, nd::LinAlgError> &&
                !std::is_base_of_v<nd::ValueError, nd::LinAlgError>);
}

// Files that the environment names come before those that the dynamic linker finds, and these before all others.
BOOST_AUTO_TEST_CASE(the_toolkits_folder_is_searched) {
  const std::string said = message_in_child("CUDA_PATH", "/the/toolkit", [] {
    ::unsetenv("CATENA_CUDA_LIBRARIES");
    ::unsetenv("CUDA_HOME");
    ::setenv("EXAMPLE_PATH", "/its/own", 1);
    const std::filesystem::path folder = own_folder("nvcc");
    std::filesystem::create_directories(folder / "toolkit/bin");
    std::filesystem::create_directories(folder / "links");
    std::ofstream(folder / "toolkit/bin/nvcc") << "";
    std::filesystem::create_symlink(folder / "toolkit/bin/nvcc", folder / "links/nvcc");
    ::setenv("PATH", ("/nowhere:" + (folder / "links").string()).c_str(), 1);
    const LibraryFolders folders = library_folders("EXAMPLE_PATH");
    std::filesystem::remove_all(folder);
    Library({"example", {"libexample_of_no_one.so.1"}}, folders);
  });
  std::size_t last = 0;
  for (const char* place : {"(tried: /its/own/lib64/lib", ", /its/own/lib/lib", ", /the/toolkit/lib64/lib",
                            ", /the/toolkit/lib/lib", ", libexample_of_no_one.so.1,", "/nvcc/toolkit/lib64/lib",
                            "/nvcc/toolkit/lib/lib", ", /usr/local/cuda/lib64/lib", ", /usr/local/cuda/lib/lib"}) {
    const std::size_t at = said.find(place);
    BOOST_TEST((at != said.npos && at > last), place << " in " << said);
    last = at;
  }
}

// A library of that name that the dynamic linker finds, too: the C library stands for one of CUDA's.
BOOST_AUTO_TEST_CASE(a_given_folder_wins) {
  const std::string said = message_in_child("CUDA_PATH", "", [] {
    ::unsetenv("CATENA_CUDA_LIBRARIES");
    const LibraryFiles files{"example", {"libc.so.6"}};
    const std::string usual = Library(files).path();
    const std::filesystem::path folder = own_folder("given"), real = file_of(dlsym(RTLD_DEFAULT, "qsort"));
    std::filesystem::create_directories(folder / "lib");
    std::filesystem::create_symlink(real, folder / "lib/libc.so.6");
    ::setenv("CUDA_PATH", folder.c_str(), 1);
    const std::string given = Library(files).path(), expected = (folder / "lib/libc.so.6").string();
    std::filesystem::remove_all(folder);
    throw catena::RuntimeError(usual + (given == expected ? ", then the given one" : ", then " + given));
  });
  BOOST_TEST(said == "libc.so.6, then the given one");
}

BOOST_AUTO_TEST_CASE(decompositions_check_their_arguments_first) {
  const nd::DeviceScope on(nd::cpu_device);
  using test::message_of;
  const nd::Array square = nd::zeros({3, 3}, nd::float32);
  BOOST_TEST(message_of<catena::ValueError>([&] { solver::potrf(square); }) ==
             "potrf: a is on cpu:0, all arrays must be on one cuda device");
  BOOST_TEST(message_of<catena::TypeError>([&] {
               solver::potrf(nd::zeros({3, 3}, nd::int32));
             }) == "potrf: a is int32, all matrices must be float32, float64, complex64 or complex128");
  BOOST_CHECK_THROW(solver::potrf(nd::zeros({3}, nd::float32)), catena::ValueError);
  BOOST_CHECK_THROW(solver::getrf(nd::Array(), square), catena::ValueError);
  BOOST_CHECK_THROW(solver::syevd(nd::zeros({2, 3}, nd::float32), square), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(nccl_without_a_gpu) {
  if (!have([] { nccl(); })) return;
  BOOST_TEST(nccl().version >= 20000);
  const nd::DeviceScope on(nd::cpu_device);
  const NcclUniqueId id{};
  BOOST_TEST(test::message_of<catena::ValueError>([&] { NcclCommunicator(2, id, 2); }) ==
             "NcclCommunicator: rank 2 is none of 2");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { NcclCommunicator(2, id, 0); }) ==
             "NcclCommunicator: the current device is cpu:0, not a cuda device");
  BOOST_CHECK_THROW(NcclCommunicator::all({}), catena::ValueError);
  NcclGroup group;
  group.end();
}

// ---- profiling ----------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(ranges_without_a_profiler_do_nothing) {
  BOOST_TEST(!nd::nvtx::is_listening());
  nd::nvtx::mark("mark");
  { const nd::TimeRange range("range", {.color_id = 3}); }
  int calls = 0;
  auto counted = nd::time_range_decorator([&](int by) { return calls += by; }, {.message = "counted"});
  BOOST_TEST(counted(2) == 2);
  BOOST_TEST(calls == 2);
  BOOST_CHECK_THROW(nd::TimeRange("both", {.color_id = 1, .argb_color = 2u}), catena::ValueError);
  BOOST_CHECK_THROW(nd::profiler::initialize("in", "out", nd::profiler::OutputMode::csv), catena::NotImplementedError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
