// Scopes that set the current device of an array library, on which new arrays are allocated.
#pragma once

#include <catena/autograd/backend/array.h>
#include <catena/autograd/backend/backend.h>

namespace autograd::internal {

// Makes a device current in the library of `backend` until the end of the scope, also when an exception leaves it.
class DefaultDeviceScope {
 public:
  DefaultDeviceScope() noexcept = default;  // changes nothing
  DefaultDeviceScope(Backend& backend, Device device)
      : backend_(&backend), before_(backend.exchange_default_device(device)) {}
  ~DefaultDeviceScope() {
    if (backend_ != nullptr) [[unlikely]]
      backend_->exchange_default_device(before_);
  }
  DefaultDeviceScope(const DefaultDeviceScope&) = delete;
  DefaultDeviceScope& operator=(const DefaultDeviceScope&) = delete;

 private:
  Backend* backend_ = nullptr;
  Device before_;
};

// Returns a scope for user code of a function. It changes nothing for host memory, whose arrays need no current device.
inline DefaultDeviceScope scope_of(const Array& some, Device device) {
  if (device.kind == Device::Kind::cpu) [[likely]]
    return {};
  return {some.backend(), device};
}
// Returns a scope with the device of the first array that is not in host memory.
inline DefaultDeviceScope scope_of(const Arrays& arrays) {
  for (const Array& a : arrays)
    if (a && a.device().kind != Device::Kind::cpu) [[unlikely]]
      return {a.backend(), a.device()};
  return {};
}

}  // namespace autograd::internal
