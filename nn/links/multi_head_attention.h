// Multi-head attention, and the keys and values that decoding keeps.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/attention.h>
#include <catena/nn/layer_place.h>
#include <catena/nn/link.h>
#include <catena/nn/links/linear.h>

namespace nn {

// The keys and values of the tokens so far, for decoding token by token. Memory grows by doubling. No gradient flows
// through a cache.
class CATENA_EXPORT KeyValueCache {
 public:
  // Adds tokens: k (B, heads, L, d), v (B, heads, L, dv), on one device. ValueError for shapes that do not fit the
  // tokens before.
  void append(const Array& k, const Array& v);
  std::int64_t length() const noexcept { return length_; }  // tokens
  // Of all tokens: (B, heads, length, d) and (B, heads, length, dv); views that later calls of append do not change.
  // Null before the first call of append.
  Array keys() const;
  Array values() const;
  void clear() { *this = KeyValueCache(); }

 private:
  Array keys_, values_;  // (B, capacity, heads, d)
  std::int64_t length_ = 0;
};

struct MultiHeadAttentionOptions {
  double dropout = 0;  // of the weights, in train mode
  bool bias = true;
  std::optional<int> kdim = {}, vdim = {};  // the lengths of keys and values; default: that of the queries
  std::optional<int> num_kv_heads = {};     // a divisor of num_heads; default: num_heads
  std::optional<double> rotary_base = {};   // of rotary_angles(), by which queries and keys are rotated
};
// The masks of a call, which hide keys from queries, and its cache.
struct MultiHeadAttentionMasks {
  Variable mask = {};              // as AttentionOptions::mask: bool, true where a query sees a key, or added
  autograd::Array padding = {};    // bool (B, Lk): true where a key stands for nothing and is not seen
  bool causal = false;             // no query sees a later key
  std::int64_t window = 0;         // as AttentionOptions::window
  KeyValueCache* cache = nullptr;  // the tokens before x; those of the call are appended
};

// Attention of heads (Vaswani et al. 2017): query (B, Lq, embed_dim), key (B, Lk, kdim), value (B, Lk, vdim) -> (B, Lq,
// embed_dim). Each is multiplied by a matrix and divided into heads; see scaled_dot_product_attention(). Parameters as
// in PyTorch: in_proj (W is in_proj_weight, b in_proj_bias), with other lengths than embed_dim instead q_proj, k_proj
// and v_proj; and out_proj. In masks, true means that a key is seen, as in scaled_dot_product_attention of PyTorch (its
// class has the opposite meaning); in `padding`, true is padding in both.
//
// InvalidType for operands of other shapes; ValueError if num_heads does not divide embed_dim or num_kv_heads
// num_heads.
class CATENA_EXPORT MultiHeadAttention : public Link {
 public:
  using Options = MultiHeadAttentionOptions;
  using Masks = MultiHeadAttentionMasks;
  MultiHeadAttention(int embed_dim, int num_heads, const Options& options = {});

  NN_MEMBERS(in_proj, q_proj, k_proj, v_proj, out_proj)
  Variable operator()(const Variable& query, const Variable& key, const Variable& value, const Masks& masks = {});
  Variable operator()(const Variable& x, const Masks& masks = {}) { return (*this)(x, x, x, masks); }

  int embed_dim, num_heads, num_kv_heads;
  double dropout;
  std::optional<double> rotary_base;
  std::optional<Linear> in_proj, q_proj, k_proj, v_proj;
  Linear out_proj;

 protected:
  // Returns queries, keys and values (B, heads, L, d), rotated by their positions after `past` other tokens. Errors as
  // for a call.
  autograd::Variables divided(const Variable& query, const Variable& key, const Variable& value, std::int64_t past);
  // Returns out_proj of the heads' results (B, heads, Lq, d) side by side.
  Variable joined(const Variable& heads);

 private:
  autograd::Variables project(const Variable& query, const Variable& key, const Variable& value);
};

// ---- PyTorch's class ----
// A mask that is given as an array, which may be null, or as a variable.
class MaskArray : public autograd::Array {
 public:
  using autograd::Array::Array;
  MaskArray(const autograd::Array& a) : Array(a) {}
  template <std::derived_from<Variable> V> MaskArray(const V& v) : Array(v ? v.data() : Array()) {}
};
struct MultiheadAttentionOptions {
  std::optional<int> embed_dim = {}, num_heads = {};  // in place of the arguments
  double dropout = 0;
  bool bias = true;
  std::optional<int> kdim = {}, vdim = {};
  bool batch_first = false;  // (B, L, ...) instead of (L, B, ...)
  LayerDevice device = {};
  LayerDtype dtype = {};
};
struct MultiheadAttentionCallOptions {
  MaskArray key_padding_mask = {};  // bool (B, Lk): true where a key is not seen
  bool need_weights = true;         // false: memory is linear in Lq and Lk, and `weights` is null
  // (Lq, Lk) or (B num_heads, Lq, Lk). bool: true where a query does not see a key, the opposite of
  // MultiHeadAttention; floating: added to the scaled products.
  Variable attn_mask = {};
  bool average_attn_weights = true;  // false: the weights of every head
  bool is_causal = false;            // no query sees a later key
};
namespace internal {
// Masks of MultiHeadAttention that hide the same keys: in its `mask`, true means that a query sees the key.
CATENA_EXPORT MultiHeadAttentionMasks seen_masks(const MultiheadAttentionCallOptions& options, int num_heads);
}  // namespace internal
// Result of a call of MultiheadAttention.
struct MultiheadAttentionResult {
  Variable output;   // of the shape of the query
  Variable weights;  // (B, Lq, Lk), or (B, num_heads, Lq, Lk), after dropout
};
// MultiHeadAttention with PyTorch's order of axes, masks and results: auto [y, w] = attn(q, k, v), for query (Lq, B,
// embed_dim), key (Lk, B, kdim) and value (Lk, B, vdim), or batches first. For a query that sees no key, the weights
// and the output are NaN, as in PyTorch; with need_weights = false, the output is out_proj of zeros. Errors as for
// MultiHeadAttention, and ValueError for a mask that does not broadcast to (B, num_heads, Lq, Lk) and for an attn_mask
// of rank 3 whose first length is no multiple of num_heads.
//   nn::MultiheadAttention attn(512, 8, {.dropout = 0.1, .batch_first = true});
//   auto [y, w] = attn(x, x, x, {.need_weights = false, .attn_mask = mask});
class CATENA_EXPORT MultiheadAttention : public MultiHeadAttention {
 public:
  using Options = MultiheadAttentionOptions;
  MultiheadAttention(int embed_dim, int num_heads, const Options& options = {});
  template <std::same_as<Options> O = Options>
  explicit MultiheadAttention(const O& o)
      : MultiheadAttention(internal::required("MultiheadAttention", "embed_dim", o.embed_dim),
                           internal::required("MultiheadAttention", "num_heads", o.num_heads), o) {}

  Variable call(const autograd::Variables& args) override;  // TypeError: there are two results
  MultiheadAttentionResult operator()(const Variable& query, const Variable& key, const Variable& value,
                                      const MultiheadAttentionCallOptions& options = {});
  bool batch_first;
};

}  // namespace nn
