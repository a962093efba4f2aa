// cuBLASLt of the software device: matrix products by plain loops, with the same descriptors.
//
// It checks combinations of arguments as strictly as cuBLASLt, and requires workspace, which it overwrites with
// garbage, so that a workspace that is too small or still in use elsewhere causes an error.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>
#include <catena/ndarray/cuda/api/cublaslt.h>
#include <catena/tests/support/cuda_device/cublas_status.h>
#include <catena/tests/support/cuda_device/library_work.h>
#include <catena/tests/support/cuda_device/record.h>

using namespace nd::cuda::api;

struct cublasLtContext {
  std::atomic<bool> several = false;  // some caller has asked for more than one algorithm
};
namespace nd::cuda::api {
struct cublaslt_opaque_matmul_desc {
  int compute_type = 0, scale_type = 0;
  std::int32_t transpose_a = cublas_op_n, transpose_b = cublas_op_n;
  std::uint32_t epilogue = cublaslt_epilogue_default;
  const void* bias = nullptr;
};
struct cublaslt_opaque_matrix_layout {
  int type = 0;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t ld = 0;
  std::int32_t batch = 1;
  std::int64_t batch_stride = 0;
};
struct cublaslt_opaque_preference {
  std::uint64_t workspace_bytes = 0;
  std::uint32_t reduction_scheme = 7;
  std::uint32_t alignment[4] = {256, 256, 256, 256};
};
}  // namespace nd::cuda::api

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_CUBLASLT_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports
extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_CUBLASLT_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

