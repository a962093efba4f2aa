// CUDA's libraries, opened at first use, with one table of entry points per library. A program starts without any of
// them.
//
// The libraries are searched for under $CUDA_PATH and $CUDA_HOME (cuDNN also under $CUDNN_PATH), then by the dynamic
// linker ($LD_LIBRARY_PATH, the system's folders), then in the toolkit whose nvcc is on the PATH, then under
// /usr/local/cuda. If $CATENA_CUDA_LIBRARIES names a folder, they are searched for only there.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/driver.h>
#include <catena/ndarray/cuda/api/nvrtc.h>

namespace nd::cuda {

// File names of a library: each is searched for by the dynamic linker and in every folder.
struct LibraryFiles {
  const char* library;                    // used in messages: "NVRTC"
  std::vector<std::string> names;         // in order of preference; the error names the first
  const char* folder_variable = nullptr;  // an environment variable that names the folder of this library alone
};
// Folders that are searched before the dynamic linker's search, from the environment, and after it.
struct LibraryFolders {
  std::vector<std::string> given, found;
};
// Returns the folders, each with lib64 and lib.
CATENA_EXPORT LibraryFolders library_folders(const char* folder_variable = nullptr);

// An open library. It is not closed before the program ends, because it may have registered code (thread exits,
// atexit).
class CATENA_EXPORT Library {
 public:
  explicit Library(const LibraryFiles& files) : Library(files, library_folders(files.folder_variable)) {}
  // RuntimeError "NVRTC is unavailable: libnvrtc.so.13 not found (tried: ...)", with the linker's message for a file
  // that exists.
  Library(const LibraryFiles& files, const LibraryFolders& folders);
  const std::string& path() const noexcept { return path_; }
  // RuntimeError "NVRTC is unavailable: <path> has no function nvrtcGetCUBIN".
  void* function(const char* name) const;
  void* find_function(const char* name) const noexcept;  // null if there is none
  // For a call that decides whether the library can be used: throws RuntimeError "CUDA is unavailable: cuInit of <path>
  // says CUDA_ERROR_NO_DEVICE (100, <text>)". `symbol` and `text` are null if the library has no names or texts for its
  // codes.
  [[noreturn]] void fail_answer(const char* call, int code, const char* symbol, const char* text = nullptr) const;

 private:
  void open(const std::vector<std::string>& candidates, const char* wanted);

  const char* library_;
  std::string path_;
  void* handle_ = nullptr;
};

// The result of the first attempt to load a table: the table, or the text of the error that every call throws.
template <class Table> struct Loaded {
  Table table;
  std::string error;

  // `load` fills the table or throws RuntimeError.
  template <class Load> explicit Loaded(Load load) {
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

// The members of a table, and the code that fills them from `library`.
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
  CATENA_DRIVER_OPTIONAL_FUNCTIONS(CATENA_FIELD)
};
}  // namespace api

struct Nvrtc : api::NvrtcFunctions {
  std::string path;
  int major_version = 0, minor_version = 0;
  std::vector<int> architectures;  // 75, 80, ... in ascending order
};
// RuntimeError, with the same text at every call, if the library cannot be used.
CATENA_EXPORT const Nvrtc& nvrtc();

// The entry points of the driver, which is initialised and has at least one device.
struct Driver : api::DriverFunctions {
  std::string path;
  int version = 0;  // 13000
  int device_count = 0;
};
// Returns the driver. RuntimeError "CUDA is unavailable: <why>", with the same text at every call.
CATENA_EXPORT const Driver& driver();
// True in a child of fork() if the parent had opened the driver, which then refuses every call.
CATENA_EXPORT bool is_forked_child() noexcept;

}  // namespace nd::cuda
