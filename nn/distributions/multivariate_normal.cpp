#include <catena/nn/distributions/multivariate_normal.h>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/base/error.h>
#include <catena/nn/distributions/parameters.h>

namespace nn::distributions {

using namespace internal;
using catena::check;
using catena::ValueError;

namespace {

// The common shape of the leading axes of vectors and matrices.
Shape batch_of(const Variable& vectors, const Variable& matrices) {
  return catena::broadcast_shapes("MultivariateNormal", without_last(vectors.shape()),
                                  without_last(without_last(matrices.shape())));
}
Variable floating_of(const Parameter& p) { return floating(p.value()); }
// L^-1 v for vectors v (..., D), whose leading axes are extended to those of L.
Variable whitened(const Variable& factor, const Variable& vectors) {
  const Variable columns = autograd::expand_dims(vectors, vectors.ndim());
  const Variable x = autograd::solve_triangular(factor, columns, {.lower = true});
  return autograd::squeeze(x, x.ndim() - 1);
}

}  // namespace

Variable MultivariateNormal::factor_of(const Parameter& location, const MultivariateNormalOptions& o) {
  const char* const who = "MultivariateNormal";
  const int given = o.covariance_matrix.has_value() + o.precision_matrix.has_value() + o.scale_tril.has_value();
  check<ValueError>(given == 1, who, "give one of covariance_matrix, precision_matrix and scale_tril");
  const Shape mean = location.value().shape();
  check<ValueError>(mean.size() >= 1, who, "loc has no axis");
  const Variable loc = floating_of(location);
  const Parameter& matrix = o.covariance_matrix  ? *o.covariance_matrix
                            : o.precision_matrix ? *o.precision_matrix
                                                 : *o.scale_tril;
  const Variable m = in_dtype(matrix, loc);
  const std::int64_t length = mean[mean.size() - 1];
  const int n = m.ndim();
  check<ValueError>(n >= 2 && m.shape()[n - 1] == length && m.shape()[n - 2] == length, who,
                    "the matrix has the shape ", m.shape(), "; its last two lengths are that of loc, ", length);
  if (o.covariance_matrix) return autograd::cholesky(m);
  if (o.precision_matrix) return autograd::cholesky(autograd::inv(m));
  return m;
}
MultivariateNormal::MultivariateNormal(const Parameter& location, const Variable& factor, int)
    : Distribution(factor, batch_of(floating_of(location), factor), Shape{factor.shape()[factor.ndim() - 1]}),
      loc(floating_of(location)),
      scale_tril(factor) {}
Variable MultivariateNormal::rsample(const Shape& shape) const {
  const Shape all = extended(extended(shape, batch_shape()), event_shape());
  const Variable moved = autograd::matmul(scale_tril, normal_numbers(extended(all, Shape{1}), loc));
  return loc + autograd::squeeze(moved, moved.ndim() - 1);
}
Variable MultivariateNormal::log_prob(const Parameter& value) const {
  const Variable z = whitened(scale_tril, in_dtype(value, loc) - loc);
  return last_sum(autograd::square(z)) * -0.5 - log_det(scale_tril) - kLogSqrt2Pi * double(event_shape()[0]);
}
Variable MultivariateNormal::entropy() const {
  const Variable one = log_det(scale_tril) + (0.5 + kLogSqrt2Pi) * double(event_shape()[0]);
  return autograd::broadcast_to(one, batch_shape());
}
Variable MultivariateNormal::mean() const {
  return autograd::broadcast_to(loc, extended(batch_shape(), event_shape()));
}
Variable MultivariateNormal::variance() const {
  return autograd::broadcast_to(last_sum(autograd::square(scale_tril)), extended(batch_shape(), event_shape()));
}
Variable MultivariateNormal::covariance_matrix() const {
  return autograd::matmul(scale_tril, scale_tril, {.transb = true});
}
Variable MultivariateNormal::precision_matrix() const { return autograd::inv(covariance_matrix()); }
Variable kl_divergence(const MultivariateNormal& p, const MultivariateNormal& q) {
  const Variable ratio = autograd::solve_triangular(q.scale_tril, p.scale_tril, {.lower = true});
  const Variable trace = last_sum(last_sum(autograd::square(ratio)));
  const Variable distance = last_sum(autograd::square(whitened(q.scale_tril, q.loc - p.loc)));
  return (trace + distance - double(p.event_shape()[0])) * 0.5 + log_det(q.scale_tril) - log_det(p.scale_tril);
}

// ---- LowRankMultivariateNormal ----
namespace {
// The product of matrices and vectors.
Variable times(const Variable& matrices, const Variable& vectors, bool transposed) {
  const Variable x = autograd::matmul(matrices, autograd::expand_dims(vectors, vectors.ndim()), {.transa = transposed});
  return autograd::squeeze(x, catena::Axes{x.ndim() - 1});
}
}  // namespace
LowRankMultivariateNormal::Parts LowRankMultivariateNormal::parts_of(const Parameter& location, const Parameter& factor,
                                                                     const Parameter& diagonal) {
  const char* const who = "LowRankMultivariateNormal";
  const Variable w = floating_of(factor), d = in_dtype(diagonal, w), loc = in_dtype(location, w);
  check<ValueError>(w.ndim() >= 2 && d.ndim() >= 1 && loc.ndim() >= 1, who, "loc has ", loc.ndim(),
                    " axes, cov_factor ", w.ndim(), " and cov_diag ", d.ndim(), "; at least 1, 2 and 1 are needed");
  const std::int64_t length = w.shape()[w.ndim() - 2];
  check<ValueError>(loc.shape()[loc.ndim() - 1] == length && d.shape()[d.ndim() - 1] == length, who,
                    "the last lengths of loc and cov_diag are ", loc.shape()[loc.ndim() - 1], " and ",
                    d.shape()[d.ndim() - 1], "; cov_factor has ", length, " rows");
  const Shape batch =
      catena::broadcast_shapes(who, catena::broadcast_shapes(who, without_last(loc.shape()), without_last(d.shape())),
                               without_last(without_last(w.shape())));
  const auto with_batch = [&](const Variable& v, int axes) {
    return autograd::broadcast_to(v, extended(batch, last_of(v.shape(), axes, {})));
  };
  return {batch, with_batch(loc, 1), with_batch(w, 2), with_batch(d, 1)};
}
LowRankMultivariateNormal::LowRankMultivariateNormal(const Parts& p)
    : Distribution(p.center, p.batch, last_of(p.center.shape(), 1, {})),
      loc(p.center),
      cov_factor(p.factor),
      cov_diag(p.diagonal) {}
Variable LowRankMultivariateNormal::capacitance_tril() const {
  const Variable scaled = cov_factor / autograd::expand_dims(cov_diag, cov_diag.ndim());
  const Variable product = autograd::matmul(cov_factor, scaled, {.transa = true});
  const std::int64_t rank = cov_factor.shape()[cov_factor.ndim() - 1];
  return autograd::cholesky(product + autograd::diag_embed(constant(Shape{rank}, 1, product)));
}
Variable LowRankMultivariateNormal::half_log_det(const Variable& capacitance) const {
  return log_det(capacitance) + last_sum(autograd::log(cov_diag)) * 0.5;
}
Variable LowRankMultivariateNormal::rsample(const Shape& shape) const {
  const Shape all = extended(shape, batch_shape());
  const Shape rank = last_of(cov_factor.shape(), 1, {});
  return loc + times(cov_factor, normal_numbers(extended(all, rank), loc), false) +
         autograd::sqrt(cov_diag) * normal_numbers(extended(all, event_shape()), loc);
}
Variable LowRankMultivariateNormal::log_prob(const Parameter& value) const {
  const Variable distance = in_dtype(value, loc) - loc, scaled = distance / cov_diag;
  const Variable capacitance = capacitance_tril(), inner = whitened(capacitance, times(cov_factor, scaled, true));
  const Variable square = last_sum(distance * scaled) - last_sum(autograd::square(inner));
  return square * -0.5 - half_log_det(capacitance) - kLogSqrt2Pi * double(event_shape()[0]);
}
Variable LowRankMultivariateNormal::entropy() const {
  return half_log_det(capacitance_tril()) + (0.5 + kLogSqrt2Pi) * double(event_shape()[0]);
}
Variable LowRankMultivariateNormal::variance() const { return last_sum(autograd::square(cov_factor)) + cov_diag; }
Variable LowRankMultivariateNormal::covariance_matrix() const {
  return autograd::matmul(cov_factor, cov_factor, {.transb = true}) + autograd::diag_embed(cov_diag);
}
Variable LowRankMultivariateNormal::scale_tril() const { return autograd::cholesky(covariance_matrix()); }
Variable LowRankMultivariateNormal::precision_matrix() const { return autograd::inv(covariance_matrix()); }
Variable kl_divergence(const LowRankMultivariateNormal& p, const LowRankMultivariateNormal& q) {
  return kl_divergence(MultivariateNormal(p.loc, p.covariance_matrix()),
                       MultivariateNormal(q.loc, q.covariance_matrix()));
}

}  // namespace nn::distributions
