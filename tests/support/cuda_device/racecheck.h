// Memory accesses of instrumented kernels. Accesses to shared memory are compared with each other: two accesses of
// different threads to the same byte, of which at least one writes and not both are atomic, need a barrier of the block
// in between, or of the warp if both threads are in it. Accesses to other memory go to check_access() of check.h.
//
// Thread safety: may be called from any host thread, for the grid that it runs.
#pragma once

#include <cstddef>

namespace cuda_device {

enum class AccessKind { read, write, atomic };

// Records an access of the running thread; `code`: the return address. No effect when no kernel runs.
void note_access(const void* address, std::size_t bytes, AccessKind kind, const void* code);

}  // namespace cuda_device
