// The compiler of the software device: the text of kernels is compiled by the system's C++ compiler, unless the build
// has done so already (manifest.txt), and kept in a cache folder: $CATENA_SOFTWARE_CUDA_CACHE, or one in the build
// folder.
//
// Check mode ($CATENA_SOFTWARE_CUDA_CHECK=1): nothing that the build compiled is used, and every access to memory is
// told to racecheck.h.
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

// Of dynamic shared memory that a block may have; all extern __shared__ arrays begin at the same address.
inline constexpr int kMaxDynamicShared = 64 * 1024;

// Writes headers into the cache folder, if they are not there, and gives the hash by which compile() knows them.
std::uint64_t store_headers(const std::vector<Header>& headers);

// A text with all that decides what it is compiled to.
struct KernelText {
  std::string source;
  std::string name;                      // in messages
  std::vector<std::string> expressions;  // names of templates and of what is not extern "C"
  std::string head;                      // lines ahead of the text: the definitions among the options
  std::vector<std::string> folders;      // to search for headers after those in memory
  std::uint64_t headers = 0;
};
// The "cubin" of a text: printable, ended by a null character.
std::string to_image(const KernelText& text);
std::optional<KernelText> from_image(const void* image);  // nothing: not such an image

struct Compiled {
  std::vector<const KernelEntry*> built_in;  // kernels that the build compiled
  std::string object;  // a shared library with all others, see kernel_table.h; empty: there are none
  bool failed = false;
  std::string log;  // the compiler's messages
};
Compiled compile(const KernelText& text);

// True in check mode. Decided when the program starts.
bool instruments_kernels();

// "<file>:<line>" in the text of a kernel or a header under kernels/ for an instruction of an object of compile(); ""
// where the object has no debug information (it has in check mode).
std::string source_line(const void* instruction);

}  // namespace cuda_device
