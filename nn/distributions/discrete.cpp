#include <catena/nn/distributions/discrete.h>

#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/special.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/distributions/gamma.h>
#include <catena/nn/distributions/parameters.h>
#include <catena/nn/functions/activation.h>

namespace nn::distributions {

using namespace internal;
namespace kernels = catena::kernels;
using autograd::lgamma;
using autograd::log;
using autograd::log1p;
using autograd::xlogy;

// ---- Geometric ----
Geometric::Geometric(const Chances& c) : Distribution(c.probs, c.probs.shape()), logits(c.logits), probs(c.probs) {}
Variable Geometric::draw(const Shape& shape) const {
  return autograd::floor(log(even(extended(shape, batch_shape()), probs)) / log1p(-without_graph(probs)));
}
// By the logits where a probability is rounded to 1 or underflows. The logits of given probabilities are limited to
// those of eps and 1 - eps, so smaller probabilities are used themselves.
Variable Geometric::log_prob(const Parameter& value) const {
  const Array small = binary(kernels::logical_and, binary(kernels::greater, probs.data(), tiny(probs.dtype())),
                             binary(kernels::less, probs.data(), 0.5));
  const Variable x = in_dtype(value, logits), p = within(small, probs, 0.5);
  return autograd::where(small, autograd::xlog1py(x, -p) + log(p), -x * nn::softplus(logits) - nn::softplus(-logits));
}
Variable Geometric::entropy() const { return (nn::softplus(logits) - probs * logits) / probs; }
Variable Geometric::mean() const { return 1 / probs - 1; }
Variable Geometric::variance() const { return (1 / probs - 1) / probs; }
Variable Geometric::mode() const { return constant(batch_shape(), 0, probs); }
Variable kl_divergence(const Geometric& p, const Geometric& q) {
  return -p.entropy() + nn::softplus(q.logits) / p.probs - q.logits;
}

// ---- Binomial ----
Binomial::Binomial(const Parameter& trials, const Chances& c) : Distribution({trials, c.logits, c.probs}) {}
namespace {
double largest(const Variable& x) { return autograd::to_vector<double>(autograd::amax(x.data())).at(0); }
// Binomial numbers in float64. While more than kTrials trials are left, one with the median of the even numbers of all
// trials, which is a beta number: if it is at most p, that half succeeds; the other half goes on. (Devroye,
// "Non-uniform random variate generation", 1986, X.4.3.) Then trials are drawn one by one.
Variable binomial_numbers(const Variable& trials, const Variable& probs, const Shape& shape, double most) {
  constexpr double kTrials = 16;
  Variable n = autograd::broadcast_to(trials, shape), p = autograd::broadcast_to(probs, shape);
  Variable count = constant(shape, 0, trials);
  for (; most > kTrials; most = std::floor(most / 2)) {
    const Array many = binary(kernels::greater, n.data(), kTrials);
    const Variable middle = within(many, autograd::floor(n * 0.5) + 1, 1);
    const Variable x = gamma_sample(middle, shape), y = gamma_sample(within(many, n - middle + 1, 1), shape);
    const Variable median = x / (x + y);
    const Array below = binary(kernels::logical_and, many, at_least(p, median.data()));
    const Array above = binary(kernels::logical_and, many, unary(kernels::logical_not, below));
    count = autograd::where(below, count + middle, count);
    n = autograd::where(below, n - middle, autograd::where(above, middle - 1, n));
    p = autograd::where(below, (p - median) / (1 - median), autograd::where(above, p / median, p));
  }
  for (int k = 0; k < int(kTrials); ++k) {
    const Array success = binary(kernels::logical_and, binary(kernels::greater, n.data(), k),
                                 binary(kernels::less, even(shape, p).data(), p.data()));
    count = autograd::where(success, count + 1, count);
  }
  return count;
}
}  // namespace
Variable Binomial::draw(const Shape& shape) const {
  const auto float64 = autograd::Dtype::float64;
  const Variable n = without_graph(total_count).astype(float64), p = without_graph(probs).astype(float64);
  return binomial_numbers(n, p, extended(shape, batch_shape()), n.size() == 0 ? 0 : largest(n)).astype(probs.dtype());
}
Variable Binomial::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, logits);
  return lgamma(total_count + 1) - lgamma(x + 1) - lgamma(total_count - x + 1) + x * logits -
         total_count * nn::softplus(logits);
}
Variable Binomial::entropy() const {
  const Variable log_p = log_prob(enumerate_support(false));
  return -autograd::sum(autograd::exp(log_p) * log_p, 0);
}
Variable Binomial::mean() const { return total_count * probs; }
Variable Binomial::variance() const { return total_count * probs * (1 - probs); }
Variable Binomial::mode() const { return autograd::minimum(autograd::floor((total_count + 1) * probs), total_count); }
Variable Binomial::enumerate_support(bool expand) const {
  const double most = largest(total_count);
  catena::check<catena::NotImplementedError>(-largest(-total_count) == most, "enumerate_support",
                                             "the numbers of trials of Binomial differ; the largest is ", most);
  return counted_support(std::int64_t(most) + 1, *this, probs, expand);
}
Variable kl_divergence(const Binomial& p, const Binomial& q) {
  catena::check<catena::NotImplementedError>(largest(q.total_count - p.total_count) <= 0, "kl_divergence",
                                             "the first Binomial has fewer trials than the second one");
  const Variable finite =
      p.total_count * (p.probs * (p.logits - q.logits) + nn::softplus(q.logits) - nn::softplus(p.logits));
  return within(at_least(q.total_count, p.total_count.data()), finite, kInfinity);
}

