// Compiles C++ text with the system's compiler at run time and loads the result.
//
// The compiler is $CATENA_HOST_COMPILER if it is set (a program, optionally with options), else the first found of
// $CXX, c++, g++ and clang++. Objects are kept in the folder host/ of the cache (see ndarray/compile/disk_cache.h)
// under a key of text, options, compiler and processor; without a cache they are in a temporary folder. The text may
// include every header of kernels/ except those of base/, formats/ and rows/.
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
  // A function or variable with C linkage; null if there is none.
  void* symbol(const std::string& name) const noexcept;
  std::size_t size_of(const void* symbol) const noexcept;  // bytes

 private:
  void* handle_;
};

// What a compilation that nobody waits for tells its thread: the compiler's process has started, and has ended but
// still has its number.
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
};

// CompileError "<what>: <command> failed (exit status 1)", then the compiler's output and the numbered source.
// RuntimeError "<what>: there is no C++ compiler (tried: ...)". IOError if the files cannot be written.
CATENA_EXPORT std::shared_ptr<const HostModule> compile_for_host(const HostCompileRequest& request);

struct HostCompilerStatistics {
  std::uint64_t compilations = 0, disk_hits = 0, bad_records = 0;
};
CATENA_EXPORT HostCompilerStatistics host_compiler_statistics();

}  // namespace nd::cpu
