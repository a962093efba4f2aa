// The tables of the modules of this folder (kernels/base/module.h), one for each library that multiplies matrices.
#pragma once

#include <catena/ndarray/cpu/gemm.h>

namespace nd::cpu {

struct OnednnModule {
  bool (*multiply)(const Gemm& g);  // float32; false if oneDNN refuses the product
};

struct OpenblasModule {
  void (*multiply)(catena::Dtype dtype, const Gemm& g);  // for what openblas_takes()
  bool (*knows_processor)();
};

extern "C" {
CATENA_EXPORT const OnednnModule* catena_ndarray_onednn();
CATENA_EXPORT const OpenblasModule* catena_ndarray_openblas();
}

}  // namespace nd::cpu
