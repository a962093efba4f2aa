// Launching kernels, and what was launched: the last 32 launches of a stream are kept for the message of an error.
//
// CATENA_LAUNCH_BLOCKING=1 waits after every launch, so that an error names the kernel that made it and stands at its call.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "ndarray/cuda/kernel_cache.h"
#include "ndarray/device/backend.h"

namespace nd::cuda {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

// One kernel with its parameters (an array of their addresses, as cuLaunchKernel takes them). A grid without blocks is not launched.
CATENA_EXPORT void launch(const Kernel& kernel, Dim3 grid, Dim3 block, unsigned shared_bytes, void** parameters, StreamRef stream);

// "; last launches on stream 0x...: add_contiguous_... <<<2, 256>>>, ..." (newest first) of every stream of the device, or nothing.
CATENA_EXPORT std::string recent_launches();

}  // namespace nd::cuda
