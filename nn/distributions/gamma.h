// Distributions whose densities have gamma functions: Gamma, Beta, Dirichlet and Poisson. distributions.h states the
// shapes and dtypes.
#pragma once

#include <concepts>

#include <catena/nn/distributions/distributions.h>

namespace nn::distributions {

struct GammaOptions {
  Parameter concentration = 1, rate = 1;
};
// rate^a x^(a - 1) exp(-rate x) / gamma(a) for x > 0 and the concentration a. Samples have no derivatives. (Drawn by
// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.)
class CATENA_EXPORT Gamma : public Distribution {
 public:
  Gamma(const Parameter& shape, const Parameter& inverse_scale);
  template <std::same_as<GammaOptions> O = GammaOptions> explicit Gamma(const O& o) : Gamma(o.concentration, o.rate) {}
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override;
  Variable mean() const override;
  Variable variance() const override;
  Variable concentration, rate;

 protected:
  Variable draw(const Shape& shape) const override;
};

struct BetaOptions {
  Parameter concentration1 = 1, concentration0 = 1;
};
// x^(a - 1) (1 - x)^(b - 1) / B(a, b) for 0 < x < 1, where a is concentration1 and b is concentration0. Samples have no
// derivatives.
class CATENA_EXPORT Beta : public Distribution {
 public:
  Beta(const Parameter& a, const Parameter& b);
  template <std::same_as<BetaOptions> O = BetaOptions>
  explicit Beta(const O& o) : Beta(o.concentration1, o.concentration0) {}
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override;
  Variable mean() const override;
  Variable variance() const override;
  Variable concentration1, concentration0;

 protected:
  Variable draw(const Shape& shape) const override;
};

// Probabilities of K classes, (..., K), which add up to 1; the concentration has the shape (..., K), else ValueError.
// The event has one axis. Samples have no derivatives.
class CATENA_EXPORT Dirichlet : public Distribution {
 public:
  explicit Dirichlet(const Parameter& concentrations);
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override;
  Variable mean() const override;
  Variable variance() const override;
  Variable concentration;

 protected:
  Variable draw(const Shape& shape) const override;
};

struct PoissonOptions {
  Parameter rate = 1;
};
// rate^x exp(-rate) / x! for x = 0, 1, 2, ... There is no entropy (NotImplementedError). (Drawn by Hoermann's PTRS,
// "The transformed rejection method for generating Poisson random variables", 1993, and below a rate of 10 by the
// inverse of the distribution function.)
class CATENA_EXPORT Poisson : public Distribution {
 public:
  explicit Poisson(const Parameter& mean_number);
  template <std::same_as<PoissonOptions> O = PoissonOptions> explicit Poisson(const O& o) : Poisson(o.rate) {}
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override;
  Variable mean() const override { return rate; }
  Variable variance() const override { return rate; }
  Variable rate;

 protected:
  Variable draw(const Shape& shape) const override;
};

CATENA_EXPORT Variable kl_divergence(const Gamma& p, const Gamma& q);
CATENA_EXPORT Variable kl_divergence(const Beta& p, const Beta& q);
CATENA_EXPORT Variable kl_divergence(const Dirichlet& p, const Dirichlet& q);
CATENA_EXPORT Variable kl_divergence(const Poisson& p, const Poisson& q);

}  // namespace nn::distributions
