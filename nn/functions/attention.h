// Attention, and the positions of tokens.
#pragma once

#include <concepts>
#include <optional>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Variable;

struct AttentionOptions {
  // Of any shape that broadcasts to (..., heads, Lq, Lk). bool: true where a query sees a key; floating, of the dtype
  // of q: added to the scaled products, with a gradient.
  Variable mask = {};
  double dropout = 0;                // of the weights, in train mode; see dropout()
  bool causal = false;               // query i sees the keys 0 to i, as is_causal in PyTorch
  std::optional<double> scale = {};  // of the products; default: 1 / sqrt(d)
  std::int64_t window = 0;           // if positive, query i sees the keys j with |i - j| < window
  // The position of the first query among the keys, by which `causal` and `window` count the queries: Lk - Lq if the
  // queries are the last tokens.
  std::int64_t offset = 0;
};
// softmax(scale q k^T + mask) v (Vaswani et al. 2017) for q (..., Lq, d), k (..., Lk, d) and v (..., Lk, dv): (..., Lq,
// dv). Leading axes broadcast. The last of them is the axis of heads; q may have a multiple of the heads of k and v:
// neighbouring heads share keys and values (grouped-query attention). A query that sees no key has the result 0 and the
// gradient 0. 16-bit floats are computed in float32.
//
// Without dropout, the scores are computed in tiles, forward and again in backward (Dao 2023): memory is linear in Lq
// and Lk, and views, such as x.reshape(b, L, heads, d).transpose(0, 2, 1, 3), are read in place. On CUDA this holds for
// d = dv of 16, 32, 64, 96 or 128, float32 and 16-bit floats. A gradient that is to be differentiated again, that of a
// mask, and the other cases compute the (..., heads, Lq, Lk) weights.
//
// InvalidType unless q, k and v have one floating dtype and shapes as above; ValueError for a mask of another shape or
// dtype and for a negative window.
CATENA_EXPORT Variable scaled_dot_product_attention(const Variable& q, const Variable& k, const Variable& v,
                                                    const AttentionOptions& options = {});
// The same with PyTorch's names of mask, dropout and causal.
struct TorchAttentionOptions {
  Variable attn_mask = {};
  double dropout_p = 0;
  bool is_causal = false;
  std::optional<double> scale = {};
  bool enable_gqa = false;  // without effect: fewer heads of k and v than of q are always shared
};
template <std::same_as<TorchAttentionOptions> O = TorchAttentionOptions>  // where both fit, AttentionOptions are meant
Variable scaled_dot_product_attention(const Variable& q, const Variable& k, const Variable& v, const O& o) {
  return scaled_dot_product_attention(
      q, k, v, AttentionOptions{.mask = o.attn_mask, .dropout = o.dropout_p, .causal = o.is_causal, .scale = o.scale});
}
// The mask by position, a variable or an array: scaled_dot_product_attention(q, k, v, mask, 0.1).
template <std::convertible_to<Variable> M>
requires(std::derived_from<M, Variable> || autograd::ArrayLike<M>) Variable
    scaled_dot_product_attention(const Variable& q, const Variable& k, const Variable& v, const M& attn_mask,
                                 double dropout_p = 0, bool is_causal = false) {
  return scaled_dot_product_attention(q, k, v,
                                      AttentionOptions{.mask = attn_mask, .dropout = dropout_p, .causal = is_causal});
}

// The angles of rotary_embedding() for the positions first, ..., first + length - 1: position * base^(-2 i / d) for the
// pairs i < d / 2, float64, (length, d / 2), on the current device. ValueError for an odd d and a negative length.
CATENA_EXPORT autograd::Array rotary_angles(std::int64_t length, std::int64_t d, std::int64_t first = 0,
                                            double base = 10000);
enum class RotaryPairs : std::uint8_t { halves, neighbours };  // elements (i, i + d / 2) or (2 i, 2 i + 1) of a row
// Rotates the pairs of elements of x (..., L, d) by angles (L, d / 2) (Su et al. 2021); the gradient is rotated back.
// Floating x (InvalidType); ValueError for angles of another shape. Sines and cosines are computed in the dtype of the
// angles, the rotation in the dtype of x (float32 for 16-bit floats).
CATENA_EXPORT Variable rotary_embedding(const Variable& x, const autograd::Array& angles,
                                        RotaryPairs pairs = RotaryPairs::halves);

// The positions of Vaswani et al. (2017), (length, d), float32, on the current device: sin(p / base^(2 i / d)) in
// column 2 i and the cosine in column 2 i + 1. ValueError for an odd d and a negative length.
CATENA_EXPORT autograd::Array sinusoidal_positions(std::int64_t length, std::int64_t d, double base = 10000);

}  // namespace nn
