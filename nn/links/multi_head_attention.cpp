#include <catena/nn/links/multi_head_attention.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <typeinfo>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/link_hook.h>

namespace nn {

using autograd::Array;
using autograd::Dims;
using autograd::Shape;
using autograd::Variables;
using catena::check;
using catena::ValueError;

// ---- KeyValueCache ----
namespace {

Array by_token(const Array& a) { return autograd::transpose(a, Dims{0, 2, 1, 3}); }  // its own inverse

Array first_tokens(const Array& store, std::int64_t length) {
  return store ? by_token(autograd::slice(store, 1, 0, length)) : Array();
}

// Writes tokens behind the first `length` ones of `store`, which gets more memory if it is full.
void append_to(Array& store, std::int64_t length, const Array& tokens) {
  const Array added = by_token(tokens);
  const std::int64_t end = length + added.shape(1);
  if (!store || end > store.shape(1)) {
    Shape shape = added.shape();
    shape[1] = std::max(end, 2 * length);
    const Array larger = added.backend().empty(shape, added.dtype(), added.device());
    if (length > 0) autograd::assign(autograd::slice(larger, 1, 0, length), autograd::slice(store, 1, 0, length));
    store = larger;
  }
  autograd::assign(autograd::slice(store, 1, length, end), added);
}

}  // namespace

void KeyValueCache::append(const Array& k, const Array& v) {
  const auto fits = [&](const Array& store, const Array& a) {
    return !store || (a.shape(0) == store.shape(0) && a.shape(1) == store.shape(2) && a.shape(3) == store.shape(3) &&
                      a.dtype() == store.dtype());
  };
  check<ValueError>(k.ndim() == 4 && v.ndim() == 4 && k.shape(2) == v.shape(2) && fits(keys_, k) && fits(values_, v),
                    "KeyValueCache", "keys of shape ", k.shape(), " and values of shape ", v.shape(),
                    " must be (B, heads, L, d), with B, heads, d and dtype of the ", length_, " tokens before");
  append_to(keys_, length_, k);
  append_to(values_, length_, v);
  length_ += k.shape(2);
}

Array KeyValueCache::keys() const { return first_tokens(keys_, length_); }
Array KeyValueCache::values() const { return first_tokens(values_, length_); }

// ---- MultiHeadAttention ----
MultiHeadAttention::MultiHeadAttention(int dim, int heads, const Options& o)
    : embed_dim(dim),
      num_heads(heads),
      num_kv_heads(o.num_kv_heads.value_or(heads)),
      dropout(o.dropout),
      rotary_base(o.rotary_base),
      out_proj(dim, dim, {.nobias = !o.bias, .n_batch_axes = -1}) {
  check<ValueError>(heads > 0 && dim % heads == 0, "MultiHeadAttention", "num_heads is ", heads,
                    ", which does not divide embed_dim, ", dim);
  check<ValueError>(num_kv_heads > 0 && heads % num_kv_heads == 0, "MultiHeadAttention", "num_kv_heads is ",
                    num_kv_heads, ", which does not divide num_heads, ", heads);
  const int shared = dim / heads * num_kv_heads;
  const Linear::Options linear{.nobias = !o.bias, .initialW = initializers::GlorotUniform(), .n_batch_axes = -1};
  if (o.kdim.value_or(dim) == dim && o.vdim.value_or(dim) == dim) {
    in_proj.emplace(dim, dim + 2 * shared, linear);
  } else {
    q_proj.emplace(dim, dim, linear);
    k_proj.emplace(o.kdim.value_or(dim), shared, linear);
    v_proj.emplace(o.vdim.value_or(dim), shared, linear);
  }
  name_params();
}

// Returns q, k and v before they are divided into heads.
Variables MultiHeadAttention::project(const Variable& query, const Variable& key, const Variable& value) {
  if (!in_proj) return {(*q_proj)(query), (*k_proj)(key), (*v_proj)(value)};
  const std::int64_t shared = embed_dim / num_heads * num_kv_heads;
  const catena::Sections parts{embed_dim, embed_dim + shared};
  if (query.is_same(key) && key.is_same(value)) return split_axis((*in_proj)(query), parts, 2);
  const Variables W = split_axis(in_proj->W, parts, 0);
  const Variables b = in_proj->b ? split_axis(*in_proj->b, parts, 0) : Variables(W.size());
  Variables out;
  const Variable* const in[] = {&query, &key, &value};
  for (int i = 0; i < 3; ++i) out.push_back(linear(*in[i], W[std::size_t(i)], b[std::size_t(i)], -1));
  return out;
}

namespace {

// The mask of a call, with the padding: a key that is padding is not seen.
Variable mask_of(const MultiHeadAttentionMasks& m, autograd::Dtype dtype) {
  if (!m.padding) return m.mask;
  check<ValueError>(m.padding.ndim() == 2 && m.padding.dtype() == autograd::Dtype::bool_, "MultiHeadAttention",
                    "padding has the shape ", m.padding.shape(), " and dtype ", catena::name_of(m.padding.dtype()),
                    "; it must be bool (B, Lk)");
  const Array padding = autograd::reshape(m.padding, {m.padding.shape(0), 1, 1, m.padding.shape(1)});
  const Array seen = internal::equal(padding, false);
  if (!m.mask) return seen;
  if (m.mask.dtype() == autograd::Dtype::bool_) return internal::both(seen, m.mask.data());
  const double hidden = -std::numeric_limits<double>::infinity();
  return m.mask + autograd::astype(autograd::where(seen, 0.0, hidden), dtype);
}

}  // namespace

Variables MultiHeadAttention::divided(const Variable& query, const Variable& key, const Variable& value,
                                      std::int64_t past) {
  internal::check_inputs("MultiHeadAttention", "query key value", {query, key, value},
                         [](const internal::TypeInfoTuple& in_types) {
                           using namespace autograd::type_check;
                           internal::expect_floats(in_types, 0, 2);
                           for (int i = 0; i < 3; ++i) expect(in_types[i].ndim == 3);
                         });
  const std::int64_t d = embed_dim / num_heads;
  Variables parts = project(query, key, value);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t tokens = parts[i].shape(1);
    const Shape shape{parts[i].shape(0), tokens, i == 0 ? num_heads : num_kv_heads, d};
    parts[i] = transpose(reshape(parts[i], shape), Dims{0, 2, 1, 3});
    if (!rotary_base || i == 2) continue;
    const Array angles = autograd::to_device(rotary_angles(tokens, d, past, *rotary_base), query.device());
    parts[i] = rotary_embedding(parts[i], angles);
  }
  return parts;
}

