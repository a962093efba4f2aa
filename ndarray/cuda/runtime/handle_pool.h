// Pools of objects that are expensive to create and must not be used by two threads at once: handles of libraries,
// events. Internal to ndarray/cuda and to the framework's cuDNN extension.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

namespace nd::cuda {

// A pool of handles per device. A new handle is created if all are leased. Handles are never destroyed, because the
// library may be unloaded before the last thread ends.
//
// Thread safety: a pool may be used from any thread, a lease by one thread at a time.
template <class Handle> class HandlePool {
 public:
  explicit HandlePool(int devices) : free_(static_cast<std::size_t>(devices)) {}

  class Lease {
   public:
    Lease(HandlePool& pool, int device, Handle handle) : pool_(&pool), device_(device), handle_(handle) {}
    Lease(Lease&& o) noexcept : pool_(std::exchange(o.pool_, nullptr)), device_(o.device_), handle_(o.handle_) {}
    Lease& operator=(Lease&& o) noexcept {
      std::swap(pool_, o.pool_);
      std::swap(device_, o.device_);
      std::swap(handle_, o.handle_);
      return *this;
    }
    ~Lease() {
      if (pool_ != nullptr) pool_->give_back(device_, handle_);
    }
    Handle get() const noexcept { return handle_; }

   private:
    HandlePool* pool_;
    int device_;
    Handle handle_;
  };
  // Returns a handle of the device, which the lease owns until its end; `make()` creates one if none is free.
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
    return Lease(*this, device, std::forward<Make>(make)());
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
