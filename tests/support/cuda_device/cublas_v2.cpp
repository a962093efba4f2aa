// cuBLAS of the software device by plain loops. It checks its arguments as cuBLAS does: dimensions, leading dimensions,
// increments, and that operands are device memory.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>
#include <catena/ndarray/cuda/api/cublas.h>
#include <catena/tests/support/cuda_device/cublas_status.h>
#include <catena/tests/support/cuda_device/exports.h>
#include <catena/tests/support/cuda_device/library_work.h>
#include <catena/tests/support/cuda_device/record.h>

using namespace nd::cuda::api;

struct cublasContext {
  CUstream_st* stream = nullptr;
  int pointer_mode = cublas_pointer_mode_host;
};

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_CUBLAS_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports
extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_CUBLAS_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

namespace {

using cuda_device::is_device_memory;
constexpr int kExecutionFailed = cublas_execution_failed;

// A scalar: its value at the time of the call, or its address, if it is read when the work is executed.
template <class T> class Coefficient {
 public:
  Coefficient(cublas_handle h, const T* p) : at_(p), value_(h->pointer_mode == cublas_pointer_mode_host ? *p : T(0)) {
    if (h->pointer_mode == cublas_pointer_mode_host) at_ = nullptr;
  }
  T operator()() const { return at_ != nullptr ? *at_ : value_; }

 private:
  const T* at_;
  T value_;
};

// Returns element i of n with the increment; negative increments count backwards from the end.
template <class T> T& at(T* x, int n, int inc, int i) {
  const std::ptrdiff_t first = inc < 0 ? std::ptrdiff_t(1 - n) * inc : 0;
  return x[first + std::ptrdiff_t(i) * inc];
}
template <class T> bool is_vector(const T* x, int n, int inc) {
  return inc != 0 &&
         is_device_memory(x, sizeof(T) * (1 + std::size_t(std::max(n - 1, 0)) * std::size_t(std::abs(inc))));
}
template <class T> bool is_matrix(const T* a, int rows, int columns, int ld) {
  if (ld < std::max(rows, 1)) return false;
  return rows == 0 || columns == 0 ||
         is_device_memory(a, sizeof(T) * (std::size_t(ld) * std::size_t(columns - 1) + std::size_t(rows)));
}

template <class Body> cublas_status submit(cublas_handle h, const char* name, bool valid, Body body) {
  if (h == nullptr) return cublas_not_initialized;
  if (!cuda_device::context_is_usable()) return cublas_execution_failed;
  if (!valid) return cublas_invalid_value;
  return cuda_device::submit_library_work(name, h->stream, std::move(body)) ? cublas_success : cublas_execution_failed;
}

// Writes a result to device memory when the work is executed, or to host memory before the call returns.
template <class R, class Body>
cublas_status submit_value(cublas_handle h, const char* name, bool valid, R* result, Body body) {
  if (result == nullptr) return cublas_invalid_value;
  const cublas_status status = submit(h, name, valid, [=] { *result = body(); });
  if (status != cublas_success || h->pointer_mode == cublas_pointer_mode_device) return status;
  return cuStreamSynchronize(h->stream) == cu_success ? cublas_success : cublas_execution_failed;
}

// Returns the first position, from 1, of the largest or smallest absolute value; 0 if there is none.
template <class T> int extreme(int n, const T* x, int inc, bool largest) {
  if (n < 1 || inc < 1) return 0;
  int best = 0;
  for (int i = 1; i < n; ++i) {
    const T a = std::abs(at(x, n, inc, i)), b = std::abs(at(x, n, inc, best));
    if (largest ? a > b : a < b) best = i;
  }
  return best + 1;
}
template <class T, class F> T sum_of(int n, F&& term) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += static_cast<double>(term(i));
  return static_cast<T>(sum);
}

// Returns element (i, j) of a column-major matrix after transposition.
template <class T> double element(const T* a, int ld, int trans, int i, int j) {
  if (trans != cublas_op_n) std::swap(i, j);
  const T& value = a[std::ptrdiff_t(j) * ld + i];
  if constexpr (sizeof(T) == 2) return static_cast<double>(static_cast<float>(value));
  else return static_cast<double>(value);
}

