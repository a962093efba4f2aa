// Modules and kernels: loading an image, finding its functions and globals, running grids.
//
// Thread safety: all functions are called under the runtime's lock.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <catena/tests/support/cuda_device/shim.h>

namespace cuda_device {

struct Function {  // a kernel of a loaded module
  std::string name;
  std::vector<std::size_t> parameter_bytes;         // one entry per parameter of the kernel
  bool barriers = true;                             // false: threads may run to their end one after the other
  void (*call)(void* const* parameters) = nullptr;  // runs one thread
  int static_shared_bytes = 0;
};

class Module;                            // a loaded image of the device's compiler
Module* load_module(const void* image);  // null: not such an image
void unload_module(Module*);
Function* find_function(Module&, const std::string& name);                // null: none
void* find_global(Module&, const std::string& name, std::size_t* bytes);  // null: none

// Runs a whole grid on the calling thread, with that many bytes of dynamic shared memory.
void run_grid(const Function&, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes, void* const* parameters);

}  // namespace cuda_device
