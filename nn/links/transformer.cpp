#include <catena/nn/links/transformer.h>

#include <limits>
#include <string_view>

#include <catena/nn/functions/noise.h>
#include <catena/nn/link_hook.h>

namespace nn {
namespace {

using Masks = MultiHeadAttentionMasks;

MultiHeadAttentionOptions attention_options(const TransformerLayerOptions& o, bool of_self) {
  MultiHeadAttentionOptions a{.dropout = o.dropout, .bias = o.bias, .num_kv_heads = o.num_kv_heads};
  if (of_self) a.rotary_base = o.rotary_base;
  return a;
}
LinearOptions linear_options(const TransformerLayerOptions& o) { return {.nobias = !o.bias, .n_batch_axes = -1}; }

Variable dropped(const Variable& x, double ratio) { return ratio != 0 ? dropout(x, ratio) : x; }

template <class Layer> Variable feed_forward(Layer& l, const Variable& x) {
  const Variable hidden = dropped(l.activation(l.linear1(x)), l.dropout);
  return dropped(l.linear2(hidden), l.dropout);
}

// A part of a layer: f(x) is added to x, and one of the two is normalized.
template <class F> Variable add_part(bool norm_first, LayerNormalization& norm, const Variable& x, F&& f) {
  return norm_first ? x + f(norm(x)) : norm(x + f(x));
}

// Swaps the axes of the batch and of the tokens unless the batch is first.
Variable turned(bool batch_first, const Variable& x) { return batch_first ? x : x.swapaxes(0, 1); }

// The masks of PyTorch's names as those of MultiHeadAttention. `other` is a mask under its other name.
Masks masks_of(const Variable& mask, const Variable& other, const MaskArray& padding, bool is_causal, int heads) {
  catena::check<catena::TypeError>(!mask || !other, "TransformerEncoderLayer", "mask and src_mask are both given");
  return internal::seen_masks({.key_padding_mask = padding, .attn_mask = mask ? mask : other, .is_causal = is_causal},
                              heads);
}
template <class M> Masks with_others(Masks m, const M& given) {
  if (given.padding) {
    catena::check<catena::TypeError>(!m.padding, "TransformerLayer", "padding and a key_padding_mask are both given");
    m.padding = given.padding;
  }
  m.causal = m.causal || given.causal;
  m.window = given.window;
  m.cache = given.cache;
  return m;
}
Masks masks_of(const TransformerMasks& m, int heads) {
  return with_others(masks_of(m.mask, m.src_mask, m.src_key_padding_mask, m.is_causal, heads), m);
}
Masks masks_of(const TransformerDecoderMasks& m, int heads) {
  return with_others(masks_of(m.tgt_mask, {}, m.tgt_key_padding_mask, m.tgt_is_causal, heads), m);
}
Masks memory_masks_of(const TransformerDecoderMasks& m, int heads) {
  return masks_of(m.memory_mask, {}, m.memory_key_padding_mask, m.memory_is_causal, heads);
}
template <class Layers> int heads_of(const Layers& layers) {
  return layers.empty() ? 1 : layers[0].self_attn.num_heads;
}

}  // namespace

Array Transformer::generate_square_subsequent_mask(std::int64_t size, autograd::Dtype dtype,
                                                   std::optional<Device> device) {
  constexpr const char* op = "generate_square_subsequent_mask";
  catena::check<catena::ValueError>(size >= 0, op, "the size ", size, " is negative");
  catena::check<catena::TypeError>(catena::is_floating(dtype), op, "the dtype ", dtype, " is not floating");
  std::vector<float> values(std::size_t(size * size), 0.0f);
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = i + 1; j < size; ++j)
      values[std::size_t(i * size + j)] = -std::numeric_limits<float>::infinity();
  return autograd::astype(autograd::array(values, {size, size}, device), dtype);
}

TransformerEncoderLayer::TransformerEncoderLayer(int n, int heads, const Options& o)
    : self_attn(n, heads, attention_options(o, true)),
      linear1(n, o.dim_feedforward, linear_options(o)),
      linear2(o.dim_feedforward, n, linear_options(o)),
      norm1(n, {.eps = o.layer_norm_eps}),
      norm2(n, {.eps = o.layer_norm_eps}),
      activation(o.activation),
      dropout(o.dropout),
      norm_first(o.norm_first),
      batch_first(o.batch_first) {
  internal::place(*this, o.device, o.dtype);
}

