// Folder ndarray/cpu/modules/: the code that calls OpenBLAS (openblas.cpp, lapack.cpp) and oneDNN (onednn.cpp). Each
// library has a module, which is loaded when it is first needed, so that the array library needs neither.
//
// The function tables of the modules of this folder (kernels/base/module.h), one per library for matrix products. The
// table of OpenBLAS also has its LAPACK.
#pragma once

#include <string>

#include <catena/ndarray/cpu/gemm.h>
#include <catena/ndarray/cpu/lapack.h>

namespace nd::cpu {

struct OnednnModule {
  Multiply multiply;
  std::string (*description)();  // version and file of the library
};

struct OpenblasModule {
  Multiply multiply;
  std::string (*description)();  // version, options, kernels and file of the library
  bool (*knows_processor)();
  // Makes the library use the kernels of an older processor if it does not know this one. The library must not be in
  // use.
  void (*choose_kernels)();
  Lapack lapack;
};

// Defined in modules/lapack.cpp, which is a part of the module of OpenBLAS.
extern const Lapack lapack_of_openblas;

extern "C" {
CATENA_EXPORT const OnednnModule* catena_ndarray_onednn();
CATENA_EXPORT const OpenblasModule* catena_ndarray_openblas();
}

}  // namespace nd::cpu
