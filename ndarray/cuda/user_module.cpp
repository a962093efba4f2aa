// CUDA texts on CUDA: compiled by NVRTC, and cached on disk by the kernel store.
#include <catena/ndarray/user_kernel/user_kernel.h>

#include <memory>
#include <type_traits>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/cuda_backend.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/runtime/module.h>

namespace nd::cuda {
namespace {

class CudaModule final : public DeviceModule {
 public:
  CudaModule(const ModuleText& text, int device) : name_(text.name) {
    if (text.image.empty())
      module_ = std::make_shared<LoadedModule>(
          device, CompileRequest{text.code, text.name, text.name_expressions, 0, text.options, text.generated});
    else module_ = std::make_shared<LoadedModule>(device, text.image);
  }

  const void* function(const std::string& name) override {
    return named([&] { return &module_->function(name); });
  }
  KernelAttributes attributes(const void* function) override {
    const auto& k = *static_cast<const LoadedKernel*>(function);
    return {k.registers, k.local_bytes, k.shared_bytes, k.max_threads};
  }
  void launch(const void* function, const LaunchShape& shape, std::span<const ArgumentBytes> arguments,
              StreamRef stream) override {
    const auto& kernel = *static_cast<const LoadedKernel*>(function);
    catena::SmallVector<void*, 8> values;
    for (const ArgumentBytes& a : arguments) values.push_back(const_cast<std::byte*>(a.data()));
    constexpr unsigned kGranted = 48 * 1024;  // more shared memory must be requested explicitly
    if (shape.shared_bytes > kGranted) {
      use_device(stream.device.id);
      CATENA_CU(function_set_attribute, kernel.function, api::cu_function_max_dynamic_shared_bytes,
                static_cast<int>(shape.shared_bytes));
    }
    keep_in_graph(module_);
    cuda::launch(kernel, {shape.grid[0], shape.grid[1], shape.grid[2]},
                 {shape.block[0], shape.block[1], shape.block[2]}, shape.shared_bytes, values.data(), stream);
  }
  std::pair<std::byte*, std::size_t> global(const std::string& name) override {
    std::size_t bytes = 0;
    const api::cu_deviceptr address = named([&] { return module_->global(name, &bytes); });
    return {reinterpret_cast<std::byte*>(address), bytes};
  }

 private:
  // Adds the name of the text to the messages for missing names.
  template <class F> std::invoke_result_t<F> named(F look_up) const {
    try {
      return look_up();
    } catch (const KeyError& e) {
      const std::string_view message = e.what();
      catena::fail<KeyError>(name_, message.substr(message.find(": ") + 2));
    }
  }

  std::string name_;
  std::shared_ptr<LoadedModule> module_;
};

}  // namespace

std::unique_ptr<DeviceModule> CudaBackend::load_module(const ModuleText& text, int device) {
  return std::make_unique<CudaModule>(text, device);
}

}  // namespace nd::cuda
