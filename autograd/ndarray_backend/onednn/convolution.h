// Folder autograd/ndarray_backend/onednn: convolutions on the CPU by oneDNN. The code that calls the library is in
// onednn/modules, which is loaded at the first convolution; the rest of the library does not need oneDNN.
//
// Convolutions by oneDNN. The first convolution loads the module onednn/modules. Internal to the folder
// ndarray_backend.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

// Computes a convolution of non-empty float32 arrays over one to three spatial axes. Returns null if oneDNN has no
// implementation or Catena was built without oneDNN.
Array onednn_convolution(const Convolution& c);

}  // namespace autograd::internal
