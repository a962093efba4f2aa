// Products of operands that one call of cuBLASLt cannot take as they are.
#pragma once

#include <catena/kernels/registry/bound_call.h>
#include <catena/ndarray/device/executor.h>

namespace nd::cuda {

// Enqueues the product by cuBLASLt in the way that takes the least time by an estimate: one call, several calls, or
// calls after one or both operands have been copied. Returns false, with nothing done, if cuBLASLt does not take the
// dtype, or if the portable kernel takes less time.
bool multiply_by_library(const catena::bound::Matmul& call, StreamRef stream);

}  // namespace nd::cuda
