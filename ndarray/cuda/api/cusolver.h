// The part of cuSOLVER's dense interface that the CUDA backend calls, declared here so that it compiles without a
// toolkit. A test compares these declarations with the toolkit's header if that is installed. Enumerations are passed
// as int.
#pragma once

#include <cstddef>

struct cusolverDnContext;  // the library's names of the opaque types
struct syevjInfo;
struct gesvdjInfo;
struct CUstream_st;
struct float2;  // complex numbers
struct double2;

namespace nd::cuda::api {

using cusolver_handle = cusolverDnContext*;
// Settings of Jacobi's methods, and memory for their findings. By default they iterate to the precision of the dtype
// and sort the values.
using cusolver_syevj = syevjInfo*;
using cusolver_gesvdj = gesvdjInfo*;

// cusolverStatus_t
using cusolver_status = int;
inline constexpr cusolver_status cusolver_success = 0, cusolver_not_initialized = 1, cusolver_alloc_failed = 2,
                                 cusolver_invalid_value = 3, cusolver_arch_mismatch = 4, cusolver_mapping_error = 5,
                                 cusolver_execution_failed = 6, cusolver_internal_error = 7, cusolver_not_supported = 9;
// cublasFillMode_t, cublasSideMode_t, cublasOperation_t, cusolverEigMode_t
inline constexpr int cublas_fill_lower = 0, cublas_fill_upper = 1;
inline constexpr int cusolver_side_left = 0, cusolver_side_right = 1;
inline constexpr int cusolver_op_n = 0, cusolver_op_t = 1, cusolver_op_c = 2;
inline constexpr int cusolver_values_only = 0, cusolver_vectors = 1;

// Name of the function in the library, its name in the table of entry points, and its type. Matrices are column-major;
// sizes of work space count elements.
#define CATENA_CUSOLVER_COMMON_FUNCTIONS(X)                                           \
  X(cusolverDnCreate, create, cusolver_status(cusolver_handle*))                      \
  X(cusolverDnDestroy, destroy, cusolver_status(cusolver_handle))                     \
  X(cusolverDnSetStream, set_stream, cusolver_status(cusolver_handle, CUstream_st*))  \
  X(cusolverDnGetStream, get_stream, cusolver_status(cusolver_handle, CUstream_st**)) \
  X(cusolverDnCreateSyevjInfo, create_syevj, cusolver_status(cusolver_syevj*))        \
  X(cusolverDnDestroySyevjInfo, destroy_syevj, cusolver_status(cusolver_syevj))       \
  X(cusolverDnCreateGesvdjInfo, create_gesvdj, cusolver_status(cusolver_gesvdj*))     \
  X(cusolverDnDestroyGesvdjInfo, destroy_gesvdj, cusolver_status(cusolver_gesvdj))

// The functions of one type: its letter, the type, the type of its real part, the suffix of the names in the table, and
// the names of the functions that are named differently for complex types.
#define CATENA_CUSOLVER_TYPED_FUNCTIONS(X, L, T, R, suffix, orgqr, ormqr, syevd)                                      \
  X(cusolverDn##L##potrf_bufferSize, potrf_size_##suffix,                                                             \
    cusolver_status(cusolver_handle, int uplo, int n, T* a, int lda, int* size))                                      \
  X(cusolverDn##L##potrf, potrf_##suffix,                                                                             \
    cusolver_status(cusolver_handle, int uplo, int n, T* a, int lda, T* work, int size, int* info))                   \
  X(cusolverDn##L##potrs, potrs_##suffix,                                                                             \
    cusolver_status(cusolver_handle, int uplo, int n, int columns, const T* a, int lda, T* b, int ldb, int* info))    \
  X(cusolverDn##L##getrf_bufferSize, getrf_size_##suffix,                                                             \
    cusolver_status(cusolver_handle, int m, int n, T* a, int lda, int* size))                                         \
  X(cusolverDn##L##getrf, getrf_##suffix,                                                                             \
    cusolver_status(cusolver_handle, int m, int n, T* a, int lda, T* work, int* pivots, int* info))                   \
  X(cusolverDn##L##getrs, getrs_##suffix,                                                                             \
    cusolver_status(cusolver_handle, int trans, int n, int columns, const T* a, int lda, const int* pivots, T* b,     \
                    int ldb, int* info))                                                                              \
  X(cusolverDn##L##geqrf_bufferSize, geqrf_size_##suffix,                                                             \
    cusolver_status(cusolver_handle, int m, int n, T* a, int lda, int* size))                                         \
  X(cusolverDn##L##geqrf, geqrf_##suffix,                                                                             \
    cusolver_status(cusolver_handle, int m, int n, T* a, int lda, T* tau, T* work, int size, int* info))              \
  X(cusolverDn##L##orgqr##_bufferSize, orgqr_size_##suffix,                                                           \
    cusolver_status(cusolver_handle, int m, int n, int k, const T* a, int lda, const T* tau, int* size))              \
  X(cusolverDn##L##orgqr, orgqr_##suffix,                                                                             \
    cusolver_status(cusolver_handle, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size, int* info)) \
  X(cusolverDn##L##ormqr##_bufferSize, ormqr_size_##suffix,                                                           \
    cusolver_status(cusolver_handle, int side, int trans, int m, int n, int k, const T* a, int lda, const T* tau,     \
                    const T* c, int ldc, int* size))                                                                  \
  X(cusolverDn##L##ormqr, ormqr_##suffix,                                                                             \
    cusolver_status(cusolver_handle, int side, int trans, int m, int n, int k, const T* a, int lda, const T* tau,     \
                    T* c, int ldc, T* work, int size, int* info))                                                     \
  X(cusolverDn##L##sytrf_bufferSize, sytrf_size_##suffix,                                                             \
    cusolver_status(cusolver_handle, int n, T* a, int lda, int* size))                                                \
  X(cusolverDn##L##sytrf, sytrf_##suffix,                                                                             \
    cusolver_status(cusolver_handle, int uplo, int n, T* a, int lda, int* pivots, T* work, int size, int* info))      \
  X(cusolverDn##L##gebrd_bufferSize, gebrd_size_##suffix, cusolver_status(cusolver_handle, int m, int n, int* size))  \
  X(cusolverDn##L##gebrd, gebrd_##suffix,                                                                             \
    cusolver_status(cusolver_handle, int m, int n, T* a, int lda, R* d, R* e, T* tau_q, T* tau_p, T* work, int size,  \
                    int* info))                                                                                       \
  X(cusolverDn##L##gesvd_bufferSize, gesvd_size_##suffix, cusolver_status(cusolver_handle, int m, int n, int* size))  \
  X(cusolverDn##L##gesvd, gesvd_##suffix,                                                                             \
    cusolver_status(cusolver_handle, signed char job_u, signed char job_vt, int m, int n, T* a, int lda, R* s, T* u,  \
                    int ldu, T* vt, int ldvt, T* work, int size, R* real_work, int* info))                            \
  X(cusolverDn##L##syevd##_bufferSize, syevd_size_##suffix,                                                           \
    cusolver_status(cusolver_handle, int job, int uplo, int n, const T* a, int lda, const R* w, int* size))           \
  X(cusolverDn##L##syevd, syevd_##suffix,                                                                             \
    cusolver_status(cusolver_handle, int job, int uplo, int n, T* a, int lda, R* w, T* work, int size, int* info))

// Functions for stacks and Jacobi's methods; the parameters are as above. a = u diag(s) v^H, and v, unlike vt, is not
// transposed. Those for stacks take matrices of at most 32 rows, and u and v have all columns.
#define CATENA_CUSOLVER_JACOBI_FUNCTIONS(X, L, T, R, suffix, syevj)                                                   \
  X(cusolverDn##L##potrfBatched, potrf_batched_##suffix,                                                              \
    cusolver_status(cusolver_handle, int uplo, int n, T** a, int lda, int* info, int batch))                          \
  X(cusolverDn##L##syevj##Batched_bufferSize, syevj_batched_size_##suffix,                                            \
    cusolver_status(cusolver_handle, int job, int uplo, int n, const T* a, int lda, const R* w, int* size,            \
                    cusolver_syevj, int batch))                                                                       \
  X(cusolverDn##L##syevj##Batched, syevj_batched_##suffix,                                                            \
    cusolver_status(cusolver_handle, int job, int uplo, int n, T* a, int lda, R* w, T* work, int size, int* info,     \
                    cusolver_syevj, int batch))                                                                       \
  X(cusolverDn##L##gesvdj_bufferSize, gesvdj_size_##suffix,                                                           \
    cusolver_status(cusolver_handle, int job, int reduced, int m, int n, const T* a, int lda, const R* s, const T* u, \
                    int ldu, const T* v, int ldv, int* size, cusolver_gesvdj))                                        \
  X(cusolverDn##L##gesvdj, gesvdj_##suffix,                                                                           \
    cusolver_status(cusolver_handle, int job, int reduced, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* v,    \
                    int ldv, T* work, int size, int* info, cusolver_gesvdj))                                          \
  X(cusolverDn##L##gesvdjBatched_bufferSize, gesvdj_batched_size_##suffix,                                            \
    cusolver_status(cusolver_handle, int job, int m, int n, const T* a, int lda, const R* s, const T* u, int ldu,     \
                    const T* v, int ldv, int* size, cusolver_gesvdj, int batch))                                      \
  X(cusolverDn##L##gesvdjBatched, gesvdj_batched_##suffix,                                                            \
    cusolver_status(cusolver_handle, int job, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* v, int ldv,        \
                    T* work, int size, int* info, cusolver_gesvdj, int batch))

#define CATENA_CUSOLVER_FUNCTIONS(X)                                                          \
  CATENA_CUSOLVER_COMMON_FUNCTIONS(X)                                                         \
  CATENA_CUSOLVER_TYPED_FUNCTIONS(X, S, float, float, float, orgqr, ormqr, syevd)             \
  CATENA_CUSOLVER_TYPED_FUNCTIONS(X, D, double, double, double, orgqr, ormqr, syevd)          \
  CATENA_CUSOLVER_TYPED_FUNCTIONS(X, C, float2, float, complex_float, ungqr, unmqr, heevd)    \
  CATENA_CUSOLVER_TYPED_FUNCTIONS(X, Z, double2, double, complex_double, ungqr, unmqr, heevd) \
  CATENA_CUSOLVER_JACOBI_FUNCTIONS(X, S, float, float, float, syevj)                          \
  CATENA_CUSOLVER_JACOBI_FUNCTIONS(X, D, double, double, double, syevj)                       \
  CATENA_CUSOLVER_JACOBI_FUNCTIONS(X, C, float2, float, complex_float, heevj)                 \
  CATENA_CUSOLVER_JACOBI_FUNCTIONS(X, Z, double2, double, complex_double, heevj)

}  // namespace nd::cuda::api
