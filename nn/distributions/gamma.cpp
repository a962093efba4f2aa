#include <catena/nn/distributions/gamma.h>

#include <cmath>

#include <catena/autograd/function.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/special.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/distributions/parameters.h>

namespace nn::distributions {

using namespace internal;
using autograd::digamma;
using autograd::lgamma;
using autograd::log;
using autograd::square;
using autograd::xlogy;
using catena::check;
namespace kernels = catena::kernels;

namespace {

Array in_float64(const Variable& v) { return autograd::astype(v.data(), autograd::Dtype::float64); }
// 0, and NaN where a parameter is negative.
Array domain(const Array& parameter) { return unary(kernels::sqrt, parameter) * 0; }

// Gamma numbers of concentrations that broadcast to `shape`, in float64. Each round proposes a number for every
// element, which is taken with a probability above 0.95, so that after 10 rounds none is left but for 1 in 10^13.
Array gamma_numbers(const Array& concentration, const Shape& shape) {
  constexpr int kRounds = 10;
  const Array small = binary(kernels::less, concentration, autograd::full_like(concentration, 1));
  const Array a = concentration + autograd::astype(small, autograd::Dtype::float64);
  const Array d = a - 1.0 / 3, c = unary(kernels::rsqrt, d * 9);
  Array drawn = autograd::arrays::full(shape, 1, autograd::Dtype::float64, concentration.device()) * d;
  Array left = autograd::arrays::full(shape, 1, autograd::Dtype::bool_, concentration.device());
  for (int round = 0; round < kRounds; ++round) {
    const Array x = normal(shape, concentration);
    const Array root = c * x + 1, v = root * root * root;
    const Array bound = x * x * 0.5 + d - d * v + d * unary(kernels::log, v);  // NaN for v < 0: not taken
    const Array taken = binary(kernels::less, unary(kernels::log, uniform(shape, concentration)), bound);
    drawn = autograd::where(binary(kernels::logical_and, left, taken), d * v, drawn);
    left = binary(kernels::logical_and, left, unary(kernels::logical_not, taken));
  }
  const Array power = unary(kernels::log, uniform(shape, concentration)) / concentration;
  const Array numbers = autograd::where(small, drawn * unary(kernels::exp, power), drawn);
  // Numbers of small concentrations may underflow, and quotients of zeros are NaN.
  return binary(kernels::maximum, numbers, tiny(autograd::Dtype::float64)) + domain(concentration);
}
// Integrals of the density of gamma numbers of the concentration a from 0 to x (from x on where x > a), over x times
// the density at x: of 1, and of log(t) - digamma(a), which is the derivative to a. With t = x exp(-s) (x exp(s) where
// x > a) they are integrals over s > 0, of exp(f(s)). The nodes are those of the exponential rule, s = scale exp(t -
// exp(-t)). (Takahasi and Mori, "Double exponential formulas for numerical integration", 1974.)
struct GammaIntegrals {
  Array above, area, derivative;  // above: where x > a
};
GammaIntegrals integrals(const Array& a, const Array& x) {
  constexpr double kStep = 0.15;
  const Array above = binary(kernels::greater, x, a), small = binary(kernels::less, a, 1.0);
  const Array root = unary(kernels::sqrt, x), rsqrt = unary(kernels::rsqrt, a);
  const Array below_scale = rsqrt + autograd::where(small, unary(kernels::reciprocal, a), 0.0);
  const Array scale = autograd::where(above, unary(kernels::reciprocal, root + 0.2), below_scale);
  const Array sign = autograd::where(above, autograd::full_like(x, 1), -1.0);
  const Array center = unary(kernels::log, x) - unary(kernels::digamma, a);
  Array area = autograd::full_like(x, 0), derivative = area;
  for (int k = -22; k <= 34; ++k) {
    const double t = k * kStep, node = std::exp(t - std::exp(-t)), weight = node * (1 + std::exp(-t)) * kStep;
    const Array s = binary(kernels::minimum, scale * node, 700.0) * sign;
    const Array part = unary(kernels::exp, a * s - x * unary(kernels::expm1, s)) * (scale * weight);
    area = area + part;
    derivative = derivative + part * (center + s);
  }
  return {above, area, derivative};
}
// The derivative of a gamma number x to its concentration a where its distribution function is fixed: -dF/da over the
// density.
Array slope(const Array& a, const Array& x) {
  const GammaIntegrals found = integrals(a, x);
  return autograd::where(found.above, found.derivative, found.derivative * -1) * x;
}
// Gamma numbers of concentrations in float64. The derivatives are constants: a second one is a NotImplementedError.
class GammaNumbers final : public autograd::Function {
 public:
  autograd::Arrays forward(const autograd::Arrays& in) override {
    numbers_ = gamma_numbers(in[0], in[0].shape());
    return {numbers_};
  }
  autograd::Arrays backward(const autograd::Arrays& in, const autograd::Arrays& gy) override {
    return {gy[0] * slope(in[0], numbers_)};
  }

