// Loss functions.
//
// Labels are of any integer dtype and have no gradient; all other arguments are floating and of one dtype (InvalidType
// otherwise). 16-bit floats are computed in float32 and rounded once.
//
// `reduce` is "mean", "sum" or "no", unless a comment says otherwise; any other text is a ValueError. "no" gives the
// losses one by one, the others a 0-d result. At each function, the default comes first in the list.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/autograd/cudnn_options.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/named.h>

namespace nn {

using autograd::Array;
using autograd::Shape;
using autograd::Variable;
using autograd::Variables;

// Options of a loss that has no others. The text may also be passed alone: gaussian_nll(x, mean, ln_var, "no").
struct Summed {
  std::string reduce = "sum";
};
struct Averaged {
  std::string reduce = "mean";
};
// Averaged in PyTorch's words: "mean", "sum", or "none" for "no".
struct LossReduction {
  std::string reduction = "mean";
};
template <class T>
concept Text = std::convertible_to<T, std::string_view>;
// An array among options, or the values of a variable, which gets no gradient.
class ConstantArray : public Array {
 public:
  ConstantArray() = default;
  template <std::convertible_to<Array> A> ConstantArray(const A& a) : Array(a) {}
  ConstantArray(const Variable& v) : Array(v ? v.data() : Array()) {}
};

// ---- classes ------------------------------------------------------------------------------------
struct SoftmaxCrossEntropyOptions {
  bool normalize = true;    // divide by the number of labels that are not ignored; false: by the batch size
  bool cache_score = true;  // no effect: backward computes the softmax again, from two numbers that are kept per label
  Array class_weight = {};  // (C), in the dtype of x
  int ignore_label = -1;
  std::string reduce = "mean";
  bool enable_double_backprop = true;  // no effect: the loss can always be differentiated twice
  double label_smoothing = 0;          // e: the target is (1 - e) of the label and e / C of every class; 0 <= e < 1
  // Divide by the sum of the labels' class weights instead of their number, as PyTorch does.
  bool normalize_by_weight = false;
  std::optional<bool> use_cudnn = {};  // see CudnnOptions
};
// Cross entropy of softmax(x) along axis 1 and labels t: x (N, C, d...), t (N, d...) of any integer dtype -> 0-d, or,
// with reduce "no", the shape of t. InvalidType for other shapes and dtypes. A floating t of the shape of x gives the
// probabilities of the classes: the loss is -sum(t log softmax(x)), nothing is ignored, and t has a gradient, too. A
// label that is neither a class nor ignore_label is an IndexError on the CPU. On CUDA it makes the loss NaN, unless
// nd::check_indices is on (IndexError from the next call that waits for the device) or debug mode (ValueError).
//
// If all labels are ignored, the mean is 0 and has the gradient 0, as in Chainer (PyTorch gives NaN); on the CPU this
// is a warning. From forward to backward the arrays x and t are kept, and two numbers for each label: the maximum of
// the scores and the logarithm of the sum of exp(x - maximum). Only the gradient is another array of the size of x;
// linear_cross_entropy (probability_loss.h) needs none.
CATENA_EXPORT Variable softmax_cross_entropy(const Variable& x, const Variable& t,
                                             const SoftmaxCrossEntropyOptions& options = {});
// In the order of the reference: softmax_cross_entropy(x, t, true, false).
template <std::same_as<bool> B>
Variable softmax_cross_entropy(const Variable& x, const Variable& t, B use_cudnn, bool normalize = true,
                               bool cache_score = true, const Array& class_weight = {}, int ignore_label = -1,
                               const std::string& reduce = "mean") {
  return softmax_cross_entropy(x, t,
                               SoftmaxCrossEntropyOptions{.normalize = normalize,
                                                          .cache_score = cache_score,
                                                          .class_weight = class_weight,
                                                          .ignore_label = ignore_label,
                                                          .reduce = reduce,
                                                          .use_cudnn = use_cudnn});
}

struct SigmoidCrossEntropyOptions {
  bool normalize = true;  // "mean" divides by the number of labels other than -1; false: by the batch size
  std::string reduce = "mean";
  std::optional<bool> use_cudnn = {};  // see CudnnOptions
};
// -log of the probability of the label t (1 or 0) according to sigmoid(x). The label -1 is ignored and has the loss 0.
// Equal shapes.
CATENA_EXPORT Variable sigmoid_cross_entropy(const Variable& x, const Variable& t,
                                             const SigmoidCrossEntropyOptions& options = {});
template <std::same_as<bool> B>
Variable sigmoid_cross_entropy(const Variable& x, const Variable& t, B use_cudnn, bool normalize = true,
                               const std::string& reduce = "mean") {
  return sigmoid_cross_entropy(
      x, t, SigmoidCrossEntropyOptions{.normalize = normalize, .reduce = reduce, .use_cudnn = use_cudnn});
}

struct HingeOptions {
  std::string norm = "L1";  // or "L2": the squares; NotImplementedError for other texts
  std::string reduce = "mean";
};
// max(0, 1 - s x) with s = 1 for the class of the label and s = -1 for all others: x (N, K), t (N) -> (N, K); "mean" is
// the sum divided by N.
CATENA_EXPORT Variable hinge(const Variable& x, const Variable& t, const HingeOptions& options = {});
template <Text T>
Variable hinge(const Variable& x, const Variable& t, const T& norm, const std::string& reduce = "mean") {
  return hinge(x, t, HingeOptions{.norm = std::string(norm), .reduce = reduce});
}

// ---- distances; equal shapes --------------------------------------------------------------------
CATENA_EXPORT Variable absolute_error(const Variable& x0, const Variable& x1);  // |x0 - x1|
CATENA_EXPORT Variable squared_error(const Variable& x0, const Variable& x1);   // (x0 - x1)^2
namespace internal {
CATENA_EXPORT Variable mean_absolute_error(const Variable& x0, const Variable& x1, const Averaged& options);
CATENA_EXPORT Variable mean_squared_error(const Variable& x0, const Variable& x1, const Averaged& options);
CATENA_EXPORT Averaged averaged(const LossReduction& options);
}  // namespace internal
// An object, so that it can be given as a loss function: Classifier(model, {.lossfun = mean_squared_error}).
template <Variable (*body)(const Variable& x0, const Variable& x1, const Averaged& options)> struct MeanErrorFunction {
  Variable operator()(const Variable& x0, const Variable& x1, const Averaged& options = {}) const {
    return body(x0, x1, options);
  }
  template <Text T> Variable operator()(const Variable& x0, const Variable& x1, const T& reduce) const {
    return body(x0, x1, Averaged{std::string(reduce)});
  }
  template <std::same_as<LossReduction> O = LossReduction>
  Variable operator()(const Variable& x0, const Variable& x1, const O& options) const {
    return body(x0, x1, internal::averaged(options));
  }
  // Where a pointer to a function is wanted.
  using Pointer = Variable (*)(const Variable& x0, const Variable& x1);
  constexpr operator Pointer() const noexcept { return mean; }

 private:
  static Variable mean(const Variable& x0, const Variable& x1) { return body(x0, x1, {}); }
};
// The means over all elements -> 0-d, or with reduce "sum" or "no" the sum or the errors: mean_squared_error(x0, x1,
// "sum"). mse_loss(x, t, {.reduction = "none"}) has PyTorch's words.
inline constexpr MeanErrorFunction<internal::mean_absolute_error> mean_absolute_error;
inline constexpr MeanErrorFunction<internal::mean_squared_error> mean_squared_error;
// PyTorch's names.
inline constexpr auto& l1_loss = mean_absolute_error;
inline constexpr auto& mse_loss = mean_squared_error;

struct HuberOptions {
  std::string reduce = "sum_along_second_axis";  // or "no", "mean", "sum"
};
// a^2 / 2 where |a| <= delta, else delta (|a| - delta / 2), for a = x - t; by default summed over axis 1. ValueError
// for a negative delta.
CATENA_EXPORT Variable huber_loss(const Variable& x, const Variable& t, double delta, const HuberOptions& options = {});
template <Text T> Variable huber_loss(const Variable& x, const Variable& t, double delta, const T& reduce) {
  return huber_loss(x, t, delta, HuberOptions{std::string(reduce)});
}
struct SmoothL1Options {
  double beta = 1;  // not negative (ValueError)
  std::string reduce = "mean";
};
// a^2 / (2 beta) where |a| < beta, else |a| - beta / 2, for a = x - t: huber_loss with delta = beta, divided by beta.
CATENA_EXPORT Variable smooth_l1(const Variable& x, const Variable& t, const SmoothL1Options& options = {});
template <std::convertible_to<double> B>
Variable smooth_l1(const Variable& x, const Variable& t, B beta, const std::string& reduce = "mean") {
  return smooth_l1(x, t, SmoothL1Options{.beta = double(beta), .reduce = reduce});
}

// ---- metric learning ----------------------------------------------------------------------------
struct ContrastiveOptions {
  double margin = 1;  // positive (ValueError)
  std::string reduce = "mean";
};
// y d^2 / 2 + (1 - y) max(margin - d, 0)^2 / 2, where d are the distances of the rows of x0 and x1 (N, K), and y (N) is
// 0 or 1 -> (N). InvalidType for N = 0.
CATENA_EXPORT Variable contrastive(const Variable& x0, const Variable& x1, const Variable& y,
                                   const ContrastiveOptions& options = {});
template <std::convertible_to<double> M>
Variable contrastive(const Variable& x0, const Variable& x1, const Variable& y, M margin,
                     const std::string& reduce = "mean") {
  return contrastive(x0, x1, y, ContrastiveOptions{.margin = double(margin), .reduce = reduce});
}

struct TripletOptions {
  double margin = 0.2;  // positive (ValueError)
  std::string reduce = "mean";
};
// max(|anchor - positive|^2 - |anchor - negative|^2 + margin, 0) for the rows of (N, K) -> (N). InvalidType for N = 0.
CATENA_EXPORT Variable triplet(const Variable& anchor, const Variable& positive, const Variable& negative,
                               const TripletOptions& options = {});
template <std::convertible_to<double> M>
Variable triplet(const Variable& anchor, const Variable& positive, const Variable& negative, M margin,
                 const std::string& reduce = "mean") {
  return triplet(anchor, positive, negative, TripletOptions{.margin = double(margin), .reduce = reduce});
}

// ---- covariances --------------------------------------------------------------------------------
struct CovarianceOptions {
  std::string reduce = "half_squared_sum";  // half the sum of the squared covariances; or "no"
};
// The covariances over the batch of the columns of y (N, M) with the columns of z (N, L) -> (M, L).
CATENA_EXPORT Variable cross_covariance(const Variable& y, const Variable& z, const CovarianceOptions& options = {});
template <Text T> Variable cross_covariance(const Variable& y, const Variable& z, const T& reduce) {
  return cross_covariance(y, z, CovarianceOptions{std::string(reduce)});
}
// The covariances of the columns of h (N, M) with each other, 0 on the diagonal -> (M, M).
CATENA_EXPORT Variable decov(const Variable& h, const CovarianceOptions& options = {});
template <Text T> Variable decov(const Variable& h, const T& reduce) {
  return decov(h, CovarianceOptions{std::string(reduce)});
}

// ---- likelihoods, element by element; equal shapes ----------------------------------------------
// -log of the Bernoulli probability of x for the logits y: softplus(y) - x y.
CATENA_EXPORT Variable bernoulli_nll(const Variable& x, const Variable& y, const Summed& options = {});
template <Text T> Variable bernoulli_nll(const Variable& x, const Variable& y, const T& reduce) {
  return bernoulli_nll(x, y, Summed{std::string(reduce)});
}
// -log of the density at x of the normal distribution with this mean and logarithm of the variance.
CATENA_EXPORT Variable gaussian_nll(const Variable& x, const Variable& mean, const Variable& ln_var,
                                    const Summed& options = {});
template <Text T>
Variable gaussian_nll(const Variable& x, const Variable& mean, const Variable& ln_var, const T& reduce) {
  return gaussian_nll(x, mean, ln_var, Summed{std::string(reduce)});
}
// The Kullback-Leibler divergence of the normal distribution with this mean and variance from the standard one.
CATENA_EXPORT Variable gaussian_kl_divergence(const Variable& mean, const Variable& ln_var, const Summed& options = {});
template <Text T> Variable gaussian_kl_divergence(const Variable& mean, const Variable& ln_var, const T& reduce) {
  return gaussian_kl_divergence(mean, ln_var, Summed{std::string(reduce)});
}

// ---- large vocabularies -------------------------------------------------------------------------
// -log of the probability of the label and -log of 1 - the probability of each sample, where the softmax of x W^T is
// taken only over the label and the samples of a row: x (N, D), t (N), W (V, D), samples (N, S) -> (N). A sample counts
// as often as it occurs, also if it is the label.
CATENA_EXPORT Variable black_out(const Variable& x, const Variable& t, const Variable& W, const Variable& samples,
                                 const Averaged& options = {});
template <Text T>
Variable black_out(const Variable& x, const Variable& t, const Variable& W, const Variable& samples, const T& reduce) {
  return black_out(x, t, W, samples, Averaged{std::string(reduce)});
}

// Draws integers of a shape, of any integer dtype; WalkerAlias is a sampler.
using Sampler = catena::Function<Array(const Shape&)>;
// softplus(-W[t] x) + the sum of softplus(W[s] x) over sample_size samples s: x (N, D), t (N), W (V, D) -> (N). Calls
// the sampler once, with (N, sample_size + 1), and replaces the first column by t. The label -1 has the loss 0.
CATENA_EXPORT Variable negative_sampling(const Variable& x, const Variable& t, const Variable& W,
                                         const Sampler& sampler, int sample_size, const Summed& options = {});
template <Text T>
Variable negative_sampling(const Variable& x, const Variable& t, const Variable& W, const Sampler& sampler,
                           int sample_size, const T& reduce) {
  return negative_sampling(x, t, W, sampler, sample_size, Summed{std::string(reduce)});
}
// auto [loss, samples] = negative_sampling(x, t, W, sampler, 5, {}, return_samples); the samples are (N, sample_size +
// 1), with t in the first column.
struct ReturnSamples {};
inline constexpr ReturnSamples return_samples{};
struct NegativeSamplingResult {
  Variable loss;
  Array samples;
};
CATENA_EXPORT NegativeSamplingResult negative_sampling(const Variable& x, const Variable& t, const Variable& W,
                                                       const Sampler& sampler, int sample_size, const Summed& options,
                                                       ReturnSamples);

// ---- sequences ----------------------------------------------------------------------------------
struct CTCOptions {
  // Lengths (B) of the sequences of x and of the labels, of any integer dtype; null: all sequences have full length.
  Array input_length = {}, label_length = {};
  std::string reduce = "mean";  // over the batch
  bool zero_infinity = false;   // sequences whose labels do not fit their length have loss and gradient 0
  bool normalize = false;       // divide each loss by the number of its labels, as PyTorch does for "mean"
  bool batch_first = false;     // x is one (B, T, V)
};
// -log of the probability of the labels t (B, L), summed over all alignments with the scores x -> (B). x is one (B, V)
// per time, or one (T, B, V), which saves a copy; the scores are not normalised by softmax. Labels t of one axis are
// those of all sequences, one after the other; they need label_length, which is read by the host (ValueError without it
// or for another sum). Labels after the length of a sequence are not read; the others must differ from blank_symbol. If
// the labels do not fit the length, the loss is about 1e10. InvalidType for other shapes, AssertionError unless 0 <=
// blank_symbol < V; in debug mode, lengths that do not fit are an AssertionError.
CATENA_EXPORT Variable connectionist_temporal_classification(const Variables& x, const Variable& t, int blank_symbol,
                                                             const CTCOptions& options = {});
inline Variable connectionist_temporal_classification(const Variable& x, const Variable& t, int blank_symbol,
                                                      const CTCOptions& options = {}) {
  return connectionist_temporal_classification(Variables{x}, t, blank_symbol, options);
}
// With all arguments by name: connectionist_temporal_classification(x, t, {.blank_symbol = 0, .reduce = "no"}).
struct NamedCTCOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int blank_symbol = 0;
  Array input_length = {}, label_length = {};
  std::string reduce = "mean";
};
template <std::same_as<NamedCTCOptions> O = NamedCTCOptions>
Variable connectionist_temporal_classification(const Variables& x, const Variable& t, const O& o) {
  return connectionist_temporal_classification(
      x, t, o.blank_symbol,
      CTCOptions{.input_length = o.input_length, .label_length = o.label_length, .reduce = o.reduce});
}
CATENA_EXPORT Variable connectionist_temporal_classification(const Variables& x, const Variable& t, int blank_symbol,
                                                             const Array& input_length, const Array& label_length = {},
                                                             const std::string& reduce = "mean");

