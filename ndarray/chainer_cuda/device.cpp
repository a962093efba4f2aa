#include <catena/ndarray/chainer_cuda/device.h>

#include <limits>
#include <ostream>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/warning.h>
#include <catena/ndarray/core/dtype.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/cuda/vendor/handles.h>

namespace nd::cuda {

using catena::check;

Device::Device() : Device(current_device()) {}
Device::Device(Number, std::int64_t number) : id(static_cast<int>(number)) {
  check<ValueError>(number >= 0 && number <= std::numeric_limits<std::int16_t>::max(), "Device", number,
                    " is not the number of a device; DummyDevice is the CPU");
}

Device::operator nd::Device() const noexcept {
  return is_dummy() ? cpu_device : nd::Device{nd::Device::Kind::cuda, static_cast<std::int16_t>(id)};
}

void Device::use() const {
  if (!is_dummy()) set_current_device(*this);
}
void Device::synchronize() const {
  if (!is_dummy()) nd::synchronize(*this);
}
std::string Device::compute_capability() const { return nd::properties(*this).compute_capability(); }

cublasContext* Device::cublas_handle() const {
  check<RuntimeError>(!is_dummy(), "cublas_handle", "the CPU has no cuBLAS");
  return cublas_handle_of(id);
}
cusolverDnContext* Device::cusolver_handle() const {
  check<RuntimeError>(!is_dummy(), "cusolver_handle", "the CPU has no cuSOLVER");
  return cusolver_handle_of(id);
}

std::string to_string(const Device& device) {
  return device.is_dummy() ? "<CPU Device>" : catena::concat("<CUDA Device ", device.id, ">");
}
std::ostream& operator<<(std::ostream& out, const Device& device) { return out << to_string(device); }

int get_device_id() { return Device().id; }
cublasContext* get_cublas_handle() { return Device().cublas_handle(); }
cusolverDnContext* get_cusolver_handle() { return Device().cusolver_handle(); }

bool available() noexcept { return is_available(nd::Device::Kind::cuda); }
void check_available() { static_cast<void>(driver()); }
void init() { catena::warn("DeprecationWarning", "cuda.init is deprecated. It does nothing, and is not needed."); }

Device get_device_from_id(std::optional<int> device_id) {
  if (!device_id) return DummyDevice;
  check_available();
  return Device(*device_id);
}

}  // namespace nd::cuda
