// The exported functions for networks, declared with the product's types: a definition with another type does not
// compile.
#pragma once

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/cudnn.h>

namespace cuda_device::exports {
using namespace nd::cuda::api;
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_CUDNN_GRAPH_FUNCTIONS(CATENA_TYPE)
CATENA_CUDNN_BATCH_NORM_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports

extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_CUDNN_GRAPH_FUNCTIONS(CATENA_DECLARE)
CATENA_CUDNN_BATCH_NORM_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}
