// Stream-ordered allocation: memory from the pools of CUDA's driver (cudaMallocAsync), with CuPy's names.
//
//   nd::set_allocator(nd::MemoryAsyncPool());      // arrays from now on
//   nd::MemoryPointer p = nd::malloc_async(1024);  // one block
//
// A block is allocated and freed in the order of the work of its stream, the current one at its allocation: neither
// waits for the device. Work on other streams that uses the block is recorded, as for the pool of arrays, and the free
// waits for it on the device. The driver's pool is shared by all libraries of the process that use it; the arrays' own
// pool, nd::memory_pool(), serves this library alone and reuses blocks without a call of the driver.
//
// While a CUDA graph is captured, blocks come from nd::memory_pool(), whose memory then belongs to the graph. On the
// CPU all members refer to nd::memory_pool() of the host.
//
// Errors: OutOfMemoryError after nd::memory_pool() has returned its free blocks; RuntimeError "CUDA is unavailable:
// ..." and for a device without memory pools.
//
// Thread safety: all functions may be called from any thread; copies of a pool are the same pool.
#pragma once

#include <cstddef>
#include <optional>

#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/memory/memory.h>

namespace nd::cuda {

// The pool of the driver that serves a device.
enum class PoolHandles {
  current,         // the current pool of the device (cudaDeviceGetMemPool)
  device_default,  // its default pool (cudaDeviceGetDefaultMemPool), which cannot be destroyed
  create           // a new pool, destroyed after its last block
};

struct MemoryAsyncPoolOptions {
  PoolHandles pool_handles = PoolHandles::current;
  // Free bytes that the driver keeps at a synchronization; more go back to the device. Without a value, the driver's
  // pool keeps its threshold. It is 0 unless it was set: each synchronization then returns all free memory.
  std::optional<std::size_t> release_threshold = {};
};

// A source of blocks of all devices. All members refer to the current device; numbers are bytes.
class CATENA_EXPORT MemoryAsyncPool {
 public:
  MemoryAsyncPool(const MemoryAsyncPoolOptions& options = {});

  // Returns a block on the current device for its current stream; null for 0 bytes.
  MemoryPointer malloc(std::size_t size) const;
  // Returns unused memory to the device. Memory whose free the device has not reached yet stays.
  void free_all_blocks() const;

  std::size_t used_bytes() const;   // in blocks in use
  std::size_t free_bytes() const;   // kept for later blocks
  std::size_t total_bytes() const;  // used + free
  std::size_t peak_used_bytes() const;
  std::size_t peak_total_bytes() const;
  void reset_peaks() const;

  std::size_t release_threshold() const;  // on the CPU: 0
  void set_release_threshold(std::size_t bytes) const;

 private:
  struct Pools;
  catena::Shared<Pools> pools_;
};

// A block of the current pool of the current device.
CATENA_EXPORT MemoryPointer malloc_async(std::size_t size);

}  // namespace nd::cuda

namespace nd {
using cuda::malloc_async;
using cuda::MemoryAsyncPool;
using cuda::MemoryAsyncPoolOptions;
using cuda::PoolHandles;
}  // namespace nd
