// Entry points for memory: allocation, copies, fills.
#include <cstdint>
#include <cstring>
#include <memory>

#include <catena/tests/support/cuda_device/exports.h>
#include <catena/tests/support/cuda_device/graph.h>
#include <catena/tests/support/cuda_device/memory_pool.h>
#include <catena/tests/support/cuda_device/record.h>
#include <catena/tests/support/cuda_device/runtime.h>

using namespace cuda_device;
using namespace nd::cuda::api;

namespace {

std::byte* pointer(cu_deviceptr address) { return reinterpret_cast<std::byte*>(address); }
void require_pointer(const void* p) { require(p != nullptr, cu_error_invalid_value); }

// Returns the devices that can access the memory: its device, or all for pinned memory. Fails for pageable memory.
unsigned device_mask(const void* data, std::size_t bytes) {
  const Allocation* a = find_allocation(data, bytes);
  require(a != nullptr, cu_error_invalid_value);
  return a->kind == Allocation::Kind::device ? 1u << a->device : 0;
}

// Fails unless the memory is host memory, pinned or not.
void require_host(const void* data, std::size_t bytes) {
  require(data != nullptr && (!is_reserved(data) || (is_pinned(data) && find_allocation(data, bytes) != nullptr)),
          cu_error_invalid_value);
}

Operation copy(void* to, const void* from, std::size_t bytes, unsigned devices) {
  Operation op{};
  op.kind = Operation::Kind::copy;
  op.devices = devices;
  op.to = static_cast<std::byte*>(to);
  op.from = static_cast<const std::byte*>(from);
  op.bytes = bytes;
  return op;
}

// Copies on the legacy stream and waits for completion.
void copy_now(Entry entry, CUctx_st& context, const Operation& op, Lock& lock) {
  require_safe_call();
  record_synchronisation(entry);
  const StreamPtr& stream = context.streams.front();
  enqueue(stream, std::make_shared<Operation>(op), lock);
  wait_for(end_of(stream), lock);
}

}  // namespace

cu_result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return context_call(Entry::cuMemGetInfo_v2, [&](CUctx_st& context, Lock&) {
    require(free != nullptr && total != nullptr, cu_error_invalid_value);
    const MemoryUse use = memory_use(context.device);
    *free = use.total > use.used ? use.total - use.used : 0;
    *total = use.total;
  });
}

cu_result cuMemAlloc_v2(cu_deviceptr* address, std::size_t bytes) {
  return context_call(Entry::cuMemAlloc_v2, [&](CUctx_st& context, Lock&) {
    require(address != nullptr && bytes > 0, cu_error_invalid_value);
    require_safe_call();
    std::byte* data = allocate_device(context.device, bytes);
    require(data != nullptr, cu_error_out_of_memory);
    *address = reinterpret_cast<cu_deviceptr>(data);
  });
}

// Waits for the device, as the real driver does.
cu_result cuMemFree_v2(cu_deviceptr address) {
  return context_call(Entry::cuMemFree_v2, [&](CUctx_st&, Lock& lock) {
    const Allocation* a = find_allocation(pointer(address), 1);
    require(a != nullptr && a->data == pointer(address) &&
                (a->kind == Allocation::Kind::device || a->kind == Allocation::Kind::managed),
            cu_error_invalid_value);
    require_safe_call();
    record_synchronisation(Entry::cuMemFree_v2);
    const Allocation::Kind kind = a->kind;  // the wait may release the lock, and another thread may free the memory
    wait_for_all(runtime().contexts[static_cast<std::size_t>(a->device)], lock);
    leave_pool(pointer(address));
    require(free_memory(pointer(address), kind), cu_error_invalid_value);
  });
}

cu_result cuMemHostAlloc(void** data, std::size_t bytes, unsigned flags) {
  return context_call(Entry::cuMemHostAlloc, [&](CUctx_st& context, Lock&) {
    require(data != nullptr && bytes > 0 && flags <= 7, cu_error_invalid_value);
    require_safe_call();
    std::byte* memory = allocate_pinned(context.device, bytes);
    require(memory != nullptr, cu_error_out_of_memory);
    *data = memory;
  });
}

cu_result cuMemFreeHost(void* data) {
  return context_call(Entry::cuMemFreeHost, [&](CUctx_st&, Lock& lock) {
    const Allocation* a = is_pinned(data) ? find_allocation(data, 1) : nullptr;
    require(a != nullptr && a->data == data, cu_error_invalid_value);
    require_safe_call();
    record_synchronisation(Entry::cuMemFreeHost);
    for (CUctx_st& context : runtime().contexts) wait_for_all(context, lock);
    require(free_memory(data, Allocation::Kind::pinned), cu_error_invalid_value);
  });
}

