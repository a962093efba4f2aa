// Explicit compilation: turns a text into a loaded module, with a folder of compiled code as cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <catena/ndarray/user_kernel/raw_kernel.h>

namespace nd::cuda {

struct CompileOptions {
  std::optional<int> arch = {};               // 90 for compute capability 9.0; default: the architecture of the device
  std::optional<std::string> cache_dir = {};  // default: get_cache_dir(); "" keeps nothing
};

// Returns a module of the text, compiled and loaded for the current device. The code is read from a file of the folder,
// or compiled by NVRTC and then stored there under a hash of architecture, options, versions of the compiler and of the
// embedded headers, and the text (not of files that it includes). Files are written atomically, so processes share a
// folder; a damaged or missing file is compiled again. Kernels should be extern "C". CompileError with the compiler's
// log and the numbered source; RuntimeError that names the compiler if it is missing. On the CPU the system's C++
// compiler compiles the text, as for RawModule; an architecture or folder is a NotImplementedError there.
CATENA_EXPORT RawModule compile_with_cache(const std::string& source, const std::vector<std::string>& options = {},
                                           const CompileOptions& more = {});

// Returns the folder of compiled kernels: $CATENA_CACHE_DIR/kernels, else $CUPY_CACHE_DIR, else
// $XDG_CACHE_HOME/catena/kernels or ~/.cache/catena/kernels, and without any of these variables /tmp/catena-<user
// id>/kernels; empty if the cache is disabled. The environment is read at every call, as at every compilation.
CATENA_EXPORT std::string get_cache_dir();

}  // namespace nd::cuda