 private:
  Array numbers_;
};
// The distribution function of gamma numbers in float64, of a concentration and a value of one shape.
class GammaCdf final : public autograd::Function {
 public:
  autograd::Arrays forward(const autograd::Arrays& in) override {
    const Array &a = in[0], &x = in[1];
    const Array below = binary(kernels::less_equal, x, 0.0), above = binary(kernels::equal, x, kInfinity);
    const Array outside = binary(kernels::logical_or, below, above), used = autograd::where(outside, 1.0, x);
    const GammaIntegrals found = integrals(a, used);
    const Array log_density = a * unary(kernels::log, used) - used - unary(kernels::gammaln, a);
    const Array density = autograd::where(outside, 0.0, unary(kernels::exp, log_density));  // times x
    const Array area = density * found.area, of_a = density * found.derivative;
    to_a_ = autograd::where(found.above, of_a * -1, of_a), to_x_ = density / used;
    const Array inside = autograd::where(found.above, area * -1 + 1, area);
    return {autograd::where(below, 0.0, autograd::where(above, 1.0, inside))};
  }
  autograd::Arrays backward(const autograd::Arrays&, const autograd::Arrays& gy) override {
    return {gy[0] * to_a_, gy[0] * to_x_};
  }

 private:
  Array to_a_, to_x_;
};
Variable gamma_cdf(const Variable& a, const Variable& x) {
  const Shape shape = catena::broadcast_shapes("Gamma", a.shape(), x.shape());
  return autograd::make_function<GammaCdf>()(autograd::broadcast_to(a, shape), autograd::broadcast_to(x, shape));
}
// A sample in the dtype of a parameter, and above 0.
Variable sample_of(const Variable& numbers, const Variable& like) {
  const double least = tiny(like.dtype());
  const Array small = binary(kernels::less, numbers.data(), least);  // false for NaN, which stays
  return in_dtype(autograd::where(small, least, numbers), like.dtype());
}
Variable log_beta(const Variable& a, const Variable& b) { return lgamma(a) + lgamma(b) - lgamma(a + b); }

}  // namespace

Variable internal::gamma_sample(const Variable& concentration, const Shape& shape) {
  if (!concentration.requires_grad())
    return Variable(gamma_numbers(in_float64(concentration), shape), {.requires_grad = false});
  const Variable exact = in_dtype(concentration, autograd::Dtype::float64);
  return autograd::make_function<GammaNumbers>()(autograd::broadcast_to(exact, shape));
}

// ---- Gamma ----
Variable Gamma::rsample(const Shape& shape) const {
  const Variable numbers = gamma_sample(concentration, extended(shape, batch_shape()));
  return sample_of(numbers / in_dtype(rate, autograd::Dtype::float64), rate);
}
Variable Gamma::cdf(const Parameter& value) const {
  const auto float64 = autograd::Dtype::float64;
  const Variable x = in_dtype(in_dtype(value, rate) * rate, float64);
  return in_dtype(gamma_cdf(in_dtype(concentration, float64), x), rate.dtype());
}
// 0 for concentrations below 1.
Variable Gamma::mode() const { return autograd::clip(concentration - 1, 0, kInfinity) / rate; }
Variable Gamma::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, rate);
  return xlogy(concentration, rate) + xlogy(concentration - 1, x) - rate * x - lgamma(concentration);
}
Variable Gamma::entropy() const {
  return concentration - log(rate) + lgamma(concentration) + (1 - concentration) * digamma(concentration);
}
Variable Gamma::mean() const { return concentration / rate; }
Variable Gamma::variance() const { return concentration / square(rate); }
Variable kl_divergence(const Gamma& p, const Gamma& q) {
  return q.concentration * (log(p.rate) - log(q.rate)) + lgamma(q.concentration) - lgamma(p.concentration) +
         (p.concentration - q.concentration) * digamma(p.concentration) +
         (q.rate - p.rate) * (p.concentration / p.rate);
}

