#include "ndarray/cuda/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "kernels/host/error.h"

namespace nd::cuda {

using catena::concat;
using catena::RuntimeError;

std::vector<std::string> library_directories() {
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    const char* root = std::getenv(variable);
    if (root != nullptr && *root != '\0') roots.push_back(root);
  }
  roots.push_back("/usr/local/cuda");
  std::vector<std::string> directories;
  for (auto root = roots.begin(); root != roots.end(); ++root) {
    if (std::find(roots.begin(), root, *root) != root) continue;
    directories.push_back(*root + "/lib64");
    directories.push_back(*root + "/lib");
  }
  return directories;
}

Library::Library(const LibraryFiles& files, std::span<const std::string> directories) : library_(files.library) {
  std::vector<std::string> candidates = files.names;
  for (const std::string& directory : directories)
    for (const std::string& name : files.names) candidates.push_back(directory + "/" + name);

  std::string tried, reason;
  for (const std::string& candidate : candidates) {
    handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      path_ = candidate;
      return;
    }
    // A file that is there but cannot be opened is what the user needs to hear about.
    const char* error = dlerror();
    std::error_code ignored;
    if (reason.empty() && candidate.find('/') != std::string::npos && std::filesystem::exists(candidate, ignored))
      reason = error != nullptr ? error : candidate;
    tried += (tried.empty() ? "" : ", ") + candidate;
  }
  if (!reason.empty()) throw RuntimeError(concat(library_, " is unavailable: ", reason, " (tried: ", tried, ")"));
  throw RuntimeError(concat(library_, " is unavailable: ", files.names.front(), " not found (tried: ", tried, ")"));
}

void* Library::function(const char* name) const {
  void* address = dlsym(handle_, name);
  catena::check<RuntimeError>(address != nullptr, concat(library_, " is unavailable"), path_, " has no function ", name);
  return address;
}

namespace {

// What was found on the first call: a table, or the text of the error of every call.
template <class Table> struct Loaded {
  Table table;
  std::string error;
};

Loaded<Nvrtc> load_nvrtc() {
  Loaded<Nvrtc> loaded;
  try {
    const Library library({"NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}}, library_directories());
    Nvrtc& t = loaded.table;
#define CATENA_RESOLVE(symbol, field, ...) t.field = reinterpret_cast<decltype(t.field)>(library.function(#symbol));
    CATENA_NVRTC_FUNCTIONS(CATENA_RESOLVE)
#undef CATENA_RESOLVE
    t.path = library.path();
    int count = 0;
    if (t.version(&t.major_version, &t.minor_version) != api::nvrtc_success || t.get_num_supported_archs(&count) != api::nvrtc_success)
      throw RuntimeError(concat("NVRTC is unavailable: ", t.path, " does not answer"));
    t.architectures.resize(static_cast<std::size_t>(count));
    t.get_supported_archs(t.architectures.data());
    std::sort(t.architectures.begin(), t.architectures.end());
  } catch (const RuntimeError& e) {
    loaded.error = e.what();
  }
  return loaded;
}

}  // namespace

const Nvrtc& nvrtc() {
  static const Loaded<Nvrtc>* loaded = new Loaded<Nvrtc>(load_nvrtc());  // never destroyed: threads may compile until the very end
  if (!loaded->error.empty()) throw RuntimeError(loaded->error);
  return loaded->table;
}

}  // namespace nd::cuda
