// The memory pool: one class for host and device memory, above Runtime::allocate.
//
// Small blocks (up to 64 KB) come from bins of the calling thread without a lock. Beyond them every (device, stream)
// has an arena: free blocks in bins by size, best fit, split and merged with their neighbours. Memory comes from the
// device in segments; on the host, for blocks beyond 64 KB, it grows at its end (Runtime::grow), so that gaps can be
// merged. Nothing goes back to the device until free_all_blocks, until memory runs out, or until the pool and the last
// block of a segment are gone.
//
// Streams: a block freed by its last owner is reused at once by work on its own stream. A block that other streams used
// as well (record_stream) is held back until those have passed the point of the free.
//
// Thread safety: all members may be called from any thread; blocks may be freed on any thread, also after the pool is
// gone.
#pragma once

#include <cstddef>
#include <cstdint>

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/memory/memory_hook.h>
#include <catena/ndarray/device/types.h>

namespace nd {

struct PoolStatistics {
  std::size_t used_bytes = 0;   // in blocks in use, after rounding
  std::size_t total_bytes = 0;  // taken from the device: used + free
  std::size_t free_bytes = 0;   // in blocks that wait for reuse
  std::size_t n_free_blocks = 0;
  std::size_t peak_total_bytes = 0;  // the most that total_bytes has been
  std::size_t peak_used_bytes =
      0;  // the most that used_bytes has been; may miss what threads hold in small blocks, up to 256 KB each
};

class MemoryPointer;
struct MemorySnapshot;

inline constexpr int kAllDevices = -1;

// Keeps storages alive for recorded work (a CUDA graph): keep() is called with every storage that the work uses and that
// was allocated outside of it.
class CATENA_EXPORT StorageKeeper {
 public:
  virtual ~StorageKeeper();
  virtual void keep(catena::Storage& storage) = 0;
};

namespace internal {
class PoolState;
}

class CATENA_EXPORT MemoryPool {
 public:
  // The backend must outlive the pool and every block of it.
  explicit MemoryPool(Runtime& backend);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // A block of at least `bytes` bytes with one reference, to be used first on `stream` (a handle; null = the default
  // one). 0 bytes: null. When the device has no more: free blocks are given back and the allocation is tried again;
  // then OutOfMemoryError with the bytes requested, used, pooled, total and the limit.
  catena::Storage* allocate(std::size_t bytes, int device = 0, void* stream = nullptr);
  // The same on the current device, which is of the pool's kind (ValueError), for its current stream, as a pointer
  // (memory.h).
  MemoryPointer malloc(std::size_t bytes);

  // Gives free blocks back to the device. Other threads give back what they keep at their next allocation.
  void free_all_blocks(int device = kAllDevices);

  // Upper bound of total_bytes on a device; 0 = none. As a fraction: of the device's memory, 0 < fraction <= 1.
  void set_limit(std::size_t bytes, int device = 0);
  void set_limit_fraction(double fraction, int device = 0);
  std::size_t limit(int device = 0) const;

  PoolStatistics statistics(int device = kAllDevices) const;
  std::size_t used_bytes(int device = kAllDevices) const { return statistics(device).used_bytes; }
  std::size_t total_bytes(int device = kAllDevices) const { return statistics(device).total_bytes; }
  std::size_t free_bytes(int device = kAllDevices) const { return statistics(device).free_bytes; }
  std::size_t n_free_blocks(int device = kAllDevices) const { return statistics(device).n_free_blocks; }
  // What it holds, block by block (memory_snapshot.h).
  MemorySnapshot snapshot() const;
  // Both peaks start again at the present values.
  void reset_peaks();

  Runtime& backend() const noexcept;

  // Work on `stream` (of the block's device) has been enqueued that uses the block. Storages of other origin are
  // ignored.
  static void record_stream(catena::Storage& storage, StreamRef stream);

  // For recorded work: until null is set again, record_stream on this thread hands storages that are not of the
  // stream's own to the keeper. Gives the one before.
  static StorageKeeper* set_keeper(StorageKeeper* keeper) noexcept;
  // Memory that was taken for `stream` stays with it, also when memory runs out, until it is released: then what is
  // free goes back to the device. For streams whose recorded work runs again.
  void hold_stream(int device, void* stream);
  void release_stream(int device, void* stream);

 private:
  internal::PoolState* state_;
};

// The pool of the arrays of that kind of device. Lives as long as the program.
CATENA_EXPORT MemoryPool& memory_pool(Device::Kind kind);
// Of the current device's kind.
CATENA_EXPORT MemoryPool& memory_pool();

}  // namespace nd
