#include "autograd/capture.h"

#include <utility>

namespace autograd {

DeviceExtension::~DeviceExtension() = default;
DeviceExtension::Recorded::~Recorded() = default;

CapturedWork::CapturedWork(std::function<void()> f, std::optional<Device> device) : f_(std::move(f)) {
  const Device on = device ? *device : default_backend().default_device();
  if (auto* e = default_backend().extension<DeviceExtension>(on)) recorded_ = e->record(on, f_);
  else f_();
}

void CapturedWork::replay() {
  if (recorded_) recorded_->replay();
  else f_();
}

Operand live_scalar(Device device, std::uint64_t first, std::function<std::uint64_t()> refresh) {
  auto* e = default_backend().extension<DeviceExtension>(device);
  if (e == nullptr || !e->is_recording()) return catena::Scalar(first);
  return e->live_scalar(device, first, std::move(refresh));
}

}  // namespace autograd
