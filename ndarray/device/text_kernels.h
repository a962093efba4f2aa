// The interface of an executor for modules given as text: NVRTC on CUDA, the system's C++ compiler on the CPU.
#pragma once

#include <memory>

#include <catena/ndarray/device/executor.h>

namespace nd {

struct ModuleText;  // this and the next: ndarray/user_kernel/user_kernel.h
class DeviceModule;

class CATENA_EXPORT TextKernels {
 public:
  virtual ~TextKernels();

  // Compiles and loads a complete CUDA source text.
  virtual std::unique_ptr<DeviceModule> load_module(const ModuleText& text, int device) = 0;
};

// Returns the interface of a kind of device; NotImplementedError if it has none.
CATENA_EXPORT TextKernels& text_kernels(Device::Kind kind);

}  // namespace nd