template <class A, class B, class C, class S>
void multiply(int trans_a, int trans_b, int m, int n, int k, S alpha, const A* a, int lda, const B* b, int ldb, S beta,
              C* c, int ldc) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += element(a, lda, trans_a, i, l) * element(b, ldb, trans_b, l, j);
      C& to = c[std::ptrdiff_t(j) * ldc + i];
      const double before = beta == S(0) ? 0 : double(beta) * element(&to, 1, cublas_op_n, 0, 0);
      const double value = double(alpha) * sum + before;
      if constexpr (sizeof(C) == 2) to = C(static_cast<float>(value));
      else to = static_cast<C>(value);
    }
}
bool are_products(int m, int n, int k) { return m >= 0 && n >= 0 && k >= 0; }
template <class T> bool is_operand(const T* a, int trans, int rows, int columns, int ld) {
  return trans == cublas_op_n ? is_matrix(a, rows, columns, ld) : is_matrix(a, columns, rows, ld);
}

// Computes P A = L U in place; returns the first k with U(k, k) = 0, or 0.
template <class T> int factorize(int n, T* a, int lda, int* pivots) {
  const auto e = [&](int i, int j) -> T& { return a[std::ptrdiff_t(j) * lda + i]; };
  int info = 0;
  for (int j = 0; j < n; ++j) {
    int p = j;
    for (int i = j + 1; pivots != nullptr && i < n; ++i)
      if (std::abs(e(i, j)) > std::abs(e(p, j))) p = i;
    if (pivots != nullptr) pivots[j] = p + 1;
    if (p != j)
      for (int l = 0; l < n; ++l) std::swap(e(j, l), e(p, l));
    if (e(j, j) == T(0)) {
      if (info == 0) info = j + 1;
      continue;
    }
    for (int i = j + 1; i < n; ++i) {
      e(i, j) /= e(j, j);
      for (int l = j + 1; l < n; ++l) e(i, l) -= e(i, j) * e(j, l);
    }
  }
  return info;
}

// Computes the inverse from the factors, column by column: L y = P e, U x = y.
template <class T> int invert(int n, const T* a, int lda, const int* pivots, T* c, int ldc) {
  const auto e = [&](int i, int j) { return a[std::ptrdiff_t(j) * lda + i]; };
  for (int j = 0; j < n; ++j)
    if (e(j, j) == T(0)) return j + 1;
  for (int j = 0; j < n; ++j) {
    std::vector<T> x(static_cast<std::size_t>(n), T(0));
    const auto at = [&](int i) -> T& { return x[static_cast<std::size_t>(i)]; };
    at(j) = 1;
    for (int i = 0; pivots != nullptr && i < n; ++i) std::swap(at(i), at(pivots[i] - 1));
    for (int i = 0; i < n; ++i)
      for (int l = 0; l < i; ++l) at(i) -= e(i, l) * at(l);
    for (int i = n - 1; i >= 0; --i) {
      for (int l = i + 1; l < n; ++l) at(i) -= e(i, l) * at(l);
      at(i) /= e(i, i);
    }
    std::copy(x.begin(), x.end(), c + std::ptrdiff_t(j) * ldc);
  }
  return 0;
}

// Solves op(a) x = b from the factors: a = P^T L U, so op(a) is U^T L^T P for the transposed one.
template <class T> void solve(int trans, int n, int columns, const T* a, int lda, const int* pivots, T* b, int ldb) {
  const auto e = [&](int i, int j) { return a[std::ptrdiff_t(j) * lda + i]; };
  for (int j = 0; j < columns; ++j) {
    T* const x = b + std::ptrdiff_t(j) * ldb;
    if (trans == cublas_op_n) {
      for (int i = 0; i < n; ++i) std::swap(x[i], x[pivots[i] - 1]);
      for (int i = 0; i < n; ++i)
        for (int l = 0; l < i; ++l) x[i] -= e(i, l) * x[l];
      for (int i = n - 1; i >= 0; --i) {
        for (int l = i + 1; l < n; ++l) x[i] -= e(i, l) * x[l];
        x[i] /= e(i, i);
      }
    } else {
      for (int i = 0; i < n; ++i) {
        for (int l = 0; l < i; ++l) x[i] -= e(l, i) * x[l];
        x[i] /= e(i, i);
      }
      for (int i = n - 1; i >= 0; --i)
        for (int l = i + 1; l < n; ++l) x[i] -= e(l, i) * x[l];
      for (int i = n - 1; i >= 0; --i) std::swap(x[i], x[pivots[i] - 1]);
    }
  }
}

