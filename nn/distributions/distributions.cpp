#include <catena/nn/distributions/distributions.h>

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
namespace {
[[noreturn]] void missing(const char* function) {
  catena::fail<NotImplementedError>(function, "this distribution has none");
}
}  // namespace
Distribution::Distribution(std::initializer_list<Parameter> parameters)
    : parameters_(broadcast(parameters)), batch_shape_(parameters_[0].shape()) {}
Variable Distribution::expanded(const Variable& parameter, const Shape& batch, int event_axes) {
  return autograd::broadcast_to(parameter, extended(batch, last_of(parameter.shape(), event_axes, {})));
}
Variable Distribution::entropy() const { missing("entropy"); }
Variable Distribution::mean() const { missing("mean"); }
Variable Distribution::variance() const { missing("variance"); }
Variable Distribution::mode() const { missing("mode"); }
Variable Distribution::cdf(const Parameter&) const { missing("cdf"); }
Variable Distribution::icdf(const Parameter&) const { missing("icdf"); }
Variable Distribution::enumerate_support(bool) const { missing("enumerate_support"); }
Variable Distribution::stddev() const { return autograd::sqrt(variance()); }
Variable Distribution::as_value(const Parameter& value) const {
  return value.number() && !parameters_.empty() ? in_dtype(value, parameters_[0]) : value.value();
}
Variable Distribution::perplexity() const { return autograd::exp(entropy()); }

// ---- Normal ----
Parameter Normal::scale_of(const NormalOptions& o) {
  return o.log_scale ? Parameter(autograd::exp(floating(o.log_scale->value()))) : o.scale;
}
Variable Normal::rsample(const Shape& shape) const {
  return loc + scale * normal_numbers(extended(shape, batch_shape()), scale);
}
Variable Normal::log_prob(const Parameter& value) const {
  return -autograd::square((in_dtype(value, loc) - loc) / scale) * 0.5 - autograd::log(scale) - kLogSqrt2Pi;
}
Variable Normal::entropy() const { return autograd::log(scale) + (0.5 + kLogSqrt2Pi); }
Variable Normal::variance() const { return autograd::square(scale); }
Variable Normal::cdf(const Parameter& value) const {
  return autograd::erf((in_dtype(value, loc) - loc) / scale * (1 / std::numbers::sqrt2)) * 0.5 + 0.5;
}
Variable Normal::icdf(const Parameter& probability) const {
  return loc + scale * autograd::ndtri(in_dtype(probability, loc));
}
Variable kl_divergence(const Normal& p, const Normal& q) {
  const Variable ratio = autograd::square(p.scale / q.scale);
  return (ratio + autograd::square((p.loc - q.loc) / q.scale) - 1 - autograd::log(ratio)) * 0.5;
}

// ---- Laplace ----
Variable Laplace::rsample(const Shape& shape) const { return icdf(even(extended(shape, batch_shape()), scale)); }
Variable Laplace::log_prob(const Parameter& value) const {
  return -autograd::absolute(in_dtype(value, loc) - loc) / scale - autograd::log(scale * 2);
}
Variable Laplace::entropy() const { return autograd::log(scale * 2) + 1; }
Variable Laplace::variance() const { return autograd::square(scale) * 2; }
Variable Laplace::cdf(const Parameter& value) const {
  const Variable d = in_dtype(value, loc) - loc;
  return autograd::sign(d) * autograd::expm1(-autograd::absolute(d) / scale) * -0.5 + 0.5;
}
Variable Laplace::icdf(const Parameter& probability) const {
  const Variable u = in_dtype(probability, loc) - 0.5;
  return loc - scale * autograd::sign(u) * autograd::log1p(autograd::absolute(u) * -2);
}
Variable kl_divergence(const Laplace& p, const Laplace& q) {
  const Variable ratio = p.scale / q.scale, distance = autograd::absolute(p.loc - q.loc);
  return distance / q.scale - autograd::log(ratio) + ratio * autograd::exp(-distance / p.scale) - 1;
}

// ---- Uniform ----
Variable Uniform::rsample(const Shape& shape) const {
  return low + (high - low) * even(extended(shape, batch_shape()), low);
}
Variable Uniform::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, low);
  const Array inside =
      binary(kernels::logical_and, at_least(x, low.data()), binary(kernels::less, x.data(), high.data()));
  return within(inside, -autograd::log(high - low), -kInfinity);
}
Variable Uniform::entropy() const { return autograd::log(high - low); }
Variable Uniform::mean() const { return (low + high) * 0.5; }
Variable Uniform::variance() const { return autograd::square(high - low) / 12.0; }
Variable Uniform::cdf(const Parameter& value) const {
  return autograd::clip((in_dtype(value, low) - low) / (high - low), 0, 1);
}
Variable Uniform::icdf(const Parameter& probability) const { return low + in_dtype(probability, low) * (high - low); }
Variable kl_divergence(const Uniform& p, const Uniform& q) {
  const Array covered = binary(kernels::logical_and, at_least(p.low, q.low.data()), at_least(q.high, p.high.data()));
  return within(covered, autograd::log((q.high - q.low) / (p.high - p.low)), kInfinity);
}

