// Folder nn/distributions: probability distributions of arrays, with the names of torch.distributions. A distribution
// holds its parameters as Variables, so that log_prob, entropy, rsample and kl_divergence have gradients to them. This
// folder may use nn, nn/functions and autograd.
//
//   namespace D = nn::distributions;
//   D::Normal prior(0, 1), posterior(mu, sigma);
//   autograd::Variable z = posterior.rsample(), loss = autograd::sum(D::kl_divergence(posterior, prior));
//
// Parameters broadcast; batch_shape() is their common shape. sample(shape) and rsample(shape) have the shape
// shape + batch_shape() and draw from the thread's generator (autograd::seed); the result of sample has no graph.
// A number has the dtype and the device of the array with which it is given, as log_prob(0.5) those of the parameters;
// numbers alone are float32 on the current device. Parameters outside of their domain are not refused, because that
// would read the device: results are NaN then.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>

#include <catena/autograd/variable.h>

namespace nn::distributions {

using autograd::Array;
using autograd::Shape;
using autograd::Variable;

// A parameter: a number, an array or a Variable.
class CATENA_EXPORT Parameter {
 public:
  template <class T> Parameter(T number) requires std::is_arithmetic_v<T> : number_(double(number)) {}
  template <class T>
  Parameter(const T& value) requires(std::is_convertible_v<const T&, Variable> && !std::is_arithmetic_v<T>)
      : value_(value) {}
  // A number becomes a float32 array without axes on the current device.
  Variable value() const;
  const std::optional<double>& number() const noexcept { return number_; }

 private:
  std::optional<double> number_;
  Variable value_;
};

// Either the probabilities or the logits of Bernoulli and Categorical, by PyTorch's or Chainer's names (p, logit).
struct ProbsOptions {
  std::optional<Parameter> probs = {}, logits = {};
  std::optional<Parameter> p = {}, logit = {};
  std::optional<bool> validate_args = {};
};

// The last argument of every constructor, as in PyTorch: D::Normal(0, 1, {.validate_args = false}). Parameters are not
// checked, whatever it says.
struct ValidateArgs {
  std::optional<bool> validate_args = {};
};

// The base of all distributions. A function that a distribution has not throws NotImplementedError.
class CATENA_EXPORT Distribution {
 public:
  virtual ~Distribution();
  Variable sample(const Shape& shape = {}) const;
  // A sample that is a differentiable function of the parameters. NotImplementedError for discrete distributions.
  virtual Variable rsample(const Shape& shape = {}) const;
  virtual Variable log_prob(const Parameter& value) const = 0;
  virtual Variable entropy() const;
  virtual Variable mean() const;
  virtual Variable variance() const;
  Variable stddev() const;
  // The value of the greatest probability or density.
  virtual Variable mode() const;
  // The probability that a sample is at most `value`, and its inverse.
  virtual Variable cdf(const Parameter& value) const;
  virtual Variable icdf(const Parameter& probability) const;
  // All values of a discrete distribution, along a new first axis: (N,) + batch_shape() + event_shape(), or without
  // `expand` with lengths of 1 in place of those of the batch.
  virtual Variable enumerate_support(bool expand = true) const;
  Variable perplexity() const;  // exp(entropy())
  // A number as an array of the dtype and device of the parameters; an array unchanged.
  virtual Variable as_value(const Parameter& value) const;
  const Shape& batch_shape() const noexcept { return batch_shape_; }
  const Shape& event_shape() const noexcept { return event_shape_; }

 protected:
  // Of numbers and arrays that broadcast: parameter(k) is the k-th one in the dtype, shape and device of all.
  Distribution(std::initializer_list<Parameter> parameters);
  explicit Distribution(Shape batch_shape, Shape event_shape = {})
      : batch_shape_(std::move(batch_shape)), event_shape_(std::move(event_shape)) {}
  // Of one parameter, whose dtype and device are those of numbers.
  Distribution(const Variable& parameter, Shape batch_shape, Shape event_shape = {})
      : parameters_{parameter}, batch_shape_(std::move(batch_shape)), event_shape_(std::move(event_shape)) {}
  const Variable& parameter(std::size_t k) const { return parameters_[k]; }
  // A parameter in the shape `batch` and its own last `event_axes` axes, for expand().
  static Variable expanded(const Variable& parameter, const Shape& batch, int event_axes = 0);
  virtual Variable draw(const Shape& shape) const;