// Complex numbers with operators.
template <class T> T* host(T* p) { return p; }
std::complex<float>* host(float2* p) { return reinterpret_cast<std::complex<float>*>(p); }
std::complex<double>* host(double2* p) { return reinterpret_cast<std::complex<double>*>(p); }
const std::complex<float>* host(const float2* p) { return reinterpret_cast<const std::complex<float>*>(p); }
const std::complex<double>* host(const double2* p) { return reinterpret_cast<const std::complex<double>*>(p); }

bool is_list(const void* addresses, int batch) {
  return batch > 0 && is_device_memory(addresses, sizeof(void*) * std::size_t(batch));
}
bool is_info(const int* info, int batch) {
  return batch > 0 && is_device_memory(info, sizeof(int) * std::size_t(batch));
}

template <class T>
cublas_status getrf_stack(cublas_handle h, int n, T* const* a, int lda, int* pivots, int* info, int batch) {
  const bool valid = n >= 0 && lda >= std::max(n, 1) && is_list(a, batch) && is_info(info, batch);
  return submit(h, "cublasgetrfBatched", valid, [=] {
    for (int i = 0; i < batch; ++i)
      info[i] = factorize(n, host(a[i]), lda, pivots != nullptr ? pivots + std::ptrdiff_t(i) * n : nullptr);
  });
}
template <class T>
cublas_status getrs_stack(cublas_handle h, int trans, int n, int columns, const T* const* a, int lda, const int* pivots,
                          T* const* b, int ldb, int* info, int batch) {
  if (info == nullptr) return cublas_invalid_value;
  const bool valid = n >= 0 && columns >= 0 && std::min(lda, ldb) >= std::max(n, 1) && is_list(a, batch) &&
                     is_list(b, batch) && is_device_memory(pivots, sizeof(int) * std::size_t(n) * std::size_t(batch));
  *info = 0;
  return submit(h, "cublasgetrsBatched", valid && trans != cublas_op_c, [=] {
    for (int i = 0; i < batch; ++i)
      solve(trans, n, columns, host(a[i]), lda, pivots + std::ptrdiff_t(i) * n, host(b[i]), ldb);
  });
}
// At most 32 rows; the matrices stay as they are.
template <class T>
cublas_status matinv_stack(cublas_handle h, int n, const T* const* a, int lda, T* const* inverse, int ld_inverse,
                           int* info, int batch) {
  const bool valid = n >= 0 && n <= 32 && std::min(lda, ld_inverse) >= std::max(n, 1) && is_list(a, batch) &&
                     is_list(inverse, batch) && is_info(info, batch);
  return submit(h, "cublasmatinvBatched", valid, [=] {
    for (int i = 0; i < batch; ++i) {
      const auto* const from = host(a[i]);
      std::vector<std::remove_cvref_t<decltype(*from)>> lu(std::size_t(n) * std::size_t(n));
      std::vector<int> pivots(static_cast<std::size_t>(n));
      for (int j = 0; j < n; ++j) std::copy_n(from + std::ptrdiff_t(j) * lda, n, lu.data() + std::ptrdiff_t(j) * n);
      info[i] = factorize(n, lu.data(), n, pivots.data());
      if (info[i] == 0) invert(n, lu.data(), n, pivots.data(), host(inverse[i]), ld_inverse);
    }
  });
}

