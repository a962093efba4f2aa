// Compiles C++ text with the system's compiler at run time and loads the result.
//
// Which compiler: find_compiler.h. Objects are kept under a key of text, options, compiler and processor, in the folder
// host/ beside (or in) the folder of the disk cache, else in that of the fallback (ndarray/compile/disk_cache.h). An
// object is loaded from memory, so a kernel that is kept needs no space.
//
// A compilation has a folder of its own, "compiling-XXXXXX", with the text, the headers that it includes, and the
// compiler's temporary files. It is made in the first of these folders that has space: those of the cache,
// $TMPDIR/catena-<user id>/host (without TMPDIR /tmp) and /dev/shm/catena-<user id>; never in the working folder. The
// folder of a process that was killed is removed by a later compilation. The text may include every header of kernels/
// except those of base/, formats/ and rows/.
//
// Compiled with -O3 -march=native (or what HostCompileRequest::processor says) -ffp-contract=off and with errno
// preserved. Without contraction and without vector versions of functions such as exp, the register width does not
// affect results, so they depend neither on the position of an element nor on the processor.
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

// A loaded shared object; unloaded with the last reference.
class CATENA_EXPORT HostModule {
 public:
  explicit HostModule(void* handle) noexcept : handle_(handle) {}
  ~HostModule();
  HostModule(const HostModule&) = delete;
  HostModule& operator=(const HostModule&) = delete;
  // Null, with the reason, if the object cannot be loaded.
  static std::shared_ptr<const HostModule> load_bytes(std::string_view object, std::string* reason);
  static std::shared_ptr<const HostModule> load_file(const std::string& path, std::string* reason);

  // A function or variable with C linkage; null if there is none.
  void* symbol(const std::string& name) const noexcept;
  // The same; RuntimeError starting with `what` if there is none.
  void* required(std::string_view what, const std::string& name) const;
  std::size_t size_of(const void* symbol) const noexcept;  // bytes

 private:
  void* handle_;
};

// Is called by a background compilation: started() with the number of the compiler's process, ended() when the process
// has ended but has not been waited for, so that its number still belongs to it.
class CompilerProcess {
 public:
  virtual void started(int process) = 0;
  virtual void ended() = 0;

 protected:
  ~CompilerProcess() = default;
};

struct HostCompileRequest {
  std::string what;  // used in messages: "ElementwiseKernel squared_diff"
  std::string name;  // of the source file
  std::string source;
  std::vector<std::string> options;  // appended to the default options
  // The text to print in error messages instead of `source`; the #line directives of `source` refer to it.
  std::string shown;
  std::string processor = "native";          // the argument of -march
  CompilerProcess* in_background = nullptr;  // not null: the compiler runs with the lowest priority
  std::vector<std::string> symbols = {};     // that the object must have
};

// CompileError "<what>: <command> failed (exit status 1)", then the compiler's output and the numbered source, of each
// the first 64 KiB. RuntimeError "<what>: kernels given as text need a C++ compiler on the CPU, and there is none
// (tried: ...)", and if the object has not all symbols or cannot be loaded. IOError naming the folders and the reasons
// if none of them can take the files.
CATENA_EXPORT std::shared_ptr<const HostModule> compile_for_host(const HostCompileRequest& request);

struct HostCompilerStatistics {
  std::uint64_t compilations = 0, disk_hits = 0, bad_records = 0;
};
CATENA_EXPORT HostCompilerStatistics host_compiler_statistics();

}  // namespace nd::cpu
