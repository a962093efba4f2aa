// Compiles C++ text with the system's compiler at run time and loads the result.
//
// find_compiler.h finds the compiler. Objects are stored under a key of text, options, compiler and processor, in the
// folder host/ beside (or in) the folder of the disk cache, or else of its fallback (ndarray/compile/disk_cache.h). An
// object is loaded from memory, so a stored kernel needs no further disk space.
//
// Each compilation has its own folder, "compiling-XXXXXX", with the text, the headers that it includes, and the
// compiler's temporary files. It is created in the first of these folders that has space: the folders of the cache,
// $TMPDIR/catena-<user id>/host (without TMPDIR, /tmp) and /dev/shm/catena-<user id>; never in the working folder. If a
// process is killed, a later compilation removes its folder. The text may include every header of kernels/ except those
// in base/, formats/ and registry/.
//
// Compiled with -O3 -march=native (or HostCompileRequest::processor) -ffp-contract=off and with errno preserved.
// Without contraction and without vector versions of functions such as exp, the register width does not affect results,
// so they depend neither on the position of an element nor on the processor.
//
// Thread safety: all functions may be called from any thread; independent compilations run in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/export.h>

namespace nd::cpu {

// A loaded shared object, which is unloaded with the last reference.
class CATENA_EXPORT HostModule {
 public:
  explicit HostModule(void* handle) noexcept : handle_(handle) {}
  ~HostModule();
  HostModule(const HostModule&) = delete;
  HostModule& operator=(const HostModule&) = delete;
  // Returns null and a reason if the object cannot be loaded.
  static std::shared_ptr<const HostModule> load_bytes(std::string_view object, std::string* reason);
  static std::shared_ptr<const HostModule> load_file(const std::string& path, std::string* reason);

  // Returns the address of a function or variable with C linkage, or null.
  void* symbol(const std::string& name) const noexcept;
  // As symbol(). RuntimeError starting with `what` if there is none.
  void* required(std::string_view what, const std::string& name) const;
  std::size_t size_of(const void* symbol) const noexcept;  // bytes

 private:
  void* handle_;
};

struct HostCompileRequest {
  std::string what;  // used in messages: "ElementwiseKernel squared_diff"
  std::string name;  // of the source file
  std::string source;
  std::vector<std::string> options;  // appended to the default options
  // The text to print in error messages instead of `source`; the #line directives of `source` refer to it.
  std::string shown;
  std::string processor = "native";       // the argument of -march
  std::vector<std::string> symbols = {};  // symbols that the object must have
};

// Compiles and loads a text. CompileError "<what>: <command> failed (exit status 1)", then the compiler's output and
// the numbered source, 64 KiB of each at most. RuntimeError "<what>: kernels given as text need a C++ compiler on the
// CPU, and there is none (tried: ...)", or if the object lacks a symbol or cannot be loaded. IOError with the folders
// and the reasons if no folder can hold the files.
CATENA_EXPORT std::shared_ptr<const HostModule> compile_for_host(const HostCompileRequest& request);

struct HostCompilerStatistics {
  std::uint64_t compilations = 0, disk_hits = 0, bad_records = 0;
};
CATENA_EXPORT HostCompilerStatistics host_compiler_statistics();

}  // namespace nd::cpu
