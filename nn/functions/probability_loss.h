// Losses of probabilities: Bernoulli, categorical, Poisson and normal distributions, in the forms of PyTorch. Those of
// Chainer are in loss.h, whose rules for dtypes, labels and `reduce` hold here as well.
#pragma once

#include <concepts>
#include <optional>
#include <string>

#include <catena/nn/functions/loss.h>

namespace nn {

struct BinaryCrossEntropyOptions {
  ConstantArray weight = {};      // factors of the losses; broadcasts to x (ValueError)
  ConstantArray pos_weight = {};  // of logits only: factors of the parts of t, such as (number of 0) / (number of 1)
  std::string reduce = "mean";
  std::optional<std::string> reduction = {};  // PyTorch's name of reduce, with "none" for "no"
};
// Cross entropy of the targets t, probabilities in [0, 1], and sigmoid(x): (1 - t) log(1 + exp(x)) + pos_weight t log(1
// + exp(-x)), for any x without loss of digits. Equal shapes; t is floating, and has a gradient.
CATENA_EXPORT Variable binary_cross_entropy_with_logits(const Variable& x, const Variable& t,
                                                        const BinaryCrossEntropyOptions& options = {});
template <Text T> Variable binary_cross_entropy_with_logits(const Variable& x, const Variable& t, const T& reduce) {
  return binary_cross_entropy_with_logits(x, t, BinaryCrossEntropyOptions{.reduce = std::string(reduce)});
}
// The same of probabilities p instead of logits. As in PyTorch a logarithm is at least -100, where its derivative is 0.
// ValueError for a pos_weight.
CATENA_EXPORT Variable binary_cross_entropy(const Variable& p, const Variable& t,
                                            const BinaryCrossEntropyOptions& options = {});
template <Text T> Variable binary_cross_entropy(const Variable& p, const Variable& t, const T& reduce) {
  return binary_cross_entropy(p, t, BinaryCrossEntropyOptions{.reduce = std::string(reduce)});
}

struct NLLOptions {
  Array class_weight = {};  // (C)
  int ignore_label = -1;
  std::string reduce = "mean";  // divided by the sum of the weights of the labels, as in PyTorch
};
// -class_weight[t] log_p[t]: log_p (N, C, d...), such as log_softmax gives, and labels t (N, d...). Labels that are not
// classes, and batches of which all are ignored: as softmax_cross_entropy.
CATENA_EXPORT Variable nll_loss(const Variable& log_p, const Variable& t, const NLLOptions& options = {});

struct CrossEntropyOptions {
  ConstantArray weight = {};  // (C), as class_weight of softmax_cross_entropy
  int ignore_index = -100;
  std::string reduction = "mean";  // divided by the sum of the weights of the labels; or "sum", "none"
  double label_smoothing = 0;
};
// softmax_cross_entropy with PyTorch's names and meaning of the options. ValueError for another reduction.
CATENA_EXPORT Variable cross_entropy(const Variable& x, const Variable& t, const CrossEntropyOptions& options = {});
// Losses with the weight by position: cross_entropy(x, t, class_weights), binary_cross_entropy(p, t,
// weights).
#define CATENA_WEIGHTED_LOSS(name, Options)                                                    \
  template <autograd::PlainVariable W>                                                         \
  Variable name(const Variable& x, const Variable& t, const W& weight, Options options = {}) { \
    options.weight = weight;                                                                   \
    return name(x, t, options);                                                                \
  }
CATENA_WEIGHTED_LOSS(cross_entropy, CrossEntropyOptions)
CATENA_WEIGHTED_LOSS(binary_cross_entropy, BinaryCrossEntropyOptions)
CATENA_WEIGHTED_LOSS(binary_cross_entropy_with_logits, BinaryCrossEntropyOptions)
#undef CATENA_WEIGHTED_LOSS

// smooth_l1 with PyTorch's name and options.
struct SmoothL1LossOptions {
  std::string reduction = "mean";  // or "sum", "none"
  double beta = 1;
};
CATENA_EXPORT Variable smooth_l1_loss(const Variable& x, const Variable& t, const SmoothL1LossOptions& options = {});

// A loss with its options, as PyTorch's modules: CrossEntropyLoss criterion({.label_smoothing = 0.1}); criterion(y, t).
template <class O, Variable (*loss)(const Variable&, const Variable&, const O&)> struct LossModule {
  explicit LossModule(O o = {}) : options(std::move(o)) {}
  // CrossEntropyLoss(class_weights), where the first option is a weight
  template <std::convertible_to<ConstantArray> W> explicit LossModule(const W& weight) requires requires(O o) {
    o.weight = weight;
  }
  { options.weight = weight; }
  Variable operator()(const Variable& x, const Variable& t) const { return loss(x, t, options); }
  O options;
};
using BCEWithLogitsLoss = LossModule<BinaryCrossEntropyOptions, binary_cross_entropy_with_logits>;
using CrossEntropyLoss = LossModule<CrossEntropyOptions, cross_entropy>;
using SmoothL1Loss = LossModule<SmoothL1LossOptions, smooth_l1_loss>;

struct KLDivOptions {
  // The mean over all elements; "batchmean" (the divergence): by the length of axis 0; "sum"; "no".
  std::string reduce = "mean";
  std::optional<std::string> reduction = {};  // PyTorch's name of reduce, with "none" for "no"
  bool log_target = false;                    // p are logarithms
};
// p (log p - log_q), 0 where p is 0: the divergence of q from p. Equal shapes.
CATENA_EXPORT Variable kl_div(const Variable& log_q, const Variable& p, const KLDivOptions& options = {});
template <Text T> Variable kl_div(const Variable& log_q, const Variable& p, const T& reduce) {
  return kl_div(log_q, p, KLDivOptions{.reduce = std::string(reduce)});
}

struct FocalOptions {
  double gamma = 2;     // not negative (ValueError)
  double alpha = 0.25;  // factor of t = 1, 1 - alpha of t = 0; negative: no factors
  std::string reduce = "mean";
};
// (1 - p_t)^gamma times the binary cross entropy, where p_t is the probability of t (Lin et al. 2017): x and t of one
// shape, t floating and 0 or 1, or between.
CATENA_EXPORT Variable focal_loss(const Variable& x, const Variable& t, const FocalOptions& options = {});
struct SoftmaxFocalOptions {
  double gamma = 2;         // not negative (ValueError)
  Array class_weight = {};  // (C)
  int ignore_label = -1;
  std::string reduce = "mean";  // over the labels that are not ignored
};
// -class_weight[t] (1 - p)^gamma log(p) for the probability p = softmax(x)[t]: x (N, C, d...), labels t (N, d...).
CATENA_EXPORT Variable softmax_focal_loss(const Variable& x, const Variable& t,
                                          const SoftmaxFocalOptions& options = {});

struct PoissonNLLOptions {
  bool log_input = true;  // x is the logarithm of the rate; false: the rate
  bool full = false;      // add Stirling's approximation of log(t!) where t > 1
  double eps = 1e-8;      // added to a rate before its logarithm
  std::string reduce = "mean";
  std::optional<std::string> reduction = {};  // PyTorch's name of reduce, with "none" for "no"
};
// exp(x) - t x, the negative log likelihood of the counts t without log(t!). Equal shapes.
CATENA_EXPORT Variable poisson_nll(const Variable& x, const Variable& t, const PoissonNLLOptions& options = {});
inline Variable poisson_nll_loss(const Variable& x, const Variable& t, const PoissonNLLOptions& options = {}) {
  return poisson_nll(x, t, options);
}

struct GaussianNLLOptions {
  bool full = false;  // add log(2 pi) / 2
  double eps = 1e-6;  // the least variance; where it is used, var has no gradient
  std::string reduce = "mean";
  std::optional<std::string> reduction = {};  // PyTorch's name of reduce, with "none" for "no"
};
// (log(var) + (x - t)^2 / var) / 2. (gaussian_nll takes the logarithm of the variance.) Equal shapes.
CATENA_EXPORT Variable gaussian_nll_loss(const Variable& x, const Variable& t, const Variable& var,
                                         const GaussianNLLOptions& options = {});

struct LinearCrossEntropyOptions {
  std::int64_t chunk = 1024;  // rows whose scores are in memory at one time; positive (ValueError)
  int ignore_label = -1;
  double label_smoothing = 0;
  std::string reduce = "mean";  // or "sum"
};
// softmax_cross_entropy(linear(x, W, b), t) for a large number of classes V: x (N, D), W (V, D), b (V) or null, labels
// t (N). The scores (N, V) are never in memory as a whole: those of `chunk` rows are computed in forward, forgotten,
// and computed again in backward.
CATENA_EXPORT Variable linear_cross_entropy(const Variable& x, const Variable& W, const Variable& b, const Variable& t,
                                            const LinearCrossEntropyOptions& options = {});

}  // namespace nn
