// Managed memory: one address for the host and for all GPUs, whose pages move to where they are used
// (cudaMallocManaged), with CuPy's names.
//
//   nd::set_allocator(nd::malloc_managed);                              // arrays from now on, without a pool
//   nd::set_allocator(nd::cuda::MemoryPool(nd::malloc_managed));        // with one
//   nd::ManagedMemory(a.data()).prefetch(stream);                       // to the device before it is needed
//
// Arrays may then be larger than the memory of a GPU. Such an array is on its CUDA device as every other one; the host
// may also read and write it through a.data().ptr(), after it has waited for the work of the device.
//
// On the CPU the memory is ordinary memory of the host, and prefetch and advise do nothing.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <optional>

#include <catena/ndarray/memory/memory.h>

namespace nd::cuda {

// Advice to the driver about managed memory (CUmem_advise).
enum class MemoryAdvice {
  set_read_mostly = 1,  // each device that reads gets a copy; the device of the advice is ignored
  unset_read_mostly,
  set_preferred_location,  // where the pages stay if they can
  unset_preferred_location,
  set_accessed_by,  // the device reads and writes without moving the pages
  unset_accessed_by
};

// A block of managed memory.
class CATENA_EXPORT ManagedMemory {
 public:
  // Allocates on the current device, without a pool; null for size 0. Errors of malloc_managed.
  explicit ManagedMemory(std::size_t size);
  // The memory from a pointer to the end of its block. ValueError for memory of CUDA that is not managed.
  explicit ManagedMemory(MemoryPointer pointer);

  std::byte* ptr() const noexcept { return block_.ptr(); }  // of the host and of the device
  std::size_t size() const noexcept { return block_.size(); }
  std::optional<nd::Device> device() const noexcept { return block_ ? std::optional(block_.device()) : std::nullopt; }
  operator MemoryPointer() const { return block_; }

  // Enqueues a move of the pages to `to`, which may be nd::cpu_device; by default to the device of the stream.
  // RuntimeError for a driver before CUDA 12.2 and for a device that does not move pages on demand.
  void prefetch(const Stream& stream, std::optional<nd::Device> to = {}) const;
  // Errors as above; ValueError for a number that is no advice.
  void advise(MemoryAdvice advice, nd::Device device = current_device()) const;

 private:
  MemoryPointer block_;
};

// A block of managed memory, for set_allocator and as the allocator of a MemoryPool. Null for 0 bytes.
// OutOfMemoryError; RuntimeError for a device without managed memory, and while a CUDA graph is captured: take the
// memory from a pool then, or allocate it before.
CATENA_EXPORT MemoryPointer malloc_managed(std::size_t size);

}  // namespace nd::cuda

namespace nd {
using cuda::malloc_managed;
using cuda::ManagedMemory;
using cuda::MemoryAdvice;
}  // namespace nd
