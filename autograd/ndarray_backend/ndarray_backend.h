// ndarray as the framework's array library.
#pragma once

#include <catena/autograd/backend/backend.h>

namespace autograd {

// The adapter of ndarray: arrays are nd::Arrays, shared and never copied, on the device and the streams that nd uses.
// Made on first use; lives until the process ends. Safe to use from several threads.
CATENA_EXPORT Backend& ndarray_backend();

}  // namespace autograd
