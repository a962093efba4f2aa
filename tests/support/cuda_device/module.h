// Modules and kernels: loading an image, finding its functions and globals, running grids.
//
// Thread safety: all functions are called under the runtime's lock.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <catena/tests/support/cuda_device/shim.h>

namespace cuda_device {

namespace ptx {
struct Program;
struct Routine;
}  // namespace ptx

struct Function {  // a kernel of a loaded module
  std::string name;
  std::vector<std::size_t> parameter_bytes;         // one entry per parameter of the kernel
  bool barriers = true;                             // false: threads may run one after the other
  void (*call)(void* const* parameters) = nullptr;  // runs one thread
  int static_shared_bytes = 0;
  // Set for a module loaded from PTX, instead of `call`.
  const ptx::Program* program = nullptr;
  const ptx::Routine* routine = nullptr;
};

// A loaded image: from the device's compiler, or PTX.
class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  virtual Function* function(const std::string& name) = 0;                // null: none
  virtual void* global(const std::string& name, std::size_t* bytes) = 0;  // null: none
};
Module* load_module(const void* image);  // null if it is no such image
void unload_module(Module*);

// Returns the compute capability of the devices: 90. With CATENA_SOFTWARE_CUDA_PTX=1, one that NVRTC does not support,
// so that NVRTC makes PTX for the next older architecture, $CATENA_SOFTWARE_CUDA_PTX_ARCH (90).
int compute_capability();

// Runs a whole grid on the calling thread, with that many bytes of dynamic shared memory.
void run_grid(const Function&, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes, void* const* parameters);

}  // namespace cuda_device
