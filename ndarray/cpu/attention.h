// Attention in tiles, as in FlashAttention (Dao et al. 2022): of the scores of all queries and keys, only those of a
// block of queries and a block of keys exist at a time, so memory is linear in the numbers of queries and keys. The
// forward pass keeps one number per query, from which the backward pass computes the weights again.
#pragma once

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/registry/attention.h>

namespace nd::cpu {

// 16-bit floats are computed in float32.
using catena::bound::Attention;

// Writes y (..., G, Lq, dv), of any strides, and the C-contiguous logarithms of the sums of exp(scores), (..., G, Lq),
// in the dtype of the computation; infinity where a query sees no key.
CATENA_EXPORT void attention(const Attention& a, const catena::ArrayHeader& y, const catena::ArrayHeader& log_sums);
// Writes the gradients of q, k and v in their shapes, without strides of 0, for gy in the shape of y.
CATENA_EXPORT void attention_backward(const Attention& a, const catena::ArrayHeader& y,
                                      const catena::ArrayHeader& log_sums, const catena::ArrayHeader& gy,
                                      const catena::ArrayHeader& gq, const catena::ArrayHeader& gk,
                                      const catena::ArrayHeader& gv);

}  // namespace nd::cpu
