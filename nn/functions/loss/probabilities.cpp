// Losses of probabilities in the forms of PyTorch.
#include <catena/nn/functions/probability_loss.h>

#include <algorithm>
#include <cmath>

#include <catena/autograd/forget.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/recorded.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/labels.h>
#include <catena/nn/functions/loss/class_labels.h>
#include <catena/nn/functions/loss_modules.h>

namespace nn {

using autograd::Arrays;
using autograd::Constant;
using autograd::masked;
using autograd::Slice;
using catena::check;
using catena::ValueError;
using internal::greater;
using internal::reduced;
using internal::wide;

// ---- binary cross entropy -----------------------------------------------------------------------
namespace {

class LogisticCrossEntropy final : public autograd::FunctionNode, public autograd::internal::HasOptions {
 public:
  explicit LogisticCrossEntropy(const Constant& weight) : weight_(weight) {}
  std::string label() const override { return "BinaryCrossEntropyWithLogits"; }
  void options(autograd::internal::FunctionOptions& o) const override { o.constant("weight", weight_); }
  std::string_view input_names() const override { return "x t"; }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    return {autograd::apply(catena::kernels::logistic_cross_entropy, {in[0], in[1], internal::constant(weight_)})};
  }
  Variables backward(const autograd::Targets& targets, const Variables& gy) override {
    const Variable x = retained_input(0), t = retained_input(1);
    Variables gradients;
    for (const int target : targets) {
      if (target == 1) gradients.push_back(gy[0] * (softplus(-x) * weight_ - softplus(x)));
      else if (needs_double_backprop()) gradients.push_back(gy[0] * ((1 - t) * sigmoid(x) - t * sigmoid(-x) * weight_));
      else
        gradients.push_back(autograd::internal::constant_variable(
            autograd::apply(catena::kernels::logistic_cross_entropy_bwd,
                            {x.data(), t.data(), internal::constant(weight_), gy[0].data()})));
    }
    return gradients;
  }

 private:
  Constant weight_;
};

// Returns the weight as a factor of x, 1 if it is null.
Constant factor(const char* op, const Array& weight, const Variable& x) {
  return weight ? autograd::internal::converted(op, weight, x) : Constant(1.0);
}

}  // namespace

Variable binary_cross_entropy_with_logits(const Variable& given_x, const Variable& given_t,
                                          const BinaryCrossEntropyOptions& given) {
  constexpr const char* op = "binary_cross_entropy_with_logits";
  const BinaryCrossEntropyOptions o = internal::with_reduction(op, given);
  internal::check_reduce(op, o.reduce, {"mean", "sum", "no"});
  internal::check_inputs("BinaryCrossEntropyWithLogits", "x t", {given_x, given_t}, internal::expect_alike);
  const Variable x = wide(given_x), t = wide(given_t);
  Variable losses = autograd::apply_node<LogisticCrossEntropy>({x, t}, factor(op, o.pos_weight, x))[0];
  if (o.weight) losses = losses * factor(op, o.weight, x);
  return reduced(losses, o.reduce, double(x.size()), given_x.dtype());
}

Variable binary_cross_entropy(const Variable& given_p, const Variable& given_t,
                              const BinaryCrossEntropyOptions& given) {
  constexpr const char* op = "binary_cross_entropy";
  const BinaryCrossEntropyOptions o = internal::with_reduction(op, given);
  internal::check_reduce(op, o.reduce, {"mean", "sum", "no"});
  check<ValueError>(!o.pos_weight, op, "pos_weight is an option of binary_cross_entropy_with_logits");
  internal::check_inputs("BinaryCrossEntropy", "p t", {given_p, given_t}, internal::expect_alike);
  const Variable p = wide(given_p), t = wide(given_t);
  const auto log_of = [](const Variable& v) {
    const Array low =
        internal::both(internal::greater_equal(v.data(), 0), internal::less_equal(v.data(), std::exp(-100.0)));
    return where(low, -100.0, log(where(low, 1.0, v)));
  };
  Variable losses = -(t * log_of(p) + (1 - t) * log_of(1 - p));
  if (o.weight) losses = losses * factor(op, o.weight, p);
  return reduced(losses, o.reduce, double(p.size()), given_p.dtype());
}

