// NnExtension by oneDNN: float32 convolutions over images on the CPU. The first one loads the module
// onednn/modules/onednn.cpp. Internal to this folder.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

// Null when Catena was built without oneDNN.
NnExtension* onednn_extension();

}  // namespace autograd::internal