// ---- Beta ----
Variable Beta::rsample(const Shape& shape) const {
  const Shape all = extended(shape, batch_shape());
  const Variable x = gamma_sample(concentration1, all), y = gamma_sample(concentration0, all);
  return sample_of(x / (x + y), concentration1);
}
Variable Beta::mode() const {
  const int axis = concentration1.ndim();
  const Variable both = Dirichlet(autograd::stack({concentration1, concentration0}, axis)).mode();
  return autograd::squeeze(autograd::slice(both, axis, 0, 1), catena::Axes{axis});
}
Variable Beta::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, concentration1);
  return xlogy(concentration1 - 1, x) + autograd::xlog1py(concentration0 - 1, -x) -
         log_beta(concentration1, concentration0);
}
Variable Beta::entropy() const {
  const Variable both = concentration1 + concentration0;
  return log_beta(concentration1, concentration0) - (concentration1 - 1) * digamma(concentration1) -
         (concentration0 - 1) * digamma(concentration0) + (both - 2) * digamma(both);
}
Variable Beta::mean() const { return concentration1 / (concentration1 + concentration0); }
Variable Beta::variance() const {
  const Variable both = concentration1 + concentration0;
  return concentration1 * concentration0 / (square(both) * (both + 1));
}
Variable kl_divergence(const Beta& p, const Beta& q) {
  const Variable &a = p.concentration1, &b = p.concentration0;
  return log_beta(q.concentration1, q.concentration0) - log_beta(a, b) + (a - q.concentration1) * digamma(a) +
         (b - q.concentration0) * digamma(b) + (q.concentration1 - a + q.concentration0 - b) * digamma(a + b);
}

// ---- Dirichlet ----
namespace {
Shape classes_of(const Parameter& concentrations) {
  const Shape shape = concentrations.value().shape();
  check<catena::ValueError>(shape.size() >= 1, "Dirichlet", "the concentration has no axis of classes");
  return shape;
}
// The sum over the last axis, which stays with the length 1.
Variable total(const Variable& x) { return autograd::sum(x, catena::Axes{x.ndim() - 1}, true); }
}  // namespace
Dirichlet::Dirichlet(const Parameter& concentrations, const ValidateArgs&)
    : Distribution(floating(concentrations.value()), without_last(classes_of(concentrations)),
                   last_of(classes_of(concentrations), 1, {})),
      concentration(parameter(0)) {}
Variable Dirichlet::rsample(const Shape& shape) const {
  const Variable numbers = gamma_sample(concentration, extended(shape, concentration.shape()));
  return sample_of(numbers / total(numbers), concentration);
}
// With all concentrations below 1, one of the corners of the greatest one.
Variable Dirichlet::mode() const {
  const Variable above = autograd::clip(concentration - 1, 0, kInfinity), inside = above / total(above);
  const Array one = autograd::one_hot(autograd::argmax(without_graph(concentration), concentration.ndim() - 1),
                                      event_shape()[0], concentration.dtype())
                        .data();
  const Array greatest = autograd::amax(concentration.data(), catena::Axes{concentration.ndim() - 1}, true);
  return autograd::where(binary(kernels::less, greatest, 1.0), Variable(one, {.requires_grad = false}), inside);
}
Variable Dirichlet::log_prob(const Parameter& value) const {
  return last_sum(xlogy(concentration - 1, in_dtype(value, concentration))) + lgamma(last_sum(concentration)) -
         last_sum(lgamma(concentration));
}
Variable Dirichlet::entropy() const {
  const Variable sum = last_sum(concentration);
  const double classes = double(event_shape()[0]);
  return last_sum(lgamma(concentration)) - lgamma(sum) - (classes - sum) * digamma(sum) -
         last_sum((concentration - 1) * digamma(concentration));
}
Variable Dirichlet::mean() const { return concentration / total(concentration); }
Variable Dirichlet::variance() const {
  const Variable sum = total(concentration);
  return concentration * (sum - concentration) / (square(sum) * (sum + 1));
}
Variable kl_divergence(const Dirichlet& p, const Dirichlet& q) {
  const Variable &a = p.concentration, &b = q.concentration;
  return lgamma(last_sum(a)) - lgamma(last_sum(b)) + last_sum(lgamma(b) - lgamma(a)) +
         last_sum((a - b) * (digamma(a) - digamma(total(a))));
}

// ---- Chi2 ----
Variable Chi2::half_of(const Parameter& freedom) { return floating(freedom.value()) * 0.5; }
Variable Chi2::doubled(const Variable& half) { return half * 2; }

// ---- InverseGamma ----
Variable InverseGamma::rsample(const Shape& shape) const { return 1 / Gamma(concentration, rate).rsample(shape); }
Variable InverseGamma::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, rate);
  return Gamma(concentration, rate).log_prob(1 / x) - log(x) * 2;
}
Variable InverseGamma::cdf(const Parameter& value) const {
  return 1 - Gamma(concentration, rate).cdf(1 / positive_part(in_dtype(value, rate)));
}
Variable InverseGamma::entropy() const {
  return concentration + log(rate) + lgamma(concentration) - (concentration + 1) * digamma(concentration);
}
Variable InverseGamma::mean() const {
  return autograd::where(binary(kernels::greater, concentration.data(), 1.0), rate / (concentration - 1), kInfinity);
}
Variable InverseGamma::variance() const {
  return autograd::where(binary(kernels::greater, concentration.data(), 2.0),
                         square(rate / (concentration - 1)) / (concentration - 2), kInfinity);
}
Variable InverseGamma::mode() const { return rate / (concentration + 1); }
Variable kl_divergence(const InverseGamma& p, const InverseGamma& q) {
  return kl_divergence(Gamma(p.concentration, p.rate), Gamma(q.concentration, q.rate));
}

