// Distributions of Generator that are computed from the basic ones.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/random_parameters.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd::random {

using catena::check;
using draw::as_array, draw::check_range, draw::kInteger, draw::kNotNegative, draw::kPositive, draw::kReal,
    draw::sample_shape;

namespace {

// Uniform numbers inside (0, 1): the middles of the steps of 2^-53.
Array inside_unit(BitGenerator& g, const Shape& shape) {
  return g.sample(catena::RandomKind::uniform, shape, kReal) + 0x1p-54;
}

// One number for each parameter of a flat array. propose(parameters) returns candidates and whether they are accepted;
// it is called again for those that are not.
template <class F> Array accepted(const Array& parameters, F propose) {
  const Array result = zeros(parameters.shape(), kReal);
  Array rest = arange(parameters.size());
  while (rest.size() > 0) {
    const auto [value, is_accepted] = propose(take(parameters, rest));
    result(Array(rest(is_accepted))) = value(is_accepted);
    rest = rest(logical_not(is_accepted));
  }
  return result;
}
// The parameter of each element, flat.
Array parameter_of_each(const Operand& x, const Shape& shape) {
  return broadcast_to(as_array(x, kReal), shape).ravel();
}

}  // namespace

// ---- normal and related -------------------------------------------------------------------------
Array Generator::multivariate_normal(const Array& mean, const Array& cov, const Size& size) {
  const char* const op = "multivariate_normal";
  check<ValueError>(mean.ndim() == 1, op, "mean has the shape ", mean.shape(), ", not (k,)");
  const std::int64_t k = mean.shape(0);
  check<ValueError>(cov.shape() == Shape({k, k}), op, "cov has the shape ", cov.shape(), ", not (", k, ", ", k, ")");
  const auto [values, vectors] = linalg::eigh(cov.astype(kReal, {.copy = false}));
  Shape shape = size.shape().value_or(Shape());
  shape.push_back(k);
  const Array z = sample(catena::RandomKind::normal, shape, kReal);
  if (k == 0) return z;
  const double least = values.min().item<double>(), most = absolute(values).max().item<double>();
  check<ValueError>(least >= -1e-8 * most, op, "cov has the negative eigenvalue ", least);
  const Array factor = vectors * sqrt(maximum(values, 0.0));  // factor @ factor.T is cov
  return matmul(z.reshape({-1, k}), factor.T()).reshape(shape) + mean.astype(kReal, {.copy = false});
}

Array Generator::standard_t(const Operand& df, const Size& size) {
  check_range("standard_t", "df", df, kPositive);
  const Shape shape = sample_shape("standard_t", {&df}, size);
  const Array z = sample(catena::RandomKind::normal, shape, kReal);
  return z / sqrt(chisquare(df, shape) / as_array(df, kReal));
}

Array Generator::standard_cauchy(const Size& size) {
  const Array u = inside_unit(*this, size.shape().value_or(Shape()));
  return tan(std::numbers::pi * (u - 0.5));
}

// Best and Fisher, "Efficient simulation of the von Mises distribution", 1979. For a large kappa the angles are normal.
Array Generator::vonmises(const Operand& mu, const Operand& kappa, const Size& size) {
  check_range("vonmises", "mu", mu, {.low = -INFINITY, .high = INFINITY, .above_low = true, .below_high = true});
  check_range("vonmises", "kappa", kappa, kNotNegative);
  constexpr double pi = std::numbers::pi, kLargest = 1e6, kLeast = 1e-8;
  const Shape shape = sample_shape("vonmises", {&mu, &kappa}, size);
  const Array all = parameter_of_each(kappa, shape);
  const Array angle = accepted(all, [&](const Array& given) {
    const Array k = clip(given, kLeast, kLargest), r = 1 + sqrt(1 + 4 * square(k));
    const Array rho = (r - sqrt(2 * r)) / (2 * k);
    const Array s = where(k < 1e-5, 1 / k + k, (1 + square(rho)) / (2 * rho));
    const Array z = cos(pi * inside_unit(*this, k.shape())), w = (1 + s * z) / (s + z);
    const Array y = k * (s - w), v = inside_unit(*this, k.shape());
    const Array sign = where(inside_unit(*this, k.shape()) < 0.5, -1.0, 1.0);
    return std::pair(sign * arccos(clip(w, -1.0, 1.0)), logical_or(y * (2 - y) - v >= 0, log(y / v) + 1 - y >= 0));
  });
  const Array normal = sample(catena::RandomKind::normal, all.shape(), kReal) / sqrt(maximum(all, 1.0));
  const Array around_mu = where(all > kLargest, normal, angle).reshape(shape) + as_array(mu, kReal);
  return around_mu - 2 * pi * rint(around_mu / (2 * pi));
}

