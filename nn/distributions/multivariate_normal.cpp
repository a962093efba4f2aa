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
// The logarithm of the determinant of L.
Variable log_det(const Variable& factor) {
  return last_sum(autograd::log(autograd::diagonal(factor, 0, factor.ndim() - 2, factor.ndim() - 1)));
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
    : Distribution(batch_of(floating_of(location), factor), Shape{factor.shape()[factor.ndim() - 1]}),
      loc(floating_of(location)),
      scale_tril(factor) {}
Variable MultivariateNormal::rsample(const Shape& shape) const {
  const Shape all = extended(extended(shape, batch_shape()), event_shape());
  const Variable noise(
      autograd::random_normal(extended(all, Shape{1}), 0, 1, loc.dtype(), autograd::default_generator(), loc.device()),
      {.requires_grad = false});
  const Variable moved = autograd::matmul(scale_tril, noise);
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

}  // namespace nn::distributions