// ---- classes ------------------------------------------------------------------------------------
Variable nll_loss(const Variable& log_p, const Variable& t, const NLLOptions& o) {
  constexpr const char* op = "nll_loss";
  internal::check_reduce(op, o.reduce, {"mean", "sum", "no"});
  internal::check_inputs("NLLLoss", "log_p t", {log_p, t}, internal::expect_labelled);
  internal::check_labels(op, t.data(), log_p.shape(1), o.ignore_label);
  const Array labels = internal::labels_of(t.data());
  const Variable x = wide(log_p), losses = internal::picked(op, x, labels, o.class_weight, o.ignore_label);
  if (o.reduce != "mean") return reduced(losses, o.reduce, 1, log_p.dtype());
  return reduced(losses, o.reduce, internal::total_weight(op, o.class_weight, x.data(), labels, o.ignore_label),
                 log_p.dtype());
}

Variable internal::nll_loss(const Variable& log_p, const Variable& t, const NLLLossOptions& o) {
  return nn::nll_loss(
      log_p, t,
      NLLOptions{
          .class_weight = o.weight, .ignore_label = o.ignore_index, .reduce = reduce_of("nll_loss", o.reduction)});
}

Variable cross_entropy(const Variable& x, const Variable& t, const CrossEntropyOptions& o) {
  return softmax_cross_entropy(x, t,
                               {.class_weight = o.weight,
                                .ignore_label = o.ignore_index,
                                .reduce = internal::reduce_of("cross_entropy", o.reduction),
                                .label_smoothing = o.label_smoothing,
                                .normalize_by_weight = true});
}

Variable kl_div(const Variable& log_q, const Variable& p, const KLDivOptions& o) {
  const std::string reduce = internal::with_reduction("kl_div", o, {"mean", "batchmean", "sum", "none"}).reduce;
  internal::check_reduce("kl_div", reduce, {"mean", "batchmean", "sum", "no"});
  internal::check_inputs("KLDiv", "log_q p", {log_q, p}, internal::expect_alike);
  const Variable q = wide(log_q), target = wide(p);
  Variable losses;
  if (o.log_target) {
    losses = exp(target) * (target - q);
  } else {
    const Array positive = greater(target.data(), 0);
    const Variable safe = where(positive, target, 1.0);
    losses = masked(safe * (log(safe) - q), positive);
  }
  const bool by_batch = reduce == "batchmean";
  const double count = by_batch && p.ndim() > 0 ? double(p.shape(0)) : double(p.size());
  return reduced(losses, by_batch ? "mean" : reduce, count, log_q.dtype());
}

// Returns base^gamma times the losses, 0 where the base is 0: there the power may have no derivative.
static Variable focused(const Variable& base, double gamma, const Variable& losses) {
  if (gamma == 0) return losses;
  const Array positive = greater(base.data(), 0);
  return masked(pow(where(positive, base, 1.0), gamma) * losses, positive);
}
static void check_gamma(const char* op, double gamma) {
  check<ValueError>(gamma >= 0, op, "gamma is ", gamma, " and must not be negative");
}

Variable focal_loss(const Variable& given_x, const Variable& given_t, const FocalOptions& o) {
  internal::check_reduce("focal_loss", o.reduce, {"mean", "sum", "no"});
  check_gamma("focal_loss", o.gamma);
  internal::check_inputs("FocalLoss", "x t", {given_x, given_t}, internal::expect_alike);
  const Variable x = wide(given_x), t = wide(given_t);
  const Variable entropy = autograd::apply_node<LogisticCrossEntropy>({x, t}, Constant(1.0))[0];
  Variable losses = focused(t * sigmoid(-x) + (1 - t) * sigmoid(x), o.gamma, entropy);
  if (o.alpha >= 0) losses = losses * (t * (2 * o.alpha - 1) + (1 - o.alpha));
  return reduced(losses, o.reduce, double(x.size()), given_x.dtype());
}

Variable softmax_focal_loss(const Variable& given_x, const Variable& t, const SoftmaxFocalOptions& o) {
  constexpr const char* op = "softmax_focal_loss";
  internal::check_reduce(op, o.reduce, {"mean", "sum", "no"});
  check_gamma(op, o.gamma);
  internal::check_inputs("SoftmaxFocalLoss", "x t", {given_x, t}, internal::expect_labelled);
  internal::check_labels(op, t.data(), given_x.shape(1), o.ignore_label);
  const Array labels = internal::labels_of(t.data());
  const Variable x = wide(given_x), entropy = internal::picked(op, log_softmax(x), labels, {}, o.ignore_label);
  Variable losses = focused(-expm1(-entropy), o.gamma, entropy);
  if (o.class_weight)
    losses = losses * internal::weights_of_labels(op, o.class_weight, x.data(), labels, o.ignore_label);
  if (o.reduce != "mean") return reduced(losses, o.reduce, 1, given_x.dtype());
  return reduced(losses, o.reduce, internal::count_of_labels(op, labels, o.ignore_label, x.dtype()), given_x.dtype());
}

