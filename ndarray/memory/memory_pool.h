// The memory pool: one class for host and device memory, above Runtime::allocate.
//
// Small blocks (up to 64 KB) come from bins of the calling thread without a lock. For larger blocks, every pair of
// device and stream has an arena: free blocks are in bins by size, found by best fit, split, and merged with their
// neighbours. Memory is allocated from the device in segments; on the host, for blocks of more than 64 KB, it grows at
// its end (Runtime::grow), so that gaps can be merged. Nothing is returned to the device until free_all_blocks is
// called, memory runs out, or the pool and the last block of a segment are gone.
//
// Streams: a freed block is reused at once by work on its own stream. A block that other streams used too
// (record_stream) is held back until they have passed the point of the free.
//
// Thread safety: all members may be called from any thread; blocks may be freed on any thread, also after the pool is
// gone.
#pragma once

#include <cstddef>
#include <cstdint>

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/device/types.h>
#include <catena/ndarray/memory/memory_hook.h>

namespace nd {

// The state of a pool, in bytes and in numbers of blocks.
struct PoolStatistics {
  std::size_t used_bytes = 0;   // in blocks in use, after rounding
  std::size_t total_bytes = 0;  // taken from the device: used + free
  std::size_t free_bytes = 0;   // bytes of blocks that wait for reuse
  std::size_t n_free_blocks = 0;
  std::size_t peak_total_bytes = 0;  // the maximum of total_bytes
  std::size_t peak_used_bytes = 0;   // maximum of used_bytes; may lack small blocks of threads, up to 256 KB per thread
};

class MemoryPointer;
struct MemorySnapshot;

// In the place of a device's number: all of them.
inline constexpr int kAllDevices = -1;

// Keeps storages alive for recorded work (a CUDA graph). keep() is called with every storage that the work uses and
// that was allocated outside of it.
class CATENA_EXPORT StorageKeeper {
 public:
  virtual ~StorageKeeper();
  virtual void keep(catena::Storage& storage) = 0;
};

namespace internal {
class PoolState;
}

// A pool of the memory of devices: blocks that are no longer used are kept for the next request of their size.
class CATENA_EXPORT MemoryPool {
 public:
  // The backend must outlive the pool and every block of it.
  explicit MemoryPool(Runtime& backend);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // Returns a block of at least `bytes` bytes with one reference, to be used first on `stream` (a handle; null is the
  // default stream); null for 0 bytes. If the device has no memory, returns free blocks to it and tries again; then
  // OutOfMemoryError with the bytes requested, used, pooled, total and the limit.
  catena::Storage* allocate(std::size_t bytes, int device = 0, void* stream = nullptr);
  // As allocate() on the current device, which must be of the pool's kind (ValueError), for its current stream. Returns
  // a pointer (memory.h).
  MemoryPointer malloc(std::size_t bytes);

  // Returns free blocks to the device. Other threads return the blocks that they keep at their next allocation.
  void free_all_blocks(int device = kAllDevices);

  // Sets an upper bound of total_bytes on a device; 0: none. A fraction refers to the device's memory, 0 < fraction <=
  // 1.
  void set_limit(std::size_t bytes, int device = 0);
  void set_limit_fraction(double fraction, int device = 0);
  std::size_t limit(int device = 0) const;

  PoolStatistics statistics(int device = kAllDevices) const;
  std::size_t used_bytes(int device = kAllDevices) const { return statistics(device).used_bytes; }
  std::size_t total_bytes(int device = kAllDevices) const { return statistics(device).total_bytes; }
  std::size_t free_bytes(int device = kAllDevices) const { return statistics(device).free_bytes; }
  std::size_t n_free_blocks(int device = kAllDevices) const { return statistics(device).n_free_blocks; }
  // Returns the content of the pool, block by block (memory_snapshot.h).
  MemorySnapshot snapshot() const;
  // Resets both peaks to the present values.
  void reset_peaks();

  Runtime& backend() const noexcept;

  // Records that enqueued work on `stream` (of the block's device) uses the block. Ignores storages that are not blocks
  // of a pool.
  static void record_stream(catena::Storage& storage, StreamRef stream);

  // For recorded work: until null is set again, record_stream on this thread passes storages that do not belong to the
  // stream to the keeper. Returns the previous keeper.
  static StorageKeeper* set_keeper(StorageKeeper* keeper) noexcept;
  // Until release_stream is called, the pool keeps memory that was allocated for `stream`, even if memory runs out;
  // then it returns the free part to the device. For streams whose recorded work runs again.
  void hold_stream(int device, void* stream);
  void release_stream(int device, void* stream);

 private:
  internal::PoolState* state_;
};

// Returns the pool of the arrays of that kind of device. It exists as long as the program.
CATENA_EXPORT MemoryPool& memory_pool(Device::Kind kind);
// Returns the pool for the kind of the current device.
CATENA_EXPORT MemoryPool& memory_pool();

}  // namespace nd
