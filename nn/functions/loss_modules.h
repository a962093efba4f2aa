// Losses with their options, under the names of PyTorch's modules, besides those of probability_loss.h:
//
//   nn::MSELoss criterion({.reduction = "sum"});
//   Variable loss = criterion(model(x), t);
//
// Options have PyTorch's names, also `reduction`: "mean", "sum", or "none" for the losses one by one (ValueError for
// other texts). Shapes, dtypes and errors are those of the functions.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include <catena/nn/functions/probability_loss.h>
#include <catena/nn/functions/similarity.h>

namespace nn {

// Options of NLLLoss.
struct NLLLossOptions {
  ConstantArray weight = {};  // (C), as class_weight of NLLOptions
  int ignore_index = -100;
  std::string reduction = "mean";  // divided by the sum of the weights of the labels
};
// Options of HuberLoss.
struct HuberLossOptions {
  std::string reduction = "mean";  // over all elements
  double delta = 1;
};

namespace internal {
CATENA_EXPORT Variable nll_loss(const Variable& log_p, const Variable& t, const NLLLossOptions& options);
template <Variable (*loss)(const Variable&, const Variable&, const Averaged&)>
Variable with_reduction(const Variable& x, const Variable& t, const LossReduction& options) {
  return loss(x, t, averaged(options));
}
}  // namespace internal
// nll_loss and huber_loss with PyTorch's options.
template <std::same_as<NLLLossOptions> O = NLLLossOptions>
Variable nll_loss(const Variable& log_p, const Variable& t, const O& options) {
  return internal::nll_loss(log_p, t, options);
}
CATENA_EXPORT Variable huber_loss(const Variable& x, const Variable& t, const HuberLossOptions& options = {});

// As LossModule, of a function of three variables.
template <class O, Variable (*loss)(const Variable&, const Variable&, const Variable&, const O&)> struct LossModule3 {
  explicit LossModule3(O o = {}) : options(std::move(o)) {}
  // TripletMarginLoss(0.5)
  explicit LossModule3(double margin) requires requires(O o) { o.margin = margin; }
  { options.margin = margin; }
  Variable operator()(const Variable& x, const Variable& y, const Variable& t) const { return loss(x, y, t, options); }
  O options;
};

// criterion(x, t), of the functions of these names.
using L1Loss = LossModule<LossReduction, internal::with_reduction<internal::mean_absolute_error>>;
using MSELoss = LossModule<LossReduction, internal::with_reduction<internal::mean_squared_error>>;
using HuberLoss = LossModule<HuberLossOptions, huber_loss>;
using BCELoss = LossModule<BinaryCrossEntropyOptions, binary_cross_entropy>;
using NLLLoss = LossModule<NLLLossOptions, internal::nll_loss>;
using KLDivLoss = LossModule<KLDivOptions, kl_div>;
using PoissonNLLLoss = LossModule<PoissonNLLOptions, poisson_nll>;
using GaussianNLLLoss = LossModule3<GaussianNLLOptions, gaussian_nll_loss>;        // (x, t, var)
using CosineEmbeddingLoss = LossModule3<MarginOptions, cosine_embedding_loss>;     // (x1, x2, t)
using MarginRankingLoss = LossModule3<MarginOptions, margin_ranking_loss>;         // (x1, x2, t)
using TripletMarginLoss = LossModule3<TripletMarginOptions, triplet_margin_loss>;  // (anchor, positive, negative)
using HingeEmbeddingLoss = LossModule<HingeEmbeddingOptions, hinge_embedding_loss>;
using SoftMarginLoss = LossModule<LossReduction, internal::with_reduction<soft_margin_loss>>;
using MultiMarginLoss = LossModule<MultiMarginOptions, multi_margin_loss>;
using MultiLabelMarginLoss = LossModule<LossReduction, internal::with_reduction<multilabel_margin_loss>>;
using MultiLabelSoftMarginLoss = LossModule<MultilabelSoftMarginOptions, multilabel_soft_margin_loss>;
using TripletMarginWithDistanceLoss = LossModule3<TripletMarginWithDistanceOptions, triplet_margin_with_distance_loss>;

// Calls ctc_loss.
struct CTCLoss {
  explicit CTCLoss(CTCLossOptions o = {}) : options(std::move(o)) {}
  Variable operator()(const Variable& log_probs, const Variable& t, const Array& input_lengths,
                      const Array& target_lengths) const {
    return ctc_loss(log_probs, t, input_lengths, target_lengths, options);
  }
  template <autograd::PlainVariable V>
  Variable operator()(const Variable& log_probs, const Variable& t, const V& input_lengths,
                      const V& target_lengths) const {
    return ctc_loss(log_probs, t, input_lengths, target_lengths, options);
  }
  CTCLossOptions options;
};

}  // namespace nn
