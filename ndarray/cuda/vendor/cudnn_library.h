// The library cuDNN: opens it, converts its statuses to exceptions, and has the table of the entry points that
// nd::cuda::cudnn calls. The framework's networks have their own table, filled from the same library.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <string>

#include <catena/ndarray/cuda/api/cudnn.h>
#include <catena/ndarray/cuda/runtime/library.h>

namespace nd::cuda {

namespace api {
struct CudnnUtilities {
  CATENA_CUDNN_UTILITY_FUNCTIONS(CATENA_FIELD)
};
struct CudnnUtilityNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_CUDNN_UTILITY_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};
}  // namespace api

struct Cudnn : api::CudnnUtilities {
  std::string path;
  std::size_t version = 0;  // 91900
};
// RuntimeError "cuDNN is unavailable: libcudnn.so.9 not found (tried: ...)", with the same text at every call.
CATENA_EXPORT const Cudnn& cudnn_library();

// Opens the library and returns its version. RuntimeError "cuDNN is unavailable: ..." if there is none, or if it is
// older than version 9.
CATENA_EXPORT Library open_cudnn(std::size_t& version);

// True if the status means that the library has no implementation of the requested operation.
constexpr bool is_unsupported(api::cudnn_status status) noexcept {
  return status >= api::cudnn_not_supported && status < api::cudnn_internal_error;
}
// Throws the exception of a status other than success: OutOfMemoryError, or CudnnError with the library's text about
// the last error of this thread, which names the wrong argument. `error_string` and `last_error_string` are entry
// points of the library that returned the status.
[[noreturn]] CATENA_EXPORT void fail_cudnn(api::cudnn_status status, const char* call,
                                           const char* (*error_string)(api::cudnn_status),
                                           void (*last_error_string)(char*, std::size_t));

}  // namespace nd::cuda
