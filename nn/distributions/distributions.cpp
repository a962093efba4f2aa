#include <catena/nn/distributions/distributions.h>

#include <cmath>
#include <limits>
#include <numbers>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/special.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/distributions/parameters.h>
#include <catena/nn/functions/activation.h>

namespace nn::distributions {

using catena::check;
using catena::NotImplementedError;
using catena::ValueError;
using namespace internal;
namespace kernels = catena::kernels;

namespace {

// The values that an option gives: the first one, or the second one by `convert`.
template <class Convert> Variable one_of(const char* name, const ProbsOptions& o, Convert convert) {
  check<ValueError>(o.p.has_value() != o.logit.has_value(), name, "give either probs or logits");
  return o.logit ? floating(o.logit->value()) : convert(floating(o.p->value()));
}
Variable clipped(const Variable& probs) { return autograd::clip(probs, kEps, 1 - kEps); }

}  // namespace

Variable Parameter::value() const {
  return number_ ? autograd::as_variable(autograd::arrays::full({}, *number_)) : value_;
}

// ---- the base ----
Distribution::~Distribution() = default;
Variable Distribution::sample(const Shape& shape) const { return without_graph(draw(shape)); }
Variable Distribution::draw(const Shape& shape) const { return rsample(shape); }
Variable Distribution::rsample(const Shape&) const {
  catena::fail<NotImplementedError>("rsample", "samples of this distribution have no derivatives; write sample()");
}
Variable Distribution::cdf(const Parameter&) const {
  catena::fail<NotImplementedError>("cdf", "this distribution has none");
}
Variable Distribution::stddev() const { return autograd::sqrt(variance()); }

// ---- Normal ----
Normal::Normal(const Parameter& location, const Parameter& deviation)
    : Distribution(broadcast(first_of(location, deviation), second_of(location, deviation))),
      loc(first_of(location, deviation)),
      scale(second_of(location, deviation)) {}
Parameter Normal::scale_of(const NormalOptions& o) {
  return o.log_scale ? Parameter(autograd::exp(floating(o.log_scale->value()))) : o.scale;
}
Variable Normal::rsample(const Shape& shape) const {
  const Variable noise(autograd::random_normal(extended(shape, batch_shape()), 0, 1, scale.dtype(),
                                               autograd::default_generator(), scale.device()),
                       {.requires_grad = false});
  return loc + scale * noise;
}
Variable Normal::log_prob(const Parameter& value) const {
  return -autograd::square((in_dtype(value, loc) - loc) / scale) * 0.5 - autograd::log(scale) - kLogSqrt2Pi;
}
Variable Normal::entropy() const {
  return autograd::broadcast_to(autograd::log(scale) + (0.5 + kLogSqrt2Pi), batch_shape());
}
Variable Normal::mean() const { return autograd::broadcast_to(loc, batch_shape()); }
Variable Normal::variance() const { return autograd::broadcast_to(autograd::square(scale), batch_shape()); }
Variable Normal::cdf(const Parameter& value) const {
  return autograd::erf((in_dtype(value, loc) - loc) / scale * (1 / std::numbers::sqrt2)) * 0.5 + 0.5;
}
Variable kl_divergence(const Normal& p, const Normal& q) {
  const Variable ratio = autograd::square(p.scale / q.scale);
  return (ratio + autograd::square((p.loc - q.loc) / q.scale) - 1 - autograd::log(ratio)) * 0.5;
}

// ---- Laplace ----
Laplace::Laplace(const Parameter& location, const Parameter& width)
    : Distribution(broadcast(first_of(location, width), second_of(location, width))),
      loc(first_of(location, width)),
      scale(second_of(location, width)) {}
Variable Laplace::rsample(const Shape& shape) const {
  // Of an even number u in (-1, 1): -sign(u) log(1 - |u|).
  const Array u = uniform(extended(shape, batch_shape()), scale) * 2 - 1;
  const Array size = autograd::apply(kernels::absolute, {u});
  const Array near_one = autograd::apply(kernels::minimum, {size, 1 - kEps});
  const Array noise = autograd::apply(kernels::sign, {u}) * autograd::apply(kernels::log1p, {near_one * -1}) * -1;
  return loc + scale * Variable(noise, {.requires_grad = false});
}
Variable Laplace::log_prob(const Parameter& value) const {
  return -autograd::absolute(in_dtype(value, loc) - loc) / scale - autograd::log(scale * 2);
}
Variable Laplace::entropy() const { return autograd::broadcast_to(autograd::log(scale * 2) + 1, batch_shape()); }
Variable Laplace::mean() const { return autograd::broadcast_to(loc, batch_shape()); }
Variable Laplace::variance() const { return autograd::broadcast_to(autograd::square(scale) * 2, batch_shape()); }

// ---- Uniform ----
Uniform::Uniform(const Parameter& lower, const Parameter& upper)
    : Distribution(broadcast(first_of(lower, upper), second_of(lower, upper))),
      low(first_of(lower, upper)),
      high(second_of(lower, upper)) {}
Variable Uniform::rsample(const Shape& shape) const {
  const Array u = autograd::random_uniform(extended(shape, batch_shape()), 0, 1, low.dtype(),
                                           autograd::default_generator(), low.device());
  return low + (high - low) * Variable(u, {.requires_grad = false});
}
Variable Uniform::log_prob(const Parameter& value) const {
  const Array x = in_dtype(value, low).data();
  const Array inside = autograd::apply(kernels::logical_and, {autograd::apply(kernels::greater_equal, {x, low.data()}),
                                                              autograd::apply(kernels::less, {x, high.data()})});
  const Array outside = autograd::where(inside, 0.0, -std::numeric_limits<double>::infinity());
  const Variable penalty(autograd::astype(outside, low.dtype()), {.requires_grad = false});
  return penalty - autograd::log(high - low);
}
Variable Uniform::entropy() const { return autograd::log(high - low); }
Variable Uniform::mean() const { return (low + high) * 0.5; }
Variable Uniform::variance() const { return autograd::square(high - low) / 12.0; }

// ---- Exponential ----
Exponential::Exponential(const Parameter& inverse_mean)
    : Distribution(inverse_mean.value().shape()), rate(floating(inverse_mean.value())) {}
Variable Exponential::rsample(const Shape& shape) const {
  const Array u = uniform(extended(shape, batch_shape()), rate);
  return Variable(autograd::apply(kernels::log, {u}) * -1, {.requires_grad = false}) / rate;
}
Variable Exponential::log_prob(const Parameter& value) const {
  return autograd::log(rate) - rate * in_dtype(value, rate);
}
Variable Exponential::entropy() const { return -autograd::log(rate) + 1; }
Variable Exponential::mean() const { return 1 / rate; }
Variable Exponential::variance() const { return 1 / autograd::square(rate); }
Variable kl_divergence(const Exponential& p, const Exponential& q) {
  const Variable ratio = q.rate / p.rate;
  return ratio - autograd::log(ratio) - 1;
}

// ---- Bernoulli ----
Variable Bernoulli::logits_of(const ProbsOptions& o) {
  return one_of("Bernoulli", o, [](const Variable& probs) {
    const Variable p = clipped(probs);
    return autograd::log(p) - autograd::log1p(-p);
  });
}
Bernoulli::Bernoulli(const Variable& values, int)
    : Distribution(values.shape()), logits(values), probs(nn::sigmoid(values)) {}
Variable Bernoulli::draw(const Shape& shape) const {
  const Array u = autograd::random_uniform(extended(shape, batch_shape()), 0, 1, probs.dtype(),
                                           autograd::default_generator(), probs.device());
  return Variable(autograd::astype(autograd::apply(kernels::less, {u, probs.data()}), probs.dtype()),
                  {.requires_grad = false});
}
Variable Bernoulli::log_prob(const Parameter& value) const {
  return in_dtype(value, logits) * logits - nn::softplus(logits);
}
Variable Bernoulli::entropy() const { return nn::softplus(logits) - probs * logits; }
Variable Bernoulli::variance() const { return probs * (1 - probs); }
Variable kl_divergence(const Bernoulli& p, const Bernoulli& q) {
  return nn::softplus(q.logits) - nn::softplus(p.logits) + p.probs * (p.logits - q.logits);
}

// ---- Categorical ----
Variable Categorical::logits_of(const ProbsOptions& o) {
  return one_of("Categorical", o, [](const Variable& probs) {
    check<ValueError>(probs.ndim() >= 1, "Categorical", "probs have no axis of classes");
    return autograd::log(clipped(probs / autograd::sum(probs, catena::Axes{probs.ndim() - 1}, true)));
  });
}
namespace {
Shape batch_of(const Variable& values) {
  check<ValueError>(values.ndim() >= 1, "Categorical", "the logits have no axis of classes");
  return without_last(values.shape());
}
// Where a class may occur: a class with the logit -inf has the probability 0. True for NaN, which the results keep.
Array possible(const Variable& probs) { return autograd::apply(kernels::not_equal, {probs.data(), 0.0}); }
}  // namespace
Categorical::Categorical(const Variable& values, int)
    : Distribution(batch_of(values)),
      logits(nn::log_softmax(values, values.ndim() - 1)),
      probs(autograd::exp(logits)) {}
// The class with the greatest logit - log(-log(u)), which has the probabilities of the classes (Gumbel).
Variable Categorical::draw(const Shape& shape) const {
  const Array u = uniform(extended(shape, logits.shape()), logits);
  const Array below_one = autograd::apply(kernels::minimum, {u, 1 - kEps});
  const Array waiting = autograd::apply(kernels::log, {below_one}) * -1;
  const Variable scores(logits.data() - autograd::apply(kernels::log, {waiting}), {.requires_grad = false});
  return autograd::argmax(scores, scores.ndim() - 1);
}
Variable Categorical::log_prob(const Parameter& value) const {
  const std::int64_t classes = logits.shape()[logits.ndim() - 1];
  const auto int64 = autograd::Dtype::int64;
  const Array labels = value.number() ? autograd::arrays::full({}, *value.number(), int64, logits.device())
                                      : autograd::astype(value.value().data(), int64);
  const Variable chosen = autograd::one_hot(autograd::as_variable(labels), classes, autograd::Dtype::bool_);
  return last_sum(autograd::where(chosen, logits, 0.0));  // a product would be NaN for logits of -inf
}
Variable Categorical::entropy() const { return -last_sum(probs * autograd::where(possible(probs), logits, 0.0)); }
Variable Categorical::mean() const {
  return Variable(
      autograd::arrays::full(batch_shape(), std::numeric_limits<double>::quiet_NaN(), logits.dtype(), logits.device()),
      {.requires_grad = false});
}
// A class that is possible under p alone makes it infinite; one that is impossible under p adds nothing.
Variable kl_divergence(const Categorical& p, const Categorical& q) {
  const Array of_p = possible(p.probs), of_q = possible(q.probs);
  const Variable of_both = p.probs * (autograd::where(of_p, p.logits, 0.0) - autograd::where(of_q, q.logits, 0.0));
  const Variable terms = autograd::where(of_q, of_both, std::numeric_limits<double>::infinity());
  return last_sum(autograd::where(of_p, terms, 0.0));
}

// ---- Independent ----
void internal::check_axes(int n, const Shape& batch_shape) {
  check<ValueError>(n >= 0 && n <= batch_shape.size(), "Independent", "the number of axes is ", n, "; the batch has ",
                    batch_shape.size());
}
void internal::check_equal_axes(int p, int q) {
  check<ValueError>(p == q, "kl_divergence", "the events have ", p, " and ", q, " axes of the batch");
}
Variable internal::sum_of_last(const Variable& x, int n) {
  Variable result = x;
  for (int k = 0; k < n; ++k) result = last_sum(result);
  return result;
}

}  // namespace nn::distributions
