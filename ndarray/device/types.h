// Value types about devices: stream handles, options of events, properties of a device.
#pragma once

#include <cstddef>
#include <string>

#include <catena/kernels/base/array_header.h>

namespace nd {

using catena::Device;

// A stream of a device, as a value. A null handle is the device's default stream (on the CPU: the calling thread).
struct StreamRef {
  Device device;
  void* handle = nullptr;
  friend bool operator==(const StreamRef&, const StreamRef&) = default;
};

// The range of priorities of the streams of a device. Smaller numbers are more urgent.
struct StreamPriorities {
  int least = 0, greatest = 0;  // greatest <= 0 <= least
  friend bool operator==(const StreamPriorities&, const StreamPriorities&) = default;
};
struct StreamProperties {
  int priority = 0;
  bool non_blocking = false;
};

struct EventOptions {
  bool block = false;  // synchronize() blocks the thread instead of spinning
  bool disable_timing = false;
  bool interprocess = false;  // requires disable_timing (ValueError)
};

// free_bytes: memory that this process can allocate without taking it from other processes. On the CPU, this includes
// pages that the system can reclaim and swap space, within the limits of control groups (containers). total_bytes: the
// memory of the device.
struct MemoryInfo {
  std::size_t free_bytes = 0, total_bytes = 0;
};

// Properties of a device, queried once; 0 or "" if the device does not have or does not report the property.
struct CATENA_EXPORT DeviceProperties {
  std::string name;
  int arch = 0;        // CUDA: 90 for compute capability 9.0
  int processors = 0;  // on the CPU: hardware threads
  int max_threads_per_processor = 0;
  std::size_t total_bytes = 0;
  std::size_t shared_bytes_per_block = 0, shared_bytes_per_block_optin = 0;
  std::size_t l2_bytes = 0;
  int clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;

  std::string compute_capability() const { return arch == 0 ? std::string() : std::to_string(arch); }  // "90"
};

class Runtime;  // runtime.h

}  // namespace nd
