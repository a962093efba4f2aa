// Folder ndarray/cuda/vendor/: NVIDIA's libraries behind functions on arrays and calls: cuBLASLt, cuRAND, cuSOLVER,
// cuFFT, cuSPARSE, nvJPEG, cuDNN, NCCL. Each is optional and opened at first use. Kernels of Catena itself are in
// ndarray/cuda/compiler/ and plans/. May use kernels/, ndarray/core/, ndarray/device/, ndarray/engine/,
// ndarray/cuda/api/ and ndarray/cuda/runtime/.
//
// This header: error handling shared by these files. Internal to ndarray/cuda and to the framework's cuDNN extension.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace nd::cuda {

// A status of a library other than success.
struct VendorStatus {
  const char* library;  // "cuBLASLt"
  std::int64_t code;
  std::string symbol;  // "CUBLAS_STATUS_ALLOC_FAILED"
  bool out_of_memory = false;
};
// Throws OutOfMemoryError "cuBLASLt: cublasLtMatmul: out of memory (CUBLAS_STATUS_ALLOC_FAILED)" or CudaError
// "cublasLtMatmul: cuBLASLt error 14 (CUBLAS_STATUS_INTERNAL_ERROR)". If the status is only a consequence of an error
// that destroyed the context, throws that error.
[[noreturn]] CATENA_EXPORT void fail_vendor(const VendorStatus& status, std::string_view call);

}  // namespace nd::cuda
