// Entry points for stream-ordered allocation, its pools, and managed memory.
#include <memory>
#include <utility>

#include <catena/tests/support/cuda_device/exports.h>
#include <catena/tests/support/cuda_device/graph.h>
#include <catena/tests/support/cuda_device/memory_pool.h>
#include <catena/tests/support/cuda_device/runtime.h>

using namespace cuda_device;
using namespace nd::cuda::api;

namespace {

std::byte* pointer(cu_deviceptr address) { return reinterpret_cast<std::byte*>(address); }

OperationPtr on_block(Operation::Kind kind, std::byte* data, std::size_t bytes, int device) {
  auto op = std::make_shared<Operation>();
  op->kind = kind;
  op->devices = 1u << device;
  op->to = data;
  op->bytes = bytes;
  op->value = kFresh;
  return op;
}

// The fill orders later uses of the block after its allocation.
std::byte* allocate_in_order(const PoolPtr& pool, const StreamPtr& stream, std::size_t bytes, Lock& lock) {
  require_not_capturing(*stream);
  std::byte* data = allocate_from_pool(pool, bytes);
  if (data == nullptr) {  // frees that wait on the stream may give enough
    execute_until(end_of(stream), lock);
    data = allocate_from_pool(pool, bytes);
  }
  require(data != nullptr, cu_error_out_of_memory);
  enqueue(stream, on_block(Operation::Kind::fill, data, bytes, pool->device), lock);
  return data;
}

unsigned long long read_attribute(const CUmemPoolHandle_st& pool, int attribute) {
  switch (attribute) {
    case cu_pool_release_threshold: return pool.release_threshold;
    case cu_pool_reserved_current: return pool.reserved;
    case cu_pool_reserved_high: return pool.reserved_high;
    case cu_pool_used_current: return pool.used;
    case cu_pool_used_high: return pool.used_high;
    default: throw Failure{cu_error_invalid_value};
  }
}

void require_managed(cu_deviceptr address, std::size_t bytes, cu_memory_location location) {
  const Allocation* a = find_allocation(pointer(address), bytes);
  require(a != nullptr && a->kind == Allocation::Kind::managed && bytes > 0, cu_error_invalid_value);
  require(location.type == cu_location_host || location.type == cu_location_device, cu_error_invalid_value);
  if (location.type == cu_location_device) require_device(location.id);
}

// The current pool of a device is its default pool, because nothing sets another.
void get_pool(cu_memory_pool* pool, cu_device device) {
  require(pool != nullptr, cu_error_invalid_value);
  require_device(device);
  *pool = default_pool(device).get();
}

}  // namespace

// ---- pools --------------------------------------------------------------------------------------
cu_result cuDeviceGetDefaultMemPool(cu_memory_pool* pool, cu_device device) {
  return basic_call(Entry::cuDeviceGetDefaultMemPool, [&] { get_pool(pool, device); });
}

cu_result cuDeviceGetMemPool(cu_memory_pool* pool, cu_device device) {
  return basic_call(Entry::cuDeviceGetMemPool, [&] { get_pool(pool, device); });
}

cu_result cuMemPoolCreate(cu_memory_pool* pool, const cu_memory_pool_properties* properties) {
  return basic_call(Entry::cuMemPoolCreate, [&] {
    require(pool != nullptr && properties != nullptr, cu_error_invalid_value);
    require(properties->allocation_type == cu_memory_allocation_pinned &&
                properties->location.type == cu_location_device && properties->handle_types == 0,
            cu_error_invalid_value);
    require_device(properties->location.id);
    auto made = std::make_shared<CUmemPoolHandle_st>();
    made->device = properties->location.id;
    *pool = runtime().pools.add(std::move(made));
  });
}

// Blocks in use stay valid.
cu_result cuMemPoolDestroy(cu_memory_pool pool) {
  return basic_call(Entry::cuMemPoolDestroy, [&] {
    require(pool != nullptr && !runtime().pools.find(pool)->is_default, cu_error_invalid_value);
    runtime().pools.remove(pool);
  });
}

