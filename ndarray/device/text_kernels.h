// The interface of an executor for kernels given as text: NVRTC on CUDA, the system's C++ compiler on the CPU.
#pragma once

#include <memory>

#include <catena/ndarray/device/executor.h>

namespace nd {

struct UserKernelCall;  // this and the next two: ndarray/user_kernel/user_kernel.h
struct ModuleText;
class DeviceModule;

class CATENA_EXPORT TextKernels {
 public:
  virtual ~TextKernels();

  // Runs a bound call; compiles the kernel for the device at the first use of its variant.
  virtual void run_kernel(const UserKernelCall& call, StreamRef stream) = 0;
  // Compiles and loads a complete CUDA source text.
  virtual std::unique_ptr<DeviceModule> load_module(const ModuleText& text, int device) = 0;
};

// Returns the interface of a kind of device; NotImplementedError if it has none.
CATENA_EXPORT TextKernels& text_kernels(Device::Kind kind);

}  // namespace nd
