// Distributions of counts and of classes, and their relaxations. distributions.h states the shapes and dtypes.
//
// Each has either probs or logits, as Bernoulli and Categorical have: D::Geometric(0.25), D::Geometric({.logits = x}).
// Where another parameter stands first: D::Binomial(10, 0.25), D::Binomial(10, {.logits = x}) or
// D::Binomial({.total_count = 10, .logits = x}). ValueError unless one of both is given.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include <catena/nn/distributions/distributions.h>

namespace nn::distributions {

// The number of failures before the first success, 0, 1, ..., where each trial succeeds with the probability probs.
class CATENA_EXPORT Geometric : public Distribution {
 public:
  explicit Geometric(const Parameter& probabilities, const ValidateArgs& = {})
      : Geometric(ProbsOptions{.probs = probabilities}) {}
  template <std::same_as<ProbsOptions> O = ProbsOptions>
  explicit Geometric(const O& o) : Geometric(internal::chances_of("Geometric", o)) {}
  Geometric expand(const Shape& batch) const {
    return Geometric(internal::Chances{expanded(logits, batch), expanded(probs, batch)});
  }
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable logits, probs;

 protected:
  Variable draw(const Shape& shape) const override;

 private:
  explicit Geometric(const internal::Chances& chances);
};

struct CountOptions {
  Parameter total_count = 1;
  std::optional<Parameter> probs = {}, logits = {};
  std::optional<bool> validate_args = {};
};
// The number of successes of total_count trials. entropy and enumerate_support demand one number of trials for all
// elements, else NotImplementedError.
class CATENA_EXPORT Binomial : public Distribution {
 public:
  Binomial(const Parameter& trials, const Parameter& probabilities, const ValidateArgs& = {})
      : Binomial(CountOptions{.total_count = trials, .probs = probabilities}) {}
  template <std::same_as<ProbsOptions> O = ProbsOptions>
  Binomial(const Parameter& trials, const O& o) : Binomial(trials, internal::chances_of(kName, o)) {}
  template <std::same_as<CountOptions> O = CountOptions>
  explicit Binomial(const O& o) : Binomial(o.total_count, ProbsOptions{.probs = o.probs, .logits = o.logits}) {}
  Binomial expand(const Shape& batch) const {
    return Binomial(expanded(total_count, batch), internal::Chances{expanded(logits, batch), expanded(probs, batch)});
  }
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable enumerate_support(bool expand = true) const override;
  Variable total_count = parameter(0), logits = parameter(1), probs = parameter(2);

 protected:
  Variable draw(const Shape& shape) const override;

 private:
  static constexpr const char* kName = "Binomial";
  Binomial(const Parameter& trials, const internal::Chances& chances);
};

// The number of successes, each of the probability probs, before total_count failures; total_count is any number above
// 0.
class CATENA_EXPORT NegativeBinomial : public Distribution {
 public:
  NegativeBinomial(const Parameter& failures, const Parameter& probabilities, const ValidateArgs& = {})
      : NegativeBinomial(CountOptions{.total_count = failures, .probs = probabilities}) {}
  template <std::same_as<ProbsOptions> O = ProbsOptions>
  NegativeBinomial(const Parameter& failures, const O& o)
      : NegativeBinomial(failures, internal::chances_of(kName, o)) {}
  template <std::same_as<CountOptions> O = CountOptions>
  explicit NegativeBinomial(const O& o)
      : NegativeBinomial(o.total_count, ProbsOptions{.probs = o.probs, .logits = o.logits}) {}
  NegativeBinomial expand(const Shape& batch) const {
    return NegativeBinomial(expanded(total_count, batch),
                            internal::Chances{expanded(logits, batch), expanded(probs, batch)});
  }
  Variable log_prob(const Parameter& value) const override;
  Variable mean() const override, variance() const override, mode() const override;
  Variable total_count = parameter(0), logits = parameter(1), probs = parameter(2);

 protected:
  Variable draw(const Shape& shape) const override;

 private:
  static constexpr const char* kName = "NegativeBinomial";
  NegativeBinomial(const Parameter& failures, const internal::Chances& chances);
};

struct MultinomialOptions {
  std::int64_t total_count = 1;
  std::optional<Parameter> probs = {}, logits = {};
  std::optional<bool> validate_args = {};
};
// How often each class (..., C) occurs in total_count draws of Categorical. The event has one axis. ValueError for a
// negative total_count.
class CATENA_EXPORT Multinomial : public Distribution {
 public:
  explicit Multinomial(std::int64_t trials, const Parameter& probabilities, const ValidateArgs& = {})
      : Multinomial(trials, ProbsOptions{.probs = probabilities}) {}
  template <std::same_as<ProbsOptions> O = ProbsOptions>
  Multinomial(std::int64_t trials, const O& o) : Multinomial(trials, Categorical(o)) {}
  template <std::same_as<MultinomialOptions> O = MultinomialOptions>
  explicit Multinomial(const O& o) : Multinomial(o.total_count, ProbsOptions{.probs = o.probs, .logits = o.logits}) {}
  Multinomial expand(const Shape& batch) const { return {total_count, classes_.expand(batch)}; }
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override;
  std::int64_t total_count;
  Variable logits, probs;

