// The function table of the oneDNN module (kernels/base/module.h). Internal to this folder.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

struct OnednnModule {
  // Computes a convolution of non-empty float32 arrays with one to three spatial axes. Null: oneDNN has no
  // implementation.
  Array (*convolution)(const Convolution& c);
};

extern "C" CATENA_EXPORT const OnednnModule* catena_autograd_ndarray_onednn();

}  // namespace autograd::internal
