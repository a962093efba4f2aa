// Products of few results with long inner lengths.
#pragma once

#include <catena/kernels/registry/bound_call.h>
#include <catena/ndarray/device/executor.h>

namespace nd::cuda {

// Whether a product of float32 or of 16-bit floats has so few results and so long sums that it is not left to cuBLASLt
// as a whole, of which the order of additions is not documented. With more results, sums of pieces would take too much
// memory traffic.
bool is_long_product(const catena::bound::Matmul& call);
// Computes a long product by cuBLASLt in pieces along k, as a batch, and adds the pieces by a reduction. False, with
// nothing done, if cuBLASLt refuses the pieces: the portable kernel adds up in parts.
bool multiply_in_pieces(Executor& backend, const catena::bound::Matmul& call, StreamRef stream);

}  // namespace nd::cuda
