// Distributions of numbers by formulas. distributions.h states the shapes and dtypes.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/distributions/distributions.h>
#include <catena/nn/distributions/gamma.h>

namespace nn::distributions {

// exp(x) of the x of Normal(loc, scale).
class CATENA_EXPORT LogNormal : public Distribution {
 public:
  LogNormal(const Parameter& location, const Parameter& deviation, const ValidateArgs& = {})
      : Distribution({location, deviation}) {}
  template <std::same_as<LocationScale> O = LocationScale> explicit LogNormal(const O& o) : LogNormal(o.loc, o.scale) {}
  LogNormal expand(const Shape& batch) const { return {expanded(loc, batch), expanded(scale, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable loc = parameter(0), scale = parameter(1);
};

// 1 / (pi scale (1 + ((x - loc) / scale)^2)). The mean is NaN and the variance infinite.
class CATENA_EXPORT Cauchy : public Distribution {
 public:
  Cauchy(const Parameter& location, const Parameter& width, const ValidateArgs& = {})
      : Distribution({location, width}) {}
  template <std::same_as<LocationScale> O = LocationScale> explicit Cauchy(const O& o) : Cauchy(o.loc, o.scale) {}
  Cauchy expand(const Shape& batch) const { return {expanded(loc, batch), expanded(scale, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override;
  Variable mode() const override { return loc; }
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable loc = parameter(0), scale = parameter(1);
};

// The distribution of the largest of many numbers: exp(-exp(-(x - loc) / scale)) is the probability of at most x.
class CATENA_EXPORT Gumbel : public Distribution {
 public:
  Gumbel(const Parameter& location, const Parameter& width, const ValidateArgs& = {})
      : Distribution({location, width}) {}
  template <std::same_as<LocationScale> O = LocationScale> explicit Gumbel(const O& o) : Gumbel(o.loc, o.scale) {}
  Gumbel expand(const Shape& batch) const { return {expanded(loc, batch), expanded(scale, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override;
  Variable mode() const override { return loc; }
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable loc = parameter(0), scale = parameter(1);
};

// The parameter of HalfNormal and HalfCauchy by name.
struct ScaleParameter {
  Parameter scale = 1;
  std::optional<bool> validate_args = {};
};
// |x| of the x of Normal(0, scale).
class CATENA_EXPORT HalfNormal : public Distribution {
 public:
  explicit HalfNormal(const Parameter& width, const ValidateArgs& = {}) : Distribution({width}) {}
  template <std::same_as<ScaleParameter> O = ScaleParameter> explicit HalfNormal(const O& o) : HalfNormal(o.scale) {}
  HalfNormal expand(const Shape& batch) const { return HalfNormal(expanded(scale, batch)); }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable scale = parameter(0);
};
// |x| of the x of Cauchy(0, scale). The mean and the variance are infinite.
class CATENA_EXPORT HalfCauchy : public Distribution {
 public:
  explicit HalfCauchy(const Parameter& width, const ValidateArgs& = {}) : Distribution({width}) {}
  template <std::same_as<ScaleParameter> O = ScaleParameter> explicit HalfCauchy(const O& o) : HalfCauchy(o.scale) {}
  HalfCauchy expand(const Shape& batch) const { return HalfCauchy(expanded(scale, batch)); }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable scale = parameter(0);
};

struct StudentTOptions {
  Parameter df = 1, loc = 0, scale = 1;
  std::optional<bool> validate_args = {};
};
// Student's distribution of df degrees of freedom, moved and widened. The mean is NaN for df of at most 1, the variance
// infinite for df of at most 2 and NaN of at most 1.
class CATENA_EXPORT StudentT : public Distribution {
 public:
  explicit StudentT(const Parameter& freedom, const Parameter& location = 0, const Parameter& width = 1,
                    const ValidateArgs& = {})
      : Distribution({freedom, location, width}) {}
  template <std::same_as<StudentTOptions> O = StudentTOptions>
  explicit StudentT(const O& o) : StudentT(o.df, o.loc, o.scale) {}
  StudentT expand(const Shape& batch) const {
    return StudentT(expanded(df, batch), expanded(loc, batch), expanded(scale, batch));
  }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override;
  Variable mode() const override { return loc; }
  Variable df = parameter(0), loc = parameter(1), scale = parameter(2);
};

struct ParetoOptions {
  Parameter scale = 1, alpha = 1;
  std::optional<bool> validate_args = {};
};
// alpha scale^alpha / x^(alpha + 1) for x >= scale. Moments that diverge are infinite.
class CATENA_EXPORT Pareto : public Distribution {
 public:
  Pareto(const Parameter& least, const Parameter& power, const ValidateArgs& = {}) : Distribution({least, power}) {}
  template <std::same_as<ParetoOptions> O = ParetoOptions> explicit Pareto(const O& o) : Pareto(o.scale, o.alpha) {}
  Pareto expand(const Shape& batch) const { return {expanded(scale, batch), expanded(alpha, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override;
  Variable mode() const override { return scale; }
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable scale = parameter(0), alpha = parameter(1);
};

struct GeneralizedParetoOptions {
  Parameter loc = 0, scale = 1, concentration = 0;
  std::optional<bool> validate_args = {};
};
// The excess over a high threshold loc: (1 + c z)^(-1 - 1 / c) / scale with z = (x - loc) / scale >= 0 and the
// concentration c, and exp(-z) / scale for c = 0. Moments that diverge are infinite.
class CATENA_EXPORT GeneralizedPareto : public Distribution {
 public:
  GeneralizedPareto(const Parameter& least, const Parameter& width, const Parameter& shape, const ValidateArgs& = {})
      : Distribution({least, width, shape}) {}
  template <std::same_as<GeneralizedParetoOptions> O = GeneralizedParetoOptions>
  explicit GeneralizedPareto(const O& o) : GeneralizedPareto(o.loc, o.scale, o.concentration) {}
  GeneralizedPareto expand(const Shape& batch) const {
    return {expanded(loc, batch), expanded(scale, batch), expanded(concentration, batch)};
  }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override;
  Variable mode() const override { return loc; }
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable loc = parameter(0), scale = parameter(1), concentration = parameter(2);
};

struct WeibullOptions {
  Parameter scale = 1, concentration = 1;
  std::optional<bool> validate_args = {};
};
// 1 - exp(-(x / scale)^concentration) is the probability of at most x.
class CATENA_EXPORT Weibull : public Distribution {
 public:
  Weibull(const Parameter& width, const Parameter& shape, const ValidateArgs& = {}) : Distribution({width, shape}) {}
  template <std::same_as<WeibullOptions> O = WeibullOptions>
  explicit Weibull(const O& o) : Weibull(o.scale, o.concentration) {}
  Weibull expand(const Shape& batch) const { return {expanded(scale, batch), expanded(concentration, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable scale = parameter(0), concentration = parameter(1);
};

// 1 - (1 - x^a)^b is the probability of at most x, for 0 < x < 1, where a is concentration1 and b is concentration0.
// The mode is NaN where one of both is below 1.
class CATENA_EXPORT Kumaraswamy : public Distribution {
 public:
  Kumaraswamy(const Parameter& a, const Parameter& b, const ValidateArgs& = {}) : Distribution({a, b}) {}
  template <std::same_as<BetaOptions> O = BetaOptions>
  explicit Kumaraswamy(const O& o) : Kumaraswamy(o.concentration1, o.concentration0) {}
  Kumaraswamy expand(const Shape& batch) const {
    return {expanded(concentration1, batch), expanded(concentration0, batch)};
  }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable concentration1 = parameter(0), concentration0 = parameter(1);
};

// The density p^x (1 - p)^(1 - x) C(p) for 0 <= x <= 1. Functions that are 0 / 0 at p = 1/2 are Taylor's polynomials of
// the logit near it; for |p - 1/2| <= 0.001, cdf and icdf are those of even numbers, as in PyTorch. The logits of
// given probabilities are finite, as those of Bernoulli.
class CATENA_EXPORT ContinuousBernoulli : public Distribution {
 public:
  explicit ContinuousBernoulli(const Parameter& probabilities, const ValidateArgs& = {})
      : ContinuousBernoulli(ProbsOptions{.probs = probabilities}) {}
  // ValueError unless one of both is given
  template <std::same_as<ProbsOptions> O = ProbsOptions>
  explicit ContinuousBernoulli(const O& o) : ContinuousBernoulli(internal::chances_of("ContinuousBernoulli", o)) {}
  ContinuousBernoulli expand(const Shape& batch) const {
    return ContinuousBernoulli(internal::Chances{expanded(logits, batch), expanded(probs, batch)});
  }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override;
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable log_norm() const;  // log C(p)
  Variable logits, probs;

 private:
  explicit ContinuousBernoulli(const internal::Chances& chances);
};

struct VonMisesOptions {
  Parameter loc = 0, concentration = 1;
  std::optional<bool> validate_args = {};
};
// Angles in [-pi, pi): exp(concentration cos(x - loc)) / (2 pi I0(concentration)). variance() is the circular one.
// Samples have no derivatives. (Drawn by Best and Fisher, "Efficient simulation of the von Mises distribution", 1979.)
class CATENA_EXPORT VonMises : public Distribution {
 public:
  VonMises(const Parameter& location, const Parameter& narrowness, const ValidateArgs& = {})
      : Distribution({location, narrowness}) {}
  template <std::same_as<VonMisesOptions> O = VonMisesOptions>
  explicit VonMises(const O& o) : VonMises(o.loc, o.concentration) {}
  VonMises expand(const Shape& batch) const { return {expanded(loc, batch), expanded(concentration, batch)}; }
  Variable log_prob(const Parameter& value) const override;
  Variable variance() const override;
  Variable mean() const override { return loc; }
  Variable mode() const override { return loc; }
  Variable loc = parameter(0), concentration = parameter(1);

 protected:
  Variable draw(const Shape& shape) const override;
};

CATENA_EXPORT Variable kl_divergence(const LogNormal& p, const LogNormal& q);
CATENA_EXPORT Variable kl_divergence(const Cauchy& p, const Cauchy& q);
CATENA_EXPORT Variable kl_divergence(const Gumbel& p, const Gumbel& q);
CATENA_EXPORT Variable kl_divergence(const HalfNormal& p, const HalfNormal& q);
CATENA_EXPORT Variable kl_divergence(const Pareto& p, const Pareto& q);
CATENA_EXPORT Variable kl_divergence(const ContinuousBernoulli& p, const ContinuousBernoulli& q);

}  // namespace nn::distributions