// Michael, Schucany and Haas, "Generating random variates using transformations with multiple roots", 1976.
Array Generator::wald(const Operand& mean, const Operand& scale, const Size& size) {
  check_range("wald", "mean", mean, kPositive);
  check_range("wald", "scale", scale, kPositive);
  const Shape shape = sample_shape("wald", {&mean, &scale}, size);
  const Array mu = as_array(mean, kReal), twice = 2.0 * as_array(scale, kReal);
  const Array y = mu * square(sample(catena::RandomKind::normal, shape, kReal));
  // The smaller root, in a form without cancellation.
  const Array root = mu / (1.0 + (y + sqrt(y * (2.0 * twice + y))) / twice);
  const Array u = sample(catena::RandomKind::uniform, shape, kReal);
  return where(u * (mu + root) <= mu, root, mu * mu / root);
}

// ---- exponential numbers and their functions ----------------------------------------------------
Array Generator::laplace(const Operand& loc, const Operand& scale, const Size& size) {
  check_range("laplace", "scale", scale, kNotNegative);
  const Shape shape = sample_shape("laplace", {&loc, &scale}, size);
  const Array positive = standard_exponential(shape);
  return loc + scale * (positive - standard_exponential(shape));
}
Array Generator::rayleigh(const Operand& scale, const Size& size) {
  check_range("rayleigh", "scale", scale, kNotNegative);
  return scale * sqrt(2.0 * standard_exponential(sample_shape("rayleigh", {&scale}, size)));
}
Array Generator::pareto(const Operand& a, const Size& size) {
  check_range("pareto", "a", a, kPositive);
  return expm1(standard_exponential(sample_shape("pareto", {&a}, size)) / as_array(a, kReal));
}
Array Generator::weibull(const Operand& a, const Size& size) {
  check_range("weibull", "a", a, kNotNegative);
  const Array shape = as_array(a, kReal);
  const Array e = standard_exponential(sample_shape("weibull", {&a}, size));
  return where(shape == 0.0, 0.0, nd::power(e, 1.0 / shape));
}
Array Generator::gumbel(const Operand& loc, const Operand& scale, const Size& size) {
  check_range("gumbel", "scale", scale, kNotNegative);
  const Array u = inside_unit(*this, sample_shape("gumbel", {&loc, &scale}, size));
  return loc - scale * log(-log(u));
}
Array Generator::logistic(const Operand& loc, const Operand& scale, const Size& size) {
  check_range("logistic", "scale", scale, kNotNegative);
  const Array u = inside_unit(*this, sample_shape("logistic", {&loc, &scale}, size));
  return loc + scale * (log(u) - log1p(-u));
}

Array Generator::triangular(const Operand& left, const Operand& mode, const Operand& right, const Size& size) {
  const Array low = as_array(left, kReal), top = as_array(mode, kReal), high = as_array(right, kReal);
  const Shape shape = sample_shape("triangular", {&left, &mode, &right}, size);
  check<ValueError>(all((low <= top) & (top <= high) & (low < high)).item<bool>(), "triangular",
                    "left <= mode <= right and left < right must hold for all elements");
  const Array u = sample(catena::RandomKind::uniform, shape, kReal), width = high - low;
  const Array rising = low + sqrt(u * width * (top - low)), falling = high - sqrt((1.0 - u) * width * (high - top));
  return where(u * width < top - low, rising, falling);
}

