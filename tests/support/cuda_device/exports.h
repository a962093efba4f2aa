// The driver's entry points as this library exports them. Declared with the product's own types: a definition that
// differs does not compile, and one that is missing does not link.
#pragma once

#include <type_traits>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/driver.h>

namespace cuda_device::exports {
using namespace nd::cuda::api;
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_DRIVER_FUNCTIONS(CATENA_TYPE)
CATENA_DRIVER_PROFILER_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports

extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_DRIVER_FUNCTIONS(CATENA_DECLARE)
CATENA_DRIVER_PROFILER_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}
