// Libraries of CUDA, opened at first use. One table of entry points per library; no program needs one of them to start.
//
// They are searched for as the dynamic linker does, then under $CUDA_PATH, $CUDA_HOME and /usr/local/cuda. When
// $CATENA_CUDA_LIBRARIES names a directory, they come from there and from nowhere else.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/driver.h>
#include <catena/ndarray/cuda/api/nvrtc.h>

namespace nd::cuda {

// Files that may hold a library: each name by itself, as the dynamic linker searches, and in every directory.
struct LibraryFiles {
  const char* library;             // in messages: "NVRTC"
  std::vector<std::string> names;  // best first; that one is named in the error
};
// $CUDA_PATH and $CUDA_HOME with lib64 and lib, then /usr/local/cuda/lib64 (and lib).
CATENA_EXPORT std::vector<std::string> library_directories();

// An open library. It stays open until the program ends: code that it registered (thread exits, atexit) would be gone
// otherwise.
class CATENA_EXPORT Library {
 public:
  explicit Library(const LibraryFiles& files) : Library(files, library_directories()) {}
  // RuntimeError "NVRTC is unavailable: libnvrtc.so.13 not found (tried: ...)", with the linker's words for a file that
  // exists.
  Library(const LibraryFiles& files, std::span<const std::string> directories);
  const std::string& path() const noexcept { return path_; }
  // RuntimeError "NVRTC is unavailable: <path> has no function nvrtcGetCUBIN".
  void* function(const char* name) const;
  void* find_function(const char* name) const noexcept;  // null when there is none
  // RuntimeError "CUDA is unavailable: cuInit of <path> says CUDA_ERROR_NO_DEVICE (100, <text>)", for a call that
  // decides whether the library can be used; nulls where it does not name its codes or has no text for them.
  [[noreturn]] void fail_answer(const char* call, int code, const char* symbol, const char* text = nullptr) const;

 private:
  void open(const std::vector<std::string>& candidates, const char* wanted);

  const char* library_;
  std::string path_;
  void* handle_ = nullptr;
};

// What was found on the first call: a table, or the text of the error of every call.
template <class Table>
struct Loaded {
  Table table;
  std::string error;

  // `load` fills the table or throws RuntimeError.
  template <class Load>
  explicit Loaded(Load load) {
    try {
      load(table);
    } catch (const catena::Error& e) {
      error = e.what();
    }
  }
  const Table& get() const {
    if (!error.empty()) throw catena::RuntimeError(error);
    return table;
  }
};

// Members of a table, and how they are filled from `library`.
#define CATENA_FIELD(symbol, field, ...) std::add_pointer_t<__VA_ARGS__> field = nullptr;
#define CATENA_RESOLVE(symbol, field, ...) \
  table.field = reinterpret_cast<decltype(table.field)>(library.function(#symbol));
#define CATENA_RESOLVE_OPTIONAL(symbol, field, ...) \
  table.field = reinterpret_cast<decltype(table.field)>(library.find_function(#symbol));

namespace api {
struct NvrtcFunctions {
  CATENA_NVRTC_FUNCTIONS(CATENA_FIELD)
};
struct DriverFunctions {
  CATENA_DRIVER_FUNCTIONS(CATENA_FIELD)
  CATENA_DRIVER_PROFILER_FUNCTIONS(CATENA_FIELD)
};
}  // namespace api

struct Nvrtc : api::NvrtcFunctions {
  std::string path;
  int major_version = 0, minor_version = 0;
  std::vector<int> architectures;  // 75, 80, ... in ascending order
};
// Throws RuntimeError, always with the same text, when the library cannot be used.
CATENA_EXPORT const Nvrtc& nvrtc();

// The driver, initialised, with at least one device.
struct Driver : api::DriverFunctions {
  std::string path;
  int version = 0;  // 13000
  int device_count = 0;
};
// RuntimeError "CUDA is unavailable: <why>", always with the same text.
CATENA_EXPORT const Driver& driver();

}  // namespace nd::cuda
