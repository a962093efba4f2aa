#include <catena/nn/distributions/continuous.h>

#include <numbers>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/special.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/distributions/parameters.h>
#include <catena/nn/functions/activation.h>

namespace nn::distributions {

using namespace internal;
namespace kernels = catena::kernels;
using autograd::exp;
using autograd::lgamma;
using autograd::log;
using autograd::log1p;
using autograd::pow;
using autograd::square;
using std::numbers::egamma;
using std::numbers::pi;

namespace {

Array greater(const Variable& x, double bound) { return binary(kernels::greater, x.data(), bound); }

}  // namespace

// ---- LogNormal ----
Variable LogNormal::rsample(const Shape& shape) const { return exp(Normal(loc, scale).rsample(shape)); }
Variable LogNormal::log_prob(const Parameter& value) const {
  const Variable z = log(in_dtype(value, loc));
  return Normal(loc, scale).log_prob(z) - z;
}
Variable LogNormal::entropy() const { return Normal(loc, scale).entropy() + loc; }
Variable LogNormal::mean() const { return exp(loc + square(scale) * 0.5); }
Variable LogNormal::variance() const { return autograd::expm1(square(scale)) * exp(loc * 2 + square(scale)); }
Variable LogNormal::mode() const { return exp(loc - square(scale)); }
Variable LogNormal::cdf(const Parameter& value) const { return Normal(loc, scale).cdf(log(in_dtype(value, loc))); }
Variable LogNormal::icdf(const Parameter& probability) const { return exp(Normal(loc, scale).icdf(probability)); }
Variable kl_divergence(const LogNormal& p, const LogNormal& q) {
  return kl_divergence(Normal(p.loc, p.scale), Normal(q.loc, q.scale));
}

// ---- Cauchy ----
Variable Cauchy::rsample(const Shape& shape) const { return icdf(even(extended(shape, batch_shape()), loc)); }
Variable Cauchy::log_prob(const Parameter& value) const {
  return -log1p(square((in_dtype(value, loc) - loc) / scale)) - log(scale * pi);
}
Variable Cauchy::entropy() const { return log(scale * (4 * pi)); }
Variable Cauchy::mean() const { return constant(batch_shape(), kNan, loc); }
Variable Cauchy::variance() const { return constant(batch_shape(), kInfinity, loc); }
Variable Cauchy::cdf(const Parameter& value) const {
  return autograd::arctan((in_dtype(value, loc) - loc) / scale) / pi + 0.5;
}
Variable Cauchy::icdf(const Parameter& probability) const {
  return autograd::tan((in_dtype(probability, loc) - 0.5) * pi) * scale + loc;
}
Variable kl_divergence(const Cauchy& p, const Cauchy& q) {
  return log(square(p.scale + q.scale) + square(p.loc - q.loc)) - log(p.scale * q.scale * 4);
}

// ---- Gumbel ----
Variable Gumbel::rsample(const Shape& shape) const {
  return loc + scale * gumbel_numbers(extended(shape, batch_shape()), loc);
}
Variable Gumbel::log_prob(const Parameter& value) const {
  const Variable z = (loc - in_dtype(value, loc)) / scale;
  return z - exp(z) - log(scale);
}
Variable Gumbel::entropy() const { return log(scale) + (1 + egamma); }
Variable Gumbel::mean() const { return loc + scale * egamma; }
Variable Gumbel::variance() const { return square(scale) * (pi * pi / 6); }
Variable Gumbel::cdf(const Parameter& value) const { return exp(-exp((loc - in_dtype(value, loc)) / scale)); }
Variable Gumbel::icdf(const Parameter& probability) const {
  return loc - scale * log(-log(in_dtype(probability, loc)));
}
Variable kl_divergence(const Gumbel& p, const Gumbel& q) {
  const Variable ratio = p.scale / q.scale, distance = (p.loc - q.loc) / q.scale;
  return distance - log(ratio) + ratio * egamma + exp(lgamma(ratio + 1) - distance) - (1 + egamma);
}

// ---- HalfNormal, HalfCauchy ----
namespace {
// log(2 p(x)) for x >= 0, from log p(x).
Variable folded(const Variable& log_density, const Variable& x) {
  return within(at_least(x, 0.0), log_density + std::numbers::ln2, -kInfinity);
}
}  // namespace
Variable HalfNormal::rsample(const Shape& shape) const { return autograd::absolute(Normal(0, scale).rsample(shape)); }
Variable HalfNormal::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, scale);
  return folded(Normal(0, scale).log_prob(x), x);
}
Variable HalfNormal::entropy() const { return Normal(0, scale).entropy() - std::numbers::ln2; }
Variable HalfNormal::mean() const { return scale * (std::numbers::sqrt2 * std::numbers::inv_sqrtpi); }
Variable HalfNormal::variance() const { return square(scale) * (1 - 2 / pi); }
Variable HalfNormal::mode() const { return constant(batch_shape(), 0, scale); }
Variable HalfNormal::cdf(const Parameter& value) const { return Normal(0, scale).cdf(value) * 2 - 1; }
Variable HalfNormal::icdf(const Parameter& probability) const {
  return Normal(0, scale).icdf((in_dtype(probability, scale) + 1) * 0.5);
}
Variable kl_divergence(const HalfNormal& p, const HalfNormal& q) {
  return kl_divergence(Normal(0, p.scale), Normal(0, q.scale));
}
Variable HalfCauchy::rsample(const Shape& shape) const { return autograd::absolute(Cauchy(0, scale).rsample(shape)); }
Variable HalfCauchy::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, scale);
  return folded(Cauchy(0, scale).log_prob(x), x);
}
Variable HalfCauchy::entropy() const { return Cauchy(0, scale).entropy() - std::numbers::ln2; }
Variable HalfCauchy::mean() const { return variance(); }
Variable HalfCauchy::variance() const { return constant(batch_shape(), kInfinity, scale); }
Variable HalfCauchy::mode() const { return constant(batch_shape(), 0, scale); }
Variable HalfCauchy::cdf(const Parameter& value) const { return Cauchy(0, scale).cdf(value) * 2 - 1; }
Variable HalfCauchy::icdf(const Parameter& probability) const {
  return Cauchy(0, scale).icdf((in_dtype(probability, scale) + 1) * 0.5);
}

