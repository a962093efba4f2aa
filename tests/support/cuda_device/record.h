// Calls, launches and synchronisations since the start or reset_records().
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <catena/tests/support/cuda_device/entry.h>
#include <catena/tests/support/cuda_device/shim.h>

namespace cuda_device {

struct LaunchRecord {
  std::string kernel;
  dim3 grid, block;
  const void* stream;  // null: the legacy stream
  int device;
};

void count_call(Entry entry);
std::uint64_t calls_of(Entry entry);

// Records a kernel that was submitted to a stream, directly or by a graph.
void record_launch(LaunchRecord launch);
std::vector<LaunchRecord> launches();

// Records a call in which the host waited for the device.
void record_synchronisation(Entry entry);
std::vector<Entry> synchronisations();

// Counts an atomic access of a kernel's thread to memory of the device.
void count_atomic();
std::uint64_t atomics();

void reset_records();

}  // namespace cuda_device
