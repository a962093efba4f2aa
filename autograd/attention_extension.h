// Attention whose memory is linear in the numbers of queries and keys.
#pragma once

#include <string_view>

#include <catena/autograd/backend/backend.h>

namespace autograd {

// y = softmax(scale q k^T + mask) v for heads in groups: the queries of G heads share the keys of one. q is (..., G,
// Lq, d), k (..., 1, Lk, d), v (..., 1, Lk, dv) and the mask, which may be null, (..., G, Lq, Lk); the leading axes are
// equal, no length is 0. Arrays of any strides and one floating dtype; the mask is added, or bool and true where a
// query sees a key. Query i has the position i + offset and sees the keys j <= i + offset if `causal`, and those with
// |i + offset - j| < window if window > 0. A query that sees no key has the result 0.
struct AttentionCall {
  Array q, k, v, mask;
  double scale = 1;
  bool causal = false;
  std::int64_t window = 0, offset = 0;
};

class CATENA_EXPORT AttentionExtension {
 public:
  static constexpr std::string_view kName = "attention";
  virtual ~AttentionExtension();
  // False for a call that the functions below do not compute; its weights are then computed by functions of Variables.
  virtual bool takes(const AttentionCall& call) const;
  // Writes y (..., G, Lq, dv) and the logarithms of the sums of exp(scores): C-contiguous, (..., G, Lq), in the dtype
  // of the computation (compute_dtype).
  virtual void forward(const AttentionCall& call, const Array& y, const Array& log_sums) = 0;
  // Writes the gradients of q, k and v in their shapes.
  virtual void backward(const AttentionCall& call, const Array& y, const Array& log_sums, const Array& gy,
                        const Array& gq, const Array& gk, const Array& gv) = 0;
};

}  // namespace autograd