// ---- StudentT ----
Variable StudentT::rsample(const Shape& shape) const {
  const Shape all = extended(shape, batch_shape());
  const Variable squares = in_dtype(gamma_sample(df * 0.5, all), df.dtype()) * 2;
  return loc + scale * normal_numbers(all, loc) * autograd::rsqrt(squares / df);
}
Variable StudentT::log_prob(const Parameter& value) const {
  const Variable z = (in_dtype(value, loc) - loc) / scale, half = (df + 1) * 0.5;
  return lgamma(half) - lgamma(df * 0.5) - log(df * pi) * 0.5 - log(scale) - half * log1p(square(z) / df);
}
Variable StudentT::entropy() const {
  const Variable half = (df + 1) * 0.5, log_beta = lgamma(df * 0.5) + lgamma(constant({}, 0.5, df)) - lgamma(half);
  return log(scale) + half * (autograd::digamma(half) - autograd::digamma(df * 0.5)) + log(df) * 0.5 + log_beta;
}
Variable StudentT::mean() const { return within(greater(df, 1), loc, kNan); }
Variable StudentT::variance() const {
  const Variable finite = square(scale) * df / (df - 2);
  return within(greater(df, 1), within(greater(df, 2), finite, kInfinity), kNan);
}

// ---- Pareto ----
Variable Pareto::rsample(const Shape& shape) const { return icdf(even(extended(shape, batch_shape()), scale)); }
Variable Pareto::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, scale);
  return within(at_least(x, scale.data()), log(alpha) + alpha * log(scale) - (alpha + 1) * log(x), -kInfinity);
}
Variable Pareto::entropy() const { return log(scale / alpha) + 1 / alpha + 1; }
Variable Pareto::mean() const { return within(greater(alpha, 1), scale * alpha / (alpha - 1), kInfinity); }
Variable Pareto::variance() const {
  return within(greater(alpha, 2), square(scale / (alpha - 1)) * alpha / (alpha - 2), kInfinity);
}
Variable Pareto::cdf(const Parameter& value) const {
  const Variable x = in_dtype(value, scale);
  return within(at_least(x, scale.data()), 1 - pow(scale / x, alpha), 0);
}
Variable Pareto::icdf(const Parameter& probability) const {
  return scale * exp(-log1p(-in_dtype(probability, scale)) / alpha);
}
Variable kl_divergence(const Pareto& p, const Pareto& q) {
  const Variable ratio = q.alpha / p.alpha;
  const Variable finite = q.alpha * log(p.scale / q.scale) - log(ratio) + ratio - 1;
  return within(at_least(p.scale, q.scale.data()), finite, kInfinity);
}

