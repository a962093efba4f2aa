// Explicit memory management: blocks of device memory, pointers into them, copies and fills, pinned host memory. Arrays
// do not require any of it.
//
// Copies without `_async` are complete when they return. Asynchronous copies are ordered on their stream; they are
// asynchronous to the host only if the host memory is pinned. Sizes are in bytes; a size of 0 does nothing. ValueError
// if a copy or fill exceeds a block.
//
// Thread safety: pointers are handles to a shared block; copies of a pointer may be used on different threads.
#pragma once

#include <cstddef>
#include <utility>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/stream.h>

namespace nd {

namespace cuda {
class PinnedPool;
}

// A position in a block of memory; keeps the block alive.
class CATENA_EXPORT MemoryPointer {
 public:
  MemoryPointer() noexcept = default;  // null
  // Takes over one reference to `storage`.
  explicit MemoryPointer(Storage* storage, std::ptrdiff_t offset = 0) noexcept : storage_(storage), offset_(offset) {
    if (storage_) expose(*storage_);
  }
  MemoryPointer(const MemoryPointer& o) noexcept : storage_(o.storage_), offset_(o.offset_) {
    catena::retain(storage_);
  }
  MemoryPointer(MemoryPointer&& o) noexcept : storage_(std::exchange(o.storage_, nullptr)), offset_(o.offset_) {}
  MemoryPointer& operator=(MemoryPointer o) noexcept {
    std::swap(storage_, o.storage_);
    std::swap(offset_, o.offset_);
    return *this;
  }
  ~MemoryPointer() { catena::release(storage_); }

  std::byte* ptr() const noexcept { return storage_ ? storage_->data + offset_ : nullptr; }  // an address of the device
  Storage* mem() const noexcept { return storage_; }
  Device device() const noexcept { return storage_ ? storage_->device : cpu_device; }
  std::size_t size() const noexcept {
    return storage_ ? storage_->bytes - static_cast<std::size_t>(offset_) : 0;
  }  // up to the end of the block
  explicit operator bool() const noexcept { return storage_ != nullptr; }

  MemoryPointer& operator+=(std::ptrdiff_t bytes) noexcept { return offset_ += bytes, *this; }
  MemoryPointer& operator-=(std::ptrdiff_t bytes) noexcept { return offset_ -= bytes, *this; }
  friend MemoryPointer operator+(MemoryPointer p, std::ptrdiff_t bytes) noexcept { return p += bytes; }
  friend MemoryPointer operator+(std::ptrdiff_t bytes, MemoryPointer p) noexcept { return p += bytes; }
  friend MemoryPointer operator-(MemoryPointer p, std::ptrdiff_t bytes) noexcept { return p -= bytes; }

  void copy_from(const MemoryPointer& source, std::size_t size) const;  // from any device
  void copy_from(const void* host, std::size_t size) const;
  void copy_to_host(void* host, std::size_t size) const;
  void memset(unsigned char value, std::size_t size) const;
  void copy_from_async(const MemoryPointer& source, std::size_t size, const Stream& stream) const;
  void copy_from_async(const void* host, std::size_t size, const Stream& stream) const;
  void copy_to_host_async(void* host, std::size_t size, const Stream& stream) const;
  void memset_async(unsigned char value, std::size_t size, const Stream& stream) const;

 private:
  void check_inside(std::string_view op, std::size_t size) const;

  Storage* storage_ = nullptr;
  std::ptrdiff_t offset_ = 0;
};

// A block directly from the current device, without its pool. OutOfMemoryError if there is not enough memory.
CATENA_EXPORT MemoryPointer raw_alloc(std::size_t size);
// A block on the current device from the allocator of arrays (set_allocator; by default the pool).
CATENA_EXPORT MemoryPointer alloc(std::size_t size);

// The device of a CUDA pointer; cpu_device for memory that CUDA does not know.
CATENA_EXPORT Device device_from_pointer(const void* p);

// A pool of page-locked host memory. Blocks that are no longer used are kept and reused for requests of the same
// rounded size (a multiple of 512 bytes). Blocks may outlive the pool. Thread safety: all members may be called from
// any thread.
class CATENA_EXPORT PinnedMemoryPool {
 public:
  PinnedMemoryPool();
  // Null for 0 bytes. RuntimeError "CUDA is unavailable: ..."; OutOfMemoryError if memory is short even after the free
  // blocks have been released.
  MemoryPointer allocate(std::size_t size);
  void free_all_blocks();
  std::size_t n_free_blocks() const;

 private:
  friend CATENA_EXPORT PinnedMemoryPool& pinned_memory_pool();
  explicit PinnedMemoryPool(catena::Shared<cuda::PinnedPool> pool) noexcept : pool_(std::move(pool)) {}
  catena::Shared<cuda::PinnedPool> pool_;
};
// The pool behind alloc_pinned_memory by default; copies from pageable host memory take their staging buffers from it
// too.
CATENA_EXPORT PinnedMemoryPool& pinned_memory_pool();

// A block from pinned_memory_pool(), or from the allocator that replaces it.
CATENA_EXPORT MemoryPointer alloc_pinned_memory(std::size_t size);
// Replaces the allocator of alloc_pinned_memory; null restores the pool.
using PinnedAllocator = catena::Function<MemoryPointer(std::size_t size)>;
CATENA_EXPORT void set_pinned_memory_allocator(PinnedAllocator allocator);

}  // namespace nd
