// The tables of the modules of this folder (kernels/base/module.h), one for each library that multiplies matrices.
#pragma once

#include <catena/ndarray/cpu/gemm.h>

namespace nd::cpu {

struct OnednnModule {
  Multiply multiply;
};

struct OpenblasModule {
  Multiply multiply;
  bool (*knows_processor)();
};

extern "C" {
CATENA_EXPORT const OnednnModule* catena_ndarray_onednn();
CATENA_EXPORT const OpenblasModule* catena_ndarray_openblas();
}

}  // namespace nd::cpu
