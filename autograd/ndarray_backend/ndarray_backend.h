// ndarray as the array library of the framework.
#pragma once

#include <catena/autograd/backend/backend.h>

namespace autograd {

// The adapter of ndarray: its arrays are nd::Arrays, shared without a copy, on nd's devices and streams. Created on
// first use, never destroyed. Thread-safe.
CATENA_EXPORT Backend& ndarray_backend();

}  // namespace autograd
