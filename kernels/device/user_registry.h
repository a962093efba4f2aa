// The list of kernels in a shared object that was compiled from a CUDA text. This header includes nothing, because only
// CUDA's names may be visible in such a text.
#pragma once

namespace catena::user {

struct HostKernel {
  const char* name;
  // Runs blocks [begin, end) in ascending order; the threads of a block run one after the other.
  void (*run)(void* const* parameters, const unsigned* grid, const unsigned* block, long begin, long end);
  const unsigned long* bytes;  // size of each parameter
  int parameters;
  HostKernel* next;
};

}  // namespace catena::user
