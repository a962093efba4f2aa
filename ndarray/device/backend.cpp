#include <catena/ndarray/device/backend.h>

#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/cuda/cuda_backend.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/memory_pool.h>

namespace nd {

Backend::~Backend() = default;

// For devices without host callbacks of their own: everything before has then finished.
void Backend::add_callback(StreamRef stream, void (*f)(void* context, int status, bool drop), void* context) {
  try {
    synchronize(stream);
  } catch (...) {
    f(context, 0, true);
    throw;
  }
  f(context, 0, false);
}

// Backends and pools are never destroyed: arrays in static variables may outlive everything else.
Backend& backend(Device::Kind kind) {
  if (kind == Device::Kind::cpu) {
    static Backend& cpu = *new cpu::CpuBackend;
    return cpu;
  }
  static Backend& cuda = *new cuda::CudaBackend;
  return cuda;
}

MemoryPool& memory_pool(Device::Kind kind) {
  if (kind == Device::Kind::cpu) {
    static MemoryPool& cpu = *new MemoryPool(backend(Device::Kind::cpu));
    return cpu;
  }
  static MemoryPool& cuda = *new MemoryPool(backend(Device::Kind::cuda));
  return cuda;
}

MemoryPool& memory_pool() { return memory_pool(current_device().kind); }

}  // namespace nd
