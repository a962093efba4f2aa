// StreamExtension by CUDA streams and events. Internal to this folder.
#pragma once

#include <catena/autograd/backend/stream_extension.h>

namespace autograd::internal {

StreamExtension& cuda_stream_extension();

}  // namespace autograd::internal
