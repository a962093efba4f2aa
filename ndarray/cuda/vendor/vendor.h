// What the files around NVIDIA's libraries share. Internal to ndarray/cuda and to the framework's cuDNN extension.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace nd::cuda {

// A status of a library that is not success.
struct VendorStatus {
  const char* library;  // "cuBLASLt"
  std::int64_t code;
  std::string symbol;  // "CUBLAS_STATUS_ALLOC_FAILED"
  bool out_of_memory = false;
};
// Throws OutOfMemoryError "cuBLASLt: cublasLtMatmul: out of memory (CUBLAS_STATUS_ALLOC_FAILED)" or CudaError
// "cublasLtMatmul: cuBLASLt error 14 (CUBLAS_STATUS_INTERNAL_ERROR)". When it is only the echo of an error that a
// context does not survive, that one is thrown.
[[noreturn]] CATENA_EXPORT void fail_vendor(const VendorStatus& status, std::string_view call);

}  // namespace nd::cuda
