// The compiler of the software device. The system's C++ compiler compiles the text of kernels that the build has not
// compiled (manifest.h); results are kept in a cache folder: $CATENA_SOFTWARE_CUDA_CACHE, or one in the build folder.
//
// Check mode ($CATENA_SOFTWARE_CUDA_CHECK=1): kernels that the build compiled are not used, and every access to memory
// is reported to racecheck.h.
//
// Thread safety: all functions may be called from any thread, and several processes may share a cache folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <catena/tests/support/cuda_device/kernel_table.h>
#include <catena/tests/support/cuda_device/kernel_text.h>

namespace cuda_device {

// Bytes of dynamic shared memory per block; all extern __shared__ arrays have the same address.
inline constexpr int kMaxDynamicShared = 64 * 1024;

// Writes headers to the cache folder if they are missing; returns the hash that identifies them for compile().
std::uint64_t store_headers(const std::vector<Header>& headers);

// A text and everything that determines its compilation.
struct KernelText {
  std::string source;
  std::string name;                      // for messages
  std::vector<std::string> expressions;  // name expressions: templates and names that are not extern "C"
  std::string head;                      // lines before the text: the definitions of the options
  std::vector<std::string> folders;      // folders searched for headers after those in memory
  std::uint64_t headers = 0;
};
// Returns the "cubin" of a text: printable, null-terminated.
std::string to_image(const KernelText& text);
std::optional<KernelText> from_image(const void* image);  // empty: another kind of image

struct Compiled {
  std::vector<const KernelEntry*> built_in;  // kernels compiled by the build
  std::string object;                        // a shared library with the other kernels, see kernel_table.h; empty: none
  bool failed = false;
  std::string log;  // the compiler's messages
};
Compiled compile(const KernelText& text);

// For programs that run kernels without a module: returns the only generated kernel in the text, compiled by the build
// or now, once per program. Null if it does not compile; the reason is reported.
SHIM_EXPORT const KernelEntry* entry_of(const std::string& source);

// True in check mode, which is determined at the start of the program.
bool instruments_kernels();

// Returns "<file>:<line>" in a kernel's text or a header under kernels/ for an instruction of a compiled object; ""
// without debug information (which is present in check mode).
std::string source_line(const void* instruction);

}  // namespace cuda_device
