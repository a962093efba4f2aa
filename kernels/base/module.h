// Modules: the sources of a library that need oneDNN or OpenBLAS, which are large and bring their own run-time
// libraries (OpenCL, Fortran). A module is a shared library in the folder of the library to which it belongs
// (catena_module in cmake/Catena.cmake). The first call that needs it loads it: programs start without all of this. In
// archives the sources are part of the library.
//
// A module has one C function, with the module's name, which returns a table of functions:
//
//   extern "C" CATENA_EXPORT const OpenblasModule* catena_ndarray_openblas();
//
//   static const OpenblasModule& module = *CATENA_LOAD_MODULE(catena_ndarray_openblas);
#pragma once

#include <cstddef>

#include <catena/kernels/base/export.h>

namespace catena::internal {

// The address of `function` in the module `file`, which lies in the folder of the library that contains the address
// `inside`. A module stays open until the program ends. RuntimeError, with the dynamic linker's reason, if it is
// missing or one of its libraries is; OutOfMemoryError if there is no memory for them.
CATENA_EXPORT void* load_module(const char* file, const char* function, const void* inside);

// False if this process cannot map `bytes` more bytes of addresses (ulimit -v). Nothing stays mapped, so that another
// thread may take them.
CATENA_EXPORT bool can_map(std::size_t bytes) noexcept;
// True if enough addresses are left for every call of oneDNN, of which three kinds do not survive a failed allocation:
// the compilation of a primitive writes to each of some forty mappings of 256 KB without checking it, the C library
// ends the program if it cannot allocate a thread's variables of a loaded library, and so does OpenMP. To be asked
// before each call, and before work that calls oneDNN is given to several threads: each further thread maps memory of
// its own for malloc, which would otherwise take the addresses that were found free. Costs a system call without a
// limit on the addresses.
CATENA_EXPORT bool has_space_for_onednn(int threads = 1) noexcept;

}  // namespace catena::internal

#ifdef CATENA_MODULE_SUFFIX  // shared libraries: ".so.<major>.<minor>"
#define CATENA_LOAD_MODULE(name)                                                                           \
  [] {                                                                                                     \
    static const char inside = 0;                                                                          \
    void* const table = ::catena::internal::load_module("lib" #name CATENA_MODULE_SUFFIX, #name, &inside); \
    return reinterpret_cast<decltype(&name)>(table)();                                                     \
  }()
#else
#define CATENA_LOAD_MODULE(name) name()
#endif
