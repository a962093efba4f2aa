// The names of statuses, which cuBLAS and cuBLASLt share.
#pragma once

#include <catena/ndarray/cuda/api/cublaslt.h>

namespace cuda_device {

inline const char* name_of(nd::cuda::api::cublas_status status) {
  using namespace nd::cuda::api;
  switch (status) {
    case cublas_success: return "CUBLAS_STATUS_SUCCESS";
    case cublas_not_initialized: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case cublas_alloc_failed: return "CUBLAS_STATUS_ALLOC_FAILED";
    case cublas_invalid_value: return "CUBLAS_STATUS_INVALID_VALUE";
    case cublas_execution_failed: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case cublas_not_supported: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

}  // namespace cuda_device
