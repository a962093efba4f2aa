// The library cuDNN: entry points, errors, handles. Internal to this folder.
//
// Thread safety: all functions may be called from any thread; a Handle belongs to the thread that made it.
#pragma once

#include <memory>
#include <string>

#include <catena/autograd/array.h>
#include <catena/ndarray/cuda/api/cudnn.h>
#include <catena/ndarray/cuda/runtime/handle_pool.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/runtime/library.h>

namespace nd::cuda::api {
struct CudnnFunctions {
  CATENA_CUDNN_FUNCTIONS(CATENA_FIELD)
};
struct CudnnNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_CUDNN_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};
}  // namespace nd::cuda::api

namespace autograd::internal::cudnn {

namespace api = nd::cuda::api;

// The functions of batch normalization and of recurrent networks, which cuDNN 9 marks as deprecated, may be missing:
// null, all of a group together.
struct Library : api::CudnnFunctions {
  std::string path;
  std::size_t version = 0;  // e.g. 91900
  bool has_batch_norm = true, has_rnn = true;
};
// Throws a RuntimeError "cuDNN is unavailable: libcudnn.so.9 not found (tried: ...)", always with the same text.
CATENA_EXPORT const Library& library();
CATENA_EXPORT bool is_available() noexcept;
// For tests: all later calls use this table, which is never freed. Must be called before any other function.
CATENA_EXPORT void replace_library(const Library& table);

// cuDNN's status "not supported". It is not an error: the caller uses another implementation.
struct NotSupported {};

bool is_unsupported(api::cudnn_status status) noexcept;
// Throws for every status except success: NotSupported, OutOfMemoryError, or CudaError with cuDNN's message.
[[noreturn]] CATENA_EXPORT void fail(api::cudnn_status status, const char* call);
inline void check(api::cudnn_status status, const char* call) {
  if (status != api::cudnn_success) [[unlikely]]
    fail(status, call);
}
// Calls an entry point by its name in the table.
#define CATENA_CUDNN(field, ...)                                                                \
  ::autograd::internal::cudnn::check(::autograd::internal::cudnn::library().field(__VA_ARGS__), \
                                     ::nd::cuda::api::CudnnNames::field)

// Holds a cuDNN handle of a device for the lifetime of this object.
class CATENA_EXPORT Handle {
 public:
  explicit Handle(int device);
  // Gets a handle for the device of `near`; calls with it are enqueued on the current stream of that device.
  explicit Handle(const Array& near);
  api::cudnn_handle get() const noexcept { return lease_.get(); }
  nd::StreamRef stream() const noexcept { return stream_; }

 private:
  nd::StreamRef stream_;
  nd::cuda::HandlePool<api::cudnn_handle>::Lease lease_;
};

// A call that enqueues work on the stream of its first argument, a Handle.
#define CATENA_CUDNN_ENQUEUE(handle, field, ...)                                 \
  ::nd::cuda::enqueue(::nd::cuda::api::CudnnNames::field, (handle).stream(), {}, \
                      [&] { CATENA_CUDNN(field, (handle).get(), __VA_ARGS__); })

// A descriptor of the functions outside the graph interface.
template <class T> using Owned = std::unique_ptr<T, api::cudnn_status (*)(T*)>;
template <class T> Owned<T> own(api::cudnn_status (*create)(T**), api::cudnn_status (*destroy)(T*), const char* call) {
  T* made = nullptr;
  check(create(&made), call);
  return {made, destroy};
}
#define CATENA_CUDNN_OWN(field)                                                            \
  ::autograd::internal::cudnn::own(::autograd::internal::cudnn::library().create_##field,  \
                                   ::autograd::internal::cudnn::library().destroy_##field, \
                                   ::nd::cuda::api::CudnnNames::create_##field)
using TensorDescriptor = Owned<cudnnTensorStruct>;
// Strides in elements. Lengths above 2^31 are NotSupported.
CATENA_EXPORT TensorDescriptor tensor_descriptor(int type, const Shape& shape, const Dims& strides);

}  // namespace autograd::internal::cudnn
