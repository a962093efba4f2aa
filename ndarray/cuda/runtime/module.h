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

// A kernel loaded on a device. Those of find_kernel live as long as the program, those of a LoadedModule as long as the
// module.
struct CATENA_EXPORT LoadedKernel {
  api::cu_function function = nullptr;
  std::string name;                 // as the driver and profilers know it
  std::size_t parameter_bytes = 0;  // of its one parameter; 0: unknown (kernels given as text by the user)
  int registers = 0, local_bytes = 0, shared_bytes = 0,
      max_threads = 0;  // per thread, per thread, per block, per block
};

// A text with any kernels in it: compiled (or taken from disk) and loaded.
class CATENA_EXPORT LoadedModule {
 public:
  // request.arch is that of `device`; 0 stands for it. CompileError with the compiler's log and the numbered source.
  // Kept on disk, unless it includes files of the file system: those may change.
  LoadedModule(int device, const CompileRequest& request);
  // A cubin, fatbin or PTX text; CudaError when the driver does not take it.
  LoadedModule(int device, const std::string& image);
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  // `name`: one of request.expressions, or a name as the driver knows it. KeyError "module: there is no kernel named
  // <name>". Valid as long as the module.
  const LoadedKernel& function(const std::string& name);
  // Address and bytes of a __device__ or __constant__ variable; KeyError. `bytes` may be null.
  api::cu_deviceptr global(const std::string& name, std::size_t* bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Internal to ndarray/cuda: the status of the driver, for callers that know another way when an image is not taken.
api::cu_result load_image(int device, const std::string& image, api::cu_module* module);
// The kernel `name` of `module`, which is current on this thread. not_found when there is none.
api::cu_result resolve(api::cu_module module, const std::string& name, LoadedKernel* kernel);
// The driver does not understand the image, or finds no such kernel in it: compiling again may help.
bool is_bad_image(api::cu_result status) noexcept;

}  // namespace nd::cuda
