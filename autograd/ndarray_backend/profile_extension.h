// ProfileExtension by NVTX, and by the hooks of ndarray's call layer and memory pool. Internal to this folder.
#pragma once

#include <catena/autograd/backend/profile_extension.h>

namespace autograd::internal {

ProfileExtension& ndarray_profile_extension();

}  // namespace autograd::internal