// ---- GeneralizedPareto ----
namespace {
// Where the concentration counts as 0, as in PyTorch; and the concentration with 1 there, for quotients.
Array nearly_zero(const Variable& concentration) {
  return binary(kernels::less_equal, unary(kernels::absolute, concentration.data()), 1e-8);
}
Variable divisor(const Variable& concentration) {
  return autograd::where(nearly_zero(concentration), 1.0, concentration);
}
// -log(1 - F) for the distribution function F.
Variable hazard(const Variable& z, const Variable& concentration) {
  const Variable c = divisor(concentration);
  return autograd::where(nearly_zero(concentration), z, log1p(c * z) / c);
}
}  // namespace
Variable GeneralizedPareto::rsample(const Shape& shape) const {
  return icdf(even(extended(shape, batch_shape()), loc));
}
Variable GeneralizedPareto::log_prob(const Parameter& value) const {
  const Variable z = (in_dtype(value, loc) - loc) / scale;
  const Array inside = binary(kernels::logical_and, at_least(z, 0.0), at_least(concentration * z, -1.0));
  return within(inside, -(concentration + 1) * hazard(z, concentration) - log(scale), -kInfinity);
}
Variable GeneralizedPareto::entropy() const { return log(scale) + concentration + 1; }
Variable GeneralizedPareto::mean() const {
  return within(binary(kernels::less, concentration.data(), 1.0), loc + scale / (1 - concentration), kInfinity);
}
Variable GeneralizedPareto::variance() const {
  return within(binary(kernels::less, concentration.data(), 0.5),
                square(scale / (1 - concentration)) / (1 - concentration * 2), kInfinity);
}
Variable GeneralizedPareto::cdf(const Parameter& value) const {
  return -autograd::expm1(-hazard((in_dtype(value, loc) - loc) / scale, concentration));
}
Variable GeneralizedPareto::icdf(const Parameter& probability) const {
  const Variable wait = -log1p(-in_dtype(probability, loc)), c = divisor(concentration);
  return loc + scale * autograd::where(nearly_zero(concentration), wait, autograd::expm1(c * wait) / c);
}

// ---- Weibull ----
Variable Weibull::rsample(const Shape& shape) const { return icdf(even(extended(shape, batch_shape()), scale)); }
Variable Weibull::log_prob(const Parameter& value) const {
  const Variable z = in_dtype(value, scale) / scale;
  return log(concentration / scale) + autograd::xlogy(concentration - 1, z) - pow(z, concentration);
}
Variable Weibull::entropy() const { return (1 - 1 / concentration) * egamma + log(scale / concentration) + 1; }
Variable Weibull::mean() const { return scale * exp(lgamma(1 / concentration + 1)); }
Variable Weibull::variance() const {
  return square(scale) * (exp(lgamma(2 / concentration + 1)) - exp(lgamma(1 / concentration + 1) * 2));
}
Variable Weibull::mode() const { return scale * pow((concentration - 1) / concentration, 1 / concentration); }
Variable Weibull::cdf(const Parameter& value) const {
  return -autograd::expm1(-pow(in_dtype(value, scale) / scale, concentration));
}
Variable Weibull::icdf(const Parameter& probability) const {
  return scale * pow(-log1p(-in_dtype(probability, scale)), 1 / concentration);
}

