// Memory of arrays: storages from the pool or around foreign memory, and fresh arrays over them.
//
// Thread safety: all functions may be called from any thread; set_allocator concerns the whole process.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <catena/kernels/base/array_header.h>

namespace nd {

using catena::ArrayHeader;
using catena::Device;
using catena::Dtype;
using catena::Shape;
using catena::Storage;
using catena::Strides;

// The tag of arrays made by this library.
CATENA_EXPORT const catena::ArrayOwner& array_owner() noexcept;
// The same, to register the framework's adapter in.
CATENA_EXPORT catena::ArrayOwner& mutable_array_owner() noexcept;

// Memory for `bytes` bytes on a device, one reference; null for 0 bytes. OutOfMemoryError when there is none left.
CATENA_EXPORT Storage* new_storage(std::size_t bytes, Device device);

// A storage around memory that something else owns. The deleter runs when the last array over it dies, on whatever
// thread that happens; it may be empty.
CATENA_EXPORT Storage* wrap_storage(void* data, std::size_t bytes, Device device, std::function<void()> deleter);

// Where new_storage gets memory: the pool (null, the default), each block from the device (raw_allocator()), or a
// user's. One reference, `bytes` > 0; throws when there is none left.
using Allocator = std::function<Storage*(std::size_t bytes, Device device)>;
CATENA_EXPORT void set_allocator(std::shared_ptr<const Allocator> allocator);
CATENA_EXPORT std::shared_ptr<const Allocator> get_allocator();
CATENA_EXPORT std::shared_ptr<const Allocator> raw_allocator();

class AllocatorScope {
 public:
  explicit AllocatorScope(std::shared_ptr<const Allocator> allocator) : before_(get_allocator()) {
    set_allocator(std::move(allocator));
  }
  ~AllocatorScope() { set_allocator(std::move(before_)); }
  AllocatorScope(const AllocatorScope&) = delete;
  AllocatorScope& operator=(const AllocatorScope&) = delete;

 private:
  std::shared_ptr<const Allocator> before_;
};

namespace internal {

// An uninitialised C-contiguous array with one reference. ValueError for a shape that is none.
CATENA_EXPORT ArrayHeader* new_array(const Shape& shape, Dtype dtype, Device device);

}  // namespace internal
}  // namespace nd
