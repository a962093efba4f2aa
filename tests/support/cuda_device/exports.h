// The exported entry points of the driver, declared with the product's types: a definition with another type does not
// compile, a missing one does not link.
#pragma once

#include <type_traits>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/driver.h>

namespace cuda_device::exports {
using namespace nd::cuda::api;
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_DRIVER_FUNCTIONS(CATENA_TYPE)
CATENA_DRIVER_OPTIONAL_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports

extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_DRIVER_FUNCTIONS(CATENA_DECLARE)
CATENA_DRIVER_OPTIONAL_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}
