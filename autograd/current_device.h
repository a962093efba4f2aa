// The device that is current while user code of a function runs: new arrays are made there.
#pragma once

#include <catena/autograd/backend/backend.h>

namespace autograd::internal {

// Makes a device current in the library of `some` until the end of the scope, also when an exception leaves it. Nothing
// changes for host memory, whose arrays need no current device.
class CurrentDevice {
 public:
  CurrentDevice() noexcept = default;
  CurrentDevice(const Array& some, Device device) {
    if (device.kind == Device::Kind::cpu) [[likely]]
      return;
    backend_ = &some.backend();
    before_ = backend_->exchange_default_device(device);
  }
  // The first of the arrays that is not in host memory.
  explicit CurrentDevice(const Arrays& arrays) : CurrentDevice(first_of(arrays)) {}
  ~CurrentDevice() {
    if (backend_ != nullptr) [[unlikely]]
      backend_->exchange_default_device(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  explicit CurrentDevice(const Array* a) {
    if (a == nullptr) [[likely]]
      return;
    backend_ = &a->backend();
    before_ = backend_->exchange_default_device(a->device());
  }
  static const Array* first_of(const Arrays& arrays) noexcept {
    for (const Array& a : arrays)
      if (a && a.device().kind != Device::Kind::cpu) return &a;
    return nullptr;
  }

  Backend* backend_ = nullptr;
  Device before_;
};

}  // namespace autograd::internal