// ---- Kumaraswamy ----
namespace {
Variable moment(const Kumaraswamy& d, double n) {
  const Variable a = n / d.concentration1 + 1, &b = d.concentration0;
  return b * exp(lgamma(a) + lgamma(b) - lgamma(a + b));
}
}  // namespace
Variable Kumaraswamy::rsample(const Shape& shape) const {
  return icdf(even(extended(shape, batch_shape()), concentration1));
}
Variable Kumaraswamy::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, concentration1);
  return log(concentration1 * concentration0) + autograd::xlogy(concentration1 - 1, x) +
         autograd::xlog1py(concentration0 - 1, -pow(x, concentration1));
}
Variable Kumaraswamy::entropy() const {
  const Variable harmonic = autograd::digamma(concentration0 + 1) + egamma;
  return 2 - 1 / concentration0 - 1 / concentration1 + (1 - 1 / concentration1) * (harmonic - 1) -
         log(concentration1 * concentration0);
}
Variable Kumaraswamy::mean() const { return moment(*this, 1); }
Variable Kumaraswamy::variance() const { return moment(*this, 2) - square(moment(*this, 1)); }
Variable Kumaraswamy::mode() const {
  const Variable &a = concentration1, &b = concentration0;
  const Array inside = binary(kernels::logical_and, at_least(a, 1.0), at_least(b, 1.0));
  return within(inside, pow((a - 1) / (a * b - 1), 1 / a), kNan);
}
Variable Kumaraswamy::cdf(const Parameter& value) const {
  const Variable x = in_dtype(value, concentration1);
  return -autograd::expm1(concentration0 * log1p(-pow(x, concentration1)));
}
Variable Kumaraswamy::icdf(const Parameter& probability) const {
  const Variable p = in_dtype(probability, concentration1);
  return pow(-autograd::expm1(log1p(-p) / concentration0), 1 / concentration1);
}

// ---- ContinuousBernoulli ----
namespace {
// Outside of (0.499, 0.501), where quotients by 1 - 2 p are accurate; and p with 0.499 inside of it.
Array away_from_half(const Variable& probs) {
  return binary(kernels::greater, unary(kernels::absolute, probs.data() - 0.5), 0.001);
}
Variable away(const Variable& probs) { return within(away_from_half(probs), probs, 0.499); }
}  // namespace
ContinuousBernoulli::ContinuousBernoulli(const OfLogits& o)
    : Distribution(o.values.shape()), logits(o.values), probs(nn::sigmoid(o.values)) {}
Variable ContinuousBernoulli::log_norm() const {
  const Variable p = away(probs), x = square(probs - 0.5);
  const Variable exact = log(autograd::absolute(log1p(-p) - log(p))) - log(autograd::absolute(1 - p * 2));
  return autograd::where(away_from_half(probs), exact, x * (x * (104.0 / 45) + 4.0 / 3) + std::numbers::ln2);
}
Variable ContinuousBernoulli::log_prob(const Parameter& value) const {
  return in_dtype(value, logits) * logits - nn::softplus(logits) + log_norm();
}
Variable ContinuousBernoulli::mean() const {
  const Variable p = away(probs), x = probs - 0.5;
  const Variable exact = p / (p * 2 - 1) + 1 / (log1p(-p) - log(p));
  return autograd::where(away_from_half(probs), exact, x * (square(x) * (16.0 / 45) + 1.0 / 3) + 0.5);
}
Variable ContinuousBernoulli::variance() const {
  const Variable p = away(probs), x = square(probs - 0.5);
  const Variable exact = p * (p - 1) / square(1 - p * 2) + 1 / square(log1p(-p) - log(p));
  return autograd::where(away_from_half(probs), exact, x * (x * (128.0 / 945) - 1.0 / 15) + 1.0 / 12);
}
Variable ContinuousBernoulli::entropy() const {
  const Variable log_other = log1p(-probs);
  return mean() * (log_other - log(probs)) - log_norm() - log_other;
}
Variable ContinuousBernoulli::cdf(const Parameter& value) const {
  const Variable x = in_dtype(value, logits), p = away(probs);
  const Variable exact = (pow(p, x) * pow(1 - p, 1 - x) + p - 1) / (p * 2 - 1);
  return autograd::clip(autograd::where(away_from_half(probs), exact, x), 0, 1);
}
Variable ContinuousBernoulli::icdf(const Parameter& probability) const {
  const Variable u = in_dtype(probability, logits), p = away(probs);
  const Variable exact = (log1p(-p + u * (p * 2 - 1)) - log1p(-p)) / (log(p) - log1p(-p));
  return autograd::where(away_from_half(probs), exact, u);
}
Variable ContinuousBernoulli::rsample(const Shape& shape) const {
  return icdf(even(extended(shape, batch_shape()), logits));
}
Variable kl_divergence(const ContinuousBernoulli& p, const ContinuousBernoulli& q) {
  return p.mean() * (p.logits - q.logits) + p.log_norm() + log1p(-p.probs) - q.log_norm() - log1p(-q.probs);
}

