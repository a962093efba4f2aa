// Libraries of CUDA, opened at first use. One table of entry points per library; no program needs one of them to start.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/host/export.h"
#include "ndarray/cuda/api/nvrtc.h"

namespace nd::cuda {

// Files that may hold a library: each name by itself, as the dynamic linker searches, and in every directory.
struct LibraryFiles {
  const char* library;              // in messages: "NVRTC"
  std::vector<std::string> names;   // best first; that one is named in the error
};
// $CUDA_PATH and $CUDA_HOME with lib64 and lib, then /usr/local/cuda/lib64 (and lib).
CATENA_EXPORT std::vector<std::string> library_directories();

// An open library. It stays open until the program ends: code that it registered (thread exits, atexit) would be gone otherwise.
class CATENA_EXPORT Library {
 public:
  // RuntimeError "NVRTC is unavailable: libnvrtc.so.13 not found (tried: ...)", with the linker's words for a file that exists.
  Library(const LibraryFiles& files, std::span<const std::string> directories);
  const std::string& path() const noexcept { return path_; }
  // RuntimeError "NVRTC is unavailable: <path> has no function nvrtcGetCUBIN".
  void* function(const char* name) const;

 private:
  const char* library_;
  std::string path_;
  void* handle_ = nullptr;
};

struct Nvrtc {
#define CATENA_FIELD(symbol, field, ...) std::add_pointer_t<__VA_ARGS__> field = nullptr;
  using nvrtc_result = api::nvrtc_result;
  using nvrtc_program = api::nvrtc_program;
  CATENA_NVRTC_FUNCTIONS(CATENA_FIELD)
#undef CATENA_FIELD
  std::string path;
  int major_version = 0, minor_version = 0;
  std::vector<int> architectures;  // 75, 80, ... in ascending order
};
// Throws RuntimeError, always with the same text, when the library cannot be used.
CATENA_EXPORT const Nvrtc& nvrtc();

}  // namespace nd::cuda
