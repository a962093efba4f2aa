// The bound call of attention in tiles, the same for every backend.
#pragma once

#include <cstdint>

#include <catena/kernels/base/array_header.h>

namespace catena::bound {

// y = softmax(scale q k^T + mask) v for heads in groups: queries of G heads share the keys of one. q is (..., G, Lq,
// d), k (..., 1, Lk, d), v (..., 1, Lk, dv) and the mask, if there is one, (..., G, Lq, Lk); the leading axes are
// equal. Any strides, 0 included; one floating dtype, and a mask of a floating dtype, which is added, or of bool, true
// where a query sees a key. Query i has the position i + offset and sees the keys j with j <= i + offset if `causal`,
// and with |i + offset - j| < window if window > 0. A query that sees no key has the result 0.
struct Attention {
  const ArrayHeader &q, &k, &v;
  const ArrayHeader* mask = nullptr;
  double scale = 1;
  bool causal = false;
  std::int64_t window = 0, offset = 0;
};

}  // namespace catena::bound
