// Layers of transformers (Vaswani et al. 2017), and stacks of them.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <catena/autograd/unary_function.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/links/layer_normalization.h>
#include <catena/nn/links/multi_head_attention.h>

namespace nn {

// A function, or its name in PyTorch: "relu", "gelu" (ValueError for others).
class CATENA_EXPORT TransformerActivation : public autograd::UnaryFunction {
 public:
  using UnaryFunction::UnaryFunction;
  TransformerActivation(autograd::UnaryFunction f) : UnaryFunction(std::move(f)) {}
  TransformerActivation(const char* name);
};

struct TransformerLayerOptions {
  int dim_feedforward = 2048;
  double dropout = 0.1;  // of weights, of the units between the linear layers, and of what is added to x
  TransformerActivation activation = relu;
  double layer_norm_eps = 1e-5;
  bool batch_first = true;                 // false: x is (L, B, d_model), as by default in PyTorch
  bool norm_first = false;                 // normalizes the input of a part instead of input + output
  bool bias = true;                        // of the linear layers
  std::optional<int> num_kv_heads = {};    // as in MultiHeadAttentionOptions
  std::optional<double> rotary_base = {};  // likewise, of the self-attention
  LayerDevice device = {};
  LayerDtype dtype = {};
};

// Of PyTorch's network, and of its layers with all of their arguments by name, which do not read the numbers of layers.
struct TransformerOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int d_model = 512, nhead = 8, num_encoder_layers = 6, num_decoder_layers = 6, dim_feedforward = 2048;
  double dropout = 0.1;
  TransformerActivation activation = relu;
  double layer_norm_eps = 1e-5;
  bool batch_first = true;  // as in TransformerLayerOptions
  bool norm_first = false, bias = true;
  LayerDevice device = {};
  LayerDtype dtype = {};
};

namespace internal {
CATENA_EXPORT TransformerLayerOptions layer_options(const TransformerOptions& options);
}  // namespace internal

// The masks of a call with PyTorch's names, order and meaning, and others. A mask is (L, L) or (B nhead, L, L): bool,
// true where a query does not see a key, the opposite of MultiHeadAttentionMasks; or floating and added to the scores.
// A key_padding_mask is bool (B, L): true where a token is not seen. The mask has two names, of which one is given.
struct TransformerMasks {
  Variable mask = {}, src_mask = {};
  MaskArray src_key_padding_mask = {};
  bool is_causal = false;  // no token sees a later one, with or without a mask of that
  // As in MultiHeadAttentionMasks.
  autograd::Array padding = {};
  bool causal = false;
  std::int64_t window = 0;
  KeyValueCache* cache = nullptr;
};
struct TransformerDecoderMasks {
  Variable tgt_mask = {}, memory_mask = {};
  MaskArray tgt_key_padding_mask = {}, memory_key_padding_mask = {};
  bool tgt_is_causal = false, memory_is_causal = false;
  // As in MultiHeadAttentionMasks, for the tokens of x.
  autograd::Array padding = {};
  bool causal = false;
  std::int64_t window = 0;
  KeyValueCache* cache = nullptr;
};

// Self-attention and two linear layers, each added to its input and normalized: x (B, L, d_model) -> the same shape.
// The members have the names of PyTorch's modules, and the initial values of their own links; normalizations divide by
// sqrt(var + eps).
class CATENA_EXPORT TransformerEncoderLayer : public Chain {
 public:
  using Options = TransformerLayerOptions;
  using Masks = MultiHeadAttentionMasks;
  TransformerEncoderLayer(int d_model, int nhead, const Options& options = {});
  // TransformerEncoderLayer({.d_model = 16, .nhead = 4})
  template <std::same_as<TransformerOptions> O = TransformerOptions>
  explicit TransformerEncoderLayer(const O& o)
      : TransformerEncoderLayer(o.d_model, o.nhead, internal::layer_options(o)) {}

