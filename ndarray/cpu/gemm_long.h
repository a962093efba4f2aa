// Products with long inner lengths. The libraries add the terms of an element up one after the other, or in blocks that
// they add up so, and the rounding error grows with their number.
#pragma once

#include <catena/ndarray/cpu/gemm.h>

namespace nd::cpu {

// c = op(a) @ op(b) by products of at most 2 * `depth` terms, the sums of which are added pairwise; one product if that
// is enough. float32 and complex64 only: other floats have digits to spare. False as soon as `multiply` returns it.
bool multiply_in_pieces(Multiply multiply, catena::Dtype dtype, const Gemm& g, std::int64_t depth);
// The depth for a library, whose kernels for small products add the terms up one after the other, those for few results
// in a few chains, and others in blocks. Pieces are so long that starting the library for each of them does not count.
std::int64_t library_depth(const Gemm& g);

}  // namespace nd::cpu
