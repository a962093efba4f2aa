// The part of cuSPARSE's interface that the CUDA backend calls, declared here so that it compiles without a toolkit. A
// test compares these declarations with the toolkit's header if that is installed. Enumerations are passed as int.
#pragma once

#include <cstddef>
#include <cstdint>

#include <catena/ndarray/cuda/api/cublaslt.h>

struct cusparseContext;  // the library's names of the opaque types
struct cusparseSpMatDescr;
struct cusparseDnMatDescr;
struct cusparseDnVecDescr;
struct CUstream_st;

namespace nd::cuda::api {

using cusparse_handle = cusparseContext*;
using cusparse_matrix = cusparseSpMatDescr*;
using cusparse_dense_matrix = cusparseDnMatDescr*;
using cusparse_dense_vector = cusparseDnVecDescr*;

// cusparseStatus_t
using cusparse_status = int;
inline constexpr cusparse_status cusparse_success = 0, cusparse_not_initialized = 1, cusparse_alloc_failed = 2,
                                 cusparse_invalid_value = 3, cusparse_execution_failed = 6, cusparse_internal_error = 7,
                                 cusparse_not_supported = 10;
// cusparseIndexType_t, cusparseIndexBase_t, cusparseOrder_t, cusparseOperation_t. Types of elements: cuda_r_32f, ...
inline constexpr int cusparse_index_32 = 2, cusparse_index_64 = 3, cusparse_base_zero = 0, cusparse_order_row = 2,
                     cusparse_op_n = 0;
// cusparseSpMVAlg_t, cusparseSpMMAlg_t: those whose results have the same bits in every run
inline constexpr int cusparse_spmv_csr_alg2 = 3, cusparse_spmm_csr_alg3 = 12;

// Name of the function in the library, its name in the table of entry points, and its type.
#define CATENA_CUSPARSE_FUNCTIONS(X)                                                                                  \
  X(cusparseCreate, create, cusparse_status(cusparse_handle*))                                                        \
  X(cusparseSetStream, set_stream, cusparse_status(cusparse_handle, CUstream_st*))                                    \
  X(cusparseGetErrorName, get_error_name, const char*(cusparse_status))                                               \
  X(cusparseCreateCsr, create_csr,                                                                                    \
    cusparse_status(cusparse_matrix*, std::int64_t rows, std::int64_t columns, std::int64_t entries, void* indptr,    \
                    void* indices, void* data, int indptr_type, int indices_type, int base, int type))                \
  X(cusparseDestroySpMat, destroy_matrix, cusparse_status(const cusparseSpMatDescr*))                                 \
  X(cusparseCreateDnMat, create_dense_matrix,                                                                         \
    cusparse_status(cusparse_dense_matrix*, std::int64_t rows, std::int64_t columns, std::int64_t ld, void* data,     \
                    int type, int order))                                                                             \
  X(cusparseDestroyDnMat, destroy_dense_matrix, cusparse_status(const cusparseDnMatDescr*))                           \
  X(cusparseCreateDnVec, create_dense_vector,                                                                         \
    cusparse_status(cusparse_dense_vector*, std::int64_t size, void* data, int type))                                 \
  X(cusparseDestroyDnVec, destroy_dense_vector, cusparse_status(const cusparseDnVecDescr*))                           \
  X(cusparseSpMV_bufferSize, spmv_size,                                                                               \
    cusparse_status(cusparse_handle, int op, const void* alpha, const cusparseSpMatDescr*, const cusparseDnVecDescr*, \
                    const void* beta, cusparse_dense_vector, int compute, int algorithm, std::size_t* size))          \
  X(cusparseSpMV, spmv,                                                                                               \
    cusparse_status(cusparse_handle, int op, const void* alpha, const cusparseSpMatDescr*, const cusparseDnVecDescr*, \
                    const void* beta, cusparse_dense_vector, int compute, int algorithm, void* buffer))               \
  X(cusparseSpMM_bufferSize, spmm_size,                                                                               \
    cusparse_status(cusparse_handle, int op_a, int op_b, const void* alpha, const cusparseSpMatDescr*,                \
                    const cusparseDnMatDescr*, const void* beta, cusparse_dense_matrix, int compute, int algorithm,   \
                    std::size_t* size))                                                                               \
  X(cusparseSpMM, spmm,                                                                                               \
    cusparse_status(cusparse_handle, int op_a, int op_b, const void* alpha, const cusparseSpMatDescr*,                \
                    const cusparseDnMatDescr*, const void* beta, cusparse_dense_matrix, int compute, int algorithm,   \
                    void* buffer))

}  // namespace nd::cuda::api
