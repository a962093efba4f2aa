// Dense cuSOLVER of the software device, implemented with LAPACK, which has the same arguments. LAPACK is loaded at run
// time; without it, creating a handle fails.
#include <dlfcn.h>

#include <algorithm>
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

template <class T> cusolver_status potrf(cusolver_handle h, int uplo, int n, T* a, int lda, int* info) {
  return submit(h, "cusolverDnpotrf", a, extent(lda, n, sizeof(T)), info, [=] {
    const char letter = triangle(uplo);
    CATENA_LAPACK(potrf, &letter, &n, a, &lda, info);
  });
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
cusolver_status gesvd(cusolver_handle h, signed char job_u, signed char job_vt, int m, int n, T* a, int lda, Real<T>* s,
                      T* u, int ldu, T* vt, int ldvt, int* info) {
  if (m < n) return cusolver_invalid_value;
  return submit(h, "cusolverDngesvd", a, extent(lda, n, sizeof(T)), info, [=] {
    const char letter_u = static_cast<char>(job_u), letter_vt = static_cast<char>(job_vt);
    with_workspace<T>([&](T* work, int* size) {
      std::vector<Real<T>> reals(is_complex<T> ? 5 * std::size_t(n) : 0);
      if constexpr (is_complex<T>)
        CATENA_LAPACK(gesvd, &letter_u, &letter_vt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, size, reals.data(),
                      info);
      else CATENA_LAPACK(gesvd, &letter_u, &letter_vt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, size, info);
    });
  });
}
template <class T>
cusolver_status syevd(cusolver_handle h, int job, int uplo, int n, T* a, int lda, Real<T>* w, int* info) {
  return submit(h, "cusolverDnsyevd", a, extent(lda, n, sizeof(T)), info, [=] {
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