Variable TransformerEncoderLayer::operator()(const Variable& x, const TransformerMasks& masks) {
  return masked(x, masks_of(masks, self_attn.num_heads));
}
Variable TransformerEncoderLayer::masked(const Variable& x, const Masks& masks) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  const Variable y = add_part(norm_first, norm1, turned(batch_first, x),
                              [&](const Variable& v) { return dropped(self_attn(v, masks), dropout); });
  const Variable z = add_part(norm_first, norm2, y, [&](const Variable& v) { return feed_forward(*this, v); });
  return called(turned(batch_first, z));
}

TransformerDecoderLayer::TransformerDecoderLayer(int n, int heads, const Options& o)
    : self_attn(n, heads, attention_options(o, true)),
      multihead_attn(n, heads, attention_options(o, false)),
      linear1(n, o.dim_feedforward, linear_options(o)),
      linear2(o.dim_feedforward, n, linear_options(o)),
      norm1(n, {.eps = o.layer_norm_eps}),
      norm2(n, {.eps = o.layer_norm_eps}),
      norm3(n, {.eps = o.layer_norm_eps}),
      activation(o.activation),
      dropout(o.dropout),
      norm_first(o.norm_first),
      batch_first(o.batch_first) {
  internal::place(*this, o.device, o.dtype);
}

Variable TransformerDecoderLayer::operator()(const Variable& x, const Variable& memory,
                                             const TransformerDecoderMasks& masks) {
  const int heads = self_attn.num_heads;
  return masked(x, memory, masks_of(masks, heads), memory_masks_of(masks, heads));
}
Variable TransformerDecoderLayer::masked(const Variable& x, const Variable& given, const Masks& masks,
                                         const Masks& memory_masks) {
  LinkCall called(*this, x, given);
  const internal::CallScope scope(*this);
  const Variable memory = turned(batch_first, given);
  const Variable y = add_part(norm_first, norm1, turned(batch_first, x),
                              [&](const Variable& v) { return dropped(self_attn(v, masks), dropout); });
  const Variable z = add_part(norm_first, norm2, y, [&](const Variable& v) {
    return dropped(multihead_attn(v, memory, memory, memory_masks), dropout);
  });
  const Variable w = add_part(norm_first, norm3, z, [&](const Variable& v) { return feed_forward(*this, v); });
  return called(turned(batch_first, w));
}

namespace {
template <class Stack>
void fill_stack(Stack& stack, int num_layers, int n, int heads, const TransformerLayerOptions& o) {
  stack.layers.reserve(std::size_t(num_layers));
  for (int i = 0; i < num_layers; ++i) stack.layers.emplace_back(n, heads, o);
  if (o.norm_first) stack.norm.emplace(n, LayerNormalizationLinkOptions{.eps = o.layer_norm_eps});
}
template <class Layer> std::vector<Layer> copies(const Layer& layer, int n) {
  catena::check<catena::ValueError>(n >= 0, "Transformer", "num_layers is ", n, " and must not be negative");
  return std::vector<Layer>(std::size_t(n), layer);
}
}  // namespace

TransformerEncoder::TransformerEncoder(int num_layers, int d_model, int nhead, const TransformerLayerOptions& o) {
  fill_stack(*this, num_layers, d_model, nhead, o);
}
TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer& layer, int num_layers,
                                       std::optional<LayerNormalization> norm_)
    : layers(copies(layer, num_layers)), norm(std::move(norm_)) {}
Variable TransformerEncoder::operator()(const Variable& x, const TransformerMasks& masks) {
  return masked(x, masks_of(masks, heads_of(layers)));
}
Variable TransformerEncoder::masked(const Variable& x, const Masks& masks) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  Variable y = x;
  for (TransformerEncoderLayer& layer : layers) y = layer(y, masks);
  return called(norm ? (*norm)(y) : y);
}
Variable TransformerEncoder::operator()(const Variable& x, const TransformerMasks& masks,
                                        std::vector<KeyValueCache>& caches) {
  return cached(x, masks_of(masks, heads_of(layers)), caches);
}
Variable TransformerEncoder::cached(const Variable& x, const Masks& given, std::vector<KeyValueCache>& caches) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  catena::check<catena::ValueError>(caches.size() == layers.size(), "TransformerEncoder", "there are ", caches.size(),
                                    " caches for ", layers.size(), " layers; each layer needs one");
  Variable y = x;
  Masks masks = given;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    masks.cache = &caches[i];
    y = layers[i](y, masks);
  }
  return called(norm ? (*norm)(y) : y);
}

