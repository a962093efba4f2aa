// Creates the backends, one per kind of device, and the memory pools. The only file that depends on all of them.
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/cuda/cuda_backend.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/device/text_kernels.h>
#include <catena/ndarray/memory/memory_pool.h>

namespace nd {

Runtime::~Runtime() = default;
Executor::~Executor() = default;
TextKernels::~TextKernels() = default;

// Default implementations, for devices without growing memory and host callbacks. add_callback waits for all earlier
// work, then calls the function.
std::byte* Runtime::grow(int, std::byte*, std::size_t) { return nullptr; }
void Runtime::shrink(int, std::byte*, std::size_t) noexcept {}

void Runtime::synchronize_device(int device) { synchronize({{kind(), static_cast<std::int16_t>(device)}, nullptr}); }

StreamProperties Runtime::stream_properties(StreamRef) const { return {}; }
StreamPriorities Runtime::stream_priorities(int) const { return {}; }

void Runtime::add_callback(StreamRef stream, void (*f)(void* context, int status, bool drop), void* context) {
  try {
    synchronize(stream);
  } catch (...) {
    f(context, 0, true);
    throw;
  }
  f(context, 0, false);
}

// Backends and pools are never destroyed, because arrays in static variables may be destroyed after them.
namespace {

cpu::CpuBackend& cpu_backend() {
  static cpu::CpuBackend& one = *new cpu::CpuBackend;
  return one;
}
cuda::CudaBackend& cuda_backend() {
  static cuda::CudaBackend& one = *new cuda::CudaBackend;
  return one;
}

}  // namespace

Runtime& runtime(Device::Kind kind) {
  if (kind == Device::Kind::cpu) return cpu_backend();
  return cuda_backend();
}

Executor& executor(Device::Kind kind) {
  if (kind == Device::Kind::cpu) return cpu_backend();
  return cuda_backend();
}

TextKernels& text_kernels(Device::Kind kind) {
  TextKernels* kernels = executor(kind).text_kernels();
  if (kernels == nullptr)
    catena::fail<catena::NotImplementedError>("kernels given as text", "there is no compiler for ", Device{kind, 0});
  return *kernels;
}

MemoryPool& memory_pool(Device::Kind kind) {
  if (kind == Device::Kind::cpu) {
    static MemoryPool& cpu = *new MemoryPool(runtime(Device::Kind::cpu));
    return cpu;
  }
  static MemoryPool& cuda = *new MemoryPool(runtime(Device::Kind::cuda));
  return cuda;
}

MemoryPool& memory_pool() { return memory_pool(current_device().kind); }

}  // namespace nd