// The same with PyTorch's arguments: log-probabilities (T, B, V), as log_softmax(x, 2) returns them, and labels (B, L),
// or the labels of all sequences one after the other: ctc_loss(log_probs, t, input_lengths, target_lengths,
// {.zero_infinity = true}). If the labels do not fit the length, the loss is about 1e10; in PyTorch it is infinite.
// ValueError for another reduction; other errors as above.
struct CTCLossOptions {
  int blank = 0;
  std::string reduction = "mean";  // of each loss divided by its number of labels; or "sum", "none"
  bool zero_infinity = false;
};
CATENA_EXPORT Variable ctc_loss(const Variable& log_probs, const Variable& t, const Array& input_lengths,
                                const Array& target_lengths, const CTCLossOptions& options = {});
// With the lengths as variables.
template <autograd::PlainVariable V>
Variable ctc_loss(const Variable& log_probs, const Variable& t, const V& input_lengths, const V& target_lengths,
                  const CTCLossOptions& options = {}) {
  return ctc_loss(log_probs, t, input_lengths.data(), target_lengths.data(), options);
}

// With the lengths as lists: ctc_loss(log_probs, t, {50, 50}, {12, 9}).
template <std::same_as<std::vector<std::int64_t>> L = std::vector<std::int64_t>>
Variable ctc_loss(const Variable& log_probs, const Variable& t, const L& input_lengths,
                  const std::vector<std::int64_t>& target_lengths, const CTCLossOptions& options = {}) {
  return ctc_loss(log_probs, t, autograd::array(input_lengths, {std::int64_t(input_lengths.size())}, t.device()),
                  autograd::array(target_lengths, {std::int64_t(target_lengths.size())}, t.device()), options);
}

// -log of the probability of the labels ys in a linear chain with the scores xs and the transition scores cost (K, K),
// [from, to]. xs is one (B_t, K) per time, with B_t not increasing, ys one (B_t) per time -> (B_0). AssertionError for
// another K. With only one time, the loss does not depend on cost, which gets no gradient.
CATENA_EXPORT Variable crf1d(const Variable& cost, const Variables& xs, const Variables& ys,
                             const Averaged& options = {});
template <Text T> Variable crf1d(const Variable& cost, const Variables& xs, const Variables& ys, const T& reduce) {
  return crf1d(cost, xs, ys, Averaged{std::string(reduce)});
}
// auto [score, path] = argmax_crf1d(cost, xs): the best labels of each sequence and their score (B_0). path[t] is (B_t)
// int32; among equally good labels, the lowest.
struct Crf1dPath {
  Variable score;
  std::vector<Array> path;
};
CATENA_EXPORT Crf1dPath argmax_crf1d(const Variable& cost, const Variables& xs);

}  // namespace nn
