#include <catena/ndarray/memory/async_pool.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/core/dtype.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/staging.h>
#include <catena/ndarray/memory/async_block.h>
#include <catena/ndarray/memory/memory_pool.h>

namespace nd {
namespace {

constexpr std::string_view kName = "MemoryAsyncPool";

// A pool of the driver for one device.
struct DriverPool {
  int device = 0;
  cuda::api::cu_memory_pool handle = nullptr;
  bool owned = false;

  DriverPool(int d, cuda::api::cu_memory_pool h, bool o) : device(d), handle(h), owned(o) {}
  DriverPool(const DriverPool&) = delete;
  DriverPool& operator=(const DriverPool&) = delete;
  // The driver returns the memory after the frees that are still enqueued.
  ~DriverPool() {
    if (!owned || !cuda::is_healthy(device)) return;
    if (cuda::driver().context_set_current(cuda::primary_context(device)) == cuda::api::cu_success)
      cuda::driver().memory_pool_destroy(handle);
  }
  std::size_t get(int attribute) const {
    cuda::use_device(device);
    unsigned long long value = 0;
    CATENA_CU(memory_pool_get_attribute, handle, attribute, &value);
    return static_cast<std::size_t>(value);
  }
  void set(int attribute, std::size_t bytes) const {
    cuda::use_device(device);
    unsigned long long value = bytes;
    CATENA_CU(memory_pool_set_attribute, handle, attribute, &value);
  }
};

struct AsyncBlock : Storage {
  catena::Shared<DriverPool> pool;
  StreamRef stream;                // the stream of its allocation and of its free
  std::vector<StreamRef> used_on;  // other streams; guarded by uses_mutex
};
std::mutex uses_mutex;

// Enqueues the free after the work of all streams that used the block.
void free_in_order(const AsyncBlock& b) {
  cuda::use_device(b.device.id);
  for (const StreamRef& other : b.used_on) {
    const cuda::PooledEvent reached = cuda::pooled_event(b.device.id);
    CATENA_CU(event_record, reached.get(), cuda::stream_of(other));
    CATENA_CU(stream_wait_event, cuda::stream_of(b.stream), reached.get(), 0);
  }
  CATENA_CU(memory_free_async, cuda::address_of(b.data), cuda::stream_of(b.stream));
}

// A destructor cannot report an error: it would be of earlier work, which the next call reports.
void destroy_block(Storage* storage) {
  const std::unique_ptr<AsyncBlock> b(static_cast<AsyncBlock*>(storage));
  if (!cuda::is_healthy(b->device.id)) return;
  try {
    free_in_order(*b);
  } catch (const catena::Error&) {}
}

catena::Shared<DriverPool> open_pool(int device, const cuda::MemoryAsyncPoolOptions& options) {
  cuda::use_device(device);
  cuda::api::cu_device number = 0;
  CATENA_CU(device_get, &number, device);
  const bool is_supported = cuda::device_attribute(device, cuda::api::cu_memory_pools_supported) != 0;
  catena::check<catena::RuntimeError>(is_supported, kName, "cuda:", device,
                                      " has no stream-ordered allocation; nd::memory_pool() serves every device");
  cuda::api::cu_memory_pool handle = nullptr;
  switch (options.pool_handles) {
    case cuda::PoolHandles::current: CATENA_CU(device_get_memory_pool, &handle, number); break;
    case cuda::PoolHandles::device_default: CATENA_CU(device_get_default_memory_pool, &handle, number); break;
    case cuda::PoolHandles::create: {
      cuda::api::cu_memory_pool_properties properties;
      properties.allocation_type = cuda::api::cu_memory_allocation_pinned;
      properties.location = {cuda::api::cu_location_device, number};
      CATENA_CU(memory_pool_create, &handle, &properties);
    }
  }
  auto pool = catena::Shared<DriverPool>::make(device, handle, options.pool_handles == cuda::PoolHandles::create);
  if (options.release_threshold) pool->set(cuda::api::cu_pool_release_threshold, *options.release_threshold);
  return pool;
}

[[noreturn]] void fail_out_of_memory(const DriverPool& pool, std::size_t size) {
  std::size_t free = 0, total = 0;
  CATENA_CU(memory_get_info, &free, &total);
  const std::size_t used = pool.get(cuda::api::cu_pool_used_current);  // first, because another thread may free
  const std::size_t reserved = std::max(pool.get(cuda::api::cu_pool_reserved_current), used);
  catena::fail<catena::OutOfMemoryError>(kName, "out of memory on cuda:", pool.device, ": requested ", size,
                                         " bytes, used ", used, ", pooled ", reserved - used, ", free on the device ",
                                         free, " of ", total);
}

cuda::api::cu_deviceptr allocate(const DriverPool& pool, std::size_t size, StreamRef stream) {
  cuda::api::cu_deviceptr address = 0;
  for (const bool last : {false, true}) {
    cuda::use_device(pool.device);
    const cuda::api::cu_result status =
        cuda::driver().memory_allocate_from_pool(&address, size, pool.handle, cuda::stream_of(stream));
    if (status == cuda::api::cu_success) break;
    if (status != cuda::api::cu_error_out_of_memory)
      cuda::check(status, cuda::api::DriverNames::memory_allocate_from_pool);
    if (last) fail_out_of_memory(pool, size);
    memory_pool(Device::Kind::cuda).free_all_blocks(pool.device);
  }
  return address;
}

MemoryPointer new_block(const catena::Shared<DriverPool>& pool, std::size_t size, StreamRef stream) {
  auto block = std::make_unique<AsyncBlock>();
  block->pool = pool;
  block->stream = stream;
  block->device = stream.device;
  block->bytes = size;
  block->destroy = &destroy_block;
  block->data = reinterpret_cast<std::byte*>(allocate(*pool, size, stream));
  return MemoryPointer(block.release());
}

bool on_cuda() { return current_device().kind == Device::Kind::cuda; }

}  // namespace

void internal::record_async_use(Storage& storage, StreamRef stream) {
  if (storage.destroy != &destroy_block) return;
  auto& block = static_cast<AsyncBlock&>(storage);
  if (stream == block.stream || stream.device != block.device) return;
  const std::lock_guard lock(uses_mutex);
  if (std::find(block.used_on.begin(), block.used_on.end(), stream) == block.used_on.end())
    block.used_on.push_back(stream);
}

namespace cuda {

struct MemoryAsyncPool::Pools {
  explicit Pools(const MemoryAsyncPoolOptions& o) : options(o) {}
  const MemoryAsyncPoolOptions options;
  std::mutex mutex;
  std::map<int, catena::Shared<DriverPool>> of_device;