 protected:
  Variable draw(const Shape& shape) const override;

 private:
  Multinomial(std::int64_t trials, Categorical classes);
  Categorical classes_;
};

// A class as a vector (..., C) of zeros and a one. The event has one axis.
class CATENA_EXPORT OneHotCategorical : public Distribution {
 public:
  explicit OneHotCategorical(const Parameter& probabilities, const ValidateArgs& = {})
      : OneHotCategorical(Categorical(probabilities)) {}
  template <std::same_as<ProbsOptions> O = ProbsOptions>
  explicit OneHotCategorical(const O& o) : OneHotCategorical(Categorical(o)) {}
  OneHotCategorical expand(const Shape& batch) const { return OneHotCategorical(classes_.expand(batch)); }
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable enumerate_support(bool expand = true) const override;
  Variable logits, probs;

 protected:
  explicit OneHotCategorical(Categorical classes);
  Variable draw(const Shape& shape) const override;
  friend Variable kl_divergence(const OneHotCategorical& p, const OneHotCategorical& q);
  Categorical classes_;
};
// OneHotCategorical whose samples have the derivatives of probs. (Bengio et al., "Estimating or propagating gradients
// through stochastic neurons for conditional computation", 2013.)
class CATENA_EXPORT OneHotCategoricalStraightThrough : public OneHotCategorical {
 public:
  using OneHotCategorical::OneHotCategorical;
  OneHotCategoricalStraightThrough expand(const Shape& batch) const {
    return OneHotCategoricalStraightThrough(classes_.expand(batch));
  }
  Variable rsample(const Shape& shape = {}) const override;

 private:
  explicit OneHotCategoricalStraightThrough(Categorical classes) : OneHotCategorical(std::move(classes)) {}
};

struct RelaxedOptions {
  Parameter temperature = 1;
  std::optional<Parameter> probs = {}, logits = {};
  std::optional<bool> validate_args = {};
};
// Numbers between 0 and 1 that are nearly those of Bernoulli at low temperatures. (Maddison et al., "The
// concrete distribution", 2017.)
class CATENA_EXPORT RelaxedBernoulli : public Distribution {
 public:
  RelaxedBernoulli(const Parameter& heat, const Parameter& probabilities, const ValidateArgs& = {})
      : RelaxedBernoulli(heat, ProbsOptions{.probs = probabilities}) {}
  template <std::same_as<ProbsOptions> O = ProbsOptions>
  RelaxedBernoulli(const Parameter& heat, const O& o)
      : RelaxedBernoulli(heat, internal::chances_of("RelaxedBernoulli", o)) {}
  template <std::same_as<RelaxedOptions> O = RelaxedOptions>
  explicit RelaxedBernoulli(const O& o)
      : RelaxedBernoulli(o.temperature, ProbsOptions{.probs = o.probs, .logits = o.logits}) {}
  RelaxedBernoulli expand(const Shape& batch) const {
    return RelaxedBernoulli(temperature, internal::Chances{expanded(logits, batch), expanded(probs, batch)});
  }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable temperature, logits, probs;

 private:
  RelaxedBernoulli(const Parameter& heat, const internal::Chances& chances);
};
// Vectors (..., C) of probabilities that are nearly those of OneHotCategorical at low temperatures. The event has one
// axis. (As RelaxedBernoulli; Jang, Gu and Poole, "Categorical reparameterization with Gumbel-Softmax", 2017.)
class CATENA_EXPORT RelaxedOneHotCategorical : public Distribution {
 public:
  RelaxedOneHotCategorical(const Parameter& heat, const Parameter& probabilities, const ValidateArgs& = {})
      : RelaxedOneHotCategorical(heat, Categorical(probabilities)) {}
  template <std::same_as<ProbsOptions> O = ProbsOptions>
  RelaxedOneHotCategorical(const Parameter& heat, const O& o) : RelaxedOneHotCategorical(heat, Categorical(o)) {}
  template <std::same_as<RelaxedOptions> O = RelaxedOptions>
  explicit RelaxedOneHotCategorical(const O& o)
      : RelaxedOneHotCategorical(o.temperature, ProbsOptions{.probs = o.probs, .logits = o.logits}) {}
  RelaxedOneHotCategorical expand(const Shape& batch) const { return {temperature, classes_.expand(batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable temperature, logits, probs;

 private:
  RelaxedOneHotCategorical(const Parameter& heat, Categorical classes);
  Categorical classes_;
};

CATENA_EXPORT Variable kl_divergence(const Geometric& p, const Geometric& q);
// Infinite where p has more trials than q; NotImplementedError where it has fewer.
CATENA_EXPORT Variable kl_divergence(const Binomial& p, const Binomial& q);
CATENA_EXPORT Variable kl_divergence(const OneHotCategorical& p, const OneHotCategorical& q);

}  // namespace nn::distributions
