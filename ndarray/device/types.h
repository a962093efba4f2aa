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

struct EventOptions {
  bool block = false;  // synchronize() blocks the thread instead of spinning
  bool disable_timing = false;
  bool interprocess = false;  // requires disable_timing (ValueError)
};

// Free is what this process can have without taking it from others: of the CPU, pages that the system can reclaim and
// swap space count, and the limits of control groups (containers) apply. Total is the memory of the device.
struct MemoryInfo {
  std::size_t free_bytes = 0, total_bytes = 0;
};

// Properties of a device, queried once; 0 or "" where a kind of device has no such property or does not report it.
struct CATENA_EXPORT DeviceProperties {
  std::string name;
  int arch = 0;        // CUDA: 90 for compute capability 9.0
  int processors = 0;  // of the CPU: hardware threads
  int max_threads_per_processor = 0;
  std::size_t total_bytes = 0;
  std::size_t shared_bytes_per_block = 0, shared_bytes_per_block_optin = 0;
  std::size_t l2_bytes = 0;
  int clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;

  std::string compute_capability() const { return arch == 0 ? std::string() : std::to_string(arch); }  // "90"
};

class Runtime;  // runtime.h

}  // namespace nd