template <class A, class C>
void multiply_mixed(int trans_a, int trans_b, int m, int n, int k, float alpha, const void* a, int lda, const void* b,
                    int ldb, float beta, void* c, int ldc) {
  multiply(trans_a, trans_b, m, n, k, alpha, static_cast<const A*>(a), lda, static_cast<const A*>(b), ldb, beta,
           static_cast<C*>(c), ldc);
}

}  // namespace

const char* cublasGetStatusName(cublas_status status) {
  cuda_device::count_call(cuda_device::Entry::cublasGetStatusName);
  return cuda_device::name_of(status);
}

cublas_status cublasCreate_v2(cublas_handle* handle) {
  CATENA_LIBRARY_CALL(cublasCreate_v2);
  if (handle == nullptr) return cublas_invalid_value;
  if (!cuda_device::context_is_usable()) return cublas_not_initialized;
  *handle = new cublasContext;
  return cublas_success;
}
cublas_status cublasDestroy_v2(cublas_handle h) {
  CATENA_LIBRARY_CALL(cublasDestroy_v2);
  delete h;
  return cublas_success;
}
cublas_status cublasGetVersion_v2(cublas_handle, int* version) {
  CATENA_LIBRARY_CALL(cublasGetVersion_v2);
  *version = 130000;
  return cublas_success;
}
cublas_status cublasGetPointerMode_v2(cublas_handle h, int* mode) {
  CATENA_LIBRARY_CALL(cublasGetPointerMode_v2);
  *mode = h->pointer_mode;
  return cublas_success;
}
cublas_status cublasSetPointerMode_v2(cublas_handle h, int mode) {
  CATENA_LIBRARY_CALL(cublasSetPointerMode_v2);
  if (mode != cublas_pointer_mode_host && mode != cublas_pointer_mode_device) return cublas_invalid_value;
  h->pointer_mode = mode;
  return cublas_success;
}
cublas_status cublasGetStream_v2(cublas_handle h, CUstream_st** stream) {
  CATENA_LIBRARY_CALL(cublasGetStream_v2);
  *stream = h->stream;
  return cublas_success;
}
cublas_status cublasSetStream_v2(cublas_handle h, CUstream_st* stream) {
  CATENA_LIBRARY_CALL(cublasSetStream_v2);
  h->stream = stream;
  return cublas_success;
}

cublas_status cublasSgemmEx(cublas_handle h, int trans_a, int trans_b, int m, int n, int k, const float* alpha,
                            const void* a, int type_a, int lda, const void* b, int type_b, int ldb, const float* beta,
                            void* c, int type_c, int ldc) {
  CATENA_LIBRARY_CALL(cublasSgemmEx);
  const bool half = type_a == cuda_r_16f || type_a == cuda_r_16bf;
  if (type_a != type_b || !(half || type_a == cuda_r_32f) || !(type_c == type_a || type_c == cuda_r_32f))
    return cublas_not_supported;
  const auto bytes = [](int type) { return type == cuda_r_32f ? std::size_t(4) : std::size_t(2); };
  const auto good = [&](const void* p, int type, int trans, int rows, int columns, int ld) {
    if (trans != cublas_op_n) std::swap(rows, columns);
    return ld >= std::max(rows, 1) &&
           is_device_memory(p, bytes(type) * (std::size_t(ld) * std::size_t(columns - 1) + std::size_t(rows)));
  };
  const bool valid = m > 0 && n > 0 && k > 0 && good(a, type_a, trans_a, m, k, lda) &&
                     good(b, type_b, trans_b, k, n, ldb) && good(c, type_c, cublas_op_n, m, n, ldc);
  const Coefficient<float> x(h, alpha), y(h, beta);
  return submit(h, "cublasSgemmEx", valid, [=] {
    using catena::bfloat16;
    using catena::float16;
    const bool wide = type_c == cuda_r_32f;
    auto* const run = type_a == cuda_r_32f ? &multiply_mixed<float, float>
                      : type_a == cuda_r_16f
                          ? (wide ? &multiply_mixed<float16, float> : &multiply_mixed<float16, float16>)
                      : wide ? &multiply_mixed<bfloat16, float>
                             : &multiply_mixed<bfloat16, bfloat16>;
    run(trans_a, trans_b, m, n, k, x(), a, lda, b, ldb, y(), c, ldc);
  });
}