 private:
  autograd::Variables parameters_;
  Shape batch_shape_, event_shape_;
};

struct NormalOptions {
  Parameter loc = 0, scale = 1;
  std::optional<Parameter> log_scale = {};  // in place of scale, its logarithm
  std::optional<bool> validate_args = {};
};
// The normal distribution with the mean loc and the standard deviation scale.
class CATENA_EXPORT Normal : public Distribution {
 public:
  Normal(const Parameter& location, const Parameter& deviation, const ValidateArgs& = {})
      : Distribution({location, deviation}) {}
  template <std::same_as<NormalOptions> O = NormalOptions> explicit Normal(const O& o) : Normal(o.loc, scale_of(o)) {}
  Normal expand(const Shape& batch) const { return {expanded(loc, batch), expanded(scale, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, variance() const override;
  Variable mean() const override { return loc; }
  Variable mode() const override { return loc; }
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable loc = parameter(0), scale = parameter(1);

 private:
  static Parameter scale_of(const NormalOptions& o);
};

// The parameters of Laplace and of other distributions by name.
struct LocationScale {
  Parameter loc = 0, scale = 1;
  std::optional<bool> validate_args = {};
};
// exp(-|x - loc| / scale) / (2 scale).
class CATENA_EXPORT Laplace : public Distribution {
 public:
  Laplace(const Parameter& location, const Parameter& width, const ValidateArgs& = {})
      : Distribution({location, width}) {}
  template <std::same_as<LocationScale> O = LocationScale> explicit Laplace(const O& o) : Laplace(o.loc, o.scale) {}
  Laplace expand(const Shape& batch) const { return {expanded(loc, batch), expanded(scale, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, variance() const override;
  Variable mean() const override { return loc; }
  Variable mode() const override { return loc; }
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable loc = parameter(0), scale = parameter(1);
};

struct UniformOptions {
  Parameter low = 0, high = 1;
  std::optional<bool> validate_args = {};
};
// Equal density from low to high; log_prob is -inf outside of [low, high). There is no mode.
class CATENA_EXPORT Uniform : public Distribution {
 public:
  Uniform(const Parameter& lower, const Parameter& upper, const ValidateArgs& = {}) : Distribution({lower, upper}) {}
  template <std::same_as<UniformOptions> O = UniformOptions> explicit Uniform(const O& o) : Uniform(o.low, o.high) {}
  Uniform expand(const Shape& batch) const { return {expanded(low, batch), expanded(high, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override;
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable low = parameter(0), high = parameter(1);
};

struct ExponentialOptions {
  Parameter rate = 1;
  std::optional<bool> validate_args = {};
};
// rate exp(-rate x) for x >= 0.
class CATENA_EXPORT Exponential : public Distribution {
 public:
  explicit Exponential(const Parameter& inverse_mean, const ValidateArgs& = {}) : Distribution({inverse_mean}) {}
  template <std::same_as<ExponentialOptions> O = ExponentialOptions>
  explicit Exponential(const O& o) : Exponential(o.rate) {}
  Exponential expand(const Shape& batch) const { return Exponential(expanded(rate, batch)); }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable rate = parameter(0);
};

namespace internal {
// Probabilities and their logits.
struct Chances {
  Chances(const Variable& with_logits, const Variable& with_probs) : logits(with_logits), probs(with_probs) {}
  Variable logits, probs;
};
// The probability that options give, and its logit. ValueError unless one of both is given. The logit is that of a
// probability between eps and 1 - eps, with the distance eps from 1 to the next number of the dtype.
CATENA_EXPORT Chances chances_of(const char* name, const ProbsOptions& o);
// The probabilities of classes that options give, divided by their sum, and their logarithms.
CATENA_EXPORT Chances class_chances_of(const char* name, const ProbsOptions& o);
}  // namespace internal

// 1 with the probability probs, else 0. The logits of given probabilities are finite: they are those of eps and 1 - eps
// at 0 and 1, with the distance eps from 1 to the next number of the dtype.
class CATENA_EXPORT Bernoulli : public Distribution {
 public:
  explicit Bernoulli(const Parameter& probabilities, const ValidateArgs& = {})
      : Bernoulli(ProbsOptions{.probs = probabilities}) {}
  // ValueError unless one of both is given
  template <std::same_as<ProbsOptions> O = ProbsOptions>
  explicit Bernoulli(const O& o) : Bernoulli(internal::chances_of("Bernoulli", o)) {}
  Bernoulli expand(const Shape& batch) const {
    return Bernoulli(internal::Chances{expanded(logits, batch), expanded(probs, batch)});
  }
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, variance() const override, mode() const override;
  Variable mean() const override { return probs; }
  Variable enumerate_support(bool expand = true) const override;
  Variable logits, probs;

 protected:
  Variable draw(const Shape& shape) const override;

 private:
  explicit Bernoulli(const internal::Chances& chances);
};

// A class 0, 1, ..., C - 1 (int64). probs (..., C) are divided by their sum over the last axis; logits are their
// logarithms but for a number. The logit of a given probability of 0 is finite, as that of Bernoulli. ValueError unless
// one of both is given; mean and variance are NaN.
class CATENA_EXPORT Categorical : public Distribution {
 public:
  explicit Categorical(const Parameter& probabilities, const ValidateArgs& = {})
      : Categorical(ProbsOptions{.probs = probabilities}) {}
  template <std::same_as<ProbsOptions> O = ProbsOptions>
  explicit Categorical(const O& o) : Categorical(internal::class_chances_of("Categorical", o)) {}
  Categorical expand(const Shape& batch) const {
    return Categorical(internal::Chances{expanded(logits, batch, 1), expanded(probs, batch, 1)});
  }
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, mode() const override;
  Variable variance() const override { return mean(); }
  Variable enumerate_support(bool expand = true) const override;
  Variable logits, probs;  // logits: the logarithms of probs

 protected:
  Variable draw(const Shape& shape) const override;

 private:
  explicit Categorical(const internal::Chances& chances);
};

namespace internal {
CATENA_EXPORT void check_axes(int n, const Shape& batch_shape);
CATENA_EXPORT void check_equal_axes(int p, int q);
CATENA_EXPORT Variable sum_of_last(const Variable& x, int n);
// The first axes of a shape but for the last n, and the last n before those of `event`.
CATENA_EXPORT Shape without_last(const Shape& batch, int n);
CATENA_EXPORT Shape last_of(const Shape& batch, int n, const Shape& event);
CATENA_EXPORT Shape extended(const Shape& shape, const Shape& batch);
}  // namespace internal
struct IndependentOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int reinterpreted_batch_ndims = 0;
  std::optional<bool> validate_args = {};
};
// A distribution whose last n batch axes belong to one event: log_prob and entropy are summed over them. ValueError for
// an n that is negative or above the number of batch axes.
template <class Base> class Independent : public Distribution {
 public:
  Independent(Base distribution, int n, const ValidateArgs& = {});
  Independent(Base distribution, const IndependentOptions& o)
      : Independent(std::move(distribution), o.reinterpreted_batch_ndims) {}
  Independent expand(const Shape& batch) const {
    return {base.expand(internal::extended(batch, internal::last_of(base.batch_shape(), n_, {}))), n_};
  }
  Variable rsample(const Shape& shape = {}) const override { return base.rsample(shape); }
  Variable log_prob(const Parameter& value) const override { return internal::sum_of_last(base.log_prob(value), n_); }
  Variable entropy() const override { return internal::sum_of_last(base.entropy(), n_); }
  Variable mean() const override { return base.mean(); }
  Variable variance() const override { return base.variance(); }
  Variable mode() const override { return base.mode(); }
  Variable as_value(const Parameter& value) const override { return base.as_value(value); }
  int n() const noexcept { return n_; }
  Base base;

 protected:
  Variable draw(const Shape& shape) const override { return base.sample(shape); }

 private:
  int n_;
};
template <class Base>
Independent<Base>::Independent(Base distribution, int n, const ValidateArgs&)
    : Distribution(
          (internal::check_axes(n, distribution.batch_shape()), internal::without_last(distribution.batch_shape(), n)),
          internal::last_of(distribution.batch_shape(), n, distribution.event_shape())),
      base(std::move(distribution)),
      n_(n) {}

// The Kullback-Leibler divergence of p from q, the mean of log p - log q under p, for each element of the batch.
CATENA_EXPORT Variable kl_divergence(const Normal& p, const Normal& q);
CATENA_EXPORT Variable kl_divergence(const Bernoulli& p, const Bernoulli& q);
CATENA_EXPORT Variable kl_divergence(const Categorical& p, const Categorical& q);
CATENA_EXPORT Variable kl_divergence(const Exponential& p, const Exponential& q);
CATENA_EXPORT Variable kl_divergence(const Laplace& p, const Laplace& q);
CATENA_EXPORT Variable kl_divergence(const Uniform& p, const Uniform& q);
// ValueError unless p.n() == q.n().
template <class Base> Variable kl_divergence(const Independent<Base>& p, const Independent<Base>& q) {
  internal::check_equal_axes(p.n(), q.n());
  return internal::sum_of_last(kl_divergence(p.base, q.base), p.n());
}

}  // namespace nn::distributions
