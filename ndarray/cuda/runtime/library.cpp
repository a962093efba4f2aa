#include <catena/ndarray/cuda/runtime/library.h>

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>

namespace nd::cuda {

using catena::concat;
using catena::RuntimeError;

namespace {

// Returns the toolkit folder of the first nvcc on the PATH, with links resolved; empty if there is none.
std::string toolkit_of_nvcc() {
  namespace fs = std::filesystem;
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : catena::parts_of(path != nullptr ? path : "", ':')) {
    std::error_code error;
    const fs::path nvcc = fs::canonical(fs::path(folder) / "nvcc", error);
    if (!folder.empty() && !error && fs::is_regular_file(nvcc, error)) return nvcc.parent_path().parent_path().string();
  }
  return {};
}

void add_root(std::vector<std::string>& folders, const char* root) {
  if (root == nullptr || *root == '\0') return;
  for (const char* part : {"/lib64", "/lib"}) {
    std::string folder = std::string(root) + part;
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(std::move(folder));
  }
}

}  // namespace

LibraryFolders library_folders(const char* folder_variable) {
  LibraryFolders folders;
  if (folder_variable != nullptr) add_root(folders.given, std::getenv(folder_variable));
  add_root(folders.given, std::getenv("CUDA_PATH"));
  add_root(folders.given, std::getenv("CUDA_HOME"));
  add_root(folders.found, toolkit_of_nvcc().c_str());
  add_root(folders.found, "/usr/local/cuda");
  return folders;
}

Library::Library(const LibraryFiles& files, const LibraryFolders& folders) : library_(files.library) {
  std::vector<std::string> candidates;
  const auto add = [&](const std::string& folder) {
    for (const std::string& name : files.names) candidates.push_back(folder.empty() ? name : folder + '/' + name);
  };
  if (const char* only = std::getenv("CATENA_CUDA_LIBRARIES"); only != nullptr && *only != '\0') {
    add(only);
  } else {
    for (const std::string& folder : folders.given) add(folder);
    add("");  // the dynamic linker's search
    for (const std::string& folder : folders.found) add(folder);
  }
  open(candidates, files.names.front().c_str());
}

void Library::open(const std::vector<std::string>& candidates, const char* wanted) {
  std::string tried, reason;
  catena::reserve_standard_descriptors();  // drivers keep files and sockets open
  for (const std::string& candidate : candidates) {
    handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      path_ = candidate;
      return;
    }
    // If a file exists but cannot be opened, its error is reported.
    const char* error = dlerror();
    std::error_code ignored;
    if (reason.empty() && candidate.find('/') != std::string::npos && std::filesystem::exists(candidate, ignored))
      reason = error != nullptr ? error : candidate;
    tried += (tried.empty() ? "" : ", ") + candidate;
  }
  if (!reason.empty()) throw RuntimeError(concat(library_, " is unavailable: ", reason, " (tried: ", tried, ")"));
  throw RuntimeError(concat(library_, " is unavailable: ", wanted, " not found (tried: ", tried, ")"));
}

void* Library::find_function(const char* name) const noexcept { return dlsym(handle_, name); }

void* Library::function(const char* name) const {
  void* address = find_function(name);
  catena::check<RuntimeError>(address != nullptr, concat(library_, " is unavailable"), path_, " has no function ",
                              name);
  return address;
}

void Library::fail_answer(const char* call, int code, const char* symbol, const char* text) const {
  throw RuntimeError(concat(library_, " is unavailable: ", call, " of ", path_, " says ",
                            symbol != nullptr ? symbol : "error", " (", code, text != nullptr ? ", " : "",
                            text != nullptr ? text : "", ")"));
}

namespace {

void load_nvrtc(Nvrtc& table) {
  const Library library({"NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}});
  CATENA_NVRTC_FUNCTIONS(CATENA_RESOLVE)
  table.path = library.path();
  const auto must = [&](api::nvrtc_result status, const char* call) {
    if (status != api::nvrtc_success) library.fail_answer(call, status, table.get_error_string(status));
  };
  must(table.version(&table.major_version, &table.minor_version), "nvrtcVersion");
  int count = 0;
  must(table.get_num_supported_archs(&count), "nvrtcGetNumSupportedArchs");
  table.architectures.resize(static_cast<std::size_t>(count));
  must(table.get_supported_archs(table.architectures.data()), "nvrtcGetSupportedArchs");
  std::sort(table.architectures.begin(), table.architectures.end());
}

std::atomic<bool> forked{false};

void load_driver(Driver& table) {
  const Library library({"CUDA", {"libcuda.so.1", "libcuda.so"}});
  CATENA_DRIVER_FUNCTIONS(CATENA_RESOLVE)
  CATENA_DRIVER_OPTIONAL_FUNCTIONS(CATENA_RESOLVE_OPTIONAL)
  table.path = library.path();
  const auto must = [&](api::cu_result status, const char* call) {
    if (status == api::cu_success) return;
    const char *name = nullptr, *text = nullptr;
    table.get_error_name(status, &name);
    table.get_error_string(status, &text);
    library.fail_answer(call, status, name, text);
  };
  must(table.init(0), "cuInit");
  pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); });
  must(table.get_version(&table.version), "cuDriverGetVersion");
  must(table.device_get_count(&table.device_count), "cuDeviceGetCount");
  if (table.device_count < 1) throw RuntimeError(concat("CUDA is unavailable: ", table.path, " finds no device"));
}

}  // namespace

// Never destroyed: other threads may still be running at exit.
const Nvrtc& nvrtc() {
  static const auto& loaded = *new Loaded<Nvrtc>(load_nvrtc);
  return loaded.get();
}

bool is_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }

const Driver& driver() {
  static const auto& loaded = *new Loaded<Driver>(load_driver);
  return loaded.get();
}

}  // namespace nd::cuda
