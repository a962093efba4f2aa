// DeviceExtension by CUDA graphs. Internal to this folder.
#pragma once

#include <catena/autograd/backend/device_extension.h>

namespace autograd::internal {

DeviceExtension& cuda_device_extension();

}  // namespace autograd::internal
