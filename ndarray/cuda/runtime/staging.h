// Pinned host memory and events for the backend's own use: copies from ordinary host memory go through pinned buffers,
// so that they neither block nor depend on what happens to the source afterwards.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include <catena/ndarray/cuda/runtime/handle_pool.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/device/backend.h>

namespace nd::cuda {

// Page-locked host memory. Blocks are kept and given again for exactly the same rounded size (a multiple of 512 bytes).
// When there is no more, free blocks go back to the driver and the allocation is tried again; then OutOfMemoryError.
class CATENA_EXPORT PinnedPool {
 public:
  std::byte* allocate(std::size_t bytes);  // 0 bytes: null
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
// Lives as long as the program.
CATENA_EXPORT PinnedPool& pinned_pool();

// An event without timing, for the time of its scope. It may be given again while what it marks is still ahead.
using PooledEvent = HandlePool<api::cu_event>::Lease;
CATENA_EXPORT PooledEvent pooled_event(int device);

// Copies ordinary host memory to the device, ordered on the stream. The source may change as soon as this returns.
CATENA_EXPORT void copy_staged(api::cu_deviceptr to, const std::byte* from, std::size_t bytes, StreamRef stream);

}  // namespace nd::cuda