namespace {

using Desc = cublaslt_opaque_matmul_desc;
using Layout = cublaslt_opaque_matrix_layout;

constexpr std::size_t kWorkspaceBytes = 4096;
constexpr std::uint64_t kAlgorithm = 0x736f667477617265u;  // data[0] of the first algorithm of this library
// The algorithms have equal results. All but one wait, so that a measurement can tell which is the fastest.
constexpr const char* kLaunchNames[] = {"cublasLtMatmul", "cublasLtMatmul, algorithm 1", "cublasLtMatmul, algorithm 2"};
constexpr std::uint64_t kAlgorithms = std::size(kLaunchNames), kFastest = 1;
constexpr std::chrono::milliseconds kDelay{3};

std::size_t bytes_of(int type) {
  switch (type) {
    case cuda_c_64f: return 16;
    case cuda_c_32f:
    case cuda_r_64f: return 8;
    case cuda_r_32f: return 4;
    default: return 2;
  }
}
bool is_known(int type) {
  return type == cuda_r_64f || type == cuda_r_32f || type == cuda_r_16f || type == cuda_r_16bf || type == cuda_c_32f ||
         type == cuda_c_64f;
}
bool is_complex(int type) { return type == cuda_c_32f || type == cuda_c_64f; }

template <class T> bool set_field(T& field, const void* value, std::size_t bytes) {
  if (value == nullptr || bytes != sizeof(T)) return false;
  std::memcpy(&field, value, sizeof(T));
  return true;
}
cublas_status answer(bool good) { return good ? cublas_success : cublas_invalid_value; }

// Returns the bytes from the first element to the end of the last one.
std::size_t extent(const Layout& m) {
  const std::int64_t last = (m.batch - 1) * m.batch_stride + std::int64_t(m.columns - 1) * m.ld + std::int64_t(m.rows);
  return static_cast<std::size_t>(last) * bytes_of(m.type);
}

struct Lengths {
  std::uint64_t m, n, k;
};
// Returns false if the shapes of the operands do not match.
bool lengths_of(const Desc& desc, const Layout& a, const Layout& b, const Layout& c, const Layout& d, Lengths& l) {
  const bool ta = desc.transpose_a == cublas_op_t, tb = desc.transpose_b == cublas_op_t;
  l = {d.rows, d.columns, ta ? a.rows : a.columns};
  if ((ta ? a.columns : a.rows) != l.m || (tb ? b.columns : b.rows) != l.k || (tb ? b.rows : b.columns) != l.n)
    return false;
  if (c.rows != d.rows || c.columns != d.columns || c.ld != d.ld) return false;
  if (l.m == 0 || l.n == 0 || l.k == 0) return false;
  return a.batch == d.batch && b.batch == d.batch && c.batch == d.batch;
}

bool is_supported(const Desc& desc, const Layout& a, const Layout& b, const Layout& d) {
  if (!is_known(d.type) || a.type != d.type || b.type != d.type) return false;
  if (d.type == cuda_r_64f || is_complex(d.type))
    return desc.compute_type == (d.type == cuda_c_32f ? cublas_compute_32f : cublas_compute_64f) &&
           desc.scale_type == d.type && desc.epilogue == cublaslt_epilogue_default;
  const bool fast = desc.compute_type == cublas_compute_32f_fast_tf32 && d.type == cuda_r_32f;
  return (desc.compute_type == cublas_compute_32f || fast) && desc.scale_type == cuda_r_32f;
}

// The elements as they are computed with.
template <class T> double load(const T* p) { return static_cast<double>(static_cast<float>(*p)); }
template <> double load(const double* p) { return *p; }
template <class T> std::complex<T> load(const std::complex<T>* p) { return *p; }

double activated(double x, std::uint32_t epilogue) {
  if ((epilogue & cublaslt_epilogue_relu) != 0) return x > 0 ? x : 0;
  if ((epilogue & cublaslt_epilogue_gelu) != 0)
    return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return x;
}

struct Product {
  Desc desc;
  Layout a_layout, b_layout, d_layout;
  Lengths lengths;
  double alpha;
  const void *a, *b;
  void* d;
  void* workspace;
  std::size_t workspace_bytes;
};

// Accesses the elements of an operand after transposition.
template <class T> struct Matrix {
  Matrix(const void* data, const Layout& layout, bool transpose, std::int64_t batch)
      : first(static_cast<const T*>(data) + batch * layout.batch_stride), ld(layout.ld), transposed(transpose) {}
  auto operator()(std::uint64_t row, std::uint64_t column) const {
    if (transposed) std::swap(row, column);
    return load(first + std::int64_t(column) * ld + std::int64_t(row));
  }
  const T* first;
  std::int64_t ld;
  bool transposed;
};

template <class T, class Accumulator> void multiply(const Product& p) {
  const auto* bias = (p.desc.epilogue & cublaslt_epilogue_bias) != 0 ? static_cast<const T*>(p.desc.bias) : nullptr;
  std::vector<Accumulator> column(p.lengths.m);
  for (std::int32_t i = 0; i < p.d_layout.batch; ++i) {
    const Matrix<T> a(p.a, p.a_layout, p.desc.transpose_a == cublas_op_t, i),
        b(p.b, p.b_layout, p.desc.transpose_b == cublas_op_t, i);
    for (std::uint64_t n = 0; n < p.lengths.n; ++n) {
      std::fill(column.begin(), column.end(), Accumulator(0));
      for (std::uint64_t k = 0; k < p.lengths.k; ++k) {
        const auto y = static_cast<Accumulator>(b(k, n));
        for (std::uint64_t m = 0; m < p.lengths.m; ++m) column[m] += static_cast<Accumulator>(a(m, k)) * y;
      }
      T* to = static_cast<T*>(p.d) + i * p.d_layout.batch_stride + std::int64_t(n) * p.d_layout.ld;
      for (std::uint64_t m = 0; m < p.lengths.m; ++m) {
        const double x =
            activated(p.alpha * double(column[m]) + (bias != nullptr ? load(bias + m) : 0.0), p.desc.epilogue);
        if constexpr (sizeof(T) == 2) to[m] = T(static_cast<float>(x));
        else to[m] = static_cast<T>(x);
      }
    }
  }
}

template <class T> void multiply_complex(const Product& p) {
  for (std::int32_t i = 0; i < p.d_layout.batch; ++i) {
    const Matrix<T> a(p.a, p.a_layout, p.desc.transpose_a == cublas_op_t, i),
        b(p.b, p.b_layout, p.desc.transpose_b == cublas_op_t, i);
    T* const to = static_cast<T*>(p.d) + i * p.d_layout.batch_stride;
    for (std::uint64_t n = 0; n < p.lengths.n; ++n)
      for (std::uint64_t m = 0; m < p.lengths.m; ++m) {
        T sum = 0;
        for (std::uint64_t k = 0; k < p.lengths.k; ++k) sum += a(m, k) * b(k, n);
        to[std::int64_t(n) * p.d_layout.ld + std::int64_t(m)] = typename T::value_type(p.alpha) * sum;
      }
  }
}

void execute(const Product& p) {
  std::memset(p.workspace, 0xA5, p.workspace_bytes);
  switch (p.d_layout.type) {
    case cuda_c_32f: return multiply_complex<std::complex<float>>(p);
    case cuda_c_64f: return multiply_complex<std::complex<double>>(p);
    case cuda_r_64f: return multiply<double, double>(p);
    case cuda_r_32f: return multiply<float, float>(p);
    case cuda_r_16f: return multiply<catena::float16, float>(p);
    default: return multiply<catena::bfloat16, float>(p);
  }
}

constexpr int kExecutionFailed = cublas_execution_failed;

}  // namespace

