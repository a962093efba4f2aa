// Compiles generated text for the GPU. No header file is needed at run time: the headers of kernels/ are embedded in
// the library. Needs NVRTC, but neither a GPU nor a driver.
//
// CATENA_DUMP_KERNELS=<folder> writes every text there, as <name>.cu.
//
// Thread safety: all functions may be called from any thread; independent compilations run in parallel.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <catena/kernels/base/export.h>

namespace nd::cuda {

// Resources of one kernel as reported by the assembler. Spills are bytes that did not fit into registers.
struct KernelResources {
  std::string name;
  int registers = 0, stack = 0, spill_stores = 0, spill_loads = 0, shared = 0;
};

// Returns true if a kernel spills registers.
CATENA_EXPORT bool spills(std::span<const KernelResources> kernels) noexcept;

struct Module {
  std::string code;                // a cubin, or PTX text if `ptx` is true
  bool ptx = false;                // the compiler does not support the architecture; the driver compiles the PTX
  int arch = 0;                    // the architecture it was compiled for: 90
  std::vector<std::string> names;  // names of the kernels in the driver: one per requested name, in order
  std::vector<KernelResources> resources;
  std::string log;  // warnings, if any
};

struct CompileRequest {
  std::string source;
  std::string name = "kernel.cu";  // used in messages
  // Names of templates or of kernels that are not extern "C"; resolved in Module::names.
  std::vector<std::string> expressions = {};
  int arch = 0;                           // of the device: 90 for compute capability 9.0
  std::vector<std::string> options = {};  // appended to compile_options()
  bool avoid_spills = false;              // of generated kernels, see compile()
};

// The assembler may spill a few registers so that a multiprocessor holds more blocks. With avoid_spills, such a text is
// compiled again for fewer blocks, by the second argument of its __launch_bounds__; unless an option limits registers.
//
// CompileError "<name>: NVRTC cannot compile it for sm_90", followed by the compiler's log and the numbered source, of
// each the first 64 kB.
CATENA_EXPORT Module compile(const CompileRequest& request);

// True if CATENA_DUMP_KERNELS is set. dump_source() writes a text that is used without being compiled, as compile()
// does for compiled texts; IOError.
CATENA_EXPORT bool dumps_sources() noexcept;
CATENA_EXPORT void dump_source(const std::string& name, const std::string& source);

// The compiler options of every kernel, without the architecture.
CATENA_EXPORT std::span<const char* const> compile_options();

// Returns the hash of everything besides the text that determines the compiled code: embedded headers, options, version
// of the compiler.
CATENA_EXPORT std::uint64_t toolchain_hash();
// Returns the part of toolchain_hash() that needs no compiler: headers and options.
CATENA_EXPORT std::uint64_t embedded_headers_hash();

// Returns the target for a device of architecture `arch` and a compiler that supports the architectures `known`
// (ascending): the same architecture as a cubin, else the best older one as PTX. RuntimeError if all known ones are
// newer.
struct Target {
  int arch;
  bool ptx;
};
CATENA_EXPORT Target choose_target(int arch, std::span<const int> known);

// Returns a text with line numbers, for error messages.
CATENA_EXPORT std::string numbered(const std::string& source);

// Parses the assembler's report (ptxas -v) in a compilation log; stores the other lines of the log in `rest`.
CATENA_EXPORT std::vector<KernelResources> parse_resources(const std::string& log, std::string* rest);

}  // namespace nd::cuda
