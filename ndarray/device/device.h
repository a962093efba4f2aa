// Folder ndarray/device/: devices, streams and events, the current device and stream of a thread, and the two
// interfaces that a backend implements: runtime.h (memory, streams, events) and executor.h (operations).
// Implementations are in ndarray/cpu/ and ndarray/cuda/; ndarray/backends.cpp creates them. Its headers may use
// kernels/ and ndarray/core/.
//
// This header: devices and the current device of a thread. Functions may be called from any thread; the current device
// belongs to the calling thread.
#pragma once

#include <string_view>

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/device/types.h>

namespace nd {

// The memory and the processors of the host.
inline constexpr Device cpu_device{Device::Kind::cpu, 0};

// Returns the device of new arrays of this thread. Initially it is the default device: $CATENA_DEVICE ("cpu",
// "cuda:1"), or if that is not set, cuda:0 if usable, else cpu:0.
CATENA_EXPORT Device current_device();
// RuntimeError "CUDA is unavailable: <why>"; ValueError for a device number that does not exist.
CATENA_EXPORT void set_current_device(Device device);
CATENA_EXPORT Device default_device();

// Returns the number of devices of a kind; 0 if the kind is unavailable.
CATENA_EXPORT int device_count(Device::Kind kind);
CATENA_EXPORT bool is_available(Device::Kind kind) noexcept;
// Parses "cpu", "cpu:0", "cuda" (= cuda:0) or "cuda:1"; ValueError for other names.
CATENA_EXPORT Device device_from_name(std::string_view name);

// Waits for all work on the device; without an argument, on the current device.
CATENA_EXPORT void synchronize(Device device);
inline void synchronize() { synchronize(current_device()); }
CATENA_EXPORT MemoryInfo memory_info(Device device);
// Returns name, compute capability, sizes and clocks of the device.
CATENA_EXPORT const DeviceProperties& properties(Device device);
// True if kernels of `device` can read and write the memory of `peer` in place.
CATENA_EXPORT bool can_access_peer(Device device, Device peer);

// Makes a device current until the end of the scope, then restores the previous one, also if an exception is thrown.
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