cu_result cuMemPoolTrimTo(cu_memory_pool pool, std::size_t bytes_to_keep) {
  return basic_call(Entry::cuMemPoolTrimTo, [&] { runtime().pools.find(pool)->trim(bytes_to_keep); });
}

cu_result cuMemPoolGetAttribute(cu_memory_pool pool, int attribute, void* value) {
  return basic_call(Entry::cuMemPoolGetAttribute, [&] {
    require(value != nullptr, cu_error_invalid_value);
    *static_cast<unsigned long long*>(value) = read_attribute(*runtime().pools.find(pool), attribute);
  });
}

// The peaks can only be set to 0, which makes them the present values.
cu_result cuMemPoolSetAttribute(cu_memory_pool pool, int attribute, void* value) {
  return basic_call(Entry::cuMemPoolSetAttribute, [&] {
    require(value != nullptr, cu_error_invalid_value);
    CUmemPoolHandle_st& p = *runtime().pools.find(pool);
    const unsigned long long number = *static_cast<unsigned long long*>(value);
    if (attribute == cu_pool_release_threshold) {
      p.release_threshold = number;
      return;
    }
    require(number == 0 && (attribute == cu_pool_used_high || attribute == cu_pool_reserved_high),
            cu_error_invalid_value);
    if (attribute == cu_pool_used_high) p.used_high = p.used;
    else p.reserved_high = p.reserved;
  });
}

// ---- blocks -------------------------------------------------------------------------------------
cu_result cuMemAllocFromPoolAsync(cu_deviceptr* address, std::size_t bytes, cu_memory_pool pool, cu_stream handle) {
  return context_call(Entry::cuMemAllocFromPoolAsync, [&](CUctx_st& context, Lock& lock) {
    require(address != nullptr && bytes > 0, cu_error_invalid_value);
    const PoolPtr from = runtime().pools.find(pool);
    const StreamPtr stream = stream_of_handle(context, handle);
    *address = reinterpret_cast<cu_deviceptr>(allocate_in_order(from, stream, bytes, lock));
  });
}

cu_result cuMemFreeAsync(cu_deviceptr address, cu_stream handle) {
  return context_call(Entry::cuMemFreeAsync, [&](CUctx_st& context, Lock& lock) {
    const StreamPtr& stream = stream_of_handle(context, handle);
    const Allocation* a = find_allocation(pointer(address), 1);
    require(a != nullptr && a->data == pointer(address) && is_of_pool(a->data), cu_error_invalid_value);
    require_not_capturing(*stream);
    enqueue(stream, on_block(Operation::Kind::release, a->data, a->bytes, a->device), lock);
  });
}

// ---- managed memory -----------------------------------------------------------------------------
cu_result cuMemAllocManaged(cu_deviceptr* address, std::size_t bytes, unsigned flags) {
  return context_call(Entry::cuMemAllocManaged, [&](CUctx_st& context, Lock&) {
    require(address != nullptr && bytes > 0 && flags == cu_attach_global, cu_error_invalid_value);
    require_safe_call();
    std::byte* data = allocate_pinned(context.device, bytes, Allocation::Kind::managed);
    require(data != nullptr, cu_error_out_of_memory);
    *address = reinterpret_cast<cu_deviceptr>(data);
  });
}

// Managed memory is in one place, so that these two functions only check their arguments.
cu_result cuMemPrefetchAsync_v2(cu_deviceptr address, std::size_t bytes, cu_memory_location to, unsigned flags,
                                cu_stream handle) {
  return context_call(Entry::cuMemPrefetchAsync_v2, [&](CUctx_st& context, Lock&) {
    require(flags == 0, cu_error_invalid_value);
    require_managed(address, bytes, to);
    require_not_capturing(*stream_of_handle(context, handle));
  });
}

cu_result cuMemAdvise_v2(cu_deviceptr address, std::size_t bytes, int advice, cu_memory_location location) {
  return context_call(Entry::cuMemAdvise_v2, [&](CUctx_st&, Lock&) {
    require(advice >= cu_advise_set_read_mostly && advice <= cu_advise_unset_accessed_by, cu_error_invalid_value);
    require_managed(address, bytes, location);
  });
}
