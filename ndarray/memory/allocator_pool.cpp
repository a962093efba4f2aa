#include <catena/ndarray/memory/allocator_pool.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/warning.h>
#include <catena/ndarray/core/dtype.h>

namespace nd::cuda {

// ---- one device ---------------------------------------------------------------------------------
SingleDeviceMemoryPool::SingleDeviceMemoryPool(MemoryAllocator allocator)
    : AllocatorPool("MemoryPool", std::move(allocator), true) {}

void SingleDeviceMemoryPool::free_all_free() const {
  catena::warn("DeprecationWarning", "MemoryPool.free_all_free is deprecated. Use free_all_blocks instead.");
  free_all_blocks();
}

// ---- all devices --------------------------------------------------------------------------------
struct MemoryPool::Pools {
  explicit Pools(MemoryAllocator a) : allocator(std::move(a)) {}
  MemoryAllocator allocator;
  std::mutex mutex;
  std::map<std::pair<nd::Device::Kind, int>, SingleDeviceMemoryPool> of_device;  // never erased
};

MemoryPool::MemoryPool(MemoryAllocator allocator) : pools_(catena::Shared<Pools>::make(std::move(allocator))) {
  catena::check<TypeError>(pools_->allocator != nullptr, "MemoryPool", "the allocator is empty");
}

SingleDeviceMemoryPool& MemoryPool::current() const {
  const nd::Device device = current_device();
  const std::lock_guard lock(pools_->mutex);
  const auto key = std::make_pair(device.kind, int(device.id));
  const auto found = pools_->of_device.find(key);
  if (found != pools_->of_device.end()) return found->second;
  return pools_->of_device.emplace(key, SingleDeviceMemoryPool(pools_->allocator)).first->second;
}

MemoryPointer MemoryPool::malloc(std::size_t size) const { return current().malloc(size); }
void MemoryPool::free(const void* data) const { current().free(data); }
void MemoryPool::free_all_blocks() const { current().free_all_blocks(); }
void MemoryPool::free_all_free() const { current().free_all_free(); }
std::size_t MemoryPool::n_free_blocks() const { return current().n_free_blocks(); }

// ---- the allocator of arrays --------------------------------------------------------------------
namespace {

// Returns one reference to a storage of `bytes` bytes over memory of the allocator.
Storage* storage_of(const MemoryAllocator& allocator, std::size_t bytes, nd::Device device) {
  const DeviceScope on(device);
  MemoryPointer p = allocator(bytes);
  catena::check<ValueError>(p.size() >= bytes && p.device() == device, "set_allocator", "the allocator was asked for ",
                            bytes, " bytes on ", device, " and gave ", p.size(), " bytes on ", p.device());
  const bool whole = p.ptr() == p.mem()->data;
  if (whole) {
    catena::retain(p.mem());
    return p.mem();
  }
  std::byte* const data = p.ptr();
  return wrap_storage(data, bytes, device, [p = std::move(p)]() mutable { p = {}; });
}

}  // namespace

void set_allocator(MemoryAllocator allocator) {
  if (allocator == nullptr) return nd::set_allocator(raw_allocator());
  nd::set_allocator(
      catena::Shared<const Allocator>::make([allocator = std::move(allocator)](std::size_t bytes, nd::Device device) {
        return storage_of(allocator, bytes, device);
      }));
}

}  // namespace nd::cuda
