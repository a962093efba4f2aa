// Similarities, distances and margins in the forms of PyTorch.
#include <catena/nn/functions/similarity.h>

#include <cmath>
#include <limits>

#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/labels.h>
#include <catena/nn/functions/loss/class_labels.h>
#include <catena/nn/functions/probability_loss.h>

namespace nn {

using autograd::Axes;
using autograd::Dtype;
using autograd::masked;
using autograd::type_check::TypeInfoTuple;
using catena::check;
using catena::ValueError;
using internal::equal;
using internal::narrowed;
using internal::reduced;
using internal::wide;

// ---- similarities and distances -----------------------------------------------------------------
namespace {

// Returns both inputs in the compute dtype and in their common shape.
Variables broadcast_pair(const char* label, const Variable& x, const Variable& y) {
  internal::check_inputs(label, "x y", {x, y}, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    internal::expect_floats(in_types, 0, 1);
    expect(in_types[0].ndim >= 1, in_types[1].ndim >= 1);
  });
  const Variables both{wide(x), wide(y)};
  return x.shape() == y.shape() ? both : autograd::broadcast(both);
}

// Returns the norms along an axis, which are at least eps; eps has no gradient.
Variable norms(const Variable& x, const Axes& axis, double eps, bool keepdims) {
  const Variable n = internal::root(sum(square(x), axis, keepdims));
  return where(internal::greater(n.data(), eps), n, eps);
}

Variable cosine(const Variable& x, const Variable& y, const Axes& axis, double eps) {
  return sum(x * y, axis) / (norms(x, axis, eps, false) * norms(y, axis, eps, false));
}

Variable distance(const Variable& x, const Variable& y, double p, double eps, bool keepdims) {
  const Variable d = x - y + eps;
  if (p == 2) return internal::root(sum(square(d), -1, keepdims));
  if (p == 1) return sum(absolute(d), -1, keepdims);
  if (p == std::numeric_limits<double>::infinity()) return max(absolute(d), -1, keepdims);
  const Variable powers = sum(pow(absolute(d), p), -1, keepdims);
  // As in root(): the derivative at 0 is finite.
  const Array none = autograd::astype(equal(powers.data(), 0), powers.dtype());
  return pow(powers + none, 1 / p) - none;
}

void check_norm(const char* op, double p) { check<ValueError>(p > 0, op, "p is ", p, " and must be positive"); }

}  // namespace

Variable cosine_similarity(const Variable& x, const Variable& y, int axis, double eps) {
  const Variables v = broadcast_pair("CosineSimilarity", x, y);
  return narrowed(cosine(v[0], v[1], axis, eps), x.dtype());
}

Variable pairwise_distance(const Variable& x, const Variable& y, const PairwiseDistanceOptions& o) {
  check_norm("pairwise_distance", o.p);
  const Variables v = broadcast_pair("PairwiseDistance", x, y);
  return narrowed(distance(v[0], v[1], o.p, o.eps, o.keepdims || o.keepdim), x.dtype());
}

// ---- pairs and triples --------------------------------------------------------------------------
namespace {

// Checks floating inputs of one shape and, last, labels of this shape or, if x is (N, D), of (N).
void check_pairs(const char* label, const char* names, const Variables& inputs, bool by_row) {
  internal::check_inputs(label, names, inputs, [by_row](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    const int t = int(in_types.count()) - 1;
    internal::expect_floats(in_types, 0, t - 1);
    for (int k = 1; k < t; ++k) expect(in_types[k].shape == in_types[0].shape);
    if (!catena::is_integer(in_types.dtype(std::size_t(t)))) expect(in_types[t].dtype == in_types[0].dtype);
    if (!by_row) return expect(in_types[t].shape == in_types[0].shape);
    expect(in_types[0].ndim == 2, in_types[t].ndim == 1, in_types[t].shape[0] == in_types[0].shape[0]);
  });
}

Array signs(const Variable& t, const Variable& x) { return autograd::astype(t.data(), x.dtype()); }

}  // namespace

Variable cosine_embedding_loss(const Variable& x1, const Variable& x2, const Variable& t, const MarginOptions& given) {
  const MarginOptions o = internal::with_reduction("cosine_embedding_loss", given);
  internal::check_reduce("cosine_embedding_loss", o.reduce, {"mean", "sum", "no"});
  check_pairs("CosineEmbeddingLoss", "x1 x2 t", {x1, x2, t}, true);
  const Variable c = cosine(wide(x1), wide(x2), 1, 1e-8);
  const Variable losses = masked(1 - c, equal(t.data(), 1)) + masked(relu(c - o.margin), equal(t.data(), -1));
  return reduced(losses, o.reduce, double(x1.shape(0)), x1.dtype());
}

