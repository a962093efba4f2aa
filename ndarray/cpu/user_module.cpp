// CUDA texts on the CPU: every kernel of a text gets a registration (kernels/device/user_module.h) and runs
// block by block.
#include <algorithm>
#include <cstdint>
#include <memory>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/device/user_registry.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/cpu/host_compiler.h>
#include <catena/ndarray/cpu/kernel_scan.h>
#include <catena/ndarray/user_kernel/user_kernel.h>

namespace nd::cpu {
namespace {

using catena::check;
using catena::concat;
using catena::user::HostKernel;

constexpr const char* kKernels = "catena_user_kernels";  // kernels/device/user_module.h

std::string source_of(const ModuleText& text) {
  std::string source =
      concat("#include <catena/kernels/device/user_module.h>\n#line 1\n", with_registrations(text.code), "\n");
  for (const std::string& expression : text.name_expressions) source += registration(expression, "");
  return source;
}

// Replaces the compiler's error about operations between the threads of a block by an error that names the operation.
[[noreturn]] void rethrow(const ModuleText& text, const catena::CompileError& e) {
  const std::string log = e.what();
  constexpr std::string_view kRefused = " is not available on the CPU";
  const std::size_t end = log.find(kRefused);
  if (end == std::string::npos) throw e;
  const std::size_t space = log.find_last_of(" \n", end - 1);
  throw catena::CompileError(concat(text.name, ": ", log.substr(space + 1, end - space - 1), kRefused,
                                    ", where the threads of a block run one after the other\n", log));
}

class CpuModule final : public DeviceModule {
 public:
  explicit CpuModule(const ModuleText& text) : name_(text.name) {
    check<NotImplementedError>(text.image.empty(), text.name,
                               "compiled code is for CUDA devices; the CPU needs the text");
    try {
      const std::string kernel = text.name.substr(text.name.rfind(' ') + 1);
      HostCompileRequest request{text.name, is_identifier(kernel) ? kernel : "module", source_of(text), text.options,
                                 text.code};
      request.symbols = {kKernels};
      module_ = compile_for_host(request);
    } catch (const catena::CompileError& e) {
      rethrow(text, e);
    }
    first_ = *static_cast<HostKernel**>(module_->required(text.name, kKernels));
    expressions_ = text.name_expressions;
  }

  // Kernels without C linkage are found only by their name expression, as on CUDA.
  const void* function(const std::string& name) override {
    const bool expression = std::find(expressions_.begin(), expressions_.end(), name) != expressions_.end();
    if (expression || module_->symbol(name) != nullptr)
      for (const HostKernel* k = first_; k != nullptr; k = k->next)
        if (k->name == name) return k;
    catena::fail<KeyError>(name_, "there is no kernel named \"", name, '"');
  }

  KernelAttributes attributes(const void*) override { return {}; }

  std::optional<std::span<const unsigned long>> parameter_bytes(const void* function) const override {
    const auto& kernel = *static_cast<const HostKernel*>(function);
    return std::span(kernel.bytes, static_cast<std::size_t>(kernel.parameters));
  }

  void launch(const void* function, const LaunchShape& shape, std::span<const ArgumentBytes> arguments,
              StreamRef) override {
    const auto& kernel = *static_cast<const HostKernel*>(function);
    catena::SmallVector<void*, 8> values;
    for (const ArgumentBytes& a : arguments) values.push_back(const_cast<std::byte*>(a.data()));
    const std::int64_t blocks = std::int64_t(shape.grid[0]) * shape.grid[1] * shape.grid[2];
    const std::int64_t elements =
        std::int64_t(shape.block[0]) * shape.block[1] * shape.block[2] * shape.elements_per_thread;
    constexpr std::int64_t kGrain = 4096;  // elements per thread of the CPU
    catena::parallel_for(blocks, std::max<std::int64_t>(kGrain / elements, 1), [&](std::int64_t b, std::int64_t e) {
      kernel.run(values.data(), shape.grid.data(), shape.block.data(), b, e);
    });
  }

  std::pair<std::byte*, std::size_t> global(const std::string& name) override {
    auto* address = static_cast<std::byte*>(module_->symbol(name));
    check<KeyError>(address != nullptr, name_, "there is no variable named \"", name, '"');
    return {address, module_->size_of(address)};
  }

 private:
  std::string name_;
  std::shared_ptr<const HostModule> module_;
  const HostKernel* first_ = nullptr;
  std::vector<std::string> expressions_;
};

}  // namespace

std::unique_ptr<DeviceModule> CpuBackend::load_module(const ModuleText& text, int) {
  return std::make_unique<CpuModule>(text);
}

}  // namespace nd::cpu
