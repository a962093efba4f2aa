// The tables of the modules of this folder (kernels/base/module.h), one for each library that multiplies matrices. That
// of OpenBLAS has its LAPACK, too.
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
  // Gives a processor that the library does not know the kernels of an older one. Not while the library is in use.
  void (*choose_kernels)();
  Lapack lapack;
};

// Of modules/lapack.cpp, which is a part of the module of OpenBLAS.
extern const Lapack lapack_of_openblas;

extern "C" {
CATENA_EXPORT const OnednnModule* catena_ndarray_onednn();
CATENA_EXPORT const OpenblasModule* catena_ndarray_openblas();
}

}  // namespace nd::cpu
