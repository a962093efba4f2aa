// NnExtension on the CPU. Internal to this folder.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

NnExtension& cpu_nn_extension();

}  // namespace autograd::internal
