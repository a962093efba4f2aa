// Folder ndarray/memory/: the memory of devices: pools, their hooks and statistics, users' allocators, and the
// functions of this header. memory_pool.h provides the memory of arrays. Headers of this folder may use ndarray/core/
// and ndarray/device/.
//
// This header: explicit memory management: blocks of device memory, pointers into them, copies and fills, pinned host
// memory. Arrays do not require any of it.
//
// Copies without `_async` are complete when they return. Asynchronous copies are ordered on their stream; they are
// asynchronous to the host only if the host memory is pinned. Sizes are in bytes; a size of 0 does nothing. ValueError
// if a copy or fill exceeds a block.
//
// Thread safety: pointers are handles to a shared block; copies of a pointer may be used on different threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/stream.h>

namespace nd {

class Memory;
class PinnedMemory;

// A position in a block of memory. Keeps the block alive.
class CATENA_EXPORT MemoryPointer {
 public:
  MemoryPointer() noexcept = default;  // null
  // Takes over one reference to `storage`.
  explicit MemoryPointer(Storage* storage, std::ptrdiff_t offset = 0) noexcept : storage_(storage), offset_(offset) {
    if (storage_) expose(*storage_);
  }
  // A position in such a block; the pointer keeps the block alive.
  MemoryPointer(const Memory& mem, std::ptrdiff_t offset);
  MemoryPointer(const PinnedMemory& mem, std::ptrdiff_t offset);
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
  explicit operator std::uintptr_t() const noexcept { return reinterpret_cast<std::uintptr_t>(ptr()); }  // the address

  // Returns the block to its pool now, although pointers to it exist. Works for blocks of an nd::cuda::MemoryPool or a
  // PinnedMemoryPool; RuntimeError for others. All pointers to the block then have 0 bytes; a second call does nothing.
  void free() const;

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

// A block directly from the current device, without its pool. It exists until the object and the last pointer to it are
// gone. For size 0 there is no block: the address is null, and there is no device.
class CATENA_EXPORT Memory {
 public:
  explicit Memory(std::size_t size);  // OutOfMemoryError
  std::byte* ptr() const noexcept { return block_.ptr(); }
  std::size_t size() const noexcept { return block_.size(); }
  std::optional<Device> device() const noexcept { return block_ ? std::optional(block_.device()) : std::nullopt; }
  explicit operator std::uintptr_t() const noexcept { return static_cast<std::uintptr_t>(block_); }

 private:
  friend class MemoryPointer;
  MemoryPointer block_;
};

// The flags of page-locked memory, which can be combined.
inline constexpr unsigned host_alloc_portable = 1;  // page-locked for all contexts
inline constexpr unsigned host_alloc_mapped = 2;    // readable and writable by kernels at its address
inline constexpr unsigned host_alloc_write_combined = 4;

// A block of page-locked host memory directly from the driver. RuntimeError "CUDA is unavailable: ...",
// OutOfMemoryError, CudaDriverError for unknown flags.
class CATENA_EXPORT PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t size, unsigned flags = 0);
  std::byte* ptr() const noexcept { return block_.ptr(); }
  std::size_t size() const noexcept { return block_.size(); }
  explicit operator std::uintptr_t() const noexcept { return static_cast<std::uintptr_t>(block_); }

 private:
  friend class MemoryPointer;
  MemoryPointer block_;
};
using PinnedMemoryPointer = MemoryPointer;

// A block directly from the current device, without its pool. OutOfMemoryError if there is not enough memory.
CATENA_EXPORT MemoryPointer raw_alloc(std::size_t size);
// A block on the current device from the allocator of arrays (set_allocator; by default the pool).
CATENA_EXPORT MemoryPointer alloc(std::size_t size);

// Returns the device of a CUDA pointer; cpu_device for memory that CUDA did not allocate.
CATENA_EXPORT Device device_from_pointer(const void* p);

// Page-locked host memory for all contexts, from the driver, without a pool.
CATENA_EXPORT MemoryPointer raw_alloc_pinned_memory(std::size_t size);
using PinnedAllocator = catena::Function<MemoryPointer(std::size_t size)>;

namespace internal {
class BlockPool;  // block_pool.h

// A pool above an allocator. Blocks that are not used any more are kept and reused for requests of the same rounded
// size (a multiple of 512 bytes). Blocks may outlive the pool; copies of a pool are the same pool.
class CATENA_EXPORT AllocatorPool {
 public:
  // Returns null for 0 bytes. If the allocator throws OutOfMemoryError, the free blocks are released and it is called
  // again; a second OutOfMemoryError, and every other error, is passed on.
  MemoryPointer malloc(std::size_t size) const;
  // Takes a block back although there are pointers to it; they then have 0 bytes. RuntimeError if `data` is not the
  // address of a block in use, for example because it was freed before. (MemoryPointer::free may be called twice.)
  void free(const void* data) const;
  void free_all_blocks() const;  // gives the free blocks back to the allocator
  std::size_t n_free_blocks() const;

 protected:
  // `op` begins the messages. by_stream: a block is reused only on the stream that was current when it was allocated.
  // TypeError for an empty allocator.
  AllocatorPool(const char* op, catena::Function<MemoryPointer(std::size_t size)> allocator, bool by_stream);

 private:
  struct Owner;
  catena::Shared<const Owner> owner_;
};
}  // namespace internal

// A pool of page-locked host memory above an allocator. malloc: RuntimeError "CUDA is unavailable: ...".
// Thread safety: all members may be called from any thread.
class CATENA_EXPORT PinnedMemoryPool : public internal::AllocatorPool {
 public:
  explicit PinnedMemoryPool(PinnedAllocator allocator = &raw_alloc_pinned_memory);
  MemoryPointer allocate(std::size_t size) const { return malloc(size); }
};
// The pool that alloc_pinned_memory uses by default. Copies from pageable host memory also take their staging buffers
// from it.
CATENA_EXPORT PinnedMemoryPool& pinned_memory_pool();

// A block from pinned_memory_pool(), or from the allocator that replaces it.
CATENA_EXPORT MemoryPointer alloc_pinned_memory(std::size_t size);
// Replaces the allocator of alloc_pinned_memory. Null, the default, is raw_alloc_pinned_memory, without a pool, as in
// CuPy; set_pinned_memory_allocator(pinned_memory_pool()) restores the state at the start. A pool is copied, so it
// lives as long as it is the allocator.
CATENA_EXPORT void set_pinned_memory_allocator(PinnedAllocator allocator = nullptr);
CATENA_EXPORT void set_pinned_memory_allocator(const PinnedMemoryPool& pool);

}  // namespace nd
