// Products with long inner lengths. The libraries add up the terms of an element one after the other, or in blocks
// whose sums they add up one after the other, so the rounding error grows with the number of terms.
#pragma once

#include <catena/ndarray/cpu/gemm.h>

namespace nd::cpu {

// Computes c = op(a) @ op(b) by products of at most 2 * `depth` terms, whose results are added pairwise; one product if
// that is enough. For float32 and complex64 only: other floats are accurate enough. Returns false as soon as `multiply`
// does.
bool multiply_in_pieces(Multiply multiply, catena::Dtype dtype, const Gemm& g, std::int64_t depth);
// Returns the depth for a library. Its kernels for small products add up the terms one after the other, the kernels for
// few results in a few chains, and others in blocks. Pieces are long enough to make the cost of a library call
// negligible.
std::int64_t library_depth(const Gemm& g);

}  // namespace nd::cpu
