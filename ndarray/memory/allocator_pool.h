// Device memory with the interface of CuPy: pools above an allocator, and the allocator of all arrays as a function of
// the size. Arrays do not need it: their pool, nd::memory_pool(), always exists (memory_pool.h).
//
//   nd::cuda::MemoryPool pool;          // above raw allocation
//   nd::cuda::set_allocator(pool);      // arrays from now on
//   nd::set_allocator(nd::pool_allocator());   // their own pool again
//
// Thread safety: all functions may be called from any thread; the allocator applies to the whole process.
#pragma once

#include <concepts>
#include <cstddef>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/memory/memory.h>

namespace nd::cuda {

// Returns a block of `size` bytes on the current device; null for 0.
using MemoryAllocator = catena::Function<MemoryPointer(std::size_t size)>;

// A pool of blocks of one device. A free block is reused only on the stream for which it was allocated.
class CATENA_EXPORT SingleDeviceMemoryPool : public nd::internal::AllocatorPool {
 public:
  explicit SingleDeviceMemoryPool(MemoryAllocator allocator = &raw_alloc);
  void free_all_free() const;  // deprecated: free_all_blocks
};

// A pool for all devices above one allocator: one SingleDeviceMemoryPool per device.
class CATENA_EXPORT MemoryPool {
 public:
  explicit MemoryPool(MemoryAllocator allocator = &raw_alloc);

  // All members refer to the current device.
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

// Sets the allocator of all later arrays and of nd::alloc, on every device. Null, the default, is allocation without a
// pool, as in CuPy: nd::raw_allocator(). nd::set_allocator(nd::pool_allocator()) restores the state at the start.
CATENA_EXPORT void set_allocator(MemoryAllocator allocator = nullptr);
// Sets the malloc of a pool. The pool is copied, so it lives as long as it is the allocator.
template <std::copy_constructible Pool>
requires requires(const Pool& pool) {
  { pool.malloc(std::size_t(1)) } -> std::same_as<MemoryPointer>;
}
void set_allocator(const Pool& pool) {
  set_allocator(MemoryAllocator([pool](std::size_t size) { return pool.malloc(size); }));
}

}  // namespace nd::cuda

namespace nd {

// cuda::set_allocator for a function of the size or for a pool, as an overload of nd::set_allocator (storage.h):
// nd::set_allocator(nd::malloc_managed), nd::set_allocator(nd::MemoryAsyncPool()).
template <class A>
requires requires(const A& allocator) {
  cuda::set_allocator(allocator);
} &&(!std::convertible_to<const A&, catena::Shared<const Allocator>>)void set_allocator(const A& allocator) {
  cuda::set_allocator(allocator);
}

}  // namespace nd