cublas_status cublasLtCreate(cublaslt_handle* handle) {
  CATENA_LIBRARY_CALL(cublasLtCreate);
  if (handle == nullptr) return cublas_invalid_value;
  if (!cuda_device::context_is_usable()) return cublas_not_initialized;
  static cublasLtContext context;
  *handle = &context;
  return cublas_success;
}

std::size_t cublasLtGetVersion() {
  cuda_device::count_call(cuda_device::Entry::cublasLtGetVersion);
  return 130000;
}

const char* cublasLtGetStatusName(cublas_status status) {
  cuda_device::count_call(cuda_device::Entry::cublasLtGetStatusName);
  return cuda_device::name_of(status);
}

cublas_status cublasLtMatmulDescCreate(cublaslt_matmul_desc* desc, int compute_type, int scale_type) {
  CATENA_LIBRARY_CALL(cublasLtMatmulDescCreate);
  *desc = new Desc{compute_type, scale_type};
  return cublas_success;
}
cublas_status cublasLtMatmulDescDestroy(cublaslt_matmul_desc desc) {
  CATENA_LIBRARY_CALL(cublasLtMatmulDescDestroy);
  delete desc;
  return cublas_success;
}
cublas_status cublasLtMatmulDescSetAttribute(cublaslt_matmul_desc desc, int attribute, const void* value,
                                             std::size_t bytes) {
  CATENA_LIBRARY_CALL(cublasLtMatmulDescSetAttribute);
  switch (attribute) {
    case cublaslt_desc_transpose_a: return answer(set_field(desc->transpose_a, value, bytes));
    case cublaslt_desc_transpose_b: return answer(set_field(desc->transpose_b, value, bytes));
    case cublaslt_desc_epilogue: return answer(set_field(desc->epilogue, value, bytes));
    case cublaslt_desc_bias_pointer: return answer(set_field(desc->bias, value, bytes));
    default: return cublas_invalid_value;
  }
}

cublas_status cublasLtMatrixLayoutCreate(cublaslt_matrix_layout* layout, int type, std::uint64_t rows,
                                         std::uint64_t columns, std::int64_t ld) {
  CATENA_LIBRARY_CALL(cublasLtMatrixLayoutCreate);
  *layout = new Layout{type, rows, columns, ld};
  return cublas_success;
}
cublas_status cublasLtMatrixLayoutDestroy(cublaslt_matrix_layout layout) {
  CATENA_LIBRARY_CALL(cublasLtMatrixLayoutDestroy);
  delete layout;
  return cublas_success;
}
cublas_status cublasLtMatrixLayoutSetAttribute(cublaslt_matrix_layout layout, int attribute, const void* value,
                                               std::size_t bytes) {
  CATENA_LIBRARY_CALL(cublasLtMatrixLayoutSetAttribute);
  switch (attribute) {
    case cublaslt_layout_batch_count: return answer(set_field(layout->batch, value, bytes));
    case cublaslt_layout_batch_stride: return answer(set_field(layout->batch_stride, value, bytes));
    default: return cublas_invalid_value;
  }
}

cublas_status cublasLtMatmulPreferenceCreate(cublaslt_preference* preference) {
  CATENA_LIBRARY_CALL(cublasLtMatmulPreferenceCreate);
  *preference = new cublaslt_opaque_preference;
  return cublas_success;
}
cublas_status cublasLtMatmulPreferenceDestroy(cublaslt_preference preference) {
  CATENA_LIBRARY_CALL(cublasLtMatmulPreferenceDestroy);
  delete preference;
  return cublas_success;
}
cublas_status cublasLtMatmulPreferenceSetAttribute(cublaslt_preference preference, int attribute, const void* value,
                                                   std::size_t bytes) {
  CATENA_LIBRARY_CALL(cublasLtMatmulPreferenceSetAttribute);
  switch (attribute) {
    case cublaslt_preference_workspace_bytes: return answer(set_field(preference->workspace_bytes, value, bytes));
    case cublaslt_preference_reduction_scheme: return answer(set_field(preference->reduction_scheme, value, bytes));
    case cublaslt_preference_alignment_a:
    case cublaslt_preference_alignment_b:
    case cublaslt_preference_alignment_c:
    case cublaslt_preference_alignment_d:
      return answer(set_field(preference->alignment[attribute - cublaslt_preference_alignment_a], value, bytes));
    default: return cublas_invalid_value;
  }
}