// Also succeeds for an unknown address: the type of its memory is 0, its device -2.
cu_result cuPointerGetAttributes(unsigned count, int* attributes, void** values, cu_deviceptr address) {
  return context_call(Entry::cuPointerGetAttributes, [&](CUctx_st&, Lock&) {
    require_pointer(attributes);
    require_pointer(values);
    const Allocation* a = find_allocation(pointer(address), 1);
    for (unsigned k = 0; k < count; ++k) switch (attributes[k]) {
        case cu_pointer_memory_type:
          *static_cast<unsigned*>(values[k]) = a == nullptr                          ? 0
                                               : a->kind == Allocation::Kind::pinned ? cu_memory_host
                                                                                     : cu_memory_device;
          break;
        case cu_pointer_is_managed:
          *static_cast<int*>(values[k]) = a != nullptr && a->kind == Allocation::Kind::managed;
          break;
        case cu_pointer_device_ordinal: *static_cast<int*>(values[k]) = a == nullptr ? -2 : a->device; break;
        default: throw Failure{cu_error_invalid_value};
      }
  });
}

cu_result cuMemcpyHtoD_v2(cu_deviceptr to, const void* from, std::size_t bytes) {
  return context_call(Entry::cuMemcpyHtoD_v2, [&](CUctx_st& context, Lock& lock) {
    if (bytes == 0) return;
    require_host(from, bytes);
    copy_now(Entry::cuMemcpyHtoD_v2, context, copy(pointer(to), from, bytes, device_mask(pointer(to), bytes)), lock);
  });
}

cu_result cuMemcpyDtoH_v2(void* to, cu_deviceptr from, std::size_t bytes) {
  return context_call(Entry::cuMemcpyDtoH_v2, [&](CUctx_st& context, Lock& lock) {
    if (bytes == 0) return;
    require_host(to, bytes);
    copy_now(Entry::cuMemcpyDtoH_v2, context, copy(to, pointer(from), bytes, device_mask(pointer(from), bytes)), lock);
  });
}

// Pageable memory is read during the call, pinned memory when the copy is executed; in a graph, the launch reads both.
cu_result cuMemcpyHtoDAsync_v2(cu_deviceptr to, const void* from, std::size_t bytes, cu_stream handle) {
  return context_call(Entry::cuMemcpyHtoDAsync_v2, [&](CUctx_st& context, Lock& lock) {
    const StreamPtr& stream = stream_of_handle(context, handle);
    if (bytes == 0) return;
    require_host(from, bytes);
    auto op = std::make_shared<Operation>(copy(pointer(to), from, bytes, device_mask(pointer(to), bytes)));
    if (!is_pinned(from) && stream->capture == nullptr) {
      op->staged.assign(op->from, op->from + bytes);
      op->from = op->staged.data();
    }
    enqueue(stream, std::move(op), lock);
  });
}

// Pageable memory is written before the call returns, pinned memory when the copy is executed.
cu_result cuMemcpyDtoHAsync_v2(void* to, cu_deviceptr from, std::size_t bytes, cu_stream handle) {
  return context_call(Entry::cuMemcpyDtoHAsync_v2, [&](CUctx_st& context, Lock& lock) {
    const StreamPtr& stream = stream_of_handle(context, handle);
    if (bytes == 0) return;
    require_host(to, bytes);
    enqueue(stream, std::make_shared<Operation>(copy(to, pointer(from), bytes, device_mask(pointer(from), bytes))),
            lock);
    if (is_pinned(to) || stream->capture != nullptr) return;
    record_synchronisation(Entry::cuMemcpyDtoHAsync_v2);
    wait_for(end_of(stream), lock);
  });
}

cu_result cuMemcpyDtoDAsync_v2(cu_deviceptr to, cu_deviceptr from, std::size_t bytes, cu_stream handle) {
  return context_call(Entry::cuMemcpyDtoDAsync_v2, [&](CUctx_st& context, Lock& lock) {
    const StreamPtr& stream = stream_of_handle(context, handle);
    if (bytes == 0) return;
    const unsigned devices = device_mask(pointer(to), bytes) | device_mask(pointer(from), bytes);
    enqueue(stream, std::make_shared<Operation>(copy(pointer(to), pointer(from), bytes, devices)), lock);
  });
}

cu_result cuMemcpyPeerAsync(cu_deviceptr to, cu_context to_context, cu_deviceptr from, cu_context from_context,
                            std::size_t bytes, cu_stream handle) {
  return context_call(Entry::cuMemcpyPeerAsync, [&](CUctx_st& context, Lock& lock) {
    const StreamPtr& stream = stream_of_handle(context, handle);
    const CUctx_st &to_device = context_of_handle(to_context), &from_device = context_of_handle(from_context);
    if (bytes == 0) return;
    const unsigned to_mask = device_mask(pointer(to), bytes), from_mask = device_mask(pointer(from), bytes);
    require(to_mask == 1u << to_device.device && from_mask == 1u << from_device.device, cu_error_invalid_value);
    enqueue(stream, std::make_shared<Operation>(copy(pointer(to), pointer(from), bytes, to_mask | from_mask)), lock);
  });
}

cu_result cuMemsetD8Async(cu_deviceptr to, unsigned char value, std::size_t bytes, cu_stream handle) {
  return context_call(Entry::cuMemsetD8Async, [&](CUctx_st& context, Lock& lock) {
    const StreamPtr& stream = stream_of_handle(context, handle);
    if (bytes == 0) return;
    auto op = std::make_shared<Operation>();
    op->kind = Operation::Kind::fill;
    op->devices = device_mask(pointer(to), bytes);
    op->to = pointer(to);
    op->bytes = bytes;
    op->value = value;
    enqueue(stream, std::move(op), lock);
  });
}