// ---- VonMises ----
namespace {
// I1(k) / I0(k), the mean of cos(x - loc).
Array resultant(const Variable& k) { return unary(kernels::i1e, k.data()) / unary(kernels::i0e, k.data()); }
// A function of k by its value and its derivative.
Variable by_derivative(const Variable& k, const Array& value, const Array& derivative) {
  const Variable slope(derivative, {.requires_grad = false});
  return Variable(value, {.requires_grad = false}) + (k - without_graph(k)) * slope;
}
}  // namespace
Variable VonMises::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, loc);
  // log(exp(-k) I0(k))
  const Array scaled = unary(kernels::log, unary(kernels::i0e, concentration.data()));
  return concentration * (autograd::cos(x - loc) - 1) -
         by_derivative(concentration, scaled, resultant(concentration) - 1) - 2 * kLogSqrt2Pi;
}
Variable VonMises::variance() const {
  const Array mean = resultant(concentration);
  return by_derivative(concentration, mean * -1 + 1, mean / concentration.data() + mean * mean - 1);
}
// Each round takes its proposal with a probability above 0.65.
Variable VonMises::draw(const Shape& shape) const {
  constexpr int kRounds = 48;
  const Shape all = extended(shape, batch_shape());
  const auto float64 = autograd::Dtype::float64;
  const Variable center = without_graph(loc).astype(float64),
                 k = autograd::clip(without_graph(concentration).astype(float64), 1e-8, kInfinity);
  const Variable tau = autograd::sqrt(square(k) * 4 + 1) + 1, rho = (tau - autograd::sqrt(tau * 2)) / (k * 2);
  const Variable exact = (square(rho) + 1) / (rho * 2);
  // For a small k, where rho is 0 / 0.
  const Variable r = autograd::where(binary(kernels::less, k.data(), 1e-5), 1 / k + k, exact);
  Variable angle = constant(all, 0, k);
  Array left = autograd::arrays::full(all, 1, autograd::Dtype::bool_, k.device());
  for (int round = 0; round < kRounds; ++round) {
    const Variable z = autograd::cos(even(all, k) * pi), u = even(all, k), sign = autograd::sign(even(all, k) - 0.5);
    const Variable f = (r * z + 1) / (r + z), c = k * (r - f);
    const Array quick = binary(kernels::greater, (c * (2 - c) - u).data(), 0.0);
    const Array taken = binary(kernels::logical_or, quick, at_least(log(c / u) + 1 - c, 0.0));
    const Variable proposed = sign * autograd::arccos(autograd::clip(f, -1, 1));
    angle = autograd::where(binary(kernels::logical_and, left, taken), proposed, angle);
    left = binary(kernels::logical_and, left, unary(kernels::logical_not, taken));
  }
  const Variable turned = angle + center + pi;
  return (turned - autograd::floor(turned / (2 * pi)) * (2 * pi) - pi).astype(loc.dtype());
}

}  // namespace nn::distributions
