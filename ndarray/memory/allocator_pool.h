// Device memory as the reference has it: pools above an allocator, and the allocator of all arrays as a function of the
// size. Arrays do not need it: their pool, nd::memory_pool(), is there from the start (memory_pool.h).
//
//   nd::cuda::MemoryPool pool;          // above raw allocation
//   nd::cuda::set_allocator(pool);      // arrays from now on; nd::set_allocator(nullptr) restores the pool of arrays
//
// Thread safety: all functions may be called from any thread; the allocator is that of the process.
#pragma once

#include <concepts>
#include <cstddef>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/memory/memory.h>

namespace nd::cuda {

// A block of that many bytes on the current device; null for 0.
using MemoryAllocator = catena::Function<MemoryPointer(std::size_t size)>;

// A pool of the blocks of one device. Blocks that are no longer used are kept, and reused for requests of the same
// rounded size (a multiple of 512 bytes) on the same stream. Blocks may outlive the pool; copies are the same pool.
class CATENA_EXPORT SingleDeviceMemoryPool {
 public:
  explicit SingleDeviceMemoryPool(MemoryAllocator allocator = &raw_alloc);  // TypeError for an empty allocator

  // Null for 0 bytes. If the allocator throws OutOfMemoryError, the free blocks are released and it is called again;
  // its second OutOfMemoryError, and every other error, is the caller's.
  MemoryPointer malloc(std::size_t size) const;
  // Takes a block back while there are pointers to it, which are then of 0 bytes. RuntimeError for an address that is
  // not that of a block in use, such as one that was freed before. (MemoryPointer::free may be called twice.)
  void free(const void* data) const;
  void free_all_blocks() const;  // gives the free blocks back to the allocator
  void free_all_free() const;    // deprecated: free_all_blocks
  std::size_t n_free_blocks() const;

 private:
  struct Owner;
  catena::Shared<const Owner> owner_;
};

// A pool of every device, above one allocator: a SingleDeviceMemoryPool for each, found by the current device.
class CATENA_EXPORT MemoryPool {
 public:
  explicit MemoryPool(MemoryAllocator allocator = &raw_alloc);

  // On, and of, the current device.
  MemoryPointer malloc(std::size_t size) const;
  void free(const void* data) const;
  void free_all_blocks() const;
  void free_all_free() const;
  std::size_t n_free_blocks() const;

 private:
  struct Pools;
  SingleDeviceMemoryPool& current() const;
  catena::Shared<Pools> pools_;
};

// The allocator of all later arrays and of nd::alloc, on whatever device; by default, and if it is null, raw
// allocation.
CATENA_EXPORT void set_allocator(MemoryAllocator allocator = nullptr);
// A pool's malloc. The pool is copied, so it lives as long as it is the allocator.
template <std::copy_constructible Pool>
requires requires(const Pool& pool) {
  { pool.malloc(std::size_t(1)) } -> std::same_as<MemoryPointer>;
}
void set_allocator(const Pool& pool) {
  set_allocator(MemoryAllocator([pool](std::size_t size) { return pool.malloc(size); }));
}

}  // namespace nd::cuda
