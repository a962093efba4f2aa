// Compiles generated text for the GPU. No header and no file is needed where the program runs: everything under
// kernels/ travels in the library as text. Needs NVRTC, but neither a GPU nor a driver.
//
// CATENA_DUMP_KERNELS=<folder> keeps every text there, as <name>.cu.
//
// Thread safety: all functions may be called from any thread; independent compilations run in parallel.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <catena/kernels/base/export.h>

namespace nd::cuda {

// What the assembler says about one kernel. Spills: bytes that did not fit into registers.
struct KernelResources {
  std::string name;
  int registers = 0, stack = 0, spill_stores = 0, spill_loads = 0, shared = 0;
};

struct Module {
  std::string code;                // a cubin, or PTX text when `ptx`
  bool ptx = false;                // the architecture is unknown to the compiler: the driver finishes the job
  int arch = 0;                    // compiled for this one: 90
  std::vector<std::string> names;  // of the kernels, as the driver looks them up: one per requested name, in order
  std::vector<KernelResources> resources;
  std::string log;  // warnings, if any
};

struct CompileRequest {
  std::string source;
  std::string name = "kernel.cu";  // in messages
  std::vector<std::string>
      expressions;  // names of templates or of kernels that are not extern "C"; resolved to Module::names
  int arch = 0;     // of the device: 90 for compute capability 9.0
  std::vector<std::string> options;  // after ours
};

// CompileError "<name>: NVRTC cannot compile it for sm_90", followed by the compiler's log and the numbered source.
CATENA_EXPORT Module compile(const CompileRequest& request);

// Whether CATENA_DUMP_KERNELS is set; writes a text that is used without being compiled, as compile() does. IOError.
CATENA_EXPORT bool dumps_sources() noexcept;
CATENA_EXPORT void dump_source(const std::string& name, const std::string& source);

// The compiler options of every kernel, without the architecture.
CATENA_EXPORT std::span<const char* const> compile_options();

// Hash of all that decides what a text compiles to besides the text itself: the embedded headers, the options, the
// compiler's version.
CATENA_EXPORT std::uint64_t text_hash();
// The part of it that needs no compiler: headers and options.
CATENA_EXPORT std::uint64_t embedded_text_hash();

// What to compile for a device of architecture `arch` with a compiler that knows `known` (ascending): the same one as a
// cubin, or the best older one as PTX. RuntimeError when all known ones are newer.
struct Target {
  int arch;
  bool ptx;
};
CATENA_EXPORT Target choose_target(int arch, std::span<const int> known);

// The lines of a text with their numbers, for error messages.
CATENA_EXPORT std::string numbered(const std::string& source);

// Reads the assembler's report (ptxas -v) out of a compilation log; what else the log holds is left in `rest`.
CATENA_EXPORT std::vector<KernelResources> parse_resources(const std::string& log, std::string* rest);

}  // namespace nd::cuda
