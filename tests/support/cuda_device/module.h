// Kernels as the runtime of the software device sees them: an image is loaded, functions and globals are found in it,
// grids are run.
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
  std::vector<std::size_t> parameter_bytes;         // one per parameter of the kernel
  bool barriers = true;                             // false: threads may run to the end one after the other
  void (*call)(void* const* parameters) = nullptr;  // the body of one thread
  int static_shared_bytes = 0;
};

class Module;                            // an image made by the device's own compiler, loaded
Module* load_module(const void* image);  // null: not such an image
void unload_module(Module*);
Function* find_function(Module&, const std::string& name);                // null: none
void* find_global(Module&, const std::string& name, std::size_t* bytes);  // null: none

// Runs a whole grid now, on the calling thread; dynamic shared memory of that many bytes.
void run_grid(const Function&, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes, void* const* parameters);

}  // namespace cuda_device
