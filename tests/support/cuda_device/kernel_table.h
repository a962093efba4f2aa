// The generated kernels of the manifest as functions of this program. The table stands in the source that the build generates.
#pragma once

#include <cstdint>
#include <span>

#include "tests/support/cuda_device/shim.h"

namespace cuda_device {

struct KernelEntry {
  const char* name;
  std::uint64_t source_hash;  // fnv1a of the text it was compiled from
  std::size_t parameter_bytes;
  void (*launch)(dim3 grid, dim3 block, shim::Order order, const void* parameters);
};
std::span<const KernelEntry> kernel_table();

}  // namespace cuda_device
