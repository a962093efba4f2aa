// The normal distribution of vectors. distributions.h states the dtypes.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/distributions/distributions.h>

namespace nn::distributions {

// One of the three is given, (..., D, D): the covariance, its inverse, or its Cholesky factor.
struct MultivariateNormalOptions {
  std::optional<Parameter> covariance_matrix = {}, precision_matrix = {}, scale_tril = {};
  std::optional<bool> validate_args = {};
};
struct MultivariateNormalArguments {
  [[no_unique_address]] catena::Named named = catena::Named();
  Parameter loc = 0;
  std::optional<Parameter> covariance_matrix = {}, precision_matrix = {}, scale_tril = {};
  std::optional<bool> validate_args = {};
};
// Vectors of the length D with the mean loc (..., D). The event has one axis. ValueError unless exactly one matrix is
// given, for a loc without axes and for a matrix of another shape; LinAlgError for a matrix that is not positive
// definite, and ValueError for a singular precision_matrix.
//   D::MultivariateNormal d(mean, covariance);   D::MultivariateNormal d(mean, {.scale_tril = factor});
class CATENA_EXPORT MultivariateNormal : public Distribution {
 public:
  MultivariateNormal(const Parameter& location, const Parameter& covariance, const ValidateArgs& = {})
      : MultivariateNormal(location, MultivariateNormalOptions{.covariance_matrix = covariance}) {}
  template <std::same_as<MultivariateNormalOptions> O = MultivariateNormalOptions>
  MultivariateNormal(const Parameter& location, const O& o) : MultivariateNormal(location, factor_of(location, o), 0) {}
  template <std::same_as<MultivariateNormalArguments> O = MultivariateNormalArguments>
  explicit MultivariateNormal(const O& o)
      : MultivariateNormal(o.loc, MultivariateNormalOptions{.covariance_matrix = o.covariance_matrix,
                                                            .precision_matrix = o.precision_matrix,
                                                            .scale_tril = o.scale_tril}) {}
  MultivariateNormal expand(const Shape& batch) const {
    return {expanded(loc, batch, 1), expanded(scale_tril, batch, 2), 0};
  }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override;
  Variable mode() const override { return mean(); }
  Variable covariance_matrix() const, precision_matrix() const;
  Variable loc, scale_tril;

 private:
  MultivariateNormal(const Parameter& location, const Variable& factor, int);
  static Variable factor_of(const Parameter& location, const MultivariateNormalOptions& o);
};

struct LowRankOptions {
  Parameter loc = 0, cov_factor = 0, cov_diag = 1;
  std::optional<bool> validate_args = {};
};
// MultivariateNormal with the covariance W W^T + diag(d), where W = cov_factor (..., D, R) has few columns and
// d = cov_diag is (..., D): the costs of log_prob and entropy grow with D R^2, those of a sample with D R. The matrices
// (..., D, D) and kl_divergence, which makes them, cost as those of MultivariateNormal. ValueError for arrays without
// these axes.
class CATENA_EXPORT LowRankMultivariateNormal : public Distribution {
 public:
  LowRankMultivariateNormal(const Parameter& location, const Parameter& factor, const Parameter& diagonal,
                            const ValidateArgs& = {})
      : LowRankMultivariateNormal(parts_of(location, factor, diagonal)) {}
  template <std::same_as<LowRankOptions> O = LowRankOptions>
  explicit LowRankMultivariateNormal(const O& o) : LowRankMultivariateNormal(o.loc, o.cov_factor, o.cov_diag) {}
  LowRankMultivariateNormal expand(const Shape& batch) const {
    return {expanded(loc, batch, 1), expanded(cov_factor, batch, 2), expanded(cov_diag, batch, 1)};
  }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, variance() const override;
  Variable mean() const override { return loc; }
  Variable mode() const override { return loc; }
  Variable covariance_matrix() const, scale_tril() const, precision_matrix() const;
  Variable loc, cov_factor, cov_diag;

 private:
  Variable capacitance_tril() const;  // the Cholesky factor of 1 + W^T diag(1 / d) W
  Variable half_log_det(const Variable& capacitance) const;
  struct Parts {
    Shape batch;
    Variable center, factor, diagonal;
  };
  explicit LowRankMultivariateNormal(const Parts& parts);
  static Parts parts_of(const Parameter& location, const Parameter& factor, const Parameter& diagonal);
};

CATENA_EXPORT Variable kl_divergence(const LowRankMultivariateNormal& p, const LowRankMultivariateNormal& q);
CATENA_EXPORT Variable kl_divergence(const MultivariateNormal& p, const MultivariateNormal& q);

}  // namespace nn::distributions