// The entry points of one type: its letter in lower and upper case, and the type.
#define CATENA_BLAS_ENTRIES(l, L, T)                                                                                 \
  cublas_status cublasI##l##amax_v2(cublas_handle h, int n, const T* x, int incx, int* result) {                     \
    CATENA_LIBRARY_CALL(cublasI##l##amax_v2);                                                                        \
    return submit_value(h, "cublasamax", is_vector(x, n, incx), result, [=] { return extreme(n, x, incx, true); });  \
  }                                                                                                                  \
  cublas_status cublasI##l##amin_v2(cublas_handle h, int n, const T* x, int incx, int* result) {                     \
    CATENA_LIBRARY_CALL(cublasI##l##amin_v2);                                                                        \
    return submit_value(h, "cublasamin", is_vector(x, n, incx), result, [=] { return extreme(n, x, incx, false); }); \
  }                                                                                                                  \
  cublas_status cublas##L##asum_v2(cublas_handle h, int n, const T* x, int incx, T* result) {                        \
    CATENA_LIBRARY_CALL(cublas##L##asum_v2);                                                                         \
    return submit_value(h, "cublasasum", is_vector(x, n, incx), result,                                              \
                        [=] { return sum_of<T>(n, [&](int i) { return std::abs(at(x, n, incx, i)); }); });           \
  }                                                                                                                  \
  cublas_status cublas##L##nrm2_v2(cublas_handle h, int n, const T* x, int incx, T* result) {                        \
    CATENA_LIBRARY_CALL(cublas##L##nrm2_v2);                                                                         \
    return submit_value(h, "cublasnrm2", is_vector(x, n, incx), result, [=] {                                        \
      const auto square = [&](int i) { return double(at(x, n, incx, i)) * double(at(x, n, incx, i)); };              \
      return static_cast<T>(std::sqrt(sum_of<double>(n, square)));                                                   \
    });                                                                                                              \
  }                                                                                                                  \
  cublas_status cublas##L##dot_v2(cublas_handle h, int n, const T* x, int incx, const T* y, int incy, T* result) {   \
    CATENA_LIBRARY_CALL(cublas##L##dot_v2);                                                                          \
    return submit_value(h, "cublasdot", is_vector(x, n, incx) && is_vector(y, n, incy), result, [=] {                \
      return sum_of<T>(n, [&](int i) { return double(at(x, n, incx, i)) * double(at(y, n, incy, i)); });             \
    });                                                                                                              \
  }                                                                                                                  \
  cublas_status cublas##L##axpy_v2(cublas_handle h, int n, const T* alpha, const T* x, int incx, T* y, int incy) {   \
    CATENA_LIBRARY_CALL(cublas##L##axpy_v2);                                                                         \
    const Coefficient<T> a(h, alpha);                                                                                \
    return submit(h, "cublasaxpy", is_vector(x, n, incx) && is_vector(y, n, incy), [=] {                             \
      for (int i = 0; i < n; ++i) at(y, n, incy, i) += a() * at(x, n, incx, i);                                      \
    });                                                                                                              \
  }                                                                                                                  \
  cublas_status cublas##L##scal_v2(cublas_handle h, int n, const T* alpha, T* x, int incx) {                         \
    CATENA_LIBRARY_CALL(cublas##L##scal_v2);                                                                         \
    const Coefficient<T> a(h, alpha);                                                                                \
    return submit(h, "cublasscal", is_vector(x, n, incx), [=] {                                                      \
      for (int i = 0; i < n; ++i) at(x, n, incx, i) *= a();                                                          \
    });                                                                                                              \
  }                                                                                                                  \
  cublas_status cublas##L##gemv_v2(cublas_handle h, int trans, int m, int n, const T* alpha, const T* a, int lda,    \
                                   const T* x, int incx, const T* beta, T* y, int incy) {                            \
    CATENA_LIBRARY_CALL(cublas##L##gemv_v2);                                                                         \
    const int rows = trans == cublas_op_n ? m : n, columns = trans == cublas_op_n ? n : m;                           \
    const bool valid =                                                                                               \
        m >= 0 && n >= 0 && is_matrix(a, m, n, lda) && is_vector(x, columns, incx) && is_vector(y, rows, incy);      \
    const Coefficient<T> s(h, alpha), t(h, beta);                                                                    \
    return submit(h, "cublasgemv", valid, [=] {                                                                      \
      for (int i = 0; i < rows; ++i) {                                                                               \
        double sum = 0;                                                                                              \
        for (int j = 0; j < columns; ++j) sum += element(a, lda, trans, i, j) * double(at(x, columns, incx, j));     \
        T& to = at(y, rows, incy, i);                                                                                \
        to = static_cast<T>(double(s()) * sum + (t() == T(0) ? 0 : double(t()) * double(to)));                       \
      }                                                                                                              \
    });                                                                                                              \
  }                                                                                                                  \
  cublas_status cublas##L##ger_v2(cublas_handle h, int m, int n, const T* alpha, const T* x, int incx, const T* y,   \
                                  int incy, T* a, int lda) {                                                         \
    CATENA_LIBRARY_CALL(cublas##L##ger_v2);                                                                          \
    const bool valid = is_matrix(a, m, n, lda) && is_vector(x, m, incx) && is_vector(y, n, incy);                    \
    const Coefficient<T> s(h, alpha);                                                                                \
    return submit(h, "cublasger", valid, [=] {                                                                       \
      for (int j = 0; j < n; ++j)                                                                                    \
        for (int i = 0; i < m; ++i) a[std::ptrdiff_t(j) * lda + i] += s() * at(x, m, incx, i) * at(y, n, incy, j);   \
    });                                                                                                              \
  }                                                                                                                  \
  cublas_status cublas##L##gemm_v2(cublas_handle h, int ta, int tb, int m, int n, int k, const T* alpha, const T* a, \
                                   int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {                     \
    CATENA_LIBRARY_CALL(cublas##L##gemm_v2);                                                                         \
    const bool valid = are_products(m, n, k) && is_operand(a, ta, m, k, lda) && is_operand(b, tb, k, n, ldb) &&      \
                       is_matrix(c, m, n, ldc);                                                                      \
    const Coefficient<T> s(h, alpha), t(h, beta);                                                                    \
    return submit(h, "cublasgemm", valid, [=] { multiply(ta, tb, m, n, k, s(), a, lda, b, ldb, t(), c, ldc); });     \
  }                                                                                                                  \
  cublas_status cublas##L##gemmBatched(cublas_handle h, int ta, int tb, int m, int n, int k, const T* alpha,         \
                                       const T* const* a, int lda, const T* const* b, int ldb, const T* beta,        \
                                       T* const* c, int ldc, int batch) {                                            \
    CATENA_LIBRARY_CALL(cublas##L##gemmBatched);                                                                     \
    const std::size_t bytes = sizeof(void*) * std::size_t(std::max(batch, 0));                                       \
    const bool valid = are_products(m, n, k) && batch > 0 && is_device_memory(a, bytes) &&                           \
                       is_device_memory(b, bytes) && is_device_memory(c, bytes);                                     \
    const Coefficient<T> s(h, alpha), t(h, beta);                                                                    \
    return submit(h, "cublasgemmBatched", valid, [=] {                                                               \
      for (int i = 0; i < batch; ++i) multiply(ta, tb, m, n, k, s(), a[i], lda, b[i], ldb, t(), c[i], ldc);          \
    });                                                                                                              \
  }                                                                                                                  \
  cublas_status cublas##L##geam(cublas_handle h, int ta, int tb, int m, int n, const T* alpha, const T* a, int lda,  \
                                const T* beta, const T* b, int ldb, T* c, int ldc) {                                 \
    CATENA_LIBRARY_CALL(cublas##L##geam);                                                                            \
    const bool valid = is_operand(a, ta, m, n, lda) && is_operand(b, tb, m, n, ldb) && is_matrix(c, m, n, ldc);      \
    const Coefficient<T> s(h, alpha), t(h, beta);                                                                    \
    return submit(h, "cublasgeam", valid, [=] {                                                                      \
      for (int j = 0; j < n; ++j)                                                                                    \
        for (int i = 0; i < m; ++i)                                                                                  \
          c[std::ptrdiff_t(j) * ldc + i] = s() * T(element(a, lda, ta, i, j)) + t() * T(element(b, ldb, tb, i, j));  \
    });                                                                                                              \
  }                                                                                                                  \
  cublas_status cublas##L##dgmm(cublas_handle h, int side, int m, int n, const T* a, int lda, const T* x, int incx,  \
                                T* c, int ldc) {                                                                     \
    CATENA_LIBRARY_CALL(cublas##L##dgmm);                                                                            \
    const int length = side == cublas_side_left ? m : n;                                                             \
    const bool valid = is_matrix(a, m, n, lda) && is_matrix(c, m, n, ldc) && is_vector(x, length, incx);             \
    return submit(h, "cublasdgmm", valid, [=] {                                                                      \
      for (int j = 0; j < n; ++j)                                                                                    \
        for (int i = 0; i < m; ++i)                                                                                  \
          c[std::ptrdiff_t(j) * ldc + i] =                                                                           \
              a[std::ptrdiff_t(j) * lda + i] * at(x, length, incx, side == cublas_side_left ? i : j);                \
    });                                                                                                              \
  }                                                                                                                  \
  cublas_status cublas##L##getriBatched(cublas_handle h, int n, const T* const* a, int lda, const int* pivots,       \
                                        T* const* c, int ldc, int* info, int batch) {                                \
    CATENA_LIBRARY_CALL(cublas##L##getriBatched);                                                                    \
    const bool valid = n >= 0 && batch > 0 && lda >= std::max(n, 1) && ldc >= std::max(n, 1) &&                      \
                       is_device_memory(a, sizeof(void*) * std::size_t(batch)) &&                                    \
                       is_device_memory(c, sizeof(void*) * std::size_t(batch)) &&                                    \
                       is_device_memory(info, sizeof(int) * std::size_t(batch));                                     \
    return submit(h, "cublasgetriBatched", valid, [=] {                                                              \
      for (int i = 0; i < batch; ++i)                                                                                \
        info[i] = invert(n, a[i], lda, pivots != nullptr ? pivots + std::ptrdiff_t(i) * n : nullptr, c[i], ldc);     \
    });                                                                                                              \
  }
CATENA_BLAS_ENTRIES(s, S, float)
CATENA_BLAS_ENTRIES(d, D, double)

#define CATENA_STACK_ENTRIES(L, T)                                                                                  \
  cublas_status cublas##L##getrfBatched(cublas_handle h, int n, T* const* a, int lda, int* pivots, int* info,       \
                                        int batch) {                                                                \
    CATENA_LIBRARY_CALL(cublas##L##getrfBatched);                                                                   \
    return getrf_stack(h, n, a, lda, pivots, info, batch);                                                          \
  }                                                                                                                 \
  cublas_status cublas##L##getrsBatched(cublas_handle h, int trans, int n, int columns, const T* const* a, int lda, \
                                        const int* pivots, T* const* b, int ldb, int* info, int batch) {            \
    CATENA_LIBRARY_CALL(cublas##L##getrsBatched);                                                                   \
    return getrs_stack(h, trans, n, columns, a, lda, pivots, b, ldb, info, batch);                                  \
  }                                                                                                                 \
  cublas_status cublas##L##matinvBatched(cublas_handle h, int n, const T* const* a, int lda, T* const* inverse,     \
                                         int ld_inverse, int* info, int batch) {                                    \
    CATENA_LIBRARY_CALL(cublas##L##matinvBatched);                                                                  \
    return matinv_stack(h, n, a, lda, inverse, ld_inverse, info, batch);                                            \
  }
CATENA_STACK_ENTRIES(S, float)
CATENA_STACK_ENTRIES(D, double)
CATENA_STACK_ENTRIES(C, float2)
CATENA_STACK_ENTRIES(Z, double2)
