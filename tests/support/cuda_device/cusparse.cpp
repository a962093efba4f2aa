// cuSPARSE of the software device: products of compressed rows, summed in double and in order of the entries.
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/cusparse.h>
#include <catena/tests/support/cuda_device/library_work.h>

using namespace nd::cuda::api;

struct cusparseContext {
  CUstream_st* stream = nullptr;
};
struct cusparseSpMatDescr {
  std::int64_t rows, columns, entries;
  const void *indptr, *indices, *data;
  int indptr_type, indices_type, type;
};
struct cusparseDnMatDescr {
  std::int64_t rows, columns, ld;
  void* data;
  int type;
};
struct cusparseDnVecDescr {
  std::int64_t size;
  void* data;
  int type;
};

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_CUSPARSE_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports
extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_CUSPARSE_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

namespace {

constexpr std::size_t kBuffer = 256;  // bytes of work space that every product requires

std::size_t size_of(int type) {
  switch (type) {
    case cuda_r_32f: return 4;
    case cuda_r_64f:
    case cuda_c_32f: return 8;
    default: return 16;
  }
}
std::int64_t index_at(const void* indices, int type, std::int64_t k) {
  return type == cusparse_index_32 ? static_cast<const std::int32_t*>(indices)[k]
                                   : static_cast<const std::int64_t*>(indices)[k];
}

template <class T> struct Wide { using type = double; };
template <class T> struct Wide<std::complex<T>> { using type = std::complex<double>; };

template <class T> void multiply_as(const cusparseSpMatDescr& a, const void* x, std::int64_t vectors, void* out) {
  using Sum = typename Wide<T>::type;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < vectors; ++j) {
      Sum sum = 0;
      for (std::int64_t k = index_at(a.indptr, a.indptr_type, i); k < index_at(a.indptr, a.indptr_type, i + 1); ++k)
        sum += Sum(static_cast<const T*>(a.data)[k]) *
               Sum(static_cast<const T*>(x)[index_at(a.indices, a.indices_type, k) * vectors + j]);
      static_cast<T*>(out)[i * vectors + j] = static_cast<T>(sum);
    }
}
void multiply(const cusparseSpMatDescr& a, const void* x, std::int64_t vectors, void* out) {
  switch (a.type) {
    case cuda_r_32f: return multiply_as<float>(a, x, vectors, out);
    case cuda_r_64f: return multiply_as<double>(a, x, vectors, out);
    case cuda_c_32f: return multiply_as<std::complex<float>>(a, x, vectors, out);
    default: return multiply_as<std::complex<double>>(a, x, vectors, out);
  }
}

// alpha is 1 and beta 0.
bool are_plain_factors(int type, const void* alpha, const void* beta) {
  if (type == cuda_r_32f || type == cuda_c_32f)
    return *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0;
  return *static_cast<const double*>(alpha) == 1 && *static_cast<const double*>(beta) == 0;
}

cusparse_status submit(cusparse_handle h, const char* name, const cusparseSpMatDescr& a, const void* x,
                       std::int64_t vectors, void* out, const void* alpha, const void* beta, void* buffer) {
  if (h == nullptr) return cusparse_not_initialized;
  if (!cuda_device::context_is_usable()) return cusparse_execution_failed;
  if (!are_plain_factors(a.type, alpha, beta)) return cusparse_not_supported;
  const auto is_memory = [](const void* p, std::int64_t n, std::size_t item) {
    return cuda_device::is_device_memory(p, static_cast<std::size_t>(n) * item);
  };
  const std::size_t item = size_of(a.type);
  const auto index_size = [](int type) { return type == cusparse_index_32 ? std::size_t(4) : std::size_t(8); };
  if (!is_memory(a.data, a.entries, item) || !is_memory(a.indices, a.entries, index_size(a.indices_type)) ||
      !is_memory(a.indptr, a.rows + 1, index_size(a.indptr_type)) || !is_memory(x, a.columns * vectors, item) ||
      !is_memory(out, a.rows * vectors, item) || !cuda_device::is_device_memory(buffer, kBuffer))
    return cusparse_invalid_value;
  const auto work = [a, x, vectors, out] { multiply(a, x, vectors, out); };
  return cuda_device::submit_library_work(name, h->stream, work) ? cusparse_success : cusparse_execution_failed;
}

constexpr int kExecutionFailed = cusparse_execution_failed;

}  // namespace

