// The pools of stream-ordered allocation. A block is taken at the call and is usable by work that follows it; it is
// freed when its stream reaches the free.
//
// Thread safety: all functions are called under the runtime's lock.
#pragma once

#include <cstddef>
#include <memory>

#include <catena/tests/support/cuda_device/runtime.h>

struct CUmemPoolHandle_st {
  int device = 0;
  bool is_default = false;
  std::size_t release_threshold = 0;
  std::size_t used = 0, used_high = 0;          // bytes in blocks
  std::size_t reserved = 0, reserved_high = 0;  // with those kept for later blocks

  void add(std::size_t bytes);
  void trim(std::size_t bytes_to_keep);
};

namespace cuda_device {

using PoolPtr = std::shared_ptr<CUmemPoolHandle_st>;

// The default pool of a device.
const PoolPtr& default_pool(int device);
// Takes a block; it belongs to the pool until leave_pool().
std::byte* allocate_from_pool(const PoolPtr& pool, std::size_t bytes);  // null: no memory
// True if a block of a pool begins there.
bool is_of_pool(const void* data);
// Returns a block to its pool. Has no effect for other memory.
void leave_pool(const void* data);
// The effect of a synchronization: all pools return the memory above their thresholds.
void trim_pools();

}  // namespace cuda_device