  NN_MEMBERS(self_attn, linear1, linear2, norm1, norm2)
  Variable operator()(const Variable& x, const TransformerMasks& masks = {});
  template <std::same_as<Masks> M> Variable operator()(const Variable& x, const M& masks) { return masked(x, masks); }

  MultiHeadAttention self_attn;
  Linear linear1, linear2;
  LayerNormalization norm1, norm2;
  autograd::UnaryFunction activation;
  double dropout;
  bool norm_first, batch_first;

 private:
  Variable masked(const Variable& x, const Masks& masks);
};

// The same with an attention between them that reads the result `memory` (B, Lm, d_model) of an encoder.
class CATENA_EXPORT TransformerDecoderLayer : public Chain {
 public:
  using Options = TransformerLayerOptions;
  using Masks = MultiHeadAttentionMasks;
  TransformerDecoderLayer(int d_model, int nhead, const Options& options = {});
  // TransformerDecoderLayer({.d_model = 16, .nhead = 4})
  template <std::same_as<TransformerOptions> O = TransformerOptions>
  explicit TransformerDecoderLayer(const O& o)
      : TransformerDecoderLayer(o.d_model, o.nhead, internal::layer_options(o)) {}

  NN_MEMBERS(self_attn, multihead_attn, linear1, linear2, norm1, norm2, norm3)
  Variable operator()(const Variable& x, const Variable& memory, const TransformerDecoderMasks& masks = {});
  // `masks` hide tokens of x, `memory_masks` those of memory.
  Variable operator()(const Variable& x, const Variable& memory, const Masks& masks, const Masks& memory_masks) {
    return masked(x, memory, masks, memory_masks);
  }
  template <std::same_as<Masks> M> Variable operator()(const Variable& x, const Variable& memory, const M& masks) {
    return masked(x, memory, masks, {});
  }

  MultiHeadAttention self_attn, multihead_attn;
  Linear linear1, linear2;
  LayerNormalization norm1, norm2, norm3;
  autograd::UnaryFunction activation;
  double dropout;
  bool norm_first, batch_first;

 private:
  Variable masked(const Variable& x, const Variable& memory, const Masks& masks, const Masks& memory_masks);
};

// PyTorch's arguments of stacks of layers by name.
struct TransformerStackOptions {
  int num_layers = 1;
  std::optional<LayerNormalization> norm = {};
  bool enable_nested_tensor = true, mask_check = true;  // without effect: results do not depend on them
};
// Layers one after the other; with norm_first, a normalization follows the last one.
class CATENA_EXPORT TransformerEncoder : public Chain {
 public:
  TransformerEncoder(int num_layers, int d_model, int nhead, const TransformerLayerOptions& options = {});
  // Copies of a layer, with its parameters, as in PyTorch. If a normalization is given, it follows the last layer.
  // ValueError for a negative num_layers.
  TransformerEncoder(const TransformerEncoderLayer& layer, int num_layers, std::optional<LayerNormalization> norm = {});
  template <std::same_as<TransformerStackOptions> O = TransformerStackOptions>
  TransformerEncoder(const TransformerEncoderLayer& layer, const O& o)
      : TransformerEncoder(layer, o.num_layers, o.norm) {}
  template <std::integral N, std::same_as<TransformerStackOptions> O = TransformerStackOptions>
  TransformerEncoder(const TransformerEncoderLayer& layer, N num_layers, const O& o)
      : TransformerEncoder(layer, int(num_layers), o.norm) {}

  NN_MEMBERS(layers, norm)
  Variable operator()(const Variable& x, const TransformerMasks& masks = {});
  template <std::same_as<MultiHeadAttentionMasks> M> Variable operator()(const Variable& x, const M& masks) {
    return masked(x, masks);
  }
  // With a cache for each layer, in the place of masks.cache; ValueError for another number of them.
  Variable operator()(const Variable& x, const TransformerMasks& masks, std::vector<KeyValueCache>& caches);
  template <std::same_as<MultiHeadAttentionMasks> M>
  Variable operator()(const Variable& x, const M& masks, std::vector<KeyValueCache>& caches) {
    return cached(x, masks, caches);
  }

  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNormalization> norm;

