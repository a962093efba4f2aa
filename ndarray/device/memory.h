// Memory by hand: blocks of a device, pointers into them, copies and fills; pinned host memory. Arrays need none of it.
//
// Copies without `_async` have ended when they return. Asynchronous ones are ordered on their stream; on the host's
// side they are only asynchronous when that memory is pinned. Sizes are bytes; a size of 0 does nothing. ValueError
// when a copy or fill leaves a block.
//
// Thread safety: pointers are handles to a shared block: copies of one may be used on different threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

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
  // One reference to `storage` is taken over.
  explicit MemoryPointer(Storage* storage, std::ptrdiff_t offset = 0) noexcept : storage_(storage), offset_(offset) {}
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
  }  // to the block's end
  explicit operator bool() const noexcept { return storage_ != nullptr; }

  MemoryPointer& operator+=(std::ptrdiff_t bytes) noexcept { return offset_ += bytes, *this; }
  MemoryPointer& operator-=(std::ptrdiff_t bytes) noexcept { return offset_ -= bytes, *this; }
  friend MemoryPointer operator+(MemoryPointer p, std::ptrdiff_t bytes) noexcept { return p += bytes; }
  friend MemoryPointer operator+(std::ptrdiff_t bytes, MemoryPointer p) noexcept { return p += bytes; }
  friend MemoryPointer operator-(MemoryPointer p, std::ptrdiff_t bytes) noexcept { return p -= bytes; }

  void copy_from(const MemoryPointer& source, std::size_t size) const;  // of any device
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

// A block straight from the current device, not from its pool. OutOfMemoryError.
CATENA_EXPORT MemoryPointer raw_alloc(std::size_t size);
// A block on the current device from the allocator of arrays (set_allocator; the pool at first).
CATENA_EXPORT MemoryPointer alloc(std::size_t size);

// The device that a pointer of CUDA belongs to; cpu_device for memory that it does not know.
CATENA_EXPORT Device device_from_pointer(const void* p);

// Page-locked host memory. Blocks that are no longer used are kept, and given again for exactly the same rounded size
// (a multiple of 512 bytes). They may outlive the pool. Thread safety: all members may be called from any thread.
class CATENA_EXPORT PinnedMemoryPool {
 public:
  PinnedMemoryPool();
  // 0 bytes: null. RuntimeError "CUDA is unavailable: ..."; OutOfMemoryError when there is none left, also without the
  // free blocks.
  MemoryPointer allocate(std::size_t size);
  void free_all_blocks();
  std::size_t n_free_blocks() const;

 private:
  friend CATENA_EXPORT PinnedMemoryPool& pinned_memory_pool();
  explicit PinnedMemoryPool(std::shared_ptr<cuda::PinnedPool> pool) noexcept : pool_(std::move(pool)) {}
  std::shared_ptr<cuda::PinnedPool> pool_;
};
// The one that alloc_pinned_memory uses at first; copies from ordinary host memory take their buffers there, too.
CATENA_EXPORT PinnedMemoryPool& pinned_memory_pool();

// A block from pinned_memory_pool() or from what replaces it.
CATENA_EXPORT MemoryPointer alloc_pinned_memory(std::size_t size);
// Replaces where alloc_pinned_memory gets blocks; null: the pool again.
using PinnedAllocator = std::function<MemoryPointer(std::size_t size)>;
CATENA_EXPORT void set_pinned_memory_allocator(PinnedAllocator allocator);

}  // namespace nd