// ---- FisherSnedecor ----
Variable FisherSnedecor::rsample(const Shape& shape) const {
  return Gamma(df1 * 0.5, df1).rsample(shape) / Gamma(df2 * 0.5, df2).rsample(shape);
}
Variable FisherSnedecor::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, df1), a = df1 * 0.5, b = df2 * 0.5, ratio = df1 / df2;
  return a * log(ratio) + (a - 1) * log(x) - (a + b) * autograd::log1p(ratio * x) - log_beta(a, b);
}
Variable FisherSnedecor::mean() const {
  return autograd::where(binary(kernels::greater, df2.data(), 2.0), df2 / (df2 - 2), kNan);
}
Variable FisherSnedecor::variance() const {
  const Variable finite = square(df2 / (df2 - 2)) * 2 * (df1 + df2 - 2) / (df1 * (df2 - 4));
  return autograd::where(binary(kernels::greater, df2.data(), 4.0), finite, kNan);
}
Variable FisherSnedecor::mode() const {
  return autograd::where(binary(kernels::greater, df1.data(), 2.0), (df1 - 2) / df1 * df2 / (df2 + 2), kNan);
}

// ---- Poisson ----
namespace {

// Of rates below 10: the number of values of the distribution function that an even number exceeds. Above 64 it is 1 in
// double precision.
Array counted(const Array& rate, const Shape& shape) {
  const Array u = uniform(shape, rate);
  Array probability = unary(kernels::exp, rate * -1), below = probability;
  Array result = autograd::arrays::full(shape, 0, autograd::Dtype::float64, rate.device());
  for (int k = 1; k <= 64; ++k) {
    result = result + autograd::astype(binary(kernels::greater, u, below), autograd::Dtype::float64);
    probability = probability * rate / double(k);
    below = below + probability;
  }
  return result;
}
// Of rates from 10: each round takes its proposal with a probability above 0.7; 1 in 10^10 is left.
Array rejected(const Array& rate, const Shape& shape) {
  constexpr int kRounds = 20;
  const Array b = unary(kernels::sqrt, rate) * 2.53 + 0.931, a = b * 0.02483 - 0.059;
  const Array inverse_alpha = unary(kernels::reciprocal, b - 3.4) * 1.1328 + 1.1239;
  const Array log_rate = unary(kernels::log, rate);
  Array drawn = autograd::arrays::full(shape, 1, autograd::Dtype::float64, rate.device()) * unary(kernels::floor, rate);
  Array left = autograd::arrays::full(shape, 1, autograd::Dtype::bool_, rate.device());
  for (int round = 0; round < kRounds; ++round) {
    const Array u = uniform(shape, rate) - 0.5, v = uniform(shape, rate);
    const Array us = unary(kernels::absolute, u) * -1 + 0.5;
    const Array k = unary(kernels::floor, (a * 2 / us + b) * u + rate + 0.43);
    const Array level = unary(kernels::log, v * inverse_alpha / (a / (us * us) + b));
    const Array density = k * log_rate - rate - unary(kernels::gammaln, k + 1);
    const Array valid = binary(kernels::greater_equal, k, autograd::full_like(k, 0));
    const Array taken = binary(kernels::logical_and, valid, binary(kernels::less_equal, level, density));
    drawn = autograd::where(binary(kernels::logical_and, left, taken), k, drawn);
    left = binary(kernels::logical_and, left, unary(kernels::logical_not, taken));
  }
  return drawn;
}

}  // namespace
Variable Poisson::draw(const Shape& shape) const {
  const Shape all = extended(shape, batch_shape());
  const Array mean = in_float64(rate), limit = autograd::full_like(mean, 10);
  const Array small = binary(kernels::less, mean, limit);
  const Array numbers = autograd::where(small, counted(binary(kernels::minimum, mean, limit), all),
                                        rejected(binary(kernels::maximum, mean, limit), all));
  return Variable(autograd::astype(numbers + domain(mean), rate.dtype()), {.requires_grad = false});
}
Variable Poisson::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, rate);
  return xlogy(x, rate) - rate - lgamma(x + 1);
}
Variable Poisson::mode() const { return autograd::floor(rate); }
Variable kl_divergence(const Poisson& p, const Poisson& q) {
  return p.rate * (log(p.rate) - log(q.rate)) - (p.rate - q.rate);
}

}  // namespace nn::distributions
