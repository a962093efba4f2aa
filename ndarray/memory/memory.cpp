#include <catena/ndarray/memory/memory.h>

#include <atomic>
#include <memory>
#include <mutex>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/program.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/memory/block_pool.h>
#include <catena/ndarray/memory/memory_pool.h>

namespace nd {
namespace {

// Enqueues the copy on the device that is not the host.
void copy(std::byte* to, Device to_device, const std::byte* from, Device from_device, std::size_t bytes,
          StreamRef stream) {
  const Device worker = to_device.kind == Device::Kind::cpu ? from_device : to_device;
  catena::check<catena::ValueError>(stream.device == to_device || stream.device == from_device, "memory copy",
                                    "the stream belongs to ", stream.device, ", the memory to ", from_device, " and ",
                                    to_device);
  runtime(worker.kind).copy(to, to_device, from, from_device, bytes, stream);
}

void used(const MemoryPointer& p, StreamRef stream) {
  if (p.mem() != nullptr && p.device() == stream.device) MemoryPool::record_stream(*p.mem(), stream);
}

std::mutex pinned_mutex;
catena::Shared<const PinnedAllocator>& pinned_allocator() {
  static auto& slot = *new catena::Shared<const PinnedAllocator>;
  return slot;
}

}  // namespace

void MemoryPointer::check_inside(std::string_view op, std::size_t bytes) const {
  catena::check<catena::ValueError>(
      storage_ != nullptr && offset_ >= 0 && static_cast<std::size_t>(offset_) <= storage_->bytes &&
          bytes <= storage_->bytes - static_cast<std::size_t>(offset_),
      op, bytes, " bytes at offset ", offset_, " leave a block of ", storage_ ? storage_->bytes : 0, " bytes");
}

void MemoryPointer::copy_from_async(const MemoryPointer& source, std::size_t bytes, const Stream& stream) const {
  if (bytes == 0) return;
  check_inside("copy_from", bytes);
  source.check_inside("copy_from", bytes);
  copy(ptr(), device(), source.ptr(), source.device(), bytes, stream.ref());
  used(*this, stream.ref());
  used(source, stream.ref());
  storage_->version.fetch_add(1, catena::MemoryOrder::relaxed);
}

void MemoryPointer::copy_from_async(const void* host, std::size_t bytes, const Stream& stream) const {
  if (bytes == 0) return;
  check_inside("copy_from_host", bytes);
  copy(ptr(), device(), static_cast<const std::byte*>(host), cpu_device, bytes, stream.ref());
  used(*this, stream.ref());
  storage_->version.fetch_add(1, catena::MemoryOrder::relaxed);
}

void MemoryPointer::copy_to_host_async(void* host, std::size_t bytes, const Stream& stream) const {
  if (bytes == 0) return;
  check_inside("copy_to_host", bytes);
  copy(static_cast<std::byte*>(host), cpu_device, ptr(), device(), bytes, stream.ref());
  used(*this, stream.ref());
}

void MemoryPointer::memset_async(unsigned char value, std::size_t bytes, const Stream& stream) const {
  if (bytes == 0) return;
  check_inside("memset", bytes);
  catena::check<catena::ValueError>(stream.device() == device(), "memset", "the stream belongs to ", stream.device(),
                                    ", the memory to ", device());
  const catena::KernelDef& fill = catena::kernels::copy;
  const int loop = catena::choose_loop_by_output(fill, Dtype::uint8);
  const Shape shape{static_cast<std::int64_t>(bytes)};
  const Strides fixed{0}, contiguous{1};
  const catena::ScalarCell cell(catena::Scalar(int(value)), Dtype::uint8);
  const catena::BoundOperand operands[] = {{const_cast<std::byte*>(cell.bytes), Dtype::uint8, true, &shape, &fixed},
                                           {ptr(), Dtype::uint8, false, &shape, &contiguous}};
  const catena::EagerProgram program(fill, loop);
  executor(device().kind).execute(catena::bound::Elementwise{&program, operands, &shape}, stream.ref());
  used(*this, stream.ref());
  storage_->version.fetch_add(1, catena::MemoryOrder::relaxed);
}

void MemoryPointer::copy_from(const MemoryPointer& source, std::size_t bytes) const {
  const Stream stream = Stream::null_stream(device().kind == Device::Kind::cpu ? source.device() : device());
  copy_from_async(source, bytes, stream);
  if (bytes > 0) stream.synchronize();
}
void MemoryPointer::copy_from(const void* host, std::size_t bytes) const {
  const Stream stream = Stream::null_stream(device());
  copy_from_async(host, bytes, stream);
  if (bytes > 0) stream.synchronize();
}
void MemoryPointer::copy_to_host(void* host, std::size_t bytes) const {
  const Stream stream = Stream::null_stream(device());
  copy_to_host_async(host, bytes, stream);
  if (bytes > 0) stream.synchronize();
}
void MemoryPointer::memset(unsigned char value, std::size_t bytes) const {
  const Stream stream = Stream::null_stream(device());
  memset_async(value, bytes, stream);
  if (bytes > 0) stream.synchronize();
}

MemoryPointer raw_alloc(std::size_t size) {
  if (size == 0) return {};
  return MemoryPointer((*raw_allocator())(size, current_device()));
}

MemoryPointer MemoryPool::malloc(std::size_t bytes) {
  const Device device = current_device();
  catena::check<catena::ValueError>(device.kind == backend().kind(), "malloc", "the current device is ", device,
                                    ", which is none of the pool's");
  return MemoryPointer(allocate(bytes, device.id, current_stream(device).handle));
}

MemoryPointer alloc(std::size_t size) { return MemoryPointer(new_storage(size, current_device())); }

namespace {

// The driver requires a current context even for memory that all contexts can use.
int some_device() { return current_device().kind == Device::Kind::cuda ? current_device().id : 0; }
void use_some_device() { cuda::use_device(some_device()); }

}  // namespace

Device device_from_pointer(const void* p) {
  if (!is_available(Device::Kind::cuda)) return cpu_device;
  use_some_device();
  const cuda::PointerInfo info = cuda::pointer_info(p);
  if (info.type != cuda::api::cu_memory_device) return cpu_device;
  return {Device::Kind::cuda, static_cast<std::int16_t>(info.device)};
}

namespace {

// Allocates page-locked memory from the driver; the deleter of the block frees it.
MemoryPointer allocate_pinned(std::size_t size, unsigned flags) {
  if (size == 0) return {};
  use_some_device();
  void* data = nullptr;
  const cuda::api::cu_result status = cuda::driver().host_allocate(&data, size, flags);
  catena::check<catena::OutOfMemoryError>(status != cuda::api::cu_error_out_of_memory, "pinned memory",
                                          "there is none left for ", size, " bytes");
  cuda::check(status, cuda::api::DriverNames::host_allocate);
  const auto give_back = [data] {
    if (!cuda::is_healthy(some_device())) return;
    use_some_device();
    CATENA_CU(host_free, data);
  };
  try {
    return MemoryPointer(wrap_storage(data, size, cpu_device, give_back));
  } catch (...) {
    give_back();
    throw;
  }
}

}  // namespace

Memory::Memory(std::size_t size) : block_(raw_alloc(size)) {}
PinnedMemory::PinnedMemory(std::size_t size, unsigned flags) : block_(allocate_pinned(size, flags)) {}
MemoryPointer raw_alloc_pinned_memory(std::size_t size) { return allocate_pinned(size, host_alloc_portable); }

MemoryPointer::MemoryPointer(const Memory& mem, std::ptrdiff_t offset) : MemoryPointer(mem.block_ + offset) {}
MemoryPointer::MemoryPointer(const PinnedMemory& mem, std::ptrdiff_t offset) : MemoryPointer(mem.block_ + offset) {}

void MemoryPointer::free() const {
  catena::check<catena::RuntimeError>(storage_ != nullptr && internal::BlockPool::free_block(*storage_), "free",
                                      "the memory is no block of a MemoryPool or PinnedMemoryPool");
}

// ---- pools of pinned memory ---------------------------------------------------------------------
PinnedMemoryPool::PinnedMemoryPool(PinnedAllocator allocator)
    : AllocatorPool("PinnedMemoryPool", std::move(allocator), false) {}

PinnedMemoryPool& pinned_memory_pool() {
  // Never destroyed, because arrays in static variables may be.
  static auto& pool = *new PinnedMemoryPool;
  return pool;
}

MemoryPointer alloc_pinned_memory(std::size_t size) {
  catena::Shared<const PinnedAllocator> allocator;
  {
    const std::lock_guard lock(pinned_mutex);
    allocator = pinned_allocator();
  }
  return allocator ? (*allocator)(size) : pinned_memory_pool().allocate(size);
}

void set_pinned_memory_allocator(PinnedAllocator allocator) {
  if (allocator == nullptr) allocator = &raw_alloc_pinned_memory;
  const std::lock_guard lock(pinned_mutex);
  pinned_allocator() = catena::Shared<const PinnedAllocator>::make(std::move(allocator));
}
void set_pinned_memory_allocator(const PinnedMemoryPool& pool) {
  set_pinned_memory_allocator([pool](std::size_t size) { return pool.allocate(size); });
}

}  // namespace nd
