// What instrumented kernels do to memory. Accesses to shared memory are compared with each other: two of different
// threads to the same byte, at least one of them writing and not both atomic, need a barrier of the block in between,
// or of the warp when it is the same one. Accesses to other memory go to check_access() of check.h.
//
// Thread safety: may be called from any host thread, for the grid that it runs.
#pragma once

#include <cstddef>

namespace cuda_device {

enum class AccessKind { read, write, atomic };

// An access of the running thread; `code`: the instruction behind it. Does nothing where no kernel runs.
void note_access(const void* address, std::size_t bytes, AccessKind kind, const void* code);

}  // namespace cuda_device
