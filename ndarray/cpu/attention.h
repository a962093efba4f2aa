// Attention in tiles, as in FlashAttention (Dao et al. 2022): of the scores of all queries and keys, only those of a
// block of queries and a block of keys exist at a time, so memory is linear in the numbers of queries and keys. The
// forward pass keeps one number per query, from which the backward pass computes the weights again.
#pragma once

#include <catena/kernels/base/array_header.h>

namespace nd::cpu {

// y = softmax(scale q k^T + mask) v for heads in groups: queries of G heads share the keys of one. q is (..., G, Lq,
// d), k (..., 1, Lk, d), v (..., 1, Lk, dv) and the mask, if there is one, (..., G, Lq, Lk); the leading axes are
// equal. Any strides, 0 included; one floating dtype, and a mask of any floating dtype, which is added, or of bool,
// true where a query sees a key. Query i has the position i + offset and sees the keys j with j <= i + offset if
// `causal`, and with |i + offset - j| < window if window > 0. A query that sees no key has the result 0. 16-bit floats
// are computed in float32.
struct Attention {
  const catena::ArrayHeader &q, &k, &v;
  const catena::ArrayHeader* mask = nullptr;
  double scale = 1;
  bool causal = false;
  std::int64_t window = 0, offset = 0;
};

// Writes y (..., G, Lq, dv), of any strides, and the C-contiguous logarithms of the sums of exp(scores), (..., G, Lq),
// in the dtype of the computation; infinity where a query sees no key.
CATENA_EXPORT void attention(const Attention& a, const catena::ArrayHeader& y, const catena::ArrayHeader& log_sums);
// Writes the gradients of q, k and v in their shapes, without strides of 0, for gy in the shape of y.
CATENA_EXPORT void attention_backward(const Attention& a, const catena::ArrayHeader& y,
                                      const catena::ArrayHeader& log_sums, const catena::ArrayHeader& gy,
                                      const catena::ArrayHeader& gq, const catena::ArrayHeader& gk,
                                      const catena::ArrayHeader& gv);

}  // namespace nd::cpu
