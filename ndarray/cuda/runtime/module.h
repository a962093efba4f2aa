// Loaded code: modules of the driver and the kernels in them.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <catena/ndarray/cuda/runtime/library.h>

namespace nd::cuda {

struct CompileRequest;  // ndarray/cuda/compiler/compiler.h

// A kernel loaded on a device. Kernels of loaded_kernel exist until the program ends, kernels of a LoadedModule as long
// as the module.
struct CATENA_EXPORT LoadedKernel {
  api::cu_function function = nullptr;
  std::string name;                 // name in the driver and in profilers
  std::size_t parameter_bytes = 0;  // size of the single parameter; 0: unknown (kernels given as text)
  int registers = 0, local_bytes = 0, shared_bytes = 0,
      max_threads = 0;  // per thread, per thread, per block, per block
};

// A text with any number of kernels, compiled (or found on disk) and loaded.
class CATENA_EXPORT LoadedModule {
 public:
  // request.arch must be the architecture of `device`, or 0, which means the same. CompileError with the compiler's log
  // and the numbered source. The code is kept on disk unless the text includes files of the file system, which may
  // change.
  LoadedModule(int device, const CompileRequest& request);
  // Loads a cubin, fatbin or PTX text; CudaError if the driver rejects it.
  LoadedModule(int device, const std::string& image);
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  // Returns the kernel `name`, which is one of request.expressions or a name in the driver. KeyError "module: there is
  // no kernel named <name>". Valid as long as the module.
  const LoadedKernel& function(const std::string& name);
  // Returns the address and stores the size of a __device__ or __constant__ variable; KeyError if there is none.
  // `bytes` may be null.
  api::cu_deviceptr global(const std::string& name, std::size_t* bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Internal to ndarray/cuda: returns the driver's status, for callers that can recover from a rejected image.
api::cu_result load_image(int device, const std::string& image, api::cu_module* module);
// Looks up the kernel `name` in `module`, whose context is current on this thread; not_found if there is none.
api::cu_result resolve(api::cu_module module, const std::string& name, LoadedKernel* kernel);
// True if the driver rejects the image or finds no such kernel in it; compiling again may help in this case.
bool is_bad_image(api::cu_result status) noexcept;

}  // namespace nd::cuda
