// NnExtension by oneDNN: float32 convolutions of images on the CPU. The first convolution loads the module
// onednn/modules/onednn.cpp. Internal to this folder.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

// Returns null if Catena was built without oneDNN.
NnExtension* onednn_extension();

}  // namespace autograd::internal
