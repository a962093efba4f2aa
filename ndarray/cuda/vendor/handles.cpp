#include <catena/ndarray/cuda/vendor/handles.h>

#include <cstddef>
#include <mutex>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/vendor/cublas.h>
#include <catena/ndarray/cuda/vendor/cudnn.h>
#include <catena/ndarray/cuda/vendor/solver_calls.h>
#include <catena/ndarray/device/device.h>

namespace nd::cuda {
namespace {

// One handle per device, created at its first use; a failed attempt is repeated.
template <class Handle> class Handles {
 public:
  Handles() : made_(new Entry[static_cast<std::size_t>(driver().device_count)]) {}
  template <class Make> Handle of(int device, Make make) {
    properties(device);  // throws for a device that does not exist
    Entry& entry = made_[device];
    std::call_once(entry.once, [&] {
      const DeviceScope on({nd::Device::Kind::cuda, static_cast<std::int16_t>(device)});
      use_device(device);
      entry.handle = make();
    });
    return entry.handle;
  }

 private:
  struct Entry {
    std::once_flag once;
    Handle handle = nullptr;
  };
  Entry* const made_;
};

}  // namespace

api::cublas_handle cublas_handle_of(int device) {
  static auto& handles = *new Handles<api::cublas_handle>;
  return handles.of(device, [] { return cublas::create(); });
}

api::cusolver_handle cusolver_handle_of(int device) {
  static auto& handles = *new Handles<api::cusolver_handle>;
  return handles.of(device, [] {
    api::cusolver_handle handle = nullptr;
    CATENA_SOLVER(create, &handle);
    return handle;
  });
}

cudnnContext* cudnn_handle_of(int device) {
  static auto& handles = *new Handles<api::cudnn_handle>;
  return handles.of(device, [] { return cudnn::create(); });
}

}  // namespace nd::cuda
