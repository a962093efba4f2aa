// Pinned host memory and events for the backend itself. Copies from pageable host memory go through pinned buffers, so
// that they do not block and the source may change as soon as the call returns.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include <catena/ndarray/cuda/runtime/handle_pool.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/device/runtime.h>

namespace nd::cuda {

// Page-locked host memory. Free blocks are kept and reused for requests of the same rounded size (a multiple of 512
// bytes). If memory is short, free blocks are returned to the driver and the allocation is repeated; then
// OutOfMemoryError.
class CATENA_EXPORT PinnedPool {
 public:
  std::byte* allocate(std::size_t bytes);  // null for 0 bytes
  void deallocate(std::byte* data, std::size_t bytes) noexcept;
  void free_all_blocks();
  std::size_t n_free_blocks() const;

  PinnedPool() = default;
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

 private:
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;  // by rounded size
};
// Returns the pool, which exists until the program ends.
CATENA_EXPORT PinnedPool& pinned_pool();

// An event without timing, leased for a scope. It may be leased again before the work that it marks has finished.
using PooledEvent = HandlePool<api::cu_event>::Lease;
CATENA_EXPORT PooledEvent pooled_event(int device);

// Copies pageable host memory to the device, ordered on the stream. The source may change as soon as this returns.
CATENA_EXPORT void copy_staged(api::cu_deviceptr to, const std::byte* from, std::size_t bytes, StreamRef stream);

}  // namespace nd::cuda