cusparse_status cusparseCreate(cusparse_handle* handle) {
  CATENA_LIBRARY_CALL(cusparseCreate);
  if (!cuda_device::context_is_usable()) return cusparse_not_initialized;
  *handle = new cusparseContext;
  return cusparse_success;
}
cusparse_status cusparseSetStream(cusparse_handle h, CUstream_st* stream) {
  CATENA_LIBRARY_CALL(cusparseSetStream);
  h->stream = stream;
  return cusparse_success;
}
const char* cusparseGetErrorName(cusparse_status status) {
  cuda_device::begin_library_call(cuda_device::Entry::cusparseGetErrorName, 0);
  switch (status) {
    case cusparse_not_initialized: return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case cusparse_alloc_failed: return "CUSPARSE_STATUS_ALLOC_FAILED";
    case cusparse_invalid_value: return "CUSPARSE_STATUS_INVALID_VALUE";
    case cusparse_execution_failed: return "CUSPARSE_STATUS_EXECUTION_FAILED";
    case cusparse_internal_error: return "CUSPARSE_STATUS_INTERNAL_ERROR";
    default: return "CUSPARSE_STATUS_NOT_SUPPORTED";
  }
}

cusparse_status cusparseCreateCsr(cusparse_matrix* made, std::int64_t rows, std::int64_t columns, std::int64_t entries,
                                  void* indptr, void* indices, void* data, int indptr_type, int indices_type, int base,
                                  int type) {
  CATENA_LIBRARY_CALL(cusparseCreateCsr);
  if (base != cusparse_base_zero || rows < 0 || columns < 0 || entries < 0) return cusparse_invalid_value;
  *made = new cusparseSpMatDescr{rows, columns, entries, indptr, indices, data, indptr_type, indices_type, type};
  return cusparse_success;
}
cusparse_status cusparseDestroySpMat(const cusparseSpMatDescr* matrix) {
  CATENA_LIBRARY_CALL(cusparseDestroySpMat);
  delete matrix;
  return cusparse_success;
}
cusparse_status cusparseCreateDnMat(cusparse_dense_matrix* made, std::int64_t rows, std::int64_t columns,
                                    std::int64_t ld, void* data, int type, int order) {
  CATENA_LIBRARY_CALL(cusparseCreateDnMat);
  if (order != cusparse_order_row || ld != columns) return cusparse_not_supported;
  *made = new cusparseDnMatDescr{rows, columns, ld, data, type};
  return cusparse_success;
}
cusparse_status cusparseDestroyDnMat(const cusparseDnMatDescr* matrix) {
  CATENA_LIBRARY_CALL(cusparseDestroyDnMat);
  delete matrix;
  return cusparse_success;
}
cusparse_status cusparseCreateDnVec(cusparse_dense_vector* made, std::int64_t size, void* data, int type) {
  CATENA_LIBRARY_CALL(cusparseCreateDnVec);
  *made = new cusparseDnVecDescr{size, data, type};
  return cusparse_success;
}
cusparse_status cusparseDestroyDnVec(const cusparseDnVecDescr* vector) {
  CATENA_LIBRARY_CALL(cusparseDestroyDnVec);
  delete vector;
  return cusparse_success;
}

cusparse_status cusparseSpMV_bufferSize(cusparse_handle, int, const void*, const cusparseSpMatDescr*,
                                        const cusparseDnVecDescr*, const void*, cusparse_dense_vector, int, int,
                                        std::size_t* size) {
  CATENA_LIBRARY_CALL(cusparseSpMV_bufferSize);
  *size = kBuffer;
  return cusparse_success;
}
cusparse_status cusparseSpMV(cusparse_handle h, int op, const void* alpha, const cusparseSpMatDescr* a,
                             const cusparseDnVecDescr* x, const void* beta, cusparse_dense_vector y, int compute, int,
                             void* buffer) {
  CATENA_LIBRARY_CALL(cusparseSpMV);
  if (op != cusparse_op_n || compute != a->type || x->type != a->type || y->type != a->type)
    return cusparse_not_supported;
  if (x->size != a->columns || y->size != a->rows) return cusparse_invalid_value;
  return submit(h, "cusparseSpMV", *a, x->data, 1, y->data, alpha, beta, buffer);
}
cusparse_status cusparseSpMM_bufferSize(cusparse_handle, int, int, const void*, const cusparseSpMatDescr*,
                                        const cusparseDnMatDescr*, const void*, cusparse_dense_matrix, int, int,
                                        std::size_t* size) {
  CATENA_LIBRARY_CALL(cusparseSpMM_bufferSize);
  *size = kBuffer;
  return cusparse_success;
}
cusparse_status cusparseSpMM(cusparse_handle h, int op_a, int op_b, const void* alpha, const cusparseSpMatDescr* a,
                             const cusparseDnMatDescr* x, const void* beta, cusparse_dense_matrix y, int compute, int,
                             void* buffer) {
  CATENA_LIBRARY_CALL(cusparseSpMM);
  if (op_a != cusparse_op_n || op_b != cusparse_op_n || compute != a->type || x->type != a->type || y->type != a->type)
    return cusparse_not_supported;
  if (x->rows != a->columns || y->rows != a->rows || x->columns != y->columns) return cusparse_invalid_value;
  return submit(h, "cusparseSpMM", *a, x->data, x->columns, y->data, alpha, beta, buffer);
}