// A mixture of central distributions, whose degrees of freedom are drawn.
Array Generator::noncentral_chisquare(const Operand& df, const Operand& nonc, const Size& size) {
  check_range("noncentral_chisquare", "df", df, kPositive);
  check_range("noncentral_chisquare", "nonc", nonc, kNotNegative);
  const Shape shape = sample_shape("noncentral_chisquare", {&df, &nonc}, size);
  return chisquare(as_array(df, kReal) + 2.0 * poisson(as_array(nonc, kReal) * 0.5, shape), shape);
}
Array Generator::noncentral_f(const Operand& dfnum, const Operand& dfden, const Operand& nonc, const Size& size) {
  check_range("noncentral_f", "dfnum", dfnum, kPositive);
  check_range("noncentral_f", "dfden", dfden, kPositive);
  check_range("noncentral_f", "nonc", nonc, kNotNegative);
  const Shape shape = sample_shape("noncentral_f", {&dfnum, &dfden, &nonc}, size);
  const Array numerator = noncentral_chisquare(dfnum, nonc, shape) / as_array(dfnum, kReal);
  return numerator / (chisquare(dfden, shape) / as_array(dfden, kReal));
}

// ---- integers -----------------------------------------------------------------------------------
Array Generator::negative_binomial(const Operand& n, const Operand& p, const Size& size) {
  check_range("negative_binomial", "n", n, kPositive);
  check_range("negative_binomial", "p", p, {.low = 0, .high = 1, .above_low = true});
  const Shape shape = sample_shape("negative_binomial", {&n, &p}, size);
  const Array success = as_array(p, kReal);
  return poisson(gamma(n, (1.0 - success) / success, shape), shape);
}

Array Generator::multinomial(std::int64_t n, const Array& pvals, const Size& size) {
  const char* const op = "multinomial";
  check<ValueError>(n >= 0, op, n, " trials are negative");
  check<ValueError>(pvals.ndim() == 1 && pvals.size() > 0, op, "pvals has the shape ", pvals.shape(),
                    ", not (k,) with k > 0");
  const std::vector<double> p = pvals.to_vector<double>();
  double sum = 0;
  for (std::size_t k = 0; k + 1 < p.size(); ++k) sum += p[k];
  check_range(op, "pvals", pvals, {.low = 0, .high = 1});
  check<ValueError>(sum <= 1 + 1e-12, op, "the probabilities before the last one have the sum ", sum, ", above 1");
  const Shape shape = size.shape().value_or(Shape());
  Array left = full(shape, n, Dtype::int64);
  double rest = 1;
  std::vector<Array> counts;
  for (std::size_t k = 0; k + 1 < p.size(); ++k) {
    const Array count = binomial(left, rest > 0 ? std::min(1.0, p[k] / rest) : 0.0, shape);
    counts.push_back(count);
    left = left - count;
    rest -= p[k];
  }
  counts.push_back(left);
  return stack(counts, -1);
}

// Devroye, "Non-uniform random variate generation", 1986, chapter X.6. Beyond a = 1024 all numbers are 1.
Array Generator::zipf(const Operand& a, const Size& size) {
  check_range("zipf", "a", a, {.low = 1, .high = INFINITY, .above_low = true, .below_high = true});
  constexpr double kMost = 0x1p63 - 1024;  // the largest double that int64 holds
  const Shape shape = sample_shape("zipf", {&a}, size);
  const Array numbers = accepted(parameter_of_each(a, shape), [&](const Array& given) {
    const Array exponent = minimum(given, 1024.0) - 1, b = exp2(exponent);
    const Array u = inside_unit(*this, given.shape()), v = inside_unit(*this, given.shape());
    const Array x = floor(nd::power(u, -1 / exponent)), t = nd::power(1 + 1 / x, exponent);
    return std::pair(x, logical_and(x <= kMost, v * x * (t - 1) / (b - 1) <= t / b));
  });
  return numbers.reshape(shape).astype(kInteger);
}

}  // namespace nd::random