  catena::Shared<DriverPool> current() {
    const int device = current_device().id;
    const std::lock_guard lock(mutex);
    const auto found = of_device.find(device);
    if (found != of_device.end()) return found->second;
    return of_device.emplace(device, open_pool(device, options)).first->second;
  }
};

MemoryAsyncPool::MemoryAsyncPool(const MemoryAsyncPoolOptions& options)
    : pools_(catena::Shared<Pools>::make(options)) {}

MemoryPointer MemoryAsyncPool::malloc(std::size_t size) const {
  if (size == 0) return {};
  if (!on_cuda() || is_recording()) return nd::memory_pool().malloc(size);
  return new_block(pools_->current(), size, current_stream(current_device()));
}

void MemoryAsyncPool::free_all_blocks() const {
  if (!on_cuda()) return nd::memory_pool().free_all_blocks();
  const catena::Shared<DriverPool> pool = pools_->current();
  use_device(pool->device);
  CATENA_CU(memory_pool_trim_to, pool->handle, 0);
}

std::size_t MemoryAsyncPool::used_bytes() const {
  return on_cuda() ? pools_->current()->get(api::cu_pool_used_current) : nd::memory_pool().used_bytes();
}
std::size_t MemoryAsyncPool::total_bytes() const {
  return on_cuda() ? pools_->current()->get(api::cu_pool_reserved_current) : nd::memory_pool().total_bytes();
}
std::size_t MemoryAsyncPool::free_bytes() const {
  const std::size_t used = used_bytes();  // first, because another thread may free in between
  return std::max(total_bytes(), used) - used;
}
std::size_t MemoryAsyncPool::peak_used_bytes() const {
  return on_cuda() ? pools_->current()->get(api::cu_pool_used_high) : nd::memory_pool().statistics().peak_used_bytes;
}
std::size_t MemoryAsyncPool::peak_total_bytes() const {
  return on_cuda() ? pools_->current()->get(api::cu_pool_reserved_high)
                   : nd::memory_pool().statistics().peak_total_bytes;
}
void MemoryAsyncPool::reset_peaks() const {
  if (!on_cuda()) return nd::memory_pool().reset_peaks();
  for (const int peak : {api::cu_pool_used_high, api::cu_pool_reserved_high}) pools_->current()->set(peak, 0);
}

std::size_t MemoryAsyncPool::release_threshold() const {
  return on_cuda() ? pools_->current()->get(api::cu_pool_release_threshold) : 0;
}
void MemoryAsyncPool::set_release_threshold(std::size_t bytes) const {
  if (on_cuda()) pools_->current()->set(api::cu_pool_release_threshold, bytes);
}

MemoryPointer malloc_async(std::size_t size) {
  // Never destroyed, because arrays in static variables may be freed later.
  static const auto& pool = *new MemoryAsyncPool;
  return pool.malloc(size);
}

}  // namespace cuda
}  // namespace nd