// ---- NegativeBinomial ----
NegativeBinomial::NegativeBinomial(const Parameter& failures, const Chances& c)
    : Distribution({failures, c.logits, c.probs}) {}
Variable NegativeBinomial::draw(const Shape& shape) const {
  return Poisson(Gamma(total_count, autograd::exp(-logits)).sample(shape)).sample();
}
Variable NegativeBinomial::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, logits);
  return lgamma(total_count + x) - lgamma(x + 1) - lgamma(total_count) - total_count * nn::softplus(logits) -
         x * nn::softplus(-logits);
}
Variable NegativeBinomial::mean() const { return total_count * autograd::exp(logits); }
Variable NegativeBinomial::variance() const { return mean() * (autograd::exp(logits) + 1); }
Variable NegativeBinomial::mode() const {
  return autograd::clip(autograd::floor((total_count - 1) * autograd::exp(logits)), 0, kInfinity);
}

// ---- Multinomial ----
namespace {
Variable one_hot_of(const Variable& labels, const Variable& like) {
  return autograd::one_hot(labels, like.shape()[like.ndim() - 1], like.dtype());
}
Shape class_axis(const Variable& logits) { return Shape{logits.shape()[logits.ndim() - 1]}; }
}  // namespace
Multinomial::Multinomial(std::int64_t trials, Categorical classes)
    : Distribution(classes.probs, classes.batch_shape(), class_axis(classes.logits)),
      total_count(trials),
      logits(classes.logits),
      probs(classes.probs),
      classes_(std::move(classes)) {
  catena::check<catena::ValueError>(trials >= 0, "Multinomial", "total_count is ", trials, ", not at least 0");
}
Variable Multinomial::draw(const Shape& shape) const {
  return autograd::sum(one_hot_of(classes_.sample(extended(Shape{total_count}, shape)), logits), 0);
}
Variable Multinomial::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, logits);
  // An impossible class with the count 0 adds nothing, not 0 times -inf.
  const Array counts = binary(kernels::logical_or, binary(kernels::not_equal, x.data(), 0.0),
                              binary(kernels::not_equal, probs.data(), 0.0));
  const Variable terms = autograd::where(counts, x * autograd::where(counts, logits, 0.0), 0.0);
  return last_sum(terms - lgamma(x + 1)) + lgamma(last_sum(x) + 1);
}
// n H(classes) - log(n!) + the sum over classes and counts x of Binomial's probability of x times log(x!).
Variable Multinomial::entropy() const {
  const Binomial of_class(total_count, probs);
  const Variable x = of_class.enumerate_support(false), p = autograd::exp(of_class.log_prob(x));
  const Variable repeated = last_sum(autograd::sum(p * lgamma(x + 1), 0));
  return classes_.entropy() * double(total_count) - std::lgamma(double(total_count) + 1) + repeated;
}
Variable Multinomial::mean() const { return probs * double(total_count); }
Variable Multinomial::variance() const { return probs * (1 - probs) * double(total_count); }

