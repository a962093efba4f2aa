#include <catena/nn/distributions/matrices.h>

#include <cmath>
#include <numbers>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/special.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/autograd/functions/torch_special.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/distributions/gamma.h>
#include <catena/nn/distributions/parameters.h>

namespace nn::distributions {

using namespace internal;
namespace kernels = catena::kernels;
using autograd::lgamma;

namespace {

// x with a new last axis.
Variable column(const Variable& x) { return autograd::expand_dims(x, x.ndim()); }
// a, a - 1/2, ..., a - (p - 1) / 2 along a new last axis.
Variable halves_below(const Variable& a, std::int64_t p) { return column(a) - numbers_below(p, a) * 0.5; }

}  // namespace

// ---- Wishart ----
Variable Wishart::factor_of(const MultivariateNormalOptions& o) {
  const Parameter& matrix = o.covariance_matrix  ? *o.covariance_matrix
                            : o.precision_matrix ? *o.precision_matrix
                            : o.scale_tril       ? *o.scale_tril
                                                 : Parameter(0);
  const Variable m = floating(matrix.value());
  const std::int64_t length = m.ndim() > 0 ? m.shape()[m.ndim() - 1] : 1;
  return MultivariateNormal(constant(Shape{length}, 0, m), o).scale_tril;
}
Wishart::Wishart(const Parameter& freedom, const Variable& factor, int)
    : Distribution(factor,
                   catena::broadcast_shapes("Wishart", freedom.value().shape(), without_last(factor.shape(), 2)),
                   last_of(factor.shape(), 2, {})),
      df(autograd::broadcast_to(in_dtype(freedom, factor), batch_shape())),
      scale_tril(autograd::broadcast_to(factor, extended(batch_shape(), event_shape()))) {}
Variable Wishart::rsample(const Shape& shape) const {
  const std::int64_t p = event_shape()[0];
  const Shape all = extended(shape, batch_shape());
  const Variable squares = Gamma(halves_below(df * 0.5, p), 0.5).rsample(shape);
  const Variable noise = autograd::tril(normal_numbers(extended(all, event_shape()), df), -1);
  const Variable root = autograd::matmul(scale_tril, noise + autograd::diag_embed(autograd::sqrt(squares)));
  return autograd::matmul(root, root, {.transb = true});
}
Variable Wishart::log_prob(const Parameter& value) const {
  const std::int64_t p = event_shape()[0];
  const Variable root = autograd::cholesky(in_dtype(value, df));
  const Variable ratio = autograd::solve_triangular(scale_tril, root, {.lower = true});
  return log_det(root) * (df - double(p + 1)) - last_sum(last_sum(autograd::square(ratio))) * 0.5 -
         df * (log_det(scale_tril) + double(p) / 2 * std::numbers::ln2) - autograd::mvlgamma(df * 0.5, int(p));
}
Variable Wishart::entropy() const {
  const std::int64_t p = event_shape()[0];
  const Variable digammas = last_sum(autograd::digamma(halves_below(df * 0.5, p)));
  return (log_det(scale_tril) + double(p) / 2 * std::numbers::ln2) * double(p + 1) +
         autograd::mvlgamma(df * 0.5, int(p)) - (df - double(p + 1)) * 0.5 * digammas + df * (double(p) / 2);
}
Variable Wishart::covariance_matrix() const { return autograd::matmul(scale_tril, scale_tril, {.transb = true}); }
Variable Wishart::precision_matrix() const { return autograd::inv(covariance_matrix()); }
Variable Wishart::mean() const { return column(column(df)) * covariance_matrix(); }
Variable Wishart::variance() const {
  const Variable v = covariance_matrix(), d = autograd::diagonal(v, 0, v.ndim() - 2, v.ndim() - 1);
  return column(column(df)) * (autograd::square(v) + column(d) * autograd::expand_dims(d, d.ndim() - 1));
}
// NaN for a df of at most D + 1.
Variable Wishart::mode() const {
  const Variable factor = df - double(event_shape()[0] + 1);
  return column(column(within(binary(kernels::greater, factor.data(), 0.0), factor, kNan))) * covariance_matrix();
}

// ---- LKJCholesky ----
LKJCholesky::LKJCholesky(std::int64_t rows, const Parameter& power, const ValidateArgs&)
    : Distribution(floating(power.value()), power.value().shape(), Shape{rows, rows}),
      dim(rows),
      concentration(parameter(0)) {
  catena::check<catena::ValueError>(rows >= 2, "LKJCholesky", "dim is ", rows, ", not at least 2");
}
Variable LKJCholesky::log_prob(const Parameter& value) const {
  const Variable logs = log_diagonal(in_dtype(value, concentration));
  const Variable without_first = autograd::slice(logs, logs.ndim() - 1, 1, dim);  // which is 1
  const Variable order = column((concentration - 1) * 2 + double(dim - 2)) - numbers_below(dim - 1, concentration);
  const double rest = double(dim - 1);
  const Variable alpha = concentration + rest / 2;
  return last_sum(order * without_first) - autograd::mvlgamma(alpha - 0.5, int(dim - 1)) + lgamma(alpha) * rest -
         rest / 2 * std::log(std::numbers::pi);
}
// The onion method: row by row, the length is the root of a beta number and the direction even.
Variable LKJCholesky::draw(const Shape& shape) const {
  const Variable k = without_graph(concentration), rows = numbers_below(dim, k);
  const Variable before = positive_part(rows - 1);
  const double least = tiny(k.dtype());
  const Beta lengths(before * 0.5 + 0.5, column(k + double(dim - 2) / 2) - before * 0.5);
  const Variable noise = autograd::tril(normal_numbers(extended(extended(shape, batch_shape()), event_shape()), k), -1);
  const Variable length = autograd::sqrt(last_sum(autograd::square(noise)));
  const Variable inside = within(binary(kernels::greater, rows.data(), 0.0), autograd::sqrt(lengths.sample(shape)), 0);
  const Variable w = noise * column(inside / autograd::clip(length, least, kInfinity));
  const Variable left = autograd::clip(1 - last_sum(autograd::square(w)), least, 1);
  return w + autograd::diag_embed(autograd::sqrt(left));
}

}  // namespace nn::distributions
