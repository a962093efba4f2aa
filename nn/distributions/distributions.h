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
#include <cstdint>
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

// Either the probabilities or the logits of Bernoulli and Categorical, by PyTorch's or Chainer's names.
struct ProbsOptions {
  std::optional<Parameter> probs = {}, logits = {};
  std::optional<Parameter> p = probs, logit = logits;
};

// The base of all distributions.
class CATENA_EXPORT Distribution {
 public:
  virtual ~Distribution();
  Variable sample(const Shape& shape = {}) const;
  // A sample that is a differentiable function of the parameters. NotImplementedError for discrete distributions.
  virtual Variable rsample(const Shape& shape = {}) const;
  virtual Variable log_prob(const Parameter& value) const = 0;
  virtual Variable entropy() const = 0;
  virtual Variable mean() const = 0;
  virtual Variable variance() const = 0;
  Variable stddev() const;
  // The probability that a sample is at most `value`. NotImplementedError unless a class has it.
  virtual Variable cdf(const Parameter& value) const;
  const Shape& batch_shape() const noexcept { return batch_shape_; }
  const Shape& event_shape() const noexcept { return event_shape_; }

 protected:
  explicit Distribution(Shape batch_shape, Shape event_shape = {})
      : batch_shape_(std::move(batch_shape)), event_shape_(std::move(event_shape)) {}
  virtual Variable draw(const Shape& shape) const;

 private:
  Shape batch_shape_, event_shape_;
};

struct NormalOptions {
  Parameter loc = 0, scale = 1;
  std::optional<Parameter> log_scale = {};  // in place of scale, its logarithm
};
// The normal distribution with the mean loc and the standard deviation scale.
class CATENA_EXPORT Normal : public Distribution {
 public:
  Normal(const Parameter& location, const Parameter& deviation);
  template <std::same_as<NormalOptions> O = NormalOptions> explicit Normal(const O& o) : Normal(o.loc, scale_of(o)) {}
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override;
  Variable mean() const override;
  Variable variance() const override;
  Variable cdf(const Parameter& value) const override;
  Variable loc, scale;

 private:
  static Parameter scale_of(const NormalOptions& o);
};

// The parameters of Laplace by name.
struct LocationScale {
  Parameter loc = 0, scale = 1;
};
// exp(-|x - loc| / scale) / (2 scale).
class CATENA_EXPORT Laplace : public Distribution {
 public:
  Laplace(const Parameter& location, const Parameter& width);
  template <std::same_as<LocationScale> O = LocationScale> explicit Laplace(const O& o) : Laplace(o.loc, o.scale) {}
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override;
  Variable mean() const override;
  Variable variance() const override;
  Variable loc, scale;
};

struct UniformOptions {
  Parameter low = 0, high = 1;
};
// Equal density from low to high; log_prob is -inf outside of [low, high).
class CATENA_EXPORT Uniform : public Distribution {
 public:
  Uniform(const Parameter& lower, const Parameter& upper);
  template <std::same_as<UniformOptions> O = UniformOptions> explicit Uniform(const O& o) : Uniform(o.low, o.high) {}
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override;
  Variable mean() const override;
  Variable variance() const override;
  Variable low, high;
};

// rate exp(-rate x) for x >= 0.
class CATENA_EXPORT Exponential : public Distribution {
 public:
  explicit Exponential(const Parameter& inverse_mean);
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override;
  Variable mean() const override;
  Variable variance() const override;
  Variable rate;
};

// 1 with the probability probs, else 0. Probabilities are limited to 2^-23 and 1 - 2^-23.
class CATENA_EXPORT Bernoulli : public Distribution {
 public:
  explicit Bernoulli(const Parameter& probabilities) : Bernoulli(ProbsOptions{.probs = probabilities}) {}
  // ValueError unless one of both is given
  template <std::same_as<ProbsOptions> O = ProbsOptions> explicit Bernoulli(const O& o) : Bernoulli(logits_of(o), 0) {}
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override;
  Variable mean() const override { return probs; }
  Variable variance() const override;
  Variable logits, probs;

 protected:
  Variable draw(const Shape& shape) const override;

 private:
  Bernoulli(const Variable& values, int);
  static Variable logits_of(const ProbsOptions& o);
};

// A class 0, 1, ..., C - 1 (int64). probs (..., C) are divided by their sum over the last axis; logits are their
// logarithms but for a number. ValueError unless one of both is given; mean and variance are NaN.
class CATENA_EXPORT Categorical : public Distribution {
 public:
  explicit Categorical(const Parameter& probabilities) : Categorical(ProbsOptions{.probs = probabilities}) {}
  template <std::same_as<ProbsOptions> O = ProbsOptions>
  explicit Categorical(const O& o) : Categorical(logits_of(o), 0) {}
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override;
  Variable mean() const override;
  Variable variance() const override { return mean(); }
  Variable logits, probs;  // logits: the logarithms of probs

 protected:
  Variable draw(const Shape& shape) const override;

 private:
  Categorical(const Variable& values, int);
  static Variable logits_of(const ProbsOptions& o);
};

// A distribution whose last n batch axes belong to one event: log_prob and entropy are summed over them. ValueError for
// an n that is negative or above the number of batch axes.
template <class Base> class Independent {
 public:
  Independent(Base distribution, int n);
  Variable sample(const Shape& shape = {}) const { return base.sample(shape); }
  Variable rsample(const Shape& shape = {}) const { return base.rsample(shape); }
  Variable log_prob(const Parameter& value) const;
  Variable entropy() const;
  Variable mean() const { return base.mean(); }
  Variable variance() const { return base.variance(); }
  int n() const noexcept { return n_; }
  Base base;

 private:
  int n_;
};
namespace internal {
CATENA_EXPORT void check_axes(int n, const Shape& batch_shape);
CATENA_EXPORT void check_equal_axes(int p, int q);
CATENA_EXPORT Variable sum_of_last(const Variable& x, int n);
}  // namespace internal
template <class Base> Independent<Base>::Independent(Base distribution, int n) : base(std::move(distribution)), n_(n) {
  internal::check_axes(n, base.batch_shape());
}
template <class Base> Variable Independent<Base>::log_prob(const Parameter& value) const {
  return internal::sum_of_last(base.log_prob(value), n_);
}
template <class Base> Variable Independent<Base>::entropy() const { return internal::sum_of_last(base.entropy(), n_); }

// The Kullback-Leibler divergence of p from q, the mean of log p - log q under p, for each element of the batch.
CATENA_EXPORT Variable kl_divergence(const Normal& p, const Normal& q);
CATENA_EXPORT Variable kl_divergence(const Bernoulli& p, const Bernoulli& q);
CATENA_EXPORT Variable kl_divergence(const Categorical& p, const Categorical& q);
CATENA_EXPORT Variable kl_divergence(const Exponential& p, const Exponential& q);
// ValueError unless p.n() == q.n().
template <class Base> Variable kl_divergence(const Independent<Base>& p, const Independent<Base>& q) {
  internal::check_equal_axes(p.n(), q.n());
  return internal::sum_of_last(kl_divergence(p.base, q.base), p.n());
}

}  // namespace nn::distributions
