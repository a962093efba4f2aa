#include <catena/ndarray/cuda/runtime/module.h>

#include <map>
#include <mutex>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/compiler/kernel_store.h>
#include <catena/ndarray/cuda/runtime/context.h>

namespace nd::cuda {

api::cu_result load_image(int device, const std::string& image, api::cu_module* module) {
  use_device(device);
  return driver().module_load_data(module, image.c_str());
}

api::cu_result resolve(api::cu_module module, const std::string& name, LoadedKernel* kernel) {
  const Driver& cu = driver();
  kernel->name = name;
  api::cu_result status = cu.module_get_function(&kernel->function, module, name.c_str());
  const auto ask = [&](int which, int* value) {
    if (status == api::cu_success) status = cu.function_get_attribute(value, which, kernel->function);
  };
  ask(api::cu_function_registers, &kernel->registers);
  ask(api::cu_function_local_bytes, &kernel->local_bytes);
  ask(api::cu_function_shared_bytes, &kernel->shared_bytes);
  ask(api::cu_function_max_threads_per_block, &kernel->max_threads);
  return status;
}

bool is_bad_image(api::cu_result status) noexcept {
  switch (status) {
    case api::cu_error_invalid_image:
    case api::cu_error_no_binary_for_gpu:
    case api::cu_error_invalid_ptx:
    case api::cu_error_unsupported_ptx_version:
    case api::cu_error_invalid_source:
    case api::cu_error_not_found: return true;
    default: return false;
  }
}

struct LoadedModule::State {
  int device;
  api::cu_module module = nullptr;
  std::map<std::string, std::string> driver_names;  // by name expression
  std::mutex mutex;
  std::map<std::string, LoadedKernel> kernels;  // kernels that have been looked up; addresses are stable

  explicit State(int on_device) : device(on_device) {}
  // After a sticky error, or if the driver has been shut down at exit, the module does not exist any more.
  ~State() {
    if (module == nullptr || !is_healthy(device)) return;
    const Driver& cu = driver();
    if (cu.context_set_current(primary_context(device)) == api::cu_success) cu.module_unload(module);
  }

  void load(const std::string& image, const std::string& name) {
    const api::cu_result status = load_image(device, image, &module);
    if (status != api::cu_success) fail(status, catena::concat(api::DriverNames::module_load_data, " of ", name));
  }
  void compile_and_load(const CompileRequest& request) {
    DiskCache& disk = disk_cache();
    const bool complete = is_complete(request);
    const std::string key = complete ? record_key(request) : std::string();
    if (const std::optional<std::string> record = complete ? disk.find(key) : std::nullopt) {
      const std::optional<Module> stored = decode_module(*record, request.arch);
      if (stored && stored->names.size() == request.expressions.size()) {
        const api::cu_result status = load_image(device, stored->code, &module);
        if (status == api::cu_success) {
          if (dumps_sources()) dump_source(request.name, request.source);
          return set_names(request, *stored);
        }
        if (!is_bad_image(status))
          fail(status, catena::concat(api::DriverNames::module_load_data, " of ", request.name));
      }
      disk.discard(key);
    }
    const Module made =
        compile_and_keep(request, [&](const Module& m) { return complete && disk.store(key, encode(m)); });
    load(made.code, request.name);
    set_names(request, made);
  }
  void set_names(const CompileRequest& request, const Module& m) {
    for (std::size_t k = 0; k < m.names.size(); ++k) driver_names[request.expressions[k]] = m.names[k];
  }
};

LoadedModule::LoadedModule(int device, const CompileRequest& request) : state_(std::make_unique<State>(device)) {
  CompileRequest complete = request;
  const int arch = properties(device).arch;
  catena::check<catena::ValueError>(request.arch == 0 || request.arch == arch, "module", "code for sm_", request.arch,
                                    " cannot run on device ", device, ", which is sm_", arch);
  complete.arch = arch;
  state_->compile_and_load(complete);
}

LoadedModule::LoadedModule(int device, const std::string& image) : state_(std::make_unique<State>(device)) {
  state_->load(image, catena::concat("an image of ", image.size(), " bytes"));
}

LoadedModule::~LoadedModule() = default;

const LoadedKernel& LoadedModule::function(const std::string& name) {
  const std::lock_guard lock(state_->mutex);
  if (const auto known = state_->kernels.find(name); known != state_->kernels.end()) return known->second;
  const auto expression = state_->driver_names.find(name);
  use_device(state_->device);
  LoadedKernel kernel;
  const api::cu_result status =
      resolve(state_->module, expression != state_->driver_names.end() ? expression->second : name, &kernel);
  catena::check<catena::KeyError>(status != api::cu_error_not_found, "module", "there is no kernel named \"", name,
                                  '"');
  check(status, api::DriverNames::module_get_function);
  return state_->kernels.emplace(name, std::move(kernel)).first->second;
}

api::cu_deviceptr LoadedModule::global(const std::string& name, std::size_t* bytes) {
  use_device(state_->device);
  api::cu_deviceptr address = 0;
  std::size_t size = 0;
  // The driver regards an empty name as an invalid argument.
  const api::cu_result status = name.empty()
                                    ? api::cu_error_not_found
                                    : driver().module_get_global(&address, &size, state_->module, name.c_str());
  catena::check<catena::KeyError>(status != api::cu_error_not_found, "module", "there is no variable named \"", name,
                                  '"');
  check(status, api::DriverNames::module_get_global);
  if (bytes != nullptr) *bytes = size;
  return address;
}

}  // namespace nd::cuda
