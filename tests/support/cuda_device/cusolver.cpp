// Dense cuSOLVER of the software device, implemented with LAPACK, which has the same arguments. LAPACK is loaded at run
// time; without it, creating a handle fails.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/cusolver.h>
#include <catena/tests/support/cuda_device/library_work.h>

using namespace nd::cuda::api;

struct cusolverDnContext {
  CUstream_st* stream = nullptr;
};
struct syevjInfo {};
struct gesvdjInfo {};

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_CUSOLVER_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports
extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_CUSOLVER_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

namespace {

void* lapack_function(const char* name) {
  static void* const library = [] {
    void* found = nullptr;
    for (const char* file : {"libopenblas.so.0", "liblapack.so.3", "libopenblas.so", "liblapack.so"})
      if (found == nullptr) found = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    return found;
  }();
  return library != nullptr ? dlsym(library, name) : nullptr;
}

// A LAPACK subroutine: all arguments by address, followed by the lengths of the strings (all 1 here).
template <class T> struct is_text : std::is_same<std::remove_const_t<T>, char> {};
template <class... A> void call_lapack(const char* name, A*... arguments) {
  void* const function = lapack_function(name);
  if (function == nullptr) return;
  constexpr std::size_t one = 1;
  constexpr int texts = (0 + ... + int(is_text<A>::value));
  using Plain = void (*)(A * ...);
  using One = void (*)(A * ..., std::size_t);
  using Two = void (*)(A * ..., std::size_t, std::size_t);
  if constexpr (texts == 0) reinterpret_cast<Plain>(function)(arguments...);
  else if constexpr (texts == 1) reinterpret_cast<One>(function)(arguments..., one);
  else reinterpret_cast<Two>(function)(arguments..., one, one);
}

// Converts complex numbers to LAPACK's type.
template <class T> T* host(T* p) { return p; }
std::complex<float>* host(float2* p) { return reinterpret_cast<std::complex<float>*>(p); }
std::complex<double>* host(double2* p) { return reinterpret_cast<std::complex<double>*>(p); }
const std::complex<float>* host(const float2* p) { return reinterpret_cast<const std::complex<float>*>(p); }
const std::complex<double>* host(const double2* p) { return reinterpret_cast<const std::complex<double>*>(p); }

template <class T> struct real_part { using type = T; };
template <class T> struct real_part<std::complex<T>> { using type = T; };
template <class T> using Real = typename real_part<T>::type;
template <class T> inline constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

template <class T> const char* typed(const char* const (&names)[4]) {
  return names[2 * int(is_complex<T>) + int(std::is_same_v<Real<T>, double>)];
}
// Calls the function for the type T; some functions have another name for complex types.
#define CATENA_LAPACK_OF(real, complex, ...) \
  call_lapack(typed<T>({"s" #real "_", "d" #real "_", "c" #complex "_", "z" #complex "_"}), __VA_ARGS__)
#define CATENA_LAPACK(name, ...) CATENA_LAPACK_OF(name, name, __VA_ARGS__)

constexpr int kWork = 64;  // elements of workspace that every function requires

template <class Body>
cusolver_status submit(cusolver_handle h, const char* name, const void* matrix, std::size_t bytes, int* info,
                       Body body) {
  if (h == nullptr || !cuda_device::context_is_usable()) return cusolver_execution_failed;
  if (!cuda_device::is_device_memory(matrix, bytes) || !cuda_device::is_device_memory(info, sizeof(int)))
    return cusolver_invalid_value;
  return cuda_device::submit_library_work(name, h->stream, body) ? cusolver_success : cusolver_execution_failed;
}

std::size_t extent(int ld, int columns, std::size_t item) {
  return std::size_t(ld) * std::size_t(std::max(columns, 1)) * item;
}
char triangle(int uplo) { return uplo == cublas_fill_lower ? 'L' : 'U'; }

cusolver_status answer_size(int* size) {
  *size = kWork;
  return cusolver_success;
}

// Queries the optimal workspace from LAPACK.
template <class T, class Call> void with_workspace(Call call) {
  T best = 0;
  int size = -1;
  call(&best, &size);
  size = std::max(1, static_cast<int>(std::real(best)));
  std::vector<T> work(static_cast<std::size_t>(size));
  call(work.data(), &size);
}

template <class T> void potrf_of_host(char letter, int n, T* a, int lda, int* info) {
  CATENA_LAPACK(potrf, &letter, &n, a, &lda, info);
}
template <class T> cusolver_status potrf(cusolver_handle h, int uplo, int n, T* a, int lda, int* info) {
  return submit(h, "cusolverDnpotrf", a, extent(lda, n, sizeof(T)), info,
                [=] { potrf_of_host<T>(triangle(uplo), n, a, lda, info); });
}
template <class T>
cusolver_status potrs(cusolver_handle h, int uplo, int n, int columns, const T* a, int lda, T* b, int ldb, int* info) {
  return submit(h, "cusolverDnpotrs", b, extent(ldb, columns, sizeof(T)), info, [=] {
    const char letter = triangle(uplo);
    CATENA_LAPACK(potrs, &letter, &n, &columns, a, &lda, b, &ldb, info);
  });
}
template <class T> cusolver_status getrf(cusolver_handle h, int m, int n, T* a, int lda, int* pivots, int* info) {
  return submit(h, "cusolverDngetrf", a, extent(lda, n, sizeof(T)), info,
                [=] { CATENA_LAPACK(getrf, &m, &n, a, &lda, pivots, info); });
}
template <class T>
cusolver_status getrs(cusolver_handle h, int trans, int n, int columns, const T* a, int lda, const int* pivots, T* b,
                      int ldb, int* info) {
  return submit(h, "cusolverDngetrs", b, extent(ldb, columns, sizeof(T)), info, [=] {
    const char letter = trans == cusolver_op_t ? 'T' : trans == cusolver_op_c ? 'C' : 'N';
    CATENA_LAPACK(getrs, &letter, &n, &columns, a, &lda, pivots, b, &ldb, info);
  });
}
template <class T> cusolver_status geqrf(cusolver_handle h, int m, int n, T* a, int lda, T* tau, int* info) {
  return submit(h, "cusolverDngeqrf", a, extent(lda, n, sizeof(T)), info, [=] {
    with_workspace<T>([=](T* work, int* size) { CATENA_LAPACK(geqrf, &m, &n, a, &lda, tau, work, size, info); });
  });
}
template <class T>
cusolver_status orgqr(cusolver_handle h, int m, int n, int k, T* a, int lda, const T* tau, int* info) {
  return submit(h, "cusolverDnorgqr", a, extent(lda, n, sizeof(T)), info, [=] {
    with_workspace<T>(
        [=](T* work, int* size) { CATENA_LAPACK_OF(orgqr, ungqr, &m, &n, &k, a, &lda, tau, work, size, info); });
  });
}
template <class T>
cusolver_status ormqr(cusolver_handle h, int side, int trans, int m, int n, int k, const T* a, int lda, const T* tau,
                      T* c, int ldc, int* info) {
  return submit(h, "cusolverDnormqr", c, extent(ldc, n, sizeof(T)), info, [=] {
    const char letter_side = side == cusolver_side_left ? 'L' : 'R', letter = trans == cusolver_op_t   ? 'T'
                                                                              : trans == cusolver_op_c ? 'C'
                                                                                                       : 'N';
    with_workspace<T>([=](T* work, int* size) {
      CATENA_LAPACK_OF(ormqr, unmqr, &letter_side, &letter, &m, &n, &k, a, &lda, tau, c, &ldc, work, size, info);
    });
  });
}
template <class T> cusolver_status sytrf(cusolver_handle h, int uplo, int n, T* a, int lda, int* pivots, int* info) {
  return submit(h, "cusolverDnsytrf", a, extent(lda, n, sizeof(T)), info, [=] {
    const char letter = triangle(uplo);
    with_workspace<T>(
        [&](T* work, int* size) { CATENA_LAPACK(sytrf, &letter, &n, a, &lda, pivots, work, size, info); });
  });
}
template <class T>
cusolver_status gebrd(cusolver_handle h, int m, int n, T* a, int lda, Real<T>* d, Real<T>* e, T* tau_q, T* tau_p,
                      int* info) {
  if (m < n) return cusolver_invalid_value;
  return submit(h, "cusolverDngebrd", a, extent(lda, n, sizeof(T)), info, [=] {
    with_workspace<T>(
        [&](T* work, int* size) { CATENA_LAPACK(gebrd, &m, &n, a, &lda, d, e, tau_q, tau_p, work, size, info); });
  });
}
template <class T>
void gesvd_of_host(char letter_u, char letter_vt, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt,
                   int ldvt, int* info) {
  with_workspace<T>([&](T* work, int* size) {
    std::vector<Real<T>> reals(is_complex<T> ? 5 * std::size_t(n) : 0);
    if constexpr (is_complex<T>)
      CATENA_LAPACK(gesvd, &letter_u, &letter_vt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, size, reals.data(),
                    info);
    else CATENA_LAPACK(gesvd, &letter_u, &letter_vt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, size, info);
  });
}
template <class T>
cusolver_status gesvd(cusolver_handle h, signed char job_u, signed char job_vt, int m, int n, T* a, int lda, Real<T>* s,
                      T* u, int ldu, T* vt, int ldvt, int* info) {
  if (m < n) return cusolver_invalid_value;
  return submit(h, "cusolverDngesvd", a, extent(lda, n, sizeof(T)), info, [=] {
    gesvd_of_host<T>(static_cast<char>(job_u), static_cast<char>(job_vt), m, n, a, lda, s, u, ldu, vt, ldvt, info);
  });
}
template <class T> void syevd_of_host(int job, int uplo, int n, T* a, int lda, Real<T>* w, int* info) {
  const char letter_job = job == cusolver_vectors ? 'V' : 'N', letter = triangle(uplo);
  const auto call = [=](T* work, int* size, Real<T>* reals, int* real_size, int* integers, int* integer_size) {
    if constexpr (is_complex<T>)
      CATENA_LAPACK(heevd, &letter_job, &letter, &n, a, &lda, w, work, size, reals, real_size, integers, integer_size,
                    info);
    else CATENA_LAPACK(syevd, &letter_job, &letter, &n, a, &lda, w, work, size, integers, integer_size, info);
  };
  T best = 0;
  Real<T> best_reals = 0;
  int best_integers = 0, query = -1;
  call(&best, &query, &best_reals, &query, &best_integers, &query);
  int size = std::max(1, static_cast<int>(std::real(best))), reals = std::max(1, static_cast<int>(best_reals)),
      integers = std::max(1, best_integers);
  std::vector<T> work(static_cast<std::size_t>(size));
  std::vector<Real<T>> real_work(static_cast<std::size_t>(reals));
  std::vector<int> integer_work(static_cast<std::size_t>(integers));
  call(work.data(), &size, real_work.data(), &reals, integer_work.data(), &integers);
}
template <class T>
cusolver_status syevd(cusolver_handle h, int job, int uplo, int n, T* a, int lda, Real<T>* w, int* info) {
  return submit(h, "cusolverDnsyevd", a, extent(lda, n, sizeof(T)), info,
                [=] { syevd_of_host<T>(job, uplo, n, a, lda, w, info); });
}

// ---- stacks and Jacobi's methods ----------------------------------------------------------------
template <class T>
cusolver_status potrf_stack(cusolver_handle h, int uplo, int n, T* const* a, int lda, int* info, int batch) {
  if (!cuda_device::is_device_memory(a, sizeof(void*) * std::size_t(std::max(batch, 1)))) return cusolver_invalid_value;
  return submit(h, "cusolverDnpotrfBatched", info, sizeof(int) * std::size_t(batch), info, [=] {
    const char letter = triangle(uplo);
    for (int i = 0; i < batch; ++i) {
      auto* matrix = host(a[i]);
      potrf_of_host<std::remove_pointer_t<decltype(matrix)>>(letter, n, matrix, lda, info + i);
    }
  });
}
template <class T>
cusolver_status syevj_stack(cusolver_handle h, int job, int uplo, int n, T* a, int lda, Real<T>* w, int* info,
                            const void* settings, int batch) {
  if (settings == nullptr || n > 32 || batch < 1) return cusolver_invalid_value;
  return submit(h, "cusolverDnsyevjBatched", a, extent(lda, n * batch, sizeof(T)), info, [=] {
    for (int i = 0; i < batch; ++i)
      syevd_of_host<T>(job, uplo, n, a + std::ptrdiff_t(i) * lda * n, lda, w + std::ptrdiff_t(i) * n, info + i);
  });
}
// By LAPACK's gesvd, of whose vt the function gives the conjugate transposed. It fails as Jacobi's method would for
// matrices with numbers that are not finite.
template <class T>
void svd_of_host(int job, bool reduced, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* v, int ldv,
                 int* info) {
  const auto at = [](T* x, int ld, int row, int column) -> T& { return x[std::ptrdiff_t(column) * ld + row]; };
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      if (!std::isfinite(std::real(at(a, lda, i, j)))) {
        *info = n + 1;
        return;
      }
  const char letter_u = job == cusolver_values_only ? 'N'
                        : reduced                   ? 'S'
                                                    : 'A',
             letter_vt = job == cusolver_values_only ? 'N' : 'A';
  std::vector<T> vt(std::size_t(n) * std::size_t(n));
  gesvd_of_host<T>(letter_u, letter_vt, m, n, a, lda, s, u, ldu, vt.data(), n, info);
  if (job == cusolver_values_only) return;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      if constexpr (is_complex<T>) at(v, ldv, j, i) = std::conj(at(vt.data(), n, i, j));
      else at(v, ldv, j, i) = at(vt.data(), n, i, j);
    }
}
template <class T>
cusolver_status gesvdj(cusolver_handle h, int job, int reduced, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu,
                       T* v, int ldv, int* info, const void* settings) {
  if (settings == nullptr || m < n || ldu < m || ldv < n) return cusolver_invalid_value;
  // As the library, it needs u and v even where they are not wanted.
  const int columns = reduced != 0 || job == cusolver_values_only ? n : m;
  if (!cuda_device::is_device_memory(u, extent(ldu, columns, sizeof(T))) ||
      !cuda_device::is_device_memory(v, extent(ldv, n, sizeof(T))))
    return cusolver_invalid_value;
  return submit(h, "cusolverDngesvdj", a, extent(lda, n, sizeof(T)), info,
                [=] { svd_of_host<T>(job, reduced != 0, m, n, a, lda, s, u, ldu, v, ldv, info); });
}
template <class T>
cusolver_status gesvdj_stack(cusolver_handle h, int job, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* v,
                             int ldv, int* info, const void* settings, int batch) {
  if (settings == nullptr || std::max(m, n) > 32 || m < n || batch < 1 || ldu < m || ldv < n)
    return cusolver_invalid_value;
  return submit(h, "cusolverDngesvdjBatched", a, extent(lda, n * batch, sizeof(T)), info, [=] {
    for (std::ptrdiff_t i = 0; i < batch; ++i)
      svd_of_host<T>(job, false, m, n, a + i * lda * n, lda, s + i * n, u + i * ldu * m, ldu, v + i * ldv * n, ldv,
                     info + i);
  });
}

constexpr int kExecutionFailed = cusolver_execution_failed;

}  // namespace

cusolver_status cusolverDnCreate(cusolver_handle* handle) {
  CATENA_LIBRARY_CALL(cusolverDnCreate);
  if (!cuda_device::context_is_usable() || lapack_function("dpotrf_") == nullptr) return cusolver_not_initialized;
  *handle = new cusolverDnContext;
  return cusolver_success;
}
cusolver_status cusolverDnSetStream(cusolver_handle h, CUstream_st* stream) {
  CATENA_LIBRARY_CALL(cusolverDnSetStream);
  h->stream = stream;
  return cusolver_success;
}

// The settings are the defaults.
cusolver_status cusolverDnCreateSyevjInfo(cusolver_syevj* settings) {
  CATENA_LIBRARY_CALL(cusolverDnCreateSyevjInfo);
  *settings = new syevjInfo;
  return cusolver_success;
}
cusolver_status cusolverDnDestroySyevjInfo(cusolver_syevj settings) {
  CATENA_LIBRARY_CALL(cusolverDnDestroySyevjInfo);
  delete settings;
  return cusolver_success;
}
cusolver_status cusolverDnCreateGesvdjInfo(cusolver_gesvdj* settings) {
  CATENA_LIBRARY_CALL(cusolverDnCreateGesvdjInfo);
  *settings = new gesvdjInfo;
  return cusolver_success;
}
cusolver_status cusolverDnDestroyGesvdjInfo(cusolver_gesvdj settings) {
  CATENA_LIBRARY_CALL(cusolverDnDestroyGesvdjInfo);
  delete settings;
  return cusolver_success;
}

cusolver_status cusolverDnDestroy(cusolver_handle h) {
  CATENA_LIBRARY_CALL(cusolverDnDestroy);
  delete h;
  return cusolver_success;
}
cusolver_status cusolverDnGetStream(cusolver_handle h, CUstream_st** stream) {
  CATENA_LIBRARY_CALL(cusolverDnGetStream);
  *stream = h->stream;
  return cusolver_success;
}

#define CATENA_SOLVER_ENTRIES(L, T, R, q, mq, eig)                                                                     \
  cusolver_status cusolverDn##L##potrf_bufferSize(cusolver_handle, int, int, T*, int, int* size) {                     \
    CATENA_LIBRARY_CALL(cusolverDn##L##potrf_bufferSize);                                                              \
    return answer_size(size);                                                                                          \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##potrf(cusolver_handle h, int uplo, int n, T* a, int lda, T*, int, int* info) {        \
    CATENA_LIBRARY_CALL(cusolverDn##L##potrf);                                                                         \
    return potrf(h, uplo, n, host(a), lda, info);                                                                      \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##potrs(cusolver_handle h, int uplo, int n, int columns, const T* a, int lda, T* b,     \
                                       int ldb, int* info) {                                                           \
    CATENA_LIBRARY_CALL(cusolverDn##L##potrs);                                                                         \
    return potrs(h, uplo, n, columns, host(a), lda, host(b), ldb, info);                                               \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##getrf_bufferSize(cusolver_handle, int, int, T*, int, int* size) {                     \
    CATENA_LIBRARY_CALL(cusolverDn##L##getrf_bufferSize);                                                              \
    return answer_size(size);                                                                                          \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##getrf(cusolver_handle h, int m, int n, T* a, int lda, T*, int* pivots, int* info) {   \
    CATENA_LIBRARY_CALL(cusolverDn##L##getrf);                                                                         \
    return getrf(h, m, n, host(a), lda, pivots, info);                                                                 \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##getrs(cusolver_handle h, int trans, int n, int columns, const T* a, int lda,          \
                                       const int* pivots, T* b, int ldb, int* info) {                                  \
    CATENA_LIBRARY_CALL(cusolverDn##L##getrs);                                                                         \
    return getrs(h, trans, n, columns, host(a), lda, pivots, host(b), ldb, info);                                      \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##geqrf_bufferSize(cusolver_handle, int, int, T*, int, int* size) {                     \
    CATENA_LIBRARY_CALL(cusolverDn##L##geqrf_bufferSize);                                                              \
    return answer_size(size);                                                                                          \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##geqrf(cusolver_handle h, int m, int n, T* a, int lda, T* tau, T*, int, int* info) {   \
    CATENA_LIBRARY_CALL(cusolverDn##L##geqrf);                                                                         \
    return geqrf(h, m, n, host(a), lda, host(tau), info);                                                              \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##q##_bufferSize(cusolver_handle, int, int, int, const T*, int, const T*, int* size) {  \
    CATENA_LIBRARY_CALL(cusolverDn##L##q##_bufferSize);                                                                \
    return answer_size(size);                                                                                          \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##q(cusolver_handle h, int m, int n, int k, T* a, int lda, const T* tau, T*, int,       \
                                   int* info) {                                                                        \
    CATENA_LIBRARY_CALL(cusolverDn##L##q);                                                                             \
    return orgqr(h, m, n, k, host(a), lda, host(tau), info);                                                           \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##mq##_bufferSize(cusolver_handle, int, int, int, int, int, const T*, int, const T*,    \
                                                 const T*, int, int* size) {                                           \
    CATENA_LIBRARY_CALL(cusolverDn##L##mq##_bufferSize);                                                               \
    return answer_size(size);                                                                                          \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##mq(cusolver_handle h, int side, int trans, int m, int n, int k, const T* a, int lda,  \
                                    const T* tau, T* c, int ldc, T*, int, int* info) {                                 \
    CATENA_LIBRARY_CALL(cusolverDn##L##mq);                                                                            \
    return ormqr(h, side, trans, m, n, k, host(a), lda, host(tau), host(c), ldc, info);                                \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##sytrf_bufferSize(cusolver_handle, int, T*, int, int* size) {                          \
    CATENA_LIBRARY_CALL(cusolverDn##L##sytrf_bufferSize);                                                              \
    return answer_size(size);                                                                                          \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##sytrf(cusolver_handle h, int uplo, int n, T* a, int lda, int* pivots, T*, int,        \
                                       int* info) {                                                                    \
    CATENA_LIBRARY_CALL(cusolverDn##L##sytrf);                                                                         \
    return sytrf(h, uplo, n, host(a), lda, pivots, info);                                                              \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##gebrd_bufferSize(cusolver_handle, int, int, int* size) {                              \
    CATENA_LIBRARY_CALL(cusolverDn##L##gebrd_bufferSize);                                                              \
    return answer_size(size);                                                                                          \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##gebrd(cusolver_handle h, int m, int n, T* a, int lda, R* d, R* e, T* tau_q, T* tau_p, \
                                       T*, int, int* info) {                                                           \
    CATENA_LIBRARY_CALL(cusolverDn##L##gebrd);                                                                         \
    return gebrd(h, m, n, host(a), lda, d, e, host(tau_q), host(tau_p), info);                                         \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##gesvd_bufferSize(cusolver_handle, int, int, int* size) {                              \
    CATENA_LIBRARY_CALL(cusolverDn##L##gesvd_bufferSize);                                                              \
    return answer_size(size);                                                                                          \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##gesvd(cusolver_handle h, signed char job_u, signed char job_vt, int m, int n, T* a,   \
                                       int lda, R* s, T* u, int ldu, T* vt, int ldvt, T*, int, R*, int* info) {        \
    CATENA_LIBRARY_CALL(cusolverDn##L##gesvd);                                                                         \
    return gesvd(h, job_u, job_vt, m, n, host(a), lda, s, host(u), ldu, host(vt), ldvt, info);                         \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##eig##_bufferSize(cusolver_handle, int, int, int, const T*, int, const R*,             \
                                                  int* size) {                                                         \
    CATENA_LIBRARY_CALL(cusolverDn##L##eig##_bufferSize);                                                              \
    return answer_size(size);                                                                                          \
  }                                                                                                                    \
  cusolver_status cusolverDn##L##eig(cusolver_handle h, int job, int uplo, int n, T* a, int lda, R* w, T*, int,        \
                                     int* info) {                                                                      \
    CATENA_LIBRARY_CALL(cusolverDn##L##eig);                                                                           \
    return syevd(h, job, uplo, n, host(a), lda, w, info);                                                              \
  }
CATENA_SOLVER_ENTRIES(S, float, float, orgqr, ormqr, syevd)
CATENA_SOLVER_ENTRIES(D, double, double, orgqr, ormqr, syevd)
CATENA_SOLVER_ENTRIES(C, float2, float, ungqr, unmqr, heevd)
CATENA_SOLVER_ENTRIES(Z, double2, double, ungqr, unmqr, heevd)

#define CATENA_JACOBI_ENTRIES(L, T, R, syevj)                                                                         \
  cusolver_status cusolverDn##L##potrfBatched(cusolver_handle h, int uplo, int n, T** a, int lda, int* info,          \
                                              int batch) {                                                            \
    CATENA_LIBRARY_CALL(cusolverDn##L##potrfBatched);                                                                 \
    return potrf_stack<T>(h, uplo, n, a, lda, info, batch);                                                           \
  }                                                                                                                   \
  cusolver_status cusolverDn##L##syevj##Batched_bufferSize(cusolver_handle, int, int, int, const T*, int, const R*,   \
                                                           int* size, cusolver_syevj, int) {                          \
    CATENA_LIBRARY_CALL(cusolverDn##L##syevj##Batched_bufferSize);                                                    \
    return answer_size(size);                                                                                         \
  }                                                                                                                   \
  cusolver_status cusolverDn##L##syevj##Batched(cusolver_handle h, int job, int uplo, int n, T* a, int lda, R* w, T*, \
                                                int, int* info, cusolver_syevj settings, int batch) {                 \
    CATENA_LIBRARY_CALL(cusolverDn##L##syevj##Batched);                                                               \
    return syevj_stack(h, job, uplo, n, host(a), lda, w, info, settings, batch);                                      \
  }                                                                                                                   \
  cusolver_status cusolverDn##L##gesvdj_bufferSize(cusolver_handle, int, int, int, int, const T*, int, const R*,      \
                                                   const T*, int, const T*, int, int* size, cusolver_gesvdj) {        \
    CATENA_LIBRARY_CALL(cusolverDn##L##gesvdj_bufferSize);                                                            \
    return answer_size(size);                                                                                         \
  }                                                                                                                   \
  cusolver_status cusolverDn##L##gesvdj(cusolver_handle h, int job, int reduced, int m, int n, T* a, int lda, R* s,   \
                                        T* u, int ldu, T* v, int ldv, T*, int, int* info, cusolver_gesvdj settings) { \
    CATENA_LIBRARY_CALL(cusolverDn##L##gesvdj);                                                                       \
    return gesvdj(h, job, reduced, m, n, host(a), lda, s, host(u), ldu, host(v), ldv, info, settings);                \
  }                                                                                                                   \
  cusolver_status cusolverDn##L##gesvdjBatched_bufferSize(cusolver_handle, int, int, int, const T*, int, const R*,    \
                                                          const T*, int, const T*, int, int* size, cusolver_gesvdj,   \
                                                          int) {                                                      \
    CATENA_LIBRARY_CALL(cusolverDn##L##gesvdjBatched_bufferSize);                                                     \
    return answer_size(size);                                                                                         \
  }                                                                                                                   \
  cusolver_status cusolverDn##L##gesvdjBatched(cusolver_handle h, int job, int m, int n, T* a, int lda, R* s, T* u,   \
                                               int ldu, T* v, int ldv, T*, int, int* info, cusolver_gesvdj settings,  \
                                               int batch) {                                                           \
    CATENA_LIBRARY_CALL(cusolverDn##L##gesvdjBatched);                                                                \
    return gesvdj_stack(h, job, m, n, host(a), lda, s, host(u), ldu, host(v), ldv, info, settings, batch);            \
  }
CATENA_JACOBI_ENTRIES(S, float, float, syevj)
CATENA_JACOBI_ENTRIES(D, double, double, syevj)
CATENA_JACOBI_ENTRIES(C, float2, float, heevj)
CATENA_JACOBI_ENTRIES(Z, double2, double, heevj)
