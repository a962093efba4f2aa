#include <algorithm>
#include <cmath>

#include <catena/autograd/attention_extension.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/view_layout.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/attention.h>
#include <catena/nn/functions/attention/layout.h>
#include <catena/nn/functions/noise.h>

namespace nn {

using autograd::apply;
using autograd::Array;
using autograd::Arrays;
using autograd::AttentionCall;
using autograd::AttentionExtension;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::Shape;
using autograd::Targets;
using autograd::Variables;
using internal::AttentionLayout;
using internal::narrowed;
using internal::wide;

namespace {

constexpr const char* kOp = "scaled_dot_product_attention";
constexpr const char* kLabel = "ScaledDotProductAttention";

// The options with their defaults.
struct Settings {
  double scale, dropout;
  bool causal;
  std::int64_t window, offset;
  bool hides_keys() const { return causal || window > 0; }
};

// Returns true where the query sees the key, (Lq, Lk), by the positions alone.
Array seen_keys(const AttentionLayout& l, const Settings& s, const Array& like) {
  const auto positions = [&](std::int64_t n) { return autograd::arrays::arange(n, Dtype::int64, like.device()); };
  const Array query = autograd::reshape(positions(l.queries), {l.queries, 1}) + s.offset;
  const Array key = autograd::reshape(positions(l.keys), {1, l.keys});
  Array seen;
  if (s.causal) seen = internal::less_equal(key, query);
  if (s.window > 0) {
    Array near = internal::less(query - key, s.window);
    if (!s.causal) near = internal::both(near, internal::less(key - query, s.window));
    seen = seen ? internal::both(seen, near) : near;
  }
  return seen;
}

// The weights softmax(scale q k^T + mask) of canonical operands; 0 for a query that sees no key.
Variable weights_of(const AttentionLayout& l, const Settings& s, const Variable& q, const Variable& k,
                    const Variable& mask) {
  Variable scores = matmul(q * s.scale, k, false, true);
  const auto hide = [&](const Array& seen) { scores = where(seen, scores, -INFINITY); };
  if (mask && mask.dtype() == Dtype::bool_) hide(mask.data());
  else if (mask) scores = scores + mask;
  if (s.hides_keys()) hide(seen_keys(l, s, q.data()));
  const int last = scores.ndim() - 1;
  if (!mask && !s.hides_keys()) return softmax(scores, last);
  const Array hidden = internal::equal(scores.data(), -INFINITY);
  const Array none = autograd::reduce(catena::kernels::all, hidden, last, true);
  return where(none, 0, softmax(where(none, 0, scores), last));
}

// The same by functions of Variables alone. Hidden keys get a low finite score, so that the softmax of a query that
// sees no key is finite, and then the weight 0.
Variable weights_by_nodes(const AttentionLayout& l, const Settings& s, const Variable& q, const Variable& k,
                          const Variable& mask) {
  Variable scores = matmul(q * s.scale, k, false, true);
  constexpr double kHidden = -1e30;
  Variables seen;
  if (mask && mask.dtype() == Dtype::bool_) seen.push_back(mask);
  else if (mask) scores = clip(scores + mask, kHidden, {});
  if (s.hides_keys()) seen.push_back(autograd::internal::constant_variable(seen_keys(l, s, q.data())));
  for (const Variable& condition : seen) scores = where(condition, scores, kHidden);
  Variable weights = softmax(scores, scores.ndim() - 1);
  for (const Variable& condition : seen) weights = where(condition, weights, 0);
  // Of a mask of numbers: 0 where it is -inf, otherwise 1.
  if (mask && mask.dtype() != Dtype::bool_) weights = weights * clip(scores - kHidden, 0, 1);
  return weights;
}

// The mask in canonical form and the dtype of the computation.
Variable canonical_mask(const AttentionLayout& l, const Variable& mask) {
  if (!mask) return mask;
  return l.grouped(mask.dtype() == Dtype::bool_ ? mask : wide(mask), false);
}

Variable composition(const AttentionLayout& l, const Settings& s, const Variable& q, const Variable& k,
                     const Variable& v, const Variable& mask) {
  const auto weights_by = autograd::internal::wants_elementary_nodes() ? weights_by_nodes : weights_of;
  Variable weights = weights_by(l, s, l.grouped(wide(q), false), l.grouped(wide(k), true), mask);
  if (s.dropout != 0) weights = dropout(weights, s.dropout);
  const Variable y = matmul(weights, l.grouped(wide(v), true));
  return narrowed(reshape(y, l.of_queries(l.values)), q.dtype());
}

// The gradients of q, k, v and the mask, in this order, by the weights; those that are not a target are null.
Variables gradients_by_weights(const AttentionLayout& l, const Settings& s, const Variables& in, const Variable& mask,
                               const Variable& given_gy, const Targets& targets) {
  const Variable q = l.grouped(wide(in[0]), false), k = l.grouped(wide(in[1]), true), v = l.grouped(wide(in[2]), true);
  Shape shape = l.lead;
  for (const std::int64_t n : {l.heads, l.groups, l.queries, l.values}) shape.push_back(n);
  const Variable gy = reshape(wide(given_gy), shape), p = weights_of(l, s, q, k, mask);
  const Variable gp = matmul(gy, v, false, true), weighted = p * gp;
  const Variable gs = weighted - p * sum(weighted, weighted.ndim() - 1, true);
  Variables gradients;
  for (const int target : targets) {
    Variable g;
    if (target == 0) g = sum_to(matmul(gs, k) * s.scale, q.shape());
    if (target == 1) g = sum_to(matmul(gs, q, true, false) * s.scale, k.shape());
    if (target == 2) g = sum_to(matmul(p, gy, true, false), v.shape());
    if (target == 3) g = sum_to(gs, mask.shape());
    gradients.push_back(narrowed(reshape(g, in[target].shape()), in[target].dtype()));
  }
  return gradients;
}

// Returns an array of this shape whose axes have the order of those of `like` in memory.
Array empty_in_order(const Shape& shape, const Array& like) {
  if (like.ndim() != shape.size()) return like.backend().empty(shape, like.dtype(), like.device());
  const autograd::Dims order = catena::axes_in_memory(like.strides());
  Shape moved;
  for (const auto axis : order) moved.push_back(shape[int(axis)]);
  return autograd::transpose(like.backend().empty(moved, like.dtype(), like.device()), catena::inverse_axes(order));
}

AttentionCall call_of(const AttentionLayout& l, const Settings& s, const Array& q, const Array& k, const Array& v,
                      const Array& mask) {
  AttentionCall c{
      l.view(q, false, l.queries, l.depth), l.view(k, true, l.keys, l.depth), l.view(v, true, l.keys, l.values), {}};
  if (mask) c.mask = l.view(mask, false, l.queries, l.keys);
  c.scale = s.scale;
  c.causal = s.causal;
  c.window = s.window;
  c.offset = s.offset;
  return c;
}

class TiledAttention final : public FunctionNode {
 public:
  // A bool mask is no input of the node, because it has no gradient.
  TiledAttention(AttentionExtension& extension, const AttentionLayout& layout, const Settings& settings,
                 const Array& bool_mask)
      : extension_(extension), l_(layout), s_(settings), bool_mask_(bool_mask) {
    if (bool_mask_) mask_version_ = autograd::internal::version_of(bool_mask_);
  }
  std::string label() const override { return kLabel; }
  std::string_view input_names() const override { return "q k v mask"; }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1, 2});
    if (in.size() > 3) retain_inputs({3});
    retain_outputs({0});
    const Array y = empty_in_order(l_.of_queries(l_.values), in[0]);
    Shape rows = l_.lead;
    for (const std::int64_t n : {l_.heads, l_.groups, l_.queries}) rows.push_back(n);
    log_sums_ = y.backend().empty(rows, catena::compute_dtype(y.dtype()), y.device());
    extension_.forward(call_of(l_, s_, in[0], in[1], in[2], in.size() > 3 ? in[3] : bool_mask_),
                       l_.view(y, false, l_.queries, l_.values), log_sums_);
    return {y};
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables in;
    bool wants_mask = false;
    for (int i = 0; i < int(num_inputs()); ++i) in.push_back(retained_input(i));
    for (const int target : targets) wants_mask = wants_mask || target == 3;
    if (bool_mask_) check_unchanged(bool_mask_, mask_version_, "mask");
    const Variable mask = in.size() > 3 ? in[3] : bool_mask_ ? Variable(bool_mask_) : Variable();
    if (needs_double_backprop() || wants_mask)
      return gradients_by_weights(l_, s_, in, canonical_mask(l_, mask), gy[0], targets);
    const Array q = in[0].data(), k = in[1].data(), v = in[2].data(), y = retained_output(0).data();
    const Array gq = empty_in_order(l_.of_queries(l_.depth), q), gk = empty_in_order(l_.of_keys(l_.depth), k),
                gv = empty_in_order(l_.of_keys(l_.values), v);
    const auto of_queries = [&](const Array& a, std::int64_t n) { return l_.view(a, false, l_.queries, n); };
    const auto of_keys = [&](const Array& a, std::int64_t n) { return l_.view(a, true, l_.keys, n); };
    extension_.backward(call_of(l_, s_, q, k, v, mask ? mask.data() : Array()), of_queries(y, l_.values), log_sums_,
                        of_queries(gy[0].data(), l_.values), of_queries(gq, l_.depth), of_keys(gk, l_.depth),
                        of_keys(gv, l_.values));
    Variables gradients;
    for (const int target : targets) {
      const Array& g = target == 0 ? gq : target == 1 ? gk : gv;
      gradients.push_back(autograd::internal::constant_variable(autograd::sum_to(g, in[target].shape())));
    }
    return gradients;
  }

 private:
  AttentionExtension& extension_;
  AttentionLayout l_;
  Settings s_;
  Array bool_mask_, log_sums_;
  std::uint32_t mask_version_ = 0;
};