TransformerDecoder::TransformerDecoder(int num_layers, int d_model, int nhead, const TransformerLayerOptions& o) {
  fill_stack(*this, num_layers, d_model, nhead, o);
}
TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer& layer, int num_layers,
                                       std::optional<LayerNormalization> norm_)
    : layers(copies(layer, num_layers)), norm(std::move(norm_)) {}
Variable TransformerDecoder::operator()(const Variable& x, const Variable& memory,
                                        const TransformerDecoderMasks& masks) {
  const int heads = heads_of(layers);
  return masked(x, memory, masks_of(masks, heads), memory_masks_of(masks, heads));
}
Variable TransformerDecoder::masked(const Variable& x, const Variable& memory, const Masks& masks,
                                    const Masks& memory_masks) {
  LinkCall called(*this, x, memory);
  const internal::CallScope scope(*this);
  Variable y = x;
  for (TransformerDecoderLayer& layer : layers) y = layer(y, memory, masks, memory_masks);
  return called(norm ? (*norm)(y) : y);
}

TransformerActivation::TransformerActivation(const char* name) {
  const std::string_view text = name;
  catena::check<catena::ValueError>(text == "relu" || text == "gelu", "Transformer", "the activation is \"", text,
                                    "\"; it must be \"relu\", \"gelu\" or a function");
  if (text == "relu") UnaryFunction::operator=(UnaryFunction(relu));
  else UnaryFunction::operator=(UnaryFunction(gelu));
}

TransformerLayerOptions internal::layer_options(const TransformerOptions& o) {
  return {.dim_feedforward = o.dim_feedforward,
          .dropout = o.dropout,
          .activation = o.activation,
          .layer_norm_eps = o.layer_norm_eps,
          .batch_first = o.batch_first,
          .norm_first = o.norm_first,
          .bias = o.bias,
          .device = o.device,
          .dtype = o.dtype};
}

namespace {
LayerNormalization last_norm(const TransformerOptions& o) {
  return LayerNormalization(o.d_model, {.eps = o.layer_norm_eps});
}
TransformerOptions with_numbers(TransformerOptions o, int d_model, int nhead, int encoders, int decoders, int units) {
  o.d_model = d_model, o.nhead = nhead, o.dim_feedforward = units;
  o.num_encoder_layers = encoders, o.num_decoder_layers = decoders;
  return o;
}
}  // namespace

Transformer::Transformer(const Options& o)
    : encoder(TransformerEncoderLayer(o.d_model, o.nhead, internal::layer_options(o)), o.num_encoder_layers,
              last_norm(o)),
      decoder(TransformerDecoderLayer(o.d_model, o.nhead, internal::layer_options(o)), o.num_decoder_layers,
              last_norm(o)) {
  for (const Variable& p : params())
    if (p.ndim() > 1) init_weight(p.data(), initializers::GlorotUniform());
  internal::place(*this, o.device, o.dtype);
}
Transformer::Transformer(int d_model, int nhead, int encoders, int decoders, int units, Options others)
    : Transformer(with_numbers(std::move(others), d_model, nhead, encoders, decoders, units)) {}
Variable Transformer::operator()(const Variable& src, const Variable& tgt, const TransformerCallOptions& o) {
  LinkCall called(*this, src, tgt);
  const internal::CallScope scope(*this);
  const Variable memory = encoder(
      src, {.src_mask = o.src_mask, .src_key_padding_mask = o.src_key_padding_mask, .is_causal = o.src_is_causal});
  return called(decoder(tgt, memory,
                        {.tgt_mask = o.tgt_mask,
                         .memory_mask = o.memory_mask,
                         .tgt_key_padding_mask = o.tgt_key_padding_mask,
                         .memory_key_padding_mask = o.memory_key_padding_mask,
                         .tgt_is_causal = o.tgt_is_causal,
                         .memory_is_causal = o.memory_is_causal}));
}

}  // namespace nn