// ---- OneHotCategorical ----
OneHotCategorical::OneHotCategorical(Categorical classes)
    : Distribution(classes.probs, classes.batch_shape(), class_axis(classes.logits)),
      logits(classes.logits),
      probs(classes.probs),
      classes_(std::move(classes)) {}
Variable OneHotCategorical::draw(const Shape& shape) const { return one_hot_of(classes_.sample(shape), logits); }
Variable OneHotCategorical::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, logits);
  return classes_.log_prob(autograd::argmax(x, x.ndim() - 1));
}
Variable OneHotCategorical::entropy() const { return classes_.entropy(); }
Variable OneHotCategorical::mean() const { return probs; }
Variable OneHotCategorical::variance() const { return probs * (1 - probs); }
Variable OneHotCategorical::mode() const { return one_hot_of(classes_.mode(), logits); }
Variable OneHotCategorical::enumerate_support(bool expand) const {
  return one_hot_of(classes_.enumerate_support(expand), logits);
}
Variable OneHotCategoricalStraightThrough::rsample(const Shape& shape) const {
  return draw(shape) + (probs - without_graph(probs));
}
Variable kl_divergence(const OneHotCategorical& p, const OneHotCategorical& q) {
  return kl_divergence(p.classes_, q.classes_);
}

// ---- RelaxedBernoulli ----
RelaxedBernoulli::RelaxedBernoulli(const Parameter& heat, const Chances& c)
    : Distribution(c.probs, c.probs.shape()), temperature(in_dtype(heat, c.logits)), logits(c.logits), probs(c.probs) {}
Variable RelaxedBernoulli::rsample(const Shape& shape) const {
  const Variable u = even(extended(shape, batch_shape()), logits);
  return clipped_sigmoid((logits + log(u) - log1p(-u)) / temperature);
}
Variable RelaxedBernoulli::log_prob(const Parameter& value) const {
  const Variable x = in_dtype(value, logits), log_x = log(x), log_other = log1p(-x);
  const Variable difference = logits - (log_x - log_other) * temperature;
  return log(temperature) + difference - nn::softplus(difference) * 2 - log_x - log_other;
}

// ---- RelaxedOneHotCategorical ----
RelaxedOneHotCategorical::RelaxedOneHotCategorical(const Parameter& heat, Categorical classes)
    : Distribution(classes.probs, classes.batch_shape(), class_axis(classes.logits)),
      temperature(in_dtype(heat, classes.logits)),
      logits(classes.logits),
      probs(classes.probs),
      classes_(std::move(classes)) {}
Variable RelaxedOneHotCategorical::rsample(const Shape& shape) const {
  const Variable scores = logits + gumbel_numbers(extended(shape, logits.shape()), logits);
  return nn::softmax(scores / temperature, scores.ndim() - 1);
}
Variable RelaxedOneHotCategorical::log_prob(const Parameter& value) const {
  const Variable log_x = log(in_dtype(value, logits)), score = logits - log_x * temperature;
  const double classes = double(event_shape()[0]);
  return last_sum(nn::log_softmax(score, score.ndim() - 1) - log_x) + log(temperature) * (classes - 1) +
         std::lgamma(classes);
}

}  // namespace nn::distributions