void check_mask(const AttentionLayout& l, const Variable& mask, Dtype dtype) {
  using catena::check;
  using catena::ValueError;
  check<ValueError>(mask.dtype() == Dtype::bool_ || mask.dtype() == dtype, kOp, "the mask has the dtype ",
                    catena::name_of(mask.dtype()), "; it must be bool, true where a query sees a key, or of the dtype ",
                    catena::name_of(dtype), " of q, which is added");
  const Shape scores = l.of_queries(l.keys), &shape = mask.shape();
  bool fits = shape.size() <= scores.size();
  for (int i = 1; fits && i <= shape.size(); ++i)
    fits = shape[shape.size() - i] == 1 || shape[shape.size() - i] == scores[scores.size() - i];
  check<ValueError>(fits, kOp, "the mask of shape ", shape, " does not broadcast to the scores ", scores);
}

}  // namespace

Variable scaled_dot_product_attention(const Variable& q, const Variable& k, const Variable& v,
                                      const AttentionOptions& o) {
  internal::check_inputs(kLabel, "q k v", {q, k, v}, [](const internal::TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    internal::expect_floats(in_types, 0, 2);
    for (int i = 0; i < 3; ++i) expect(in_types[i].ndim >= 2);
    AttentionLayout(in_types.shape(0), in_types.shape(1), in_types.shape(2));
  });
  const AttentionLayout l(q.shape(), k.shape(), v.shape());
  catena::check<catena::ValueError>(o.window >= 0, kOp, "window is ", o.window,
                                    "; it must be positive, or 0 for no window");
  if (o.mask) check_mask(l, o.mask, q.dtype());
  const double root = l.depth > 0 ? 1 / std::sqrt(double(l.depth)) : 1;
  const bool drops = o.dropout != 0 && autograd::internal::trains(kOp);
  // Positions are added to the window, so it ends where sums would overflow.
  const std::int64_t window = std::min(o.window, std::int64_t(1) << 62);
  const Settings s{o.scale.value_or(root), drops ? o.dropout : 0, o.causal, window, o.offset};
  auto* const extension = q.data().backend().extension<AttentionExtension>(q.device());
  if (extension == nullptr || autograd::internal::wants_elementary_nodes() || drops || q.size() == 0 || k.size() == 0 ||
      v.size() == 0 || !extension->takes(call_of(l, s, q.data(), k.data(), v.data(), o.mask ? o.mask.data() : Array())))
    return composition(l, s, q, k, v, canonical_mask(l, o.mask));
  const bool bool_mask = o.mask && o.mask.dtype() == Dtype::bool_;
  Variables inputs{q, k, v};
  if (o.mask && !bool_mask) inputs.push_back(o.mask);
  return autograd::apply_node<TiledAttention>(inputs, *extension, l, s, bool_mask ? o.mask.data() : Array())[0];
}

}  // namespace nn
