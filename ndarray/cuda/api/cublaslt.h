// The part of cuBLASLt's interface that the CUDA backend calls, declared here so that it compiles without a toolkit. A
// test compares these declarations with the toolkit's header if that is installed. Enumerations are passed as int;
// descriptors are opaque pointers to memory of the library.
#pragma once

#include <cstddef>
#include <cstdint>

struct cublasLtContext;  // the library's name of the opaque type
struct CUstream_st;

namespace nd::cuda::api {

using cublaslt_handle = cublasLtContext*;
using cublaslt_matmul_desc = struct cublaslt_opaque_matmul_desc*;
using cublaslt_matrix_layout = struct cublaslt_opaque_matrix_layout*;
using cublaslt_preference = struct cublaslt_opaque_preference*;

// An algorithm with its settings: a plain value, valid in this process and for this version of the library.
struct cublaslt_algo {
  std::uint64_t data[8];
};
struct cublaslt_heuristic_result {
  cublaslt_algo algo;
  std::size_t workspace_bytes;
  int state;  // cublas_status
  float waves;
  int reserved[4];
};

// cublasStatus_t
using cublas_status = int;
inline constexpr cublas_status cublas_success = 0;
inline constexpr cublas_status cublas_not_initialized = 1;
inline constexpr cublas_status cublas_alloc_failed = 3;
inline constexpr cublas_status cublas_invalid_value = 7;
inline constexpr cublas_status cublas_execution_failed = 13;
inline constexpr cublas_status cublas_not_supported = 15;

// cudaDataType_t, cublasComputeType_t, cublasOperation_t
inline constexpr int cuda_r_32f = 0, cuda_r_64f = 1, cuda_r_16f = 2, cuda_r_16bf = 14, cuda_c_32f = 4, cuda_c_64f = 5;
inline constexpr int cublas_compute_32f = 68, cublas_compute_64f = 70, cublas_compute_32f_fast_tf32 = 77;
inline constexpr int cublas_op_n = 0, cublas_op_t = 1;

// cublasLtMatmulDescAttributes_t; each value with its type
inline constexpr int cublaslt_desc_transpose_a = 3, cublaslt_desc_transpose_b = 4;  // int32_t
inline constexpr int cublaslt_desc_epilogue = 7;                                    // uint32_t
inline constexpr int cublaslt_desc_bias_pointer = 8;                                // void*
// cublasLtMatrixLayoutAttribute_t
inline constexpr int cublaslt_layout_batch_count = 5;   // int32_t
inline constexpr int cublaslt_layout_batch_stride = 6;  // int64_t, in elements
// cublasLtMatmulPreferenceAttributes_t
inline constexpr int cublaslt_preference_workspace_bytes = 1;   // uint64_t
inline constexpr int cublaslt_preference_reduction_scheme = 3;  // uint32_t
inline constexpr int cublaslt_preference_alignment_a = 5, cublaslt_preference_alignment_b = 6,
                     cublaslt_preference_alignment_c = 7,
                     cublaslt_preference_alignment_d = 8;  // uint32_t, in bytes
// cublasLtReductionScheme_t
inline constexpr std::uint32_t cublaslt_reduction_compute_type = 2;
// cublasLtEpilogue_t
inline constexpr std::uint32_t cublaslt_epilogue_default = 1, cublaslt_epilogue_relu = 2, cublaslt_epilogue_bias = 4,
                               cublaslt_epilogue_gelu = 32;

// Name of the function in the library, its name in the table of entry points, and its type.
#define CATENA_CUBLASLT_FUNCTIONS(X)                                                                                   \
  X(cublasLtCreate, create, cublas_status(cublaslt_handle*))                                                           \
  X(cublasLtGetVersion, get_version, std::size_t())                                                                    \
  X(cublasLtGetStatusName, get_status_name, const char*(cublas_status))                                                \
  X(cublasLtMatmulDescCreate, matmul_desc_create,                                                                      \
    cublas_status(cublaslt_matmul_desc*, int compute_type, int scale_type))                                            \
  X(cublasLtMatmulDescDestroy, matmul_desc_destroy, cublas_status(cublaslt_matmul_desc))                               \
  X(cublasLtMatmulDescSetAttribute, matmul_desc_set,                                                                   \
    cublas_status(cublaslt_matmul_desc, int attribute, const void* value, std::size_t bytes))                          \
  X(cublasLtMatrixLayoutCreate, layout_create,                                                                         \
    cublas_status(cublaslt_matrix_layout*, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld))      \
  X(cublasLtMatrixLayoutDestroy, layout_destroy, cublas_status(cublaslt_matrix_layout))                                \
  X(cublasLtMatrixLayoutSetAttribute, layout_set,                                                                      \
    cublas_status(cublaslt_matrix_layout, int attribute, const void* value, std::size_t bytes))                        \
  X(cublasLtMatmulPreferenceCreate, preference_create, cublas_status(cublaslt_preference*))                            \
  X(cublasLtMatmulPreferenceDestroy, preference_destroy, cublas_status(cublaslt_preference))                           \
  X(cublasLtMatmulPreferenceSetAttribute, preference_set,                                                              \
    cublas_status(cublaslt_preference, int attribute, const void* value, std::size_t bytes))                           \
  X(cublasLtMatmulAlgoGetHeuristic, get_heuristic,                                                                     \
    cublas_status(cublaslt_handle, cublaslt_matmul_desc, cublaslt_matrix_layout a, cublaslt_matrix_layout b,           \
                  cublaslt_matrix_layout c, cublaslt_matrix_layout d, cublaslt_preference, int requested,              \
                  cublaslt_heuristic_result* results, int* returned))                                                  \
  X(cublasLtMatmul, matmul,                                                                                            \
    cublas_status(cublaslt_handle, cublaslt_matmul_desc, const void* alpha, const void* a, cublaslt_matrix_layout,     \
                  const void* b, cublaslt_matrix_layout, const void* beta, const void* c, cublaslt_matrix_layout,      \
                  void* d, cublaslt_matrix_layout, const cublaslt_algo*, void* workspace, std::size_t workspace_bytes, \
                  CUstream_st*))

}  // namespace nd::cuda::api