 private:
  Variable masked(const Variable& x, const MultiHeadAttentionMasks& masks);
  Variable cached(const Variable& x, const MultiHeadAttentionMasks& masks, std::vector<KeyValueCache>& caches);
};
class CATENA_EXPORT TransformerDecoder : public Chain {
 public:
  TransformerDecoder(int num_layers, int d_model, int nhead, const TransformerLayerOptions& options = {});
  TransformerDecoder(const TransformerDecoderLayer& layer, int num_layers, std::optional<LayerNormalization> norm = {});
  template <std::same_as<TransformerStackOptions> O = TransformerStackOptions>
  TransformerDecoder(const TransformerDecoderLayer& layer, const O& o)
      : TransformerDecoder(layer, o.num_layers, o.norm) {}
  template <std::integral N, std::same_as<TransformerStackOptions> O = TransformerStackOptions>
  TransformerDecoder(const TransformerDecoderLayer& layer, N num_layers, const O& o)
      : TransformerDecoder(layer, int(num_layers), o.norm) {}

  NN_MEMBERS(layers, norm)
  Variable operator()(const Variable& x, const Variable& memory, const TransformerDecoderMasks& masks = {});
  // `masks` hide tokens of x, `memory_masks` those of memory.
  Variable operator()(const Variable& x, const Variable& memory, const MultiHeadAttentionMasks& masks,
                      const MultiHeadAttentionMasks& memory_masks) {
    return masked(x, memory, masks, memory_masks);
  }
  template <std::same_as<MultiHeadAttentionMasks> M>
  Variable operator()(const Variable& x, const Variable& memory, const M& masks) {
    return masked(x, memory, masks, {});
  }

  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNormalization> norm;

 private:
  Variable masked(const Variable& x, const Variable& memory, const MultiHeadAttentionMasks& masks,
                  const MultiHeadAttentionMasks& memory_masks);
};

// ---- PyTorch's network of an encoder and a decoder ----
struct TransformerCallOptions {
  Variable src_mask = {}, tgt_mask = {}, memory_mask = {};
  MaskArray src_key_padding_mask = {}, tgt_key_padding_mask = {}, memory_key_padding_mask = {};
  bool src_is_causal = false, tgt_is_causal = false, memory_is_causal = false;
};
// transformer(src (B, Ls, d_model), tgt (B, Lt, d_model), masks) -> (B, Lt, d_model): the decoder of tgt reads the
// result of the encoder of src. A normalization follows the last layer of both. Matrices are drawn from GlorotUniform.
//   nn::Transformer transformer({.d_model = 16, .nhead = 4, .num_encoder_layers = 2, .num_decoder_layers = 2});
//   transformer(src, tgt, {.tgt_mask = nn::Transformer::generate_square_subsequent_mask(5)})
class CATENA_EXPORT Transformer : public Chain {
 public:
  using Options = TransformerOptions;
  explicit Transformer(const Options& options = {});
  // The numbers by position, and the others by name.
  Transformer(int d_model, int nhead, int num_encoder_layers = 6, int num_decoder_layers = 6,
              int dim_feedforward = 2048, Options others = {});

  NN_MEMBERS(encoder, decoder)
  Variable operator()(const Variable& src, const Variable& tgt, const TransformerCallOptions& masks = {});
  // The mask (size, size) by which no position sees a later one: 0 up to the position, -infinity behind it. It is added
  // to scores, as TransformerMasks::mask; {.is_causal = true} needs no array. ValueError for a negative size,
  // TypeError unless dtype is floating.
  static Array generate_square_subsequent_mask(std::int64_t size, autograd::Dtype dtype = Dtype::float32,
                                               std::optional<Device> device = {});

  TransformerEncoder encoder;
  TransformerDecoder decoder;
};

}  // namespace nn
