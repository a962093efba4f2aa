#include <catena/nn/distributions/continuous.h>

#include <initializer_list>
#include <iterator>
#include <numbers>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/special.h>
#include <catena/autograd/functions/torch_special.h>
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
Variable HalfNormal::cdf(const Parameter& value) const {
  return Normal(0, scale).cdf(positive_part(in_dtype(value, scale))) * 2 - 1;
}
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
Variable HalfCauchy::cdf(const Parameter& value) const {
  return Cauchy(0, scale).cdf(positive_part(in_dtype(value, scale))) * 2 - 1;
}
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
// Where z is at the end of the support, which a negative concentration has, or beyond it.
Array at_end(const Variable& z, const Variable& concentration) {
  return binary(kernels::less_equal, (concentration * z).data(), -1.0);
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
  const Array inside =
      binary(kernels::logical_and, at_least(z, 0.0), unary(kernels::logical_not, at_end(z, concentration)));
  const Variable wait = hazard(within(inside, z, 0), concentration);
  return within(inside, -(concentration + 1) * wait - log(scale), -kInfinity);
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
  const Variable z = positive_part((in_dtype(value, loc) - loc) / scale);
  const Array beyond = at_end(z, concentration);
  const Variable inside = -autograd::expm1(-hazard(autograd::where(beyond, 0.0, z), concentration));
  return autograd::where(beyond, 1.0, inside);
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
// With the logit l, the density is exp(l x - A(l)), where A(l) = log((exp(l) - 1) / l) has the derivatives mean() and
// variance().
namespace {
using Coefficients = std::initializer_list<double>;
// Where differences of large numbers near l = 0 would lose digits; else their value at l = 1 is used in them.
Array away_from_0(const Variable& l) { return binary(kernels::greater, unary(kernels::absolute, l.data()), 0.25); }
Variable away(const Variable& l) { return within(away_from_0(l), l, 1); }
// c0 + c1 l^2 + c2 l^4 + ...
Variable even_series(const Variable& l, Coefficients c) {
  const Variable x = square(l);
  Variable sum = constant({}, 0, l);
  for (auto k = std::rbegin(c); k != std::rend(c); ++k) sum = sum * x + *k;
  return sum;
}
// A(l) - l / 2.
Variable even_part(const Variable& l) {
  const Variable series =
      square(l) * even_series(l, {1.0 / 24, -1.0 / 2880, 1.0 / 181440, -1.0 / 9676800, 1.0 / 479001600});
  const Variable a = autograd::absolute(away(l));  // log(2 sinh(a / 2) / a)
  return autograd::where(away_from_0(l), a * 0.5 + log(-autograd::expm1(-a)) - log(a), series);
}
// Where the distribution function counts as even, as in PyTorch; and the logit with 1 there, for quotients.
Array uneven(const Variable& l) {
  return binary(kernels::greater, unary(kernels::absolute, unary(kernels::tanh, (l * 0.5).data())), 0.002);
}
}  // namespace
ContinuousBernoulli::ContinuousBernoulli(const Chances& c)
    : Distribution(c.logits, c.logits.shape()), logits(c.logits), probs(nn::sigmoid(c.logits)) {}
Variable ContinuousBernoulli::log_norm() const {
  return nn::softplus(-autograd::absolute(logits)) + autograd::absolute(logits) * 0.5 - even_part(logits);
}
Variable ContinuousBernoulli::log_prob(const Parameter& value) const {
  return (in_dtype(value, logits) - 0.5) * logits - even_part(logits);
}
Variable ContinuousBernoulli::mean() const {
  const Variable l = away(logits), exact = 0.5 / autograd::tanh(l * 0.5) - 1 / l;
  const Variable series =
      logits * even_series(logits, {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160});
  return autograd::where(away_from_0(logits), exact, series) + 0.5;
}
Variable ContinuousBernoulli::variance() const {
  const Variable l = away(logits), exact = 1 / square(l) - (1 / square(autograd::tanh(l * 0.5)) - 1) * 0.25;
  const Variable series = even_series(logits, {1.0 / 12, -1.0 / 240, 1.0 / 6048, -1.0 / 172800, 1.0 / 5322240});
  return autograd::where(away_from_0(logits), exact, series);
}
Variable ContinuousBernoulli::entropy() const { return even_part(logits) - (mean() - 0.5) * logits; }
// (1 - exp(-a t)) / (1 - exp(-a)) for a = |l|, where t = x for a negative l; else 1 less that of 1 - x.
Variable ContinuousBernoulli::cdf(const Parameter& value) const {
  const Variable x = autograd::clip(in_dtype(value, logits), 0, 1), l = within(uneven(logits), logits, 1);
  const Array rising = greater(l, 0);
  const Variable a = -autograd::absolute(l), t = autograd::where(rising, 1 - x, x);
  const Variable part = autograd::expm1(a * t) / autograd::expm1(a);
  return autograd::where(uneven(logits), autograd::where(rising, 1 - part, part), x);
}
Variable ContinuousBernoulli::icdf(const Parameter& probability) const {
  const Variable u = in_dtype(probability, logits), l = within(uneven(logits), logits, 1);
  const Array rising = greater(l, 0);
  const Variable a = -autograd::absolute(l), part = autograd::where(rising, 1 - u, u);
  const Variable t = autograd::clip(log1p(part * autograd::expm1(a)) / a, 0, 1);
  return autograd::where(uneven(logits), autograd::where(rising, 1 - t, t), u);
}
Variable ContinuousBernoulli::rsample(const Shape& shape) const {
  return icdf(even(extended(shape, batch_shape()), logits));
}
Variable kl_divergence(const ContinuousBernoulli& p, const ContinuousBernoulli& q) {
  return (p.mean() - 0.5) * (p.logits - q.logits) + even_part(q.logits) - even_part(p.logits);
}

// ---- VonMises ----
Variable VonMises::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, loc);
  return concentration * (autograd::cos(x - loc) - 1) - log(autograd::special::i0e(concentration)) - 2 * kLogSqrt2Pi;
}
// Less I1(k) / I0(k), the mean of cos(x - loc).
Variable VonMises::variance() const {
  return 1 - autograd::special::i1e(concentration) / autograd::special::i0e(concentration);
}
// Each round takes its proposal with a probability above 0.65; 1 in 10^10 is left.
Variable VonMises::draw(const Shape& shape) const {
  constexpr int kRounds = 22;
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
