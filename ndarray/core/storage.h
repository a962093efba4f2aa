// The memory of arrays: storages from a pool or over foreign memory, and new arrays over them.
//
// Thread safety: all functions may be called from any thread; set_allocator applies to the whole process.
#pragma once

#include <cstddef>
#include <utility>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>

namespace nd {

using catena::ArrayHeader;
using catena::Device;
using catena::Dtype;
using catena::Shape;
using catena::Storage;
using catena::Strides;

// Identifies the arrays made by this library.
CATENA_EXPORT const catena::ArrayOwner& array_owner() noexcept;
// The same object, writable: the framework registers its adapter there.
CATENA_EXPORT catena::ArrayOwner& mutable_array_owner() noexcept;

// Allocates `bytes` bytes on a device. Returns one reference; null for 0 bytes. OutOfMemoryError if there is not enough
// memory.
CATENA_EXPORT Storage* new_storage(std::size_t bytes, Device device);

// Returns a storage over memory with another owner. The deleter, which may be empty, runs when the last array over the
// storage is destroyed, on the thread that destroys it.
CATENA_EXPORT Storage* wrap_storage(void* data, std::size_t bytes, Device device, catena::Function<void()> deleter);
CATENA_EXPORT bool is_wrapped(const Storage& s) noexcept;  // made by wrap_storage

// Records that an address was given out through which the memory may be written at any later time. From then on, an
// unchanged version does not imply unchanged memory.
CATENA_EXPORT void expose(Storage& s) noexcept;
CATENA_EXPORT bool is_exposed(const Storage& s) noexcept;
// Returns the number of writes, plus the number of addresses that were given out.
CATENA_EXPORT std::uint64_t version_of(const Storage& s) noexcept;

// Sets the source of new_storage's memory: pool_allocator(), which is set when the program starts, takes blocks from
// memory_pool(); raw_allocator() takes every block from the device, without a pool; others are the user's. Null is
// raw_allocator(), as CuPy's set_allocator(None). An allocator must return one reference for `bytes` > 0 and throw if
// there is not enough memory.
using Allocator = catena::Function<Storage*(std::size_t bytes, Device device)>;
CATENA_EXPORT void set_allocator(catena::Shared<const Allocator> allocator);
CATENA_EXPORT catena::Shared<const Allocator> get_allocator();  // never null
CATENA_EXPORT catena::Shared<const Allocator> pool_allocator();
CATENA_EXPORT catena::Shared<const Allocator> raw_allocator();

// While an object of this class exists, this allocator is set; then the one before it.
class AllocatorScope {
 public:
  explicit AllocatorScope(catena::Shared<const Allocator> allocator) : before_(get_allocator()) {
    set_allocator(std::move(allocator));
  }
  ~AllocatorScope() { set_allocator(std::move(before_)); }
  AllocatorScope(const AllocatorScope&) = delete;
  AllocatorScope& operator=(const AllocatorScope&) = delete;

 private:
  catena::Shared<const Allocator> before_;
};

namespace internal {

// Returns an uninitialised C-contiguous array with one reference. ValueError for an invalid shape, TypeError for a
// value of Dtype that names no dtype; messages begin with `op`.
CATENA_EXPORT ArrayHeader* new_array(const Shape& shape, Dtype dtype, Device device, std::string_view op = "array");

}  // namespace internal
}  // namespace nd