// ---- counts and measurements --------------------------------------------------------------------
Variable poisson_nll(const Variable& given_x, const Variable& given_t, const PoissonNLLOptions& given) {
  const PoissonNLLOptions o = internal::with_reduction("poisson_nll", given);
  internal::check_reduce("poisson_nll", o.reduce, {"mean", "sum", "no"});
  internal::check_inputs("PoissonNLL", "x t", {given_x, given_t}, internal::expect_alike);
  const Variable x = wide(given_x), t = wide(given_t);
  Variable losses = o.log_input ? exp(x) - t * x : x - t * log(x + o.eps);
  if (o.full) {
    const Array large = greater(t.data(), 1);
    const Variable safe = where(large, t, 1.0);
    losses = losses + masked(safe * log(safe) - safe + log(safe * (2 * M_PI)) * 0.5, large);
  }
  return reduced(losses, o.reduce, double(x.size()), given_x.dtype());
}

Variable gaussian_nll_loss(const Variable& x, const Variable& t, const Variable& var,
                           const GaussianNLLOptions& options) {
  const GaussianNLLOptions o = internal::with_reduction("gaussian_nll_loss", options);
  internal::check_reduce("gaussian_nll_loss", o.reduce, {"mean", "sum", "no"});
  internal::check_inputs("GaussianNLLLoss", "x t var", {x, t, var}, internal::expect_alike);
  const Variable given = wide(var), v = where(internal::less(given.data(), o.eps), o.eps, given);
  Variable losses = (log(v) + square(wide(x) - wide(t)) / v) * 0.5;
  if (o.full) losses = losses + 0.5 * std::log(2 * M_PI);
  return reduced(losses, o.reduce, double(x.size()), x.dtype());
}

// ---- many classes -------------------------------------------------------------------------------
Variable linear_cross_entropy(const Variable& x, const Variable& W, const Variable& b, const Variable& t,
                              const LinearCrossEntropyOptions& o) {
  constexpr const char* op = "linear_cross_entropy";
  internal::check_reduce(op, o.reduce, {"mean", "sum"});
  check<ValueError>(o.chunk > 0, op, "chunk is ", o.chunk, " and must be positive");
  internal::check_inputs("LinearCrossEntropy", "x W t b", b ? Variables{x, W, t, b} : Variables{x, W, t},
                         [](const autograd::type_check::TypeInfoTuple& in_types) {
                           using namespace autograd::type_check;
                           internal::expect_floats(in_types, 0, 1);
                           internal::expect_labels(in_types, 2);
                           expect(in_types[0].ndim == 2, in_types[1].ndim == 2, in_types[2].ndim == 1,
                                  in_types[0].shape[1] == in_types[1].shape[1],
                                  in_types[0].shape[0] == in_types[2].shape[0]);
                         });
  if (autograd::internal::wants_elementary_nodes()) {  // a file has no name for a part that is computed again
    const Variable scores = wide(linear(x, W, b));
    const SoftmaxCrossEntropyOptions options{
        .ignore_label = o.ignore_label, .reduce = o.reduce, .label_smoothing = o.label_smoothing};
    return internal::narrowed(softmax_cross_entropy(scores, t, options), internal::loss_dtype(x.dtype()));
  }
  const Array labels = internal::labels_of(t.data());
  Variable total;
  for (std::int64_t begin = 0; begin == 0 || begin < x.shape(0); begin += o.chunk) {
    const std::int64_t end = std::min(begin + o.chunk, x.shape(0));
    const Array part = autograd::slice(labels, 0, begin, end);
    const SoftmaxCrossEntropyOptions options{
        .ignore_label = o.ignore_label, .reduce = "sum", .label_smoothing = o.label_smoothing};
    const auto loss = [part, options](const Variables& in) {
      const Variable scores = linear(in[0], in[1], in.size() > 2 ? in[2] : Variable());
      return softmax_cross_entropy(wide(scores), Variable(part), options);
    };
    Variables in{get_item(x, {Slice(begin, end)}), W};
    if (b) in.push_back(b);
    const Variable sum_of_part = autograd::forget(loss, in);
    total = total ? total + sum_of_part : sum_of_part;
  }
  if (o.reduce == "mean") total = total / internal::count_of_labels(op, labels, o.ignore_label, total.dtype());
  return internal::narrowed(total, internal::loss_dtype(x.dtype()));
}

}  // namespace nn
