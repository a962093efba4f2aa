// Negative logarithms of probabilities, element by element, and the hinge loss.
#include <cmath>

#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/recorded.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/labels.h>
#include <catena/nn/functions/loss.h>

namespace nn {

using autograd::Operand;
using autograd::type_check::TypeInfoTuple;
using internal::reduced;
using internal::wide;

Variable bernoulli_nll(const Variable& x, const Variable& y, const Summed& o) {
  internal::check_reduce("bernoulli_nll", o.reduce, {"sum", "mean", "no"});
  internal::check_inputs("BernoulliNLL", "x y", {x, y}, internal::expect_alike);
  const Variable logits = wide(y);
  return reduced(softplus(logits) - wide(x) * logits, o.reduce, double(x.size()), x.dtype());
}

Variable gaussian_nll(const Variable& x, const Variable& mean, const Variable& ln_var, const Summed& o) {
  internal::check_reduce("gaussian_nll", o.reduce, {"sum", "mean", "no"});
  internal::check_inputs("GaussianNLL", "x mean ln_var", {x, mean, ln_var}, internal::expect_alike);
  const Variable v = wide(ln_var);
  const Variable losses = (v + square(wide(x) - wide(mean)) * exp(-v) + std::log(2 * M_PI)) * 0.5;
  return reduced(losses, o.reduce, double(x.size()), x.dtype());
}

Variable gaussian_kl_divergence(const Variable& mean, const Variable& ln_var, const Summed& o) {
  internal::check_reduce("gaussian_kl_divergence", o.reduce, {"sum", "mean", "no"});
  internal::check_inputs("GaussianKLDivergence", "mean ln_var", {mean, ln_var}, internal::expect_alike);
  const Variable v = wide(ln_var);
  return reduced((square(wide(mean)) + expm1(v) - v) * 0.5, o.reduce, double(mean.size()), mean.dtype());
}

static Variable sigmoid_cross_entropy_of(const Variable& x, const Variable& t, const SigmoidCrossEntropyOptions& o) {
  const Array labels = internal::labels_of(t.data()), valid = internal::not_equal(labels, -1);
  // softplus(x) - t x, computed from softplus(-x) where t is positive: the difference would lose the digits of a small
  // loss.
  const Array positive = internal::greater(labels, 0), rest = labels - autograd::astype(positive, labels.dtype());
  const Variable scores = wide(x);
  const Variable losses = autograd::masked(softplus(scores * autograd::where(positive, -1, 1)) - scores * rest, valid);
  if (o.reduce == "mean" && o.normalize)
    return reduced(losses, o.reduce, internal::count_of(valid, scores.dtype()), x.dtype());
  return reduced(losses, o.reduce, x.ndim() == 0 ? 1.0 : double(x.shape(0)), x.dtype());
}

Variable sigmoid_cross_entropy(const Variable& x, const Variable& t, const SigmoidCrossEntropyOptions& o) {
  internal::check_reduce("sigmoid_cross_entropy", o.reduce, {"mean", "sum", "no"});
  internal::check_inputs("SigmoidCrossEntropy", "x t", {x, t}, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f');
    internal::expect_labels(in_types, 1);
    expect(in_types[0].shape == in_types[1].shape);
  });
  const Variable y = sigmoid_cross_entropy_of(x, t, o);
  if (!autograd::internal::wants_elementary_nodes()) return y;
  autograd::internal::FunctionOptions options;
  options.integer("normalize", o.normalize);
  options.text("reduce", o.reduce);
  return autograd::internal::recorded(y, "SigmoidCrossEntropy", {x, t}, std::move(options));
}

Variable hinge(const Variable& x, const Variable& t, const HingeOptions& o) {
  internal::check_reduce("hinge", o.reduce, {"mean", "sum", "no"});
  catena::check<catena::NotImplementedError>(o.norm == "L1" || o.norm == "L2", "hinge", "norm is \"", o.norm,
                                             "\"; it must be \"L1\" or \"L2\"");
  internal::check_inputs("Hinge", "x t", {x, t}, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f');
    internal::expect_labels(in_types, 1);
    expect(in_types[0].ndim == 2, in_types[1].ndim == 1, in_types[0].shape[0] == in_types[1].shape[0]);
  });
  internal::check_labels("hinge", t.data(), x.shape(1), {});
  const Variable scores = wide(x);
  const Array side = autograd::arrays::empty(x.shape(), scores.dtype(), x.device()),
              labels = internal::labels_of(t.data());
  const Operand operands[] = {autograd::expand_dims(labels, 1), -1.0, 1.0};
  autograd::apply_indexed(catena::kernels::one_hot, operands, {&side, 1});
  if (autograd::internal::wants_elementary_nodes()) {
    autograd::internal::FunctionOptions options;
    options.integer("classes", x.shape(1));
    options.numbers("values", {-1, 1});
    autograd::internal::record(side, "OneHot", {labels}, std::move(options));
  }
  const Variable margins = relu(1 - scores * side);
  return reduced(o.norm == "L1" ? margins : square(margins), o.reduce, double(x.shape(0)), x.dtype());
}

}  // namespace nn
