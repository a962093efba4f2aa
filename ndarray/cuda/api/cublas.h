// The part of cuBLAS's interface that can be called through nd::cuda::cublas, declared here so that it compiles without
// a toolkit. A test compares these declarations with the toolkit's header if that is installed. Enumerations are passed
// as int. Matrices are column-major; the pointer mode of the handle determines whether scalars and results are in host
// or device memory.
#pragma once

#include <catena/ndarray/cuda/api/cublaslt.h>

struct cublasContext;  // the library's name of the opaque type
struct float2;         // complex numbers
struct double2;

namespace nd::cuda::api {

using cublas_handle = cublasContext*;

// cublasPointerMode_t, cublasSideMode_t; the statuses and operations are in cublaslt.h
inline constexpr int cublas_pointer_mode_host = 0, cublas_pointer_mode_device = 1;
inline constexpr int cublas_side_left = 0, cublas_side_right = 1;
inline constexpr int cublas_op_c = 2;

// Name of the function in the library, its name in the table of entry points, and its type. First the functions that
// write their result through the last parameter:
#define CATENA_CUBLAS_COMMON_VALUES(X)                                             \
  X(cublasCreate_v2, create, cublas_status(cublas_handle*))                        \
  X(cublasGetVersion_v2, get_version, cublas_status(cublas_handle, int*))          \
  X(cublasGetPointerMode_v2, get_pointer_mode, cublas_status(cublas_handle, int*)) \
  X(cublasGetStream_v2, get_stream, cublas_status(cublas_handle, CUstream_st**))
#define CATENA_CUBLAS_COMMON_FUNCTIONS(X)                                                                          \
  X(cublasDestroy_v2, destroy, cublas_status(cublas_handle))                                                       \
  X(cublasSetPointerMode_v2, set_pointer_mode, cublas_status(cublas_handle, int))                                  \
  X(cublasSetStream_v2, set_stream, cublas_status(cublas_handle, CUstream_st*))                                    \
  X(cublasSgemmEx, sgemm_ex,                                                                                       \
    cublas_status(cublas_handle, int trans_a, int trans_b, int m, int n, int k, const float* alpha, const void* a, \
                  int type_a, int lda, const void* b, int type_b, int ldb, const float* beta, void* c, int type_c, \
                  int ldc))

// The functions of one type: the letter of the type in the library and in the table, and the type.
#define CATENA_CUBLAS_TYPED_VALUES(X, L, l, T)                                                        \
  X(cublasI##l##amax_v2, i##l##amax, cublas_status(cublas_handle, int n, const T* x, int incx, int*)) \
  X(cublasI##l##amin_v2, i##l##amin, cublas_status(cublas_handle, int n, const T* x, int incx, int*)) \
  X(cublas##L##asum_v2, l##asum, cublas_status(cublas_handle, int n, const T* x, int incx, T*))       \
  X(cublas##L##nrm2_v2, l##nrm2, cublas_status(cublas_handle, int n, const T* x, int incx, T*))       \
  X(cublas##L##dot_v2, l##dot, cublas_status(cublas_handle, int n, const T* x, int incx, const T* y, int incy, T*))
#define CATENA_CUBLAS_TYPED_FUNCTIONS(X, L, l, T)                                                                    \
  X(cublas##L##axpy_v2, l##axpy,                                                                                     \
    cublas_status(cublas_handle, int n, const T* alpha, const T* x, int incx, T* y, int incy))                       \
  X(cublas##L##scal_v2, l##scal, cublas_status(cublas_handle, int n, const T* alpha, T* x, int incx))                \
  X(cublas##L##gemv_v2, l##gemv,                                                                                     \
    cublas_status(cublas_handle, int trans, int m, int n, const T* alpha, const T* a, int lda, const T* x, int incx, \
                  const T* beta, T* y, int incy))                                                                    \
  X(cublas##L##ger_v2, l##ger,                                                                                       \
    cublas_status(cublas_handle, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, T* a,     \
                  int lda))                                                                                          \
  X(cublas##L##gemm_v2, l##gemm,                                                                                     \
    cublas_status(cublas_handle, int trans_a, int trans_b, int m, int n, int k, const T* alpha, const T* a, int lda, \
                  const T* b, int ldb, const T* beta, T* c, int ldc))                                                \
  X(cublas##L##gemmBatched, l##gemm_batched,                                                                         \
    cublas_status(cublas_handle, int trans_a, int trans_b, int m, int n, int k, const T* alpha, const T* const* a,   \
                  int lda, const T* const* b, int ldb, const T* beta, T* const* c, int ldc, int batch))              \
  X(cublas##L##geam, l##geam,                                                                                        \
    cublas_status(cublas_handle, int trans_a, int trans_b, int m, int n, const T* alpha, const T* a, int lda,        \
                  const T* beta, const T* b, int ldb, T* c, int ldc))                                                \
  X(cublas##L##dgmm, l##dgmm,                                                                                        \
    cublas_status(cublas_handle, int side, int m, int n, const T* a, int lda, const T* x, int incx, T* c, int ldc))  \
  X(cublas##L##getriBatched, l##getri_batched,                                                                       \
    cublas_status(cublas_handle, int n, const T* const* a, int lda, const int* pivots, T* const* c, int ldc,         \
                  int* info, int batch))

// Functions for stacks of matrices that are given by the addresses of the matrices, for complex types, too.
#define CATENA_CUBLAS_STACK_FUNCTIONS(X, L, l, T)                                                                 \
  X(cublas##L##getrfBatched, l##getrf_batched,                                                                    \
    cublas_status(cublas_handle, int n, T* const* a, int lda, int* pivots, int* info, int batch))                 \
  X(cublas##L##getrsBatched, l##getrs_batched,                                                                    \
    cublas_status(cublas_handle, int trans, int n, int columns, const T* const* a, int lda, const int* pivots,    \
                  T* const* b, int ldb, int* host_info, int batch))                                               \
  X(cublas##L##matinvBatched, l##matinv_batched,                                                                  \
    cublas_status(cublas_handle, int n, const T* const* a, int lda, T* const* inverse, int ld_inverse, int* info, \
                  int batch))

// For messages; the function returns no status.
#define CATENA_CUBLAS_NAMING_FUNCTIONS(X) X(cublasGetStatusName, get_status_name, const char*(cublas_status))

#define CATENA_CUBLAS_VALUES(X)              \
  CATENA_CUBLAS_COMMON_VALUES(X)             \
  CATENA_CUBLAS_TYPED_VALUES(X, S, s, float) \
  CATENA_CUBLAS_TYPED_VALUES(X, D, d, double)
#define CATENA_CUBLAS_FUNCTIONS_WITHOUT_VALUE(X) \
  CATENA_CUBLAS_COMMON_FUNCTIONS(X)              \
  CATENA_CUBLAS_TYPED_FUNCTIONS(X, S, s, float)  \
  CATENA_CUBLAS_TYPED_FUNCTIONS(X, D, d, double) \
  CATENA_CUBLAS_STACK_FUNCTIONS(X, S, s, float)  \
  CATENA_CUBLAS_STACK_FUNCTIONS(X, D, d, double) \
  CATENA_CUBLAS_STACK_FUNCTIONS(X, C, c, float2) \
  CATENA_CUBLAS_STACK_FUNCTIONS(X, Z, z, double2)
#define CATENA_CUBLAS_FUNCTIONS(X)  \
  CATENA_CUBLAS_NAMING_FUNCTIONS(X) \
  CATENA_CUBLAS_VALUES(X)           \
  CATENA_CUBLAS_FUNCTIONS_WITHOUT_VALUE(X)

}  // namespace nd::cuda::api