Variable margin_ranking_loss(const Variable& x1, const Variable& x2, const Variable& t, const MarginOptions& given) {
  const MarginOptions o = internal::with_reduction("margin_ranking_loss", given);
  internal::check_reduce("margin_ranking_loss", o.reduce, {"mean", "sum", "no"});
  check_pairs("MarginRankingLoss", "x1 x2 t", {x1, x2, t}, false);
  const Variable d = wide(x1) - wide(x2);
  return reduced(relu(o.margin - d * signs(t, d)), o.reduce, double(x1.size()), x1.dtype());
}

Variable hinge_embedding_loss(const Variable& x, const Variable& t, const HingeEmbeddingOptions& given) {
  const HingeEmbeddingOptions o = internal::with_reduction("hinge_embedding_loss", given);
  internal::check_reduce("hinge_embedding_loss", o.reduce, {"mean", "sum", "no"});
  check_pairs("HingeEmbeddingLoss", "x t", {x, t}, false);
  const Variable d = wide(x);
  const Variable losses = masked(d, equal(t.data(), 1)) + masked(relu(o.margin - d), equal(t.data(), -1));
  return reduced(losses, o.reduce, double(x.size()), x.dtype());
}

Variable soft_margin_loss(const Variable& x, const Variable& t, const Averaged& o) {
  internal::check_reduce("soft_margin_loss", o.reduce, {"mean", "sum", "no"});
  check_pairs("SoftMarginLoss", "x t", {x, t}, false);
  const Variable scores = wide(x);
  return reduced(softplus(scores * -signs(t, scores)), o.reduce, double(x.size()), x.dtype());
}

Variable triplet_margin_loss(const Variable& anchor, const Variable& positive, const Variable& negative,
                             const TripletMarginOptions& given) {
  const TripletMarginOptions o = internal::with_reduction("triplet_margin_loss", given);
  internal::check_reduce("triplet_margin_loss", o.reduce, {"mean", "sum", "no"});
  check_norm("triplet_margin_loss", o.p);
  internal::check_inputs("TripletMarginLoss", "anchor positive negative", {anchor, positive, negative},
                         [](const TypeInfoTuple& in_types) {
                           using namespace autograd::type_check;
                           internal::expect_alike(in_types);
                           expect(in_types[0].ndim >= 1);
                         });
  const Variable a = wide(anchor), p = wide(positive), n = wide(negative);
  Variable far = distance(a, n, o.p, o.eps, false);
  if (o.swap) far = autograd::minimum(far, distance(p, n, o.p, o.eps, false));
  const Variable losses = relu(distance(a, p, o.p, o.eps, false) - far + o.margin);
  return reduced(losses, o.reduce, double(losses.size()), anchor.dtype());
}

Variable triplet_margin_with_distance_loss(const Variable& anchor, const Variable& positive, const Variable& negative,
                                           const TripletMarginWithDistanceOptions& o) {
  constexpr const char* op = "triplet_margin_with_distance_loss";
  const std::string reduce = internal::reduce_of(op, o.reduction);
  check<ValueError>(o.margin > 0, op, "margin is ", o.margin, " and must be positive");
  const auto between = [&](const Variable& x, const Variable& y) {
    return o.distance_function ? o.distance_function(x, y) : pairwise_distance(x, y);
  };
  const Variable near = between(anchor, positive);
  Variable far = between(anchor, negative);
  if (o.swap) far = autograd::minimum(far, between(positive, negative));
  const Variable losses = wide(relu(near - far + o.margin));
  return reduced(losses, reduce, double(losses.size()), anchor.dtype());
}

Variable info_nce(const Variable& q, const Variable& k, const InfoNCEOptions& o) {
  internal::check_reduce("info_nce", o.reduce, {"mean", "sum", "no"});
  check<ValueError>(o.temperature > 0, "info_nce", "temperature is ", o.temperature, " and must be positive");
  internal::check_inputs("InfoNCE", "q k", {q, k}, [](const TypeInfoTuple& in_types) {
    internal::expect_alike(in_types);
    autograd::type_check::expect(in_types[0].ndim == 2);
  });
  const auto rows = [&](const Variable& x) { return o.normalize ? x / norms(x, 1, 1e-12, true) : x; };
  const Variable scores = matmul(rows(wide(q)), rows(wide(k)), {.transb = true}) / o.temperature;
  const Variable own(autograd::arrays::arange(q.shape(0), Dtype::int32, q.device()));
  return narrowed(softmax_cross_entropy(scores, own, {.reduce = o.reduce}), internal::loss_dtype(q.dtype()));
}

