// Memory accesses of instrumented kernels. Accesses to shared memory are compared with each other: if different threads
// access a byte, at least one writes and not both accesses are atomic, there must be a barrier of the block between
// them, or of the warp if both threads are in it. Accesses to other memory are passed to check_access() of check.h.
//
// Thread safety: may be called from any host thread, for the grid that it runs.
#pragma once

#include <cstddef>

namespace cuda_device {

enum class AccessKind { read, write, atomic };

// Records an access of the running thread; `code`: the return address. Does nothing if no kernel runs.
void note_access(const void* address, std::size_t bytes, AccessKind kind, const void* code);

}  // namespace cuda_device
