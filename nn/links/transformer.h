// Layers of transformers (Vaswani et al. 2017), and stacks of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <catena/autograd/unary_function.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/links/layer_normalization.h>
#include <catena/nn/links/multi_head_attention.h>

namespace nn {

struct TransformerLayerOptions {
  int dim_feedforward = 2048;
  double dropout = 0.1;  // of weights, of the units between the linear layers, and of what is added to x
  autograd::UnaryFunction activation = relu;
  double layer_norm_eps = 1e-5;
  bool batch_first = true;                 // PyTorch's default is false, which is a ValueError
  bool norm_first = false;                 // normalizes the input of a part instead of input + output
  bool bias = true;                        // of the linear layers
  std::optional<int> num_kv_heads = {};    // as in MultiHeadAttentionOptions
  std::optional<double> rotary_base = {};  // likewise, of the self-attention
};

// The masks of PyTorch's class. The network is an encoder and a decoder.
struct Transformer {
  template <class... A> explicit Transformer(A&&...) = delete;  // nn::TransformerEncoder encoder(layer, 6);
  // The mask (size, size) by which no position sees a later one: 0 up to the position, -infinity behind it. It is added
  // to scores, as MultiHeadAttentionMasks::mask; {.causal = true} needs no array. ValueError for a negative size,
  // TypeError unless dtype is floating.
  CATENA_EXPORT static Array generate_square_subsequent_mask(std::int64_t size, autograd::Dtype dtype = Dtype::float32,
                                                             std::optional<Device> device = {});
};

// Self-attention and two linear layers, each added to its input and normalized: x (B, L, d_model) -> the same shape.
// The members have the names of PyTorch's modules, and the initial values of their own links; normalizations divide by
// sqrt(var + eps).
class CATENA_EXPORT TransformerEncoderLayer : public Chain {
 public:
  using Options = TransformerLayerOptions;
  using Masks = MultiHeadAttentionMasks;
  TransformerEncoderLayer(int d_model, int nhead, const Options& options = {});

  NN_MEMBERS(self_attn, linear1, linear2, norm1, norm2)
  Variable operator()(const Variable& x, const Masks& masks = {});

  MultiHeadAttention self_attn;
  Linear linear1, linear2;
  LayerNormalization norm1, norm2;
  autograd::UnaryFunction activation;
  double dropout;
  bool norm_first;
};

// The same with an attention between them that reads the result `memory` (B, Lm, d_model) of an encoder.
class CATENA_EXPORT TransformerDecoderLayer : public Chain {
 public:
  using Options = TransformerLayerOptions;
  using Masks = MultiHeadAttentionMasks;
  TransformerDecoderLayer(int d_model, int nhead, const Options& options = {});

  NN_MEMBERS(self_attn, multihead_attn, linear1, linear2, norm1, norm2, norm3)
  // `masks` hide tokens of x, `memory_masks` those of memory.
  Variable operator()(const Variable& x, const Variable& memory, const Masks& masks = {},
                      const Masks& memory_masks = {});

  MultiHeadAttention self_attn, multihead_attn;
  Linear linear1, linear2;
  LayerNormalization norm1, norm2, norm3;
  autograd::UnaryFunction activation;
  double dropout;
  bool norm_first;
};

// Layers one after the other; with norm_first, a normalization follows the last one.
class CATENA_EXPORT TransformerEncoder : public Chain {
 public:
  TransformerEncoder(int num_layers, int d_model, int nhead, const TransformerLayerOptions& options = {});
  // Copies of a layer, with its parameters, as in PyTorch. If a normalization is given, it follows the last layer.
  // ValueError for a negative num_layers.
  TransformerEncoder(const TransformerEncoderLayer& layer, int num_layers, std::optional<LayerNormalization> norm = {});

  NN_MEMBERS(layers, norm)
  Variable operator()(const Variable& x, const MultiHeadAttentionMasks& masks = {});
  // With a cache for each layer, in the place of masks.cache; ValueError for another number of them.
  Variable operator()(const Variable& x, const MultiHeadAttentionMasks& masks, std::vector<KeyValueCache>& caches);

  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNormalization> norm;
};
class CATENA_EXPORT TransformerDecoder : public Chain {
 public:
  TransformerDecoder(int num_layers, int d_model, int nhead, const TransformerLayerOptions& options = {});
  TransformerDecoder(const TransformerDecoderLayer& layer, int num_layers, std::optional<LayerNormalization> norm = {});

  NN_MEMBERS(layers, norm)
  Variable operator()(const Variable& x, const Variable& memory, const MultiHeadAttentionMasks& masks = {},
                      const MultiHeadAttentionMasks& memory_masks = {});

  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNormalization> norm;
};

}  // namespace nn
