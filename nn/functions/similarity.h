// Similarities and distances of vectors, and the losses on them and on margins, in the forms of PyTorch. The rules of
// loss.h for dtypes, labels and `reduce` hold here as well. Labels of pairs are 1 and -1, in the dtype of x or
// integers.
#pragma once

#include <optional>
#include <string>

#include <catena/nn/functions/loss.h>

namespace nn {

// ---- similarities and distances -----------------------------------------------------------------
// The cosine of the angle between x and y along an axis, which the result does not have. Norms are at least eps. The
// shapes broadcast. A vector of zeros has the gradient 0 of its norm.
CATENA_EXPORT Variable cosine_similarity(const Variable& x, const Variable& y, int axis = 1, double eps = 1e-8);
struct CosineSimilarityOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> dim = {}, axis = {};  // one of the two; default: 1
  double eps = 1e-8;
};
inline Variable cosine_similarity(const Variable& x, const Variable& y, const CosineSimilarityOptions& o) {
  return cosine_similarity(x, y, autograd::internal::given_axis(o.axis, o.dim).value_or(1), o.eps);
}
struct PairwiseDistanceOptions {
  double p = 2;  // positive; infinity for the greatest difference (ValueError)
  double eps = 1e-6;
  bool keepdims = false;
  bool keepdim = false;  // PyTorch's name of keepdims
};
// The p-norm of x - y + eps along the last axis. The shapes broadcast; at least one axis (InvalidType).
CATENA_EXPORT Variable pairwise_distance(const Variable& x, const Variable& y,
                                         const PairwiseDistanceOptions& options = {});
// pairwise_distance(x, y, 1)
template <std::convertible_to<double> P>
Variable pairwise_distance(const Variable& x, const Variable& y, P p, double eps = 1e-6, bool keepdim = false) {
  return pairwise_distance(x, y, PairwiseDistanceOptions{.p = double(p), .eps = eps, .keepdims = keepdim});
}

// ---- pairs and triples --------------------------------------------------------------------------
struct MarginOptions {
  double margin = 0;
  std::string reduce = "mean";
  std::optional<std::string> reduction = {};  // PyTorch's name of reduce, with "none" for "no"
};
// 1 - cos(x1, x2) for t = 1, max(0, cos(x1, x2) - margin) for t = -1: x1, x2 (N, D), t (N) -> (N).
CATENA_EXPORT Variable cosine_embedding_loss(const Variable& x1, const Variable& x2, const Variable& t,
                                             const MarginOptions& options = {});
// max(0, margin - t (x1 - x2)). Equal shapes.
CATENA_EXPORT Variable margin_ranking_loss(const Variable& x1, const Variable& x2, const Variable& t,
                                           const MarginOptions& options = {});
struct HingeEmbeddingOptions {
  double margin = 1;
  std::string reduce = "mean";
  std::optional<std::string> reduction = {};  // PyTorch's name of reduce, with "none" for "no"
};
// x for t = 1, max(0, margin - x) for t = -1. Equal shapes.
CATENA_EXPORT Variable hinge_embedding_loss(const Variable& x, const Variable& t,
                                            const HingeEmbeddingOptions& options = {});
// log(1 + exp(-t x)). Equal shapes.
CATENA_EXPORT Variable soft_margin_loss(const Variable& x, const Variable& t, const Averaged& options = {});
template <std::same_as<LossReduction> O = LossReduction>
Variable soft_margin_loss(const Variable& x, const Variable& t, const O& options) {
  return soft_margin_loss(x, t, internal::averaged(options));
}
struct TripletMarginOptions {
  double margin = 1, p = 2, eps = 1e-6;  // p and eps of pairwise_distance
  bool swap = false;                     // take the distance of positive and negative where it is less
  std::string reduce = "mean";
  std::optional<std::string> reduction = {};  // PyTorch's name of reduce, with "none" for "no"
};
// max(0, d(anchor, positive) - d(anchor, negative) + margin) with pairwise_distance (`triplet` squares the distances):
// (N, D) -> (N). Equal shapes.
CATENA_EXPORT Variable triplet_margin_loss(const Variable& anchor, const Variable& positive, const Variable& negative,
                                           const TripletMarginOptions& options = {});
