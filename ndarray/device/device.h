// Devices: the current one of a thread, scopes, what there is.
//
// Thread safety: the current device belongs to the calling thread; everything may be called from any thread.
#pragma once

#include <string>

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/device/backend.h>

namespace nd {

inline constexpr Device cpu_device{Device::Kind::cpu, 0};

// Where new arrays go on this thread. At first the default device: what $CATENA_DEVICE names ("cpu", "cuda:1"); without
// it cuda:0 where it can be used, else cpu:0.
CATENA_EXPORT Device current_device();
// RuntimeError "CUDA is unavailable: <why>", ValueError for a number that no device has.
CATENA_EXPORT void set_current_device(Device device);
CATENA_EXPORT Device default_device();

// Number of devices of a kind; 0 when the kind is unavailable.
CATENA_EXPORT int device_count(Device::Kind kind);
CATENA_EXPORT bool is_available(Device::Kind kind) noexcept;
// "cpu", "cpu:0", "cuda" (= cuda:0), "cuda:1"; ValueError otherwise.
CATENA_EXPORT Device device_from_name(std::string_view name);

// Waits for all work on the device.
CATENA_EXPORT void synchronize(Device device);
CATENA_EXPORT MemoryInfo memory_info(Device device);
// Name, compute capability, sizes and clocks of the device.
CATENA_EXPORT const DeviceProperties& properties(Device device);
// Whether kernels of `device` can read and write the memory of `peer` in place.
CATENA_EXPORT bool can_access_peer(Device device, Device peer);

// Makes a device current until the end of the scope, then restores the one before, also when an exception passes.
class CATENA_EXPORT DeviceScope {
 public:
  explicit DeviceScope(Device device) : before_(current_device()) { set_current_device(device); }
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device before_;
};

}  // namespace nd
