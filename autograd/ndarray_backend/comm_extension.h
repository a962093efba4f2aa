// CommExtension by NCCL. Internal to this folder.
#pragma once

#include <catena/autograd/backend/comm_extension.h>

namespace autograd::internal {

CommExtension& nccl_comm_extension();

}  // namespace autograd::internal
