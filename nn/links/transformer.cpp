#include <catena/nn/links/transformer.h>

#include <limits>

#include <catena/nn/functions/noise.h>
#include <catena/nn/link_hook.h>

namespace nn {
namespace {

using Masks = MultiHeadAttentionMasks;

MultiHeadAttentionOptions attention_options(const TransformerLayerOptions& o, bool of_self) {
  catena::check<catena::ValueError>(o.batch_first, "TransformerLayer",
                                    "batch_first is false, but x is (B, L, d_model): transpose it");
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
      norm_first(o.norm_first) {}

Variable TransformerEncoderLayer::operator()(const Variable& x, const Masks& masks) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  const Variable y =
      add_part(norm_first, norm1, x, [&](const Variable& v) { return dropped(self_attn(v, masks), dropout); });
  return called(add_part(norm_first, norm2, y, [&](const Variable& v) { return feed_forward(*this, v); }));
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
      norm_first(o.norm_first) {}

Variable TransformerDecoderLayer::operator()(const Variable& x, const Variable& memory, const Masks& masks,
                                             const Masks& memory_masks) {
  LinkCall called(*this, x, memory);
  const internal::CallScope scope(*this);
  const Variable y =
      add_part(norm_first, norm1, x, [&](const Variable& v) { return dropped(self_attn(v, masks), dropout); });
  const Variable z = add_part(norm_first, norm2, y, [&](const Variable& v) {
    return dropped(multihead_attn(v, memory, memory, memory_masks), dropout);
  });
  return called(add_part(norm_first, norm3, z, [&](const Variable& v) { return feed_forward(*this, v); }));
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
Variable TransformerEncoder::operator()(const Variable& x, const Masks& masks) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  Variable y = x;
  for (TransformerEncoderLayer& layer : layers) y = layer(y, masks);
  return called(norm ? (*norm)(y) : y);
}
Variable TransformerEncoder::operator()(const Variable& x, const Masks& given, std::vector<KeyValueCache>& caches) {
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
Variable TransformerDecoder::operator()(const Variable& x, const Variable& memory, const Masks& masks,
                                        const Masks& memory_masks) {
  LinkCall called(*this, x, memory);
  const internal::CallScope scope(*this);
  Variable y = x;
  for (TransformerDecoderLayer& layer : layers) y = layer(y, memory, masks, memory_masks);
  return called(norm ? (*norm)(y) : y);
}

}  // namespace nn
