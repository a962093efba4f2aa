#include <catena/tests/support/cuda_device/module.h>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <catena/tests/support/cuda_device/engine.h>
#include <catena/tests/support/cuda_device/jit.h>
#include <catena/tests/support/cuda_device/ptx/load.h>
#include <catena/tests/support/cuda_device/report.h>

namespace cuda_device {
namespace {

// The number of modules that use an object. All functions here must be called under the runtime's lock.
std::map<std::string, int>& users() {
  static auto& all = *new std::map<std::string, int>;
  return all;
}

// Every module has its own variables. The dynamic linker opens a file only once, so a second module opens a copy.
void* open_object(const std::string& path) {
  namespace fs = std::filesystem;
  std::string file = path;
  if (users()[path]++ > 0) {
    static int copies = 0;
    file =
        (fs::path(path).parent_path() / ("copy-" + std::to_string(getpid()) + "-" + std::to_string(copies++) + ".so"))
            .string();
    fs::copy_file(path, file, fs::copy_options::overwrite_existing);
  }
  void* object = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) report(dlerror(), false);
  if (file != path) fs::remove(file);
  return object;
}

std::size_t thread_local_bytes(void* object) {
  link_map* map = nullptr;
  dlinfo(object, RTLD_DI_LINKMAP, &map);
  struct Search {
    ElfW(Addr) base;
    std::size_t bytes;
  } search{map->l_addr, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        Search& s = *static_cast<Search*>(argument);
        if (info->dlpi_addr != s.base) return 0;
        for (int k = 0; k < info->dlpi_phnum; ++k)
          if (info->dlpi_phdr[k].p_type == PT_TLS) s.bytes = info->dlpi_phdr[k].p_memsz;
        return 1;
      },
      &search);
  return search.bytes;
}

// Kernels compiled by the system's compiler.
class CompiledModule : public Module {
 public:
  explicit CompiledModule(const Compiled& compiled) : path_(compiled.object) {
    for (const KernelEntry* k : compiled.built_in) add(*k, 0);
    if (path_.empty()) return;
    object_ = open_object(path_);
    const std::size_t dynamic = dlsym(object_, "catena_dynamic_shared") != nullptr ? kMaxDynamicShared : 0;
    const int shared = static_cast<int>(thread_local_bytes(object_) - dynamic);
    for (auto* table = static_cast<const KernelTable* const*>(dlsym(object_, "catena_kernel_tables"));
         *table != nullptr; ++table) {
      for (const KernelEntry* k = (*table)->kernels; k->name != nullptr; ++k) add(*k, shared);
      for (const VariableEntry* v = (*table)->variables; v->name != nullptr; ++v) variables_[v->name] = v;
    }
  }
  ~CompiledModule() override {
    if (object_ == nullptr) return;
// The address sanitizer reads its table of an object's variables in every report, also after dlclose.
#if !defined(__SANITIZE_ADDRESS__)
    dlclose(object_);
    --users()[path_];
#endif
  }
  Function* function(const std::string& name) override {
    const auto found = functions_.find(name);
    return found != functions_.end() ? &found->second : nullptr;
  }

  void* global(const std::string& name, std::size_t* bytes) override {
    if (const auto found = variables_.find(name); found != variables_.end()) {
      *bytes = found->second->bytes;
      return found->second->address;
    }
    void* address = object_ != nullptr ? dlsym(object_, name.c_str()) : nullptr;
    Dl_info info{};
    const ElfW(Sym)* symbol = nullptr;
    if (address == nullptr ||
        dladdr1(address, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)), RTLD_DL_SYMENT) == 0 ||
        symbol == nullptr || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
      return nullptr;
    *bytes = symbol->st_size;
    return address;
  }

 private:
  void add(const KernelEntry& k, int shared) {
    functions_[k.name] = {k.name, {k.parameter_bytes, k.parameter_bytes + k.parameters}, k.barriers, k.call, shared};
  }

  std::string path_;
  void* object_ = nullptr;
  std::map<std::string, Function> functions_;
  std::map<std::string, const VariableEntry*> variables_;
};

}  // namespace

Module* load_module(const void* image) {
  if (const char* text = static_cast<const char*>(image); ptx::is_ptx(text)) return ptx::load(text).release();
  const std::optional<KernelText> text = from_image(image);
  if (!text) return nullptr;
  const Compiled compiled = compile(*text);
  if (compiled.failed) {
    std::fprintf(stderr, "software cuda: an image cannot be loaded:\n%s", compiled.log.c_str());
    return nullptr;
  }
  return new CompiledModule(compiled);
}
void unload_module(Module* module) { delete module; }

int compute_capability() {
  static const int capability = [] {
    const char *ptx = std::getenv("CATENA_SOFTWARE_CUDA_PTX"), *arch = std::getenv("CATENA_SOFTWARE_CUDA_PTX_ARCH");
    if (ptx == nullptr || std::string(ptx) != "1") return 90;
    return (arch != nullptr && *arch != '\0' ? std::atoi(arch) : 90) + 1;
  }();
  return capability;
}

void run_grid(const Function& function, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes,
              void* const* parameters) {
  if (function.routine != nullptr) return ptx::run_grid(function, grid, block, dynamic_shared_bytes, parameters);
  shim::run({function.name.c_str(), grid, block, shim::order(), function.barriers, function.call, parameters});
}

}  // namespace cuda_device