Variable MultiHeadAttention::joined(const Variable& heads) {
  return out_proj(reshape(transpose(heads, Dims{0, 2, 1, 3}), {heads.shape(0), heads.shape(2), embed_dim}));
}

Variable MultiHeadAttention::operator()(const Variable& query, const Variable& key, const Variable& value,
                                        const Masks& m) {
  LinkCall called(*this, query, key, value);
  const internal::CallScope scope(*this);
  const std::int64_t past = m.cache ? m.cache->length() : 0;
  Variables parts = divided(query, key, value, past);
  if (m.cache) {
    m.cache->append(parts[1].data(), parts[2].data());
    parts[1] = m.cache->keys();
    parts[2] = m.cache->values();
  }
  const Variable y = scaled_dot_product_attention(
      parts[0], parts[1], parts[2],
      {.mask = mask_of(m, query.dtype()), .dropout = dropout, .causal = m.causal, .window = m.window, .offset = past});
  return called(joined(y));
}

// ---- MultiheadAttention ----
MultiheadAttention::MultiheadAttention(int dim, int heads, const Options& o)
    : MultiHeadAttention(dim, heads, {.dropout = o.dropout, .bias = o.bias, .kdim = o.kdim, .vdim = o.vdim}),
      batch_first(o.batch_first) {
  internal::place(*this, o.device, o.dtype);
}

