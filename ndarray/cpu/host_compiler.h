// Compiles C++ text for the CPU with the system's compiler while the program runs, and loads it.
//
// The compiler is $CATENA_HOST_COMPILER if that is set (a program, options may follow), else the first that is found of
// $CXX, c++, g++ and clang++. Objects are kept in the folder host/ of the cache (see ndarray/compile/disk_cache.h),
// found by text, options, compiler and processor; without a cache they live in a temporary folder. The text may include
// every header of kernels/ but those of base/, formats/ and rows/.
//
// -O3 -march=native -ffp-contract=off, and errno is kept: without contraction and without vector versions of exp and
// the like the width of the registers does not show in the results, which therefore depend neither on the position of
// an element nor on the processor.
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

// A shared object, loaded. It is unloaded with the last reference.
class CATENA_EXPORT HostModule {
 public:
  explicit HostModule(void* handle) noexcept : handle_(handle) {}
  ~HostModule();
  HostModule(const HostModule&) = delete;
  HostModule& operator=(const HostModule&) = delete;
  // Of a function or variable with C linkage; null when there is none.
  void* symbol(const std::string& name) const noexcept;
  std::size_t size_of(const void* symbol) const noexcept;  // bytes

 private:
  void* handle_;
};

struct HostCompileRequest {
  std::string what;  // in messages: "ElementwiseKernel squared_diff"
  std::string name;  // of the file
  std::string source;
  std::vector<std::string> options;  // after ours
  // What the numbered text of an error message shows instead of `source`, whose #line directives then speak of it.
  std::string shown;
};

// CompileError "<what>: <command> failed (exit status 1)", then the compiler's words and the numbered source.
// RuntimeError "<what>: there is no C++ compiler (tried: ...)". IOError when there is no place for the files.
CATENA_EXPORT std::shared_ptr<const HostModule> compile_for_host(const HostCompileRequest& request);

struct HostCompilerStatistics {
  std::uint64_t compilations = 0, disk_hits = 0, bad_records = 0;
};
CATENA_EXPORT HostCompilerStatistics host_compiler_statistics();

}  // namespace nd::cpu
