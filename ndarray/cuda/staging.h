// Pinned host memory and events for the backend's own use: copies from ordinary host memory go through pinned buffers, so that they
// neither block nor depend on what happens to the source afterwards.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <utility>

#include "ndarray/cuda/library.h"
#include "ndarray/device/backend.h"

namespace nd::cuda {

// Page-locked host memory. Blocks are kept and given again for exactly the same rounded size (a multiple of 512 bytes). When there is
// no more, free blocks go back to the driver and the allocation is tried again; then OutOfMemoryError.
class CATENA_EXPORT PinnedPool {
 public:
  std::byte* allocate(std::size_t bytes);  // 0 bytes: null
  void deallocate(std::byte* data, std::size_t bytes) noexcept;
  void free_all_blocks();
  std::size_t n_free_blocks() const;

  PinnedPool();
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

 private:
  struct State;
  State* state_;
};
// Lives as long as the program.
CATENA_EXPORT PinnedPool& pinned_pool();

// An event without timing, from a list of unused ones; back there at the end of the scope.
class CATENA_EXPORT PooledEvent {
 public:
  explicit PooledEvent(int device);
  ~PooledEvent();
  PooledEvent(PooledEvent&& o) noexcept : device_(o.device_), event_(std::exchange(o.event_, nullptr)) {}
  PooledEvent& operator=(PooledEvent&& o) noexcept {
    std::swap(device_, o.device_);
    std::swap(event_, o.event_);
    return *this;
  }
  api::cu_event get() const noexcept { return event_; }

 private:
  int device_;
  api::cu_event event_ = nullptr;
};

// Copies ordinary host memory to the device, ordered on the stream. The source may change as soon as this returns.
CATENA_EXPORT void copy_staged(api::cu_deviceptr to, const std::byte* from, std::size_t bytes, StreamRef stream);

}  // namespace nd::cuda
