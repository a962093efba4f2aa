// ndarray as the array library of the framework.
#pragma once

#include <catena/autograd/backend/array.h>

namespace autograd {

// Returns the adapter of ndarray. Its arrays are nd::Arrays, shared without a copy, on the devices and streams of
// ndarray. Created at the first call, never destroyed. Thread-safe.
CATENA_EXPORT Backend& ndarray_backend();

}  // namespace autograd
