// What the files around NVIDIA's libraries share. Internal to ndarray/cuda and to the framework's cuDNN extension.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/host/export.h"
#include "ndarray/device/backend.h"

namespace nd::cuda {

// A status of a library that is not success.
struct VendorStatus {
  const char* library;     // "cuBLASLt"
  std::int64_t code;
  std::string symbol;      // "CUBLAS_STATUS_ALLOC_FAILED"
  bool out_of_memory = false;
};
// Throws OutOfMemoryError "cuBLASLt: cublasLtMatmul: out of memory (CUBLAS_STATUS_ALLOC_FAILED)" or CudaError "cublasLtMatmul: cuBLASLt
// error 14 (CUBLAS_STATUS_INTERNAL_ERROR)". When it is only the echo of an error that a context does not survive, that one is thrown.
[[noreturn]] CATENA_EXPORT void fail_vendor(const VendorStatus& status, std::string_view call);

// Handles of a library that only one thread at a time may use, by device. As many are made as are in use at once; they are never destroyed:
// the library may be gone before the last thread is.
template <class Handle> class HandlePool {
 public:
  explicit HandlePool(int devices) : free_(static_cast<std::size_t>(devices)) {}

  class Lease {
   public:
    Lease(HandlePool& pool, int device, Handle handle) : pool_(&pool), device_(device), handle_(handle) {}
    Lease(Lease&& o) noexcept : pool_(std::exchange(o.pool_, nullptr)), device_(o.device_), handle_(o.handle_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (pool_ != nullptr) pool_->give_back(device_, handle_);
    }
    Handle get() const noexcept { return handle_; }

   private:
    HandlePool* pool_;
    int device_;
    Handle handle_;
  };
  // A handle of the device until the end of the lease; `make()` makes one when none is free.
  template <class Make> Lease lease(int device, Make&& make) {
    {
      const std::lock_guard lock(mutex_);
      std::vector<Handle>& free = free_[static_cast<std::size_t>(device)];
      if (!free.empty()) {
        const Handle handle = free.back();
        free.pop_back();
        return Lease(*this, device, handle);
      }
    }
    return Lease(*this, device, make());
  }

 private:
  void give_back(int device, Handle handle) noexcept {
    const std::lock_guard lock(mutex_);
    free_[static_cast<std::size_t>(device)].push_back(handle);
  }

  std::mutex mutex_;
  std::vector<std::vector<Handle>> free_;
};

}  // namespace nd::cuda