Variable MultiheadAttention::call(const Variables& args) {
  internal::throw_not_callable(typeid(*this).name(), args.size());
}

MultiHeadAttentionMasks internal::seen_masks(const MultiheadAttentionCallOptions& o, int num_heads) {
  MultiHeadAttentionMasks m{.mask = o.attn_mask, .padding = o.key_padding_mask, .causal = o.is_causal};
  if (!m.mask) return m;
  if (m.mask.dtype() == autograd::Dtype::bool_) m.mask = internal::equal(m.mask.data(), false);
  if (m.mask.ndim() != 3) return m;
  check<ValueError>(m.mask.shape(0) % num_heads == 0, "MultiheadAttention", "attn_mask has the shape ", m.mask.shape(),
                    "; the first length must be a multiple of num_heads, ", num_heads);
  m.mask = reshape(m.mask, {m.mask.shape(0) / num_heads, num_heads, m.mask.shape(1), m.mask.shape(2)});
  return m;
}

namespace {

// Returns the scaled products of queries and keys with the masks applied, in the compute dtype.
Variable masked_scores(const Variable& queries_of, const Variable& keys_of, const MultiHeadAttentionMasks& m) {
  const double hidden = -std::numeric_limits<double>::infinity();
  const Variable q = internal::wide(queries_of), k = internal::wide(keys_of);
  Variable scores = matmul(q * (1 / std::sqrt(double(q.shape(3)))), k, false, true);
  if (const Variable mask = mask_of(m, queries_of.dtype()); mask) {
    check<ValueError>(catena::broadcasts_to(mask.shape(), scores.shape()), "MultiheadAttention", "the mask of shape ",
                      mask.shape(), " does not broadcast to the scores ", scores.shape());
    scores = mask.dtype() == autograd::Dtype::bool_ ? scores.masked_fill(internal::equal(mask.data(), false), hidden)
                                                    : scores + internal::wide(mask);
  }
  if (!m.causal) return scores;
  const auto positions = [&](std::int64_t n, const Shape& shape) {
    return autograd::reshape(autograd::arrays::arange(n, autograd::Dtype::int64, q.device()), shape);
  };
  const std::int64_t queries = q.shape(2), keys = k.shape(2);
  return scores.masked_fill(internal::greater(positions(keys, {1, keys}), positions(queries, {queries, 1})), hidden);
}

}  // namespace

MultiheadAttentionResult MultiheadAttention::operator()(const Variable& query, const Variable& key,
                                                        const Variable& value, const MultiheadAttentionCallOptions& o) {
  LinkCall called(*this, query, key, value);
  const internal::CallScope scope(*this);
  const auto turned = [&](const Variable& x) { return batch_first ? x : swapaxes(x, 0, 1); };
  const Variable q = turned(query), k = key.is_same(query) ? q : turned(key);
  const Variables parts = divided(q, k, value.is_same(key) ? k : turned(value), 0);
  const MultiHeadAttentionMasks m = internal::seen_masks(o, num_heads);
  if (!o.need_weights) {
    const Variable y = scaled_dot_product_attention(
        parts[0], parts[1], parts[2], {.mask = mask_of(m, query.dtype()), .dropout = dropout, .causal = m.causal});
    return {called(turned(joined(y))), {}};
  }
  Variable weights = softmax(masked_scores(parts[0], parts[1], m), -1);
  if (dropout != 0) weights = nn::dropout(weights, dropout);
  const Variable y = matmul(weights, internal::wide(parts[2]));
  const Variable given = o.average_attn_weights ? weights.mean(1) : weights;
  return {called(turned(joined(internal::narrowed(y, query.dtype())))), internal::narrowed(given, query.dtype())};
}

}  // namespace nn