// ---- Exponential ----
Variable Exponential::rsample(const Shape& shape) const {
  return -autograd::log(even(extended(shape, batch_shape()), rate)) / rate;
}
Variable Exponential::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, rate);
  return within(at_least(x, 0.0), autograd::log(rate) - rate * x, -kInfinity);
}
Variable Exponential::entropy() const { return -autograd::log(rate) + 1; }
Variable Exponential::mean() const { return 1 / rate; }
Variable Exponential::variance() const { return 1 / autograd::square(rate); }
Variable Exponential::mode() const { return constant(batch_shape(), 0, rate); }
Variable Exponential::cdf(const Parameter& value) const {
  return -autograd::expm1(-rate * positive_part(in_dtype(value, rate)));
}
Variable Exponential::icdf(const Parameter& probability) const {
  return -autograd::log1p(-in_dtype(probability, rate)) / rate;
}
Variable kl_divergence(const Exponential& p, const Exponential& q) {
  const Variable ratio = q.rate / p.rate;
  return ratio - autograd::log(ratio) - 1;
}

// ---- Bernoulli ----
Bernoulli::Bernoulli(const Chances& c) : Distribution(c.probs, c.probs.shape()), logits(c.logits), probs(c.probs) {}
Variable Bernoulli::draw(const Shape& shape) const {
  const Array u = even(extended(shape, batch_shape()), probs).data();
  return Variable(autograd::astype(binary(kernels::less, u, probs.data()), probs.dtype()), {.requires_grad = false});
}
Variable Bernoulli::log_prob(const Parameter& value) const {
  return in_dtype(value, logits) * logits - nn::softplus(logits);
}
Variable Bernoulli::entropy() const { return nn::softplus(logits) - probs * logits; }
Variable Bernoulli::variance() const { return probs * (1 - probs); }
// NaN where both are equally probable.
Variable Bernoulli::mode() const {
  const Array even_chance = binary(kernels::equal, probs.data(), 0.5);
  const Variable likelier(autograd::astype(at_least(probs, 0.5), probs.dtype()), {.requires_grad = false});
  return autograd::where(even_chance, kNan, likelier);
}
Variable Bernoulli::enumerate_support(bool expand) const { return counted_support(2, *this, probs, expand); }
Variable kl_divergence(const Bernoulli& p, const Bernoulli& q) {
  return nn::softplus(q.logits) - nn::softplus(p.logits) + p.probs * (p.logits - q.logits);
}

// ---- Categorical ----
namespace {
// Where a class may occur: a class with the logit -inf has the probability 0. True for NaN, which the results keep.
Array possible(const Variable& probs) { return autograd::apply(kernels::not_equal, {probs.data(), 0.0}); }
}  // namespace
Categorical::Categorical(const Chances& c)
    : Distribution(c.probs, without_last(c.probs.shape())), logits(c.logits), probs(c.probs) {}
// The class with the greatest log(p) - log(-log(u)), which has the probabilities of the classes (Gumbel).
Variable Categorical::draw(const Shape& shape) const {
  const Variable numbers = gumbel_numbers(extended(shape, probs.shape()), probs);
  const Variable scores = autograd::log(without_graph(probs)) + numbers;
  return autograd::argmax(scores, scores.ndim() - 1).astype(autograd::Dtype::int64);
}
Variable Categorical::mode() const {
  return autograd::argmax(without_graph(probs), probs.ndim() - 1).astype(autograd::Dtype::int64);
}
Variable Categorical::enumerate_support(bool expand) const {
  const Variable labels = counted_support(logits.shape()[logits.ndim() - 1], *this, logits, expand);
  return labels.astype(autograd::Dtype::int64);
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
Variable Categorical::mean() const { return constant(batch_shape(), kNan, logits); }
// A class that is possible under p alone makes it infinite; one that is impossible under p adds nothing.
Variable kl_divergence(const Categorical& p, const Categorical& q) {
  const Array of_p = possible(p.probs), of_q = possible(q.probs);
  const Variable of_both = p.probs * (autograd::where(of_p, p.logits, 0.0) - autograd::where(of_q, q.logits, 0.0));
  const Variable terms = autograd::where(of_q, of_both, kInfinity);
  return last_sum(autograd::where(of_p, terms, 0.0));
}

}  // namespace nn::distributions
