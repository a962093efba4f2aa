// The errors of CUDA's libraries: one class per library, so that a catch clause can distinguish them. All are
// CudaErrors and have the name of the library, the numeric status and its symbolic name.
#pragma once

#include <string>

#include <catena/kernels/base/error.h>

namespace catena {

// The classes and the names of their libraries; a class may have several libraries.
#define CATENA_CUDA_ERRORS(X)                                                     \
  X(CudaDriverError, "CUDA")                                                      \
  X(CudaRuntimeError, "CUDA runtime") /* of the functions of nd::cuda::runtime */ \
  X(CublasError, "cuBLAS", "cuBLASLt")                                            \
  X(CusolverError, "cuSOLVER")                                                    \
  X(CurandError, "cuRAND")                                                        \
  X(NcclError, "NCCL")                                                            \
  X(CudnnError, "cuDNN")                                                          \
  X(NvrtcError, "NVRTC") /* but a text with errors is a CompileError */

#define CATENA_DEFINE_CUDA_ERROR(Name, ...)     \
  class CATENA_EXPORT Name : public CudaError { \
   public:                                      \
    using CudaError::CudaError;                 \
    ~Name() override;                           \
  };
// An error of the library in the name of the class.
CATENA_CUDA_ERRORS(CATENA_DEFINE_CUDA_ERROR)
#undef CATENA_DEFINE_CUDA_ERROR

// Throws the class of the library; CudaError itself for a library without a class.
[[noreturn]] CATENA_EXPORT void throw_cuda_error(const std::string& library, std::int64_t code,
                                                 const std::string& symbol, const std::string& what);

}  // namespace catena
