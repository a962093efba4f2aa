// GroupNormalizationExtension on the CPU. Internal to this folder.
#pragma once

#include <catena/autograd/group_normalization_extension.h>

namespace autograd::internal {

GroupNormalizationExtension& cpu_group_normalization_extension();

}  // namespace autograd::internal