// The margin by position, as PyTorch's functions have it: margin_ranking_loss(x1, x2, t, 0.5), hinge_embedding_loss(x,
// t, 2.0), triplet_margin_loss(a, p, n, 0.5, 1).
#define CATENA_MARGIN_LOSS(name)                                                                             \
  template <class E>                                                                                         \
  requires(std::is_arithmetic_v<E>) Variable name(const Variable& x1, const Variable& x2, const Variable& t, \
                                                  E margin) {                                                \
    return name(x1, x2, t, MarginOptions{.margin = double(margin)});                                         \
  }
CATENA_MARGIN_LOSS(cosine_embedding_loss)
CATENA_MARGIN_LOSS(margin_ranking_loss)
#undef CATENA_MARGIN_LOSS
template <class E>
requires(std::is_arithmetic_v<E>) Variable hinge_embedding_loss(const Variable& x, const Variable& t, E margin) {
  return hinge_embedding_loss(x, t, HingeEmbeddingOptions{.margin = double(margin)});
}
template <class E>
requires(std::is_arithmetic_v<E>) Variable
    triplet_margin_loss(const Variable& anchor, const Variable& positive, const Variable& negative, E margin,
                        double p = 2, double eps = 1e-6, bool swap = false) {
  return triplet_margin_loss(anchor, positive, negative,
                             TripletMarginOptions{.margin = double(margin), .p = p, .eps = eps, .swap = swap});
}
struct TripletMarginWithDistanceOptions {
  // Of two batches of vectors; default: pairwise_distance.
  catena::Function<Variable(const Variable& x, const Variable& y)> distance_function = {};
  double margin = 1;
  bool swap = false;
  std::string reduction = "mean";  // or "sum", "none"
};
// triplet_margin_loss with another distance.
CATENA_EXPORT Variable triplet_margin_with_distance_loss(const Variable& anchor, const Variable& positive,
                                                         const Variable& negative,
                                                         const TripletMarginWithDistanceOptions& options = {});
struct InfoNCEOptions {
  double temperature = 0.1;  // positive (ValueError)
  bool normalize = true;     // divide the rows by their norms; false: they are compared by products as they are
  std::string reduce = "mean";
};
// -log of the share of exp(q_i k_i / temperature) in the sum of exp(q_i k_j / temperature) over all rows j: q, k (N, D)
// -> (N) (van den Oord et al. 2018). The other rows of k are the negative examples.
CATENA_EXPORT Variable info_nce(const Variable& q, const Variable& k, const InfoNCEOptions& options = {});

// ---- margins of classes -------------------------------------------------------------------------
struct MultiMarginOptions {
  int p = 1;  // or 2 (ValueError)
  double margin = 1;
  Array class_weight = {};  // (C)
  std::string reduce = "mean";
  ConstantArray weight = {};  // PyTorch's names of class_weight and reduce, with "none" for "no"
  std::optional<std::string> reduction = {};
};
// sum of max(0, margin - x[t] + x[c])^p over the classes c != t, times class_weight[t] / C: x (N, C), t (N) -> (N).
CATENA_EXPORT Variable multi_margin_loss(const Variable& x, const Variable& t, const MultiMarginOptions& options = {});
// sum of max(0, 1 - x[j] + x[i]) / C over the labels j of a row and all classes i that are none of them: x (N, C),
// labels t (N, C), of which those before the first -1 count -> (N).
CATENA_EXPORT Variable multilabel_margin_loss(const Variable& x, const Variable& t, const Averaged& options = {});
template <std::same_as<LossReduction> O = LossReduction>
Variable multilabel_margin_loss(const Variable& x, const Variable& t, const O& options) {
  return multilabel_margin_loss(x, t, internal::averaged(options));
}
struct MultilabelSoftMarginOptions {
  Array class_weight = {};  // (C)
  std::string reduce = "mean";
  ConstantArray weight = {};  // PyTorch's names of class_weight and reduce, with "none" for "no"
  std::optional<std::string> reduction = {};
};
// The mean over the classes of binary_cross_entropy_with_logits, times class_weight: x and t (N, C) -> (N).
CATENA_EXPORT Variable multilabel_soft_margin_loss(const Variable& x, const Variable& t,
                                                   const MultilabelSoftMarginOptions& options = {});

}  // namespace nn
