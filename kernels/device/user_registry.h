// How a shared object made from a CUDA text lists its kernels. It includes nothing: such texts see the names of CUDA
// alone.
#pragma once

namespace catena::user {

struct HostKernel {
  const char* name;
  // Runs blocks begin to end, in the order of their numbers; the threads of a block one after the other.
  void (*run)(void* const* parameters, const unsigned* grid, const unsigned* block, long begin, long end);
  const unsigned long* bytes;  // of each parameter
  int parameters;
  HostKernel* next;
};

}  // namespace catena::user
