// Products of few results with long inner lengths.
#pragma once

#include <catena/kernels/registry/bound_call.h>
#include <catena/ndarray/device/executor.h>

namespace nd::cuda {

// True if a product of float32, complex64 or 16-bit floats has so few results and so long sums that cuBLASLt does not
// compute it as a whole, because cuBLASLt does not document its order of additions. With more results, sums of pieces
// would need too much memory traffic.
bool is_long_product(const catena::bound::Matmul& call);
// Computes a long product by cuBLASLt in pieces along k, as a batch, and adds the pieces by a reduction. Returns false,
// with nothing done, if cuBLASLt refuses the pieces; the portable kernel then adds up in parts.
bool multiply_in_pieces(const catena::bound::Matmul& call, StreamRef stream);

}  // namespace nd::cuda
