// Distributions of matrices. distributions.h states the dtypes.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <catena/nn/distributions/distributions.h>
#include <catena/nn/distributions/multivariate_normal.h>

namespace nn::distributions {

// The sum of x x^T of df vectors x of MultivariateNormal with the mean 0; df is any number above D - 1. The event is a
// matrix (D, D). One of the three matrices is given, by position the covariance: D::Wishart(5, covariance),
// D::Wishart(5, {.scale_tril = factor}). Errors are those of MultivariateNormal. (Drawn by Bartlett's decomposition.)
class CATENA_EXPORT Wishart : public Distribution {
 public:
  Wishart(const Parameter& freedom, const Parameter& covariance, const ValidateArgs& = {})
      : Wishart(freedom, MultivariateNormalOptions{.covariance_matrix = covariance}) {}
  template <std::same_as<MultivariateNormalOptions> O = MultivariateNormalOptions>
  Wishart(const Parameter& freedom, const O& o) : Wishart(freedom, factor_of(o), 0) {}
  Wishart expand(const Shape& batch) const { return {expanded(df, batch), expanded(scale_tril, batch, 2), 0}; }
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable entropy() const override, mean() const override, variance() const override, mode() const override;
  Variable covariance_matrix() const, precision_matrix() const;
  Variable df, scale_tril;

 private:
  Wishart(const Parameter& freedom, const Variable& factor, int);
  static Variable factor_of(const MultivariateNormalOptions& o);
};

struct LKJOptions {
  std::int64_t dim = 2;
  Parameter concentration = 1;
  std::optional<bool> validate_args = {};
};
// Cholesky factors (dim, dim) of correlation matrices C, with the density det(C)^(concentration - 1) of C. Samples have
// no derivatives. ValueError for a dim below 2. (Lewandowski, Kurowicka and Joe, "Generating random correlation
// matrices", 2009.)
class CATENA_EXPORT LKJCholesky : public Distribution {
 public:
  explicit LKJCholesky(std::int64_t rows, const Parameter& power = 1, const ValidateArgs& = {});
  template <std::same_as<LKJOptions> O = LKJOptions>
  explicit LKJCholesky(const O& o) : LKJCholesky(o.dim, o.concentration) {}
  LKJCholesky expand(const Shape& batch) const { return LKJCholesky(dim, expanded(concentration, batch)); }
  Variable log_prob(const Parameter& value) const override;
  std::int64_t dim;
  Variable concentration;

 protected:
  Variable draw(const Shape& shape) const override;
};

}  // namespace nn::distributions