// An algorithm stores the alignment it requires and the problem for which it was found; a product with others is
// rejected.
cublas_status cublasLtMatmulAlgoGetHeuristic(cublaslt_handle handle, cublaslt_matmul_desc desc,
                                             cublaslt_matrix_layout a, cublaslt_matrix_layout b,
                                             cublaslt_matrix_layout c, cublaslt_matrix_layout d,
                                             cublaslt_preference preference, int requested,
                                             cublaslt_heuristic_result* results, int* returned) {
  CATENA_LIBRARY_CALL(cublasLtMatmulAlgoGetHeuristic);
  *returned = 0;
  Lengths l;
  if (handle == nullptr || requested < 1 || !lengths_of(*desc, *a, *b, *c, *d, l)) return cublas_invalid_value;
  for (const Layout* m : {a, b, c, d})
    if (m->ld < std::int64_t(m->rows)) return cublas_invalid_value;
  if (!is_supported(*desc, *a, *b, *d) || preference->workspace_bytes < kWorkspaceBytes) return cublas_not_supported;
  if (requested > 1) handle->several = true;
  const std::uint32_t* alignment = preference->alignment;
  for (; *returned < std::min(requested, int(kAlgorithms)); ++*returned) {
    cublaslt_heuristic_result& result = results[*returned];
    result = {};
    result.algo = {
        {kAlgorithm + unsigned(*returned), l.m, l.n, l.k, alignment[0], alignment[1], alignment[3], desc->epilogue}};
    result.workspace_bytes = kWorkspaceBytes;
  }
  return cublas_success;
}

cublas_status cublasLtMatmul(cublaslt_handle handle, cublaslt_matmul_desc desc, const void* alpha, const void* a,
                             cublaslt_matrix_layout la, const void* b, cublaslt_matrix_layout lb, const void* beta,
                             const void* c, cublaslt_matrix_layout lc, void* d, cublaslt_matrix_layout ld,
                             const cublaslt_algo* algo, void* workspace, std::size_t workspace_bytes,
                             CUstream_st* stream) {
  CATENA_LIBRARY_CALL(cublasLtMatmul);
  using cuda_device::is_device_memory;
  if (!cuda_device::context_is_usable()) return cublas_execution_failed;
  Lengths l;
  if (handle == nullptr || algo == nullptr || !lengths_of(*desc, *la, *lb, *lc, *ld, l)) return cublas_invalid_value;
  const auto aligned = [](const void* p, std::uint64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(p) % bytes == 0;
  };
  const std::uint64_t* found = algo->data;
  const std::uint64_t number = found[0] - kAlgorithm;
  if (number >= kAlgorithms || found[1] != l.m || found[2] != l.n || found[3] != l.k || !aligned(a, found[4]) ||
      !aligned(b, found[5]) || !aligned(d, found[6]) || found[7] != desc->epilogue)
    return cublas_invalid_value;
  if (c != d || workspace_bytes < kWorkspaceBytes || !is_device_memory(workspace, workspace_bytes) ||
      !is_device_memory(a, extent(*la)) || !is_device_memory(b, extent(*lb)) || !is_device_memory(d, extent(*ld)))
    return cublas_invalid_value;
  const bool with_bias = (desc->epilogue & cublaslt_epilogue_bias) != 0;
  if (with_bias && !is_device_memory(desc->bias, l.m * bytes_of(ld->type))) return cublas_invalid_value;
  const bool wide = desc->scale_type == cuda_r_64f || desc->scale_type == cuda_c_64f;
  const auto scalar = [wide](const void* p) {
    return wide ? *static_cast<const double*>(p) : double(*static_cast<const float*>(p));
  };
  const auto imaginary = [&](const void* p) {
    if (!is_complex(desc->scale_type)) return 0.0;
    return wide ? static_cast<const double*>(p)[1] : double(static_cast<const float*>(p)[1]);
  };
  if (scalar(beta) != 0 || imaginary(alpha) != 0 || imaginary(beta) != 0) return cublas_not_supported;
  const Product product{*desc, *la, *lb, *ld, l, scalar(alpha), a, b, d, workspace, workspace_bytes};
  const bool waits = handle->several && number != kFastest;
  const bool taken = cuda_device::submit_library_work(kLaunchNames[number], stream, [product, waits] {
    if (waits) std::this_thread::sleep_for(kDelay);
    execute(product);
  });
  return taken ? cublas_success : cublas_execution_failed;
}
