#include <catena/ndarray/memory/managed_memory.h>

#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/device/runtime.h>

namespace nd::cuda {
namespace {

bool is_managed(const void* p) {
  int managed = 0;  // the driver may write a bool only
  int attribute = api::cu_pointer_is_managed;
  void* value = &managed;
  CATENA_CU(pointer_get_attributes, 1, &attribute, &value, address_of(p));
  return managed != 0;
}

// RuntimeError unless pages of the device move on demand, and the driver has the function.
void check_moves(std::string_view op, bool has_function, int device) {
  catena::check<catena::RuntimeError>(has_function, op,
                                      "the driver is older than CUDA 12.2, the first release with this function");
  catena::check<catena::RuntimeError>(device_attribute(device, api::cu_concurrent_managed_access) != 0, op,
                                      "cuda:", device, " does not move the pages of managed memory on demand");
}

api::cu_memory_location location_of(nd::Device device) {
  if (device.kind == nd::Device::Kind::cpu) return {api::cu_location_host, 0};
  return {api::cu_location_device, device.id};
}

}  // namespace

MemoryPointer malloc_managed(std::size_t size) {
  const nd::Device device = current_device();
  if (size == 0 || device.kind == nd::Device::Kind::cpu) return raw_alloc(size);
  forbid_recording("malloc_managed",
                   "because the driver cannot allocate then; take the memory from a pool, or allocate it before");
  use_device(device.id);
  catena::check<catena::RuntimeError>(device_attribute(device.id, api::cu_managed_memory) != 0, "malloc_managed",
                                      device, " has no managed memory");
  api::cu_deviceptr address = 0;
  const api::cu_result status = driver().memory_allocate_managed(&address, size, api::cu_attach_global);
  if (status == api::cu_error_out_of_memory) {
    const MemoryInfo info = memory_info(device);
    catena::fail<catena::OutOfMemoryError>("malloc_managed", "out of memory on ", device, ": requested ", size,
                                           " bytes, free on the device ", info.free_bytes, " of ", info.total_bytes);
  }
  check(status, api::DriverNames::memory_allocate_managed);
  auto* const data = reinterpret_cast<std::byte*>(address);
  const auto give_back = [data, size, device] { nd::runtime(device.kind).deallocate(device.id, data, size); };
  try {
    return MemoryPointer(wrap_storage(data, size, device, give_back));
  } catch (...) {
    give_back();
    throw;
  }
}

ManagedMemory::ManagedMemory(std::size_t size) : block_(malloc_managed(size)) {}

ManagedMemory::ManagedMemory(MemoryPointer pointer) : block_(std::move(pointer)) {
  if (!block_ || block_.device().kind == nd::Device::Kind::cpu) return;
  use_device(block_.device().id);
  catena::check<catena::ValueError>(is_managed(block_.ptr()), "ManagedMemory",
                                    "the memory is not managed: allocate it by nd::malloc_managed, or arrays after "
                                    "nd::set_allocator(nd::malloc_managed)");
}

void ManagedMemory::prefetch(const Stream& stream, std::optional<nd::Device> to) const {
  if (size() == 0 || block_.device().kind == nd::Device::Kind::cpu) return;
  catena::check<catena::ValueError>(stream.device().kind == nd::Device::Kind::cuda, "prefetch", "the stream is of ",
                                    stream.device(), ", the memory of ", block_.device());
  use_device(stream.device().id);
  check_moves("prefetch", driver().memory_prefetch != nullptr, stream.device().id);
  CATENA_CU(memory_prefetch, address_of(ptr()), size(), location_of(to.value_or(stream.device())), 0,
            stream_of(stream.ref()));
}

void ManagedMemory::advise(MemoryAdvice advice, nd::Device device) const {
  const int number = static_cast<int>(advice);
  catena::check<catena::ValueError>(
      number >= api::cu_advise_set_read_mostly && number <= api::cu_advise_unset_accessed_by, "advise", number,
      " is no MemoryAdvice");
  if (size() == 0 || block_.device().kind == nd::Device::Kind::cpu) return;
  use_device(block_.device().id);
  check_moves("advise", driver().memory_advise != nullptr, block_.device().id);
  CATENA_CU(memory_advise, address_of(ptr()), size(), number, location_of(device));
}

}  // namespace nd::cuda
