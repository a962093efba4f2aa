#include <catena/autograd/ndarray_backend/cuda.h>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/ndarray_backend/cudnn/extension.h>
#include <catena/autograd/ndarray_backend/cudnn/plans.h>
#include <catena/kernels/base/device_name.h>
#include <catena/kernels/base/error.h>

namespace autograd::cuda {

bool cudnn_enabled() { return available() && internal::cudnn_extension() != nullptr; }

void check_cuda_available() {
  nd::cuda::check_available();
  internal::warn_without_cudnn();
}

void set_max_workspace_size(std::int64_t size) { internal::cudnn::set_max_workspace_size(size); }
std::int64_t get_max_workspace_size() { return internal::cudnn::max_workspace_size(nd::current_device()); }

}  // namespace autograd::cuda

namespace autograd {

void NamedDevice::use() const { ndarray_backend().exchange_default_device(*this); }
nd::Array NamedDevice::send(const nd::Array& a) const { return to_device(Array(a), *this); }
std::string NamedDevice::name() const { return kind == Kind::cpu ? "@numpy" : catena::concat("@cupy:", int(id)); }
NamedDevice get_device(std::string_view name) {
  return NamedDevice(catena::device_from_name("get_device", name, ndarray_backend().default_device()));
}
NamedDevice get_device(int id) {
  return NamedDevice(id < 0 ? Device{} : Device{Device::Kind::cuda, static_cast<std::int16_t>(id)});
}

}  // namespace autograd