// ---- margins of classes -------------------------------------------------------------------------
namespace {
// Options in which PyTorch's names, where they are given, have the place of the others.
template <class O> O with_weight(const char* op, const O& given) {
  O o = internal::with_reduction(op, given);
  if (o.weight) o.class_weight = o.weight;
  return o;
}
}  // namespace

Variable multi_margin_loss(const Variable& x, const Variable& t, const MultiMarginOptions& given) {
  constexpr const char* op = "multi_margin_loss";
  const MultiMarginOptions o = with_weight(op, given);
  internal::check_reduce(op, o.reduce, {"mean", "sum", "no"});
  check<ValueError>(o.p == 1 || o.p == 2, op, "p is ", o.p, "; it must be 1 or 2");
  internal::check_inputs("MultiMarginLoss", "x t", {x, t}, [](const TypeInfoTuple& in_types) {
    internal::expect_labelled(in_types);
    autograd::type_check::expect(in_types[0].ndim == 2);
  });
  const std::int64_t n = x.shape(0), classes = x.shape(1);
  internal::check_labels(op, t.data(), classes, {});
  const Array labels = internal::labels_of(t.data());
  const Variable scores = wide(x);
  // No label is ignored, so the label to ignore is one that cannot occur.
  const Variable of_label = reshape(internal::picked(op, scores, labels, {}, -1), {n, 1});
  const Array others =
      internal::not_equal(autograd::arrays::arange(classes, Dtype::int32, x.device()), internal::expanded(labels, 1));
  const Variable margins = masked(relu(scores + of_label + o.margin), others);
  Variable losses = sum(o.p == 1 ? margins : square(margins), 1) / double(classes);
  if (o.class_weight) losses = losses * internal::weights_of_labels(op, o.class_weight, scores.data(), labels, -1);
  return reduced(losses, o.reduce, double(n), x.dtype());
}

Variable multilabel_margin_loss(const Variable& x, const Variable& t, const Averaged& o) {
  constexpr const char* op = "multilabel_margin_loss";
  internal::check_reduce(op, o.reduce, {"mean", "sum", "no"});
  internal::check_inputs("MultilabelMarginLoss", "x t", {x, t}, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f');
    internal::expect_labels(in_types, 1);
    expect(in_types[0].ndim == 2, in_types[1].shape == in_types[0].shape);
  });
  const std::int64_t n = x.shape(0), classes = x.shape(1);
  internal::check_labels(op, t.data(), classes, -1);
  const Variable scores = wide(x);
  if (x.size() == 0) return reduced(sum(scores, 1), o.reduce, double(n), x.dtype());
  const Array labels = internal::labels_of(t.data()),
              position = autograd::arrays::arange(classes, Dtype::int32, x.device());
  // The labels before the first -1.
  const Array end = autograd::amin(autograd::where(internal::less(labels, 0), position, classes), 1, true);
  const Array valid = internal::less(position, end), label = autograd::where(valid, labels, 0);
  const Array marked =
      internal::both(equal(autograd::expand_dims(label, 2), position), autograd::expand_dims(valid, 2));
  const Array others = equal(autograd::reduce(catena::kernels::count_nonzero, marked, 1, true), 0);  // (N, 1, C)
  const Variable of_labels = reshape(take_along_axis(scores, Variable(label), 1), {n, classes, 1});
  const Variable margins = relu(reshape(scores, {n, 1, classes}) - of_labels + 1);
  const Array counted = internal::both(others, autograd::expand_dims(valid, 2));
  return reduced(sum(masked(margins, counted), {1, 2}) / double(classes), o.reduce, double(n), x.dtype());
}

Variable multilabel_soft_margin_loss(const Variable& x, const Variable& t, const MultilabelSoftMarginOptions& given) {
  constexpr const char* op = "multilabel_soft_margin_loss";
  const MultilabelSoftMarginOptions o = with_weight(op, given);
  internal::check_reduce(op, o.reduce, {"mean", "sum", "no"});
  internal::check_inputs("MultilabelSoftMarginLoss", "x t", {x, t}, [](const TypeInfoTuple& in_types) {
    internal::expect_alike(in_types);
    autograd::type_check::expect(in_types[0].ndim == 2);
  });
  const Variable scores = wide(x);
  Variable losses = binary_cross_entropy_with_logits(scores, wide(t), "no");
  if (o.class_weight) losses = losses * internal::class_weights(op, o.class_weight, scores.data());
  return reduced(mean(losses, 1), o.reduce, double(x.shape(0)), x.dtype());
}

}  // namespace nn
