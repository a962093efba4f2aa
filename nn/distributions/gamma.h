// Distributions whose samples are made of gamma numbers, and Poisson. Derivatives of their samples to a concentration
// are those at a fixed value of the distribution function. distributions.h states the shapes and dtypes.
#pragma once

#include <concepts>

#include <catena/nn/distributions/distributions.h>

namespace nn::distributions {

struct GammaOptions {
  Parameter concentration = 1, rate = 1;
  std::optional<bool> validate_args = {};
};
// rate^a x^(a - 1) exp(-rate x) / gamma(a) for x > 0 and the concentration a. (Drawn by Marsaglia and
// Tsang, "A simple method for generating gamma variables", 2000.)
class CATENA_EXPORT Gamma : public Distribution {
 public:
  Gamma(const Parameter& shape, const Parameter& inverse_scale, const ValidateArgs& = {})
      : Distribution({shape, inverse_scale}) {}
  template <std::same_as<GammaOptions> O = GammaOptions> explicit Gamma(const O& o) : Gamma(o.concentration, o.rate) {}
  Gamma expand(const Shape& batch) const { return {expanded(concentration, batch), expanded(rate, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable cdf(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable concentration = parameter(0), rate = parameter(1);
};

struct BetaOptions {
  Parameter concentration1 = 1, concentration0 = 1;
  std::optional<bool> validate_args = {};
};
// x^(a - 1) (1 - x)^(b - 1) / B(a, b) for 0 < x < 1, where a is concentration1 and b is concentration0.
class CATENA_EXPORT Beta : public Distribution {
 public:
  Beta(const Parameter& a, const Parameter& b, const ValidateArgs& = {}) : Distribution({a, b}) {}
  template <std::same_as<BetaOptions> O = BetaOptions>
  explicit Beta(const O& o) : Beta(o.concentration1, o.concentration0) {}
  Beta expand(const Shape& batch) const { return {expanded(concentration1, batch), expanded(concentration0, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable concentration1 = parameter(0), concentration0 = parameter(1);
};

struct DirichletOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Parameter concentration = 1;
  std::optional<bool> validate_args = {};
};
// Probabilities of K classes, (..., K), which add up to 1; the concentration has the shape (..., K), else ValueError.
// The event has one axis.
class CATENA_EXPORT Dirichlet : public Distribution {
 public:
  explicit Dirichlet(const Parameter& concentrations, const ValidateArgs& = {});
  template <std::same_as<DirichletOptions> O = DirichletOptions>
  explicit Dirichlet(const O& o) : Dirichlet(o.concentration) {}
  Dirichlet expand(const Shape& batch) const { return Dirichlet(expanded(concentration, batch, 1)); }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable concentration;
};

struct Chi2Options {
  Parameter df = 1;
  std::optional<bool> validate_args = {};
};
// The sum of the squares of df standard normal numbers: Gamma(df / 2, 1 / 2).
class CATENA_EXPORT Chi2 : public Gamma {
 public:
  explicit Chi2(const Parameter& freedom, const ValidateArgs& = {}) : Gamma(half_of(freedom), 0.5) {}
  template <std::same_as<Chi2Options> O = Chi2Options> explicit Chi2(const O& o) : Chi2(o.df) {}
  Chi2 expand(const Shape& batch) const { return Chi2(expanded(df, batch)); }
  Variable df = doubled(concentration);

 private:
  static Variable half_of(const Parameter&freedom), doubled(const Variable&half);
};

// 1 / x of the x of Gamma(concentration, rate).
class CATENA_EXPORT InverseGamma : public Distribution {
 public:
  InverseGamma(const Parameter& shape, const Parameter& scale, const ValidateArgs& = {})
      : Distribution({shape, scale}) {}
  template <std::same_as<GammaOptions> O = GammaOptions>
  explicit InverseGamma(const O& o) : InverseGamma(o.concentration, o.rate) {}
  InverseGamma expand(const Shape& batch) const { return {expanded(concentration, batch), expanded(rate, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable cdf(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable concentration = parameter(0), rate = parameter(1);
};

struct FisherSnedecorOptions {
  Parameter df1 = 1, df2 = 1;
  std::optional<bool> validate_args = {};
};
// The quotient of x1 / df1 and x2 / df2, where x1 is of Chi2(df1) and x2 of Chi2(df2).
class CATENA_EXPORT FisherSnedecor : public Distribution {
 public:
  FisherSnedecor(const Parameter& above, const Parameter& below, const ValidateArgs& = {})
      : Distribution({above, below}) {}
  template <std::same_as<FisherSnedecorOptions> O = FisherSnedecorOptions>
  explicit FisherSnedecor(const O& o) : FisherSnedecor(o.df1, o.df2) {}
  FisherSnedecor expand(const Shape& batch) const { return {expanded(df1, batch), expanded(df2, batch)}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable mean() const override, variance() const override, mode() const override;
  Variable df1 = parameter(0), df2 = parameter(1);
};

struct PoissonOptions {
  Parameter rate = 1;
  std::optional<bool> validate_args = {};
};
// rate^x exp(-rate) / x! for x = 0, 1, 2, ... There is no entropy (NotImplementedError). (Drawn by Hoermann's PTRS,
// "The transformed rejection method for generating Poisson random variables", 1993, and below a rate of 10 by the
// inverse of the distribution function.)
class CATENA_EXPORT Poisson : public Distribution {
 public:
  explicit Poisson(const Parameter& mean_number, const ValidateArgs& = {}) : Distribution({mean_number}) {}
  template <std::same_as<PoissonOptions> O = PoissonOptions> explicit Poisson(const O& o) : Poisson(o.rate) {}
  Poisson expand(const Shape& batch) const { return Poisson(expanded(rate, batch)); }
  Variable log_prob(const Parameter& value) const override;
  Variable mode() const override;
  Variable mean() const override { return rate; }
  Variable variance() const override { return rate; }
  Variable rate = parameter(0);

 protected:
  Variable draw(const Shape& shape) const override;
};

CATENA_EXPORT Variable kl_divergence(const Gamma& p, const Gamma& q);
CATENA_EXPORT Variable kl_divergence(const Beta& p, const Beta& q);
CATENA_EXPORT Variable kl_divergence(const Dirichlet& p, const Dirichlet& q);
CATENA_EXPORT Variable kl_divergence(const InverseGamma& p, const InverseGamma& q);
CATENA_EXPORT Variable kl_divergence(const Poisson& p, const Poisson& q);

}  // namespace nn::distributions
