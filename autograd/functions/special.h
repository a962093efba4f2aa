// Differentiable special functions, with the names of scipy.special. The result has the dtype of x. Integers as the
// only argument are converted to the floating dtype of the configuration. Two arguments broadcast and have one dtype
// (InvalidType). Values outside of the domain of a function give NaN.
#pragma once

#include <cstdint>

#include <catena/autograd/functions/math.h>

namespace autograd {

// ---- error functions and the normal distribution ----
CATENA_EXPORT Variable erf(const Variable& x);       // 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x
CATENA_EXPORT Variable erfc(const Variable& x);      // 1 - erf(x), accurate for large x
CATENA_EXPORT Variable erfinv(const Variable& x);    // the y with erf(y) = x; infinite at -1 and 1
CATENA_EXPORT Variable ndtr(const Variable& x);      // the distribution function of the normal distribution
CATENA_EXPORT Variable log_ndtr(const Variable& x);  // its logarithm, accurate far below 0
CATENA_EXPORT Variable ndtri(const Variable& x);     // its inverse: the quantile of the probability x

// ---- gamma functions ----
CATENA_EXPORT Variable lgamma(const Variable& x);  // log(|gamma(x)|); inf at 0, -1, ...
// The same.
inline Variable gammaln(const Variable& x) { return lgamma(x); }
CATENA_EXPORT Variable digamma(const Variable& x);  // the derivative of lgamma
// The derivative of digamma of order n at x > 0; NaN for x < 0. ValueError for n < 0.
CATENA_EXPORT Variable polygamma(std::int64_t n, const Variable& x);

// ---- logarithms and logistic functions ----
// 1 / (1 + exp(-x))
inline Variable expit(const Variable& x) { return sigmoid(x); }
CATENA_EXPORT Variable logit(const Variable& x);      // log(x / (1 - x)), the inverse of expit
CATENA_EXPORT Variable log_expit(const Variable& x);  // log(expit(x))
// x log(y) and x log(1 + y), which are 0 for x = 0, and then also their gradient with respect to y.
CATENA_EXPORT Variable xlogy(const Variable& x, const Variable& y);
CATENA_EXPORT Variable xlog1py(const Variable& x, const Variable& y);
CATENA_EXPORT Variable entr(const Variable& x);  // -x log(x); 0 at 0, -inf below
CATENA_EXPORT Variable sinc(const Variable& x);  // sin(pi x) / (pi x); 1 at 0

}  // namespace autograd
