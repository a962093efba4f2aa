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

#include <catena/kernels/base/export.h>

namespace catena::internal {

// The address of `function` in the module `file`, which lies in the folder of the library that contains the address
// `inside`. A module stays open until the program ends. RuntimeError, with the dynamic linker's reason, if it is
// missing or one of its libraries is; OutOfMemoryError if there is no memory for them.
CATENA_EXPORT void* load_module(const char* file, const char* function, const void* inside);

}  // namespace catena::internal

#ifdef CATENA_MODULE_SUFFIX  // shared libraries: ".so.0.1"
#define CATENA_LOAD_MODULE(name)                                                                           \
  [] {                                                                                                     \
    static const char inside = 0;                                                                          \
    void* const table = ::catena::internal::load_module("lib" #name CATENA_MODULE_SUFFIX, #name, &inside); \
    return reinterpret_cast<decltype(&name)>(table)();                                                     \
  }()
#else
#define CATENA_LOAD_MODULE(name) name()
#endif
