// Special functions, with the names of scipy.special: error functions, gamma and beta functions, zeta, Bessel
// functions, logistic functions, functions of probabilities, softmax.
//
// Like the functions of math.h, they take arrays and host scalars, broadcast, and have options.out, dtype and casting.
// They have loops for float16, bfloat16, float32 and float64: bool and 8-bit integers are converted to float16, 16-bit
// integers to float32, wider integers to float64; TypeError for complex numbers. Results outside of the domain of a
// function are NaN. docs/accuracy.md states their errors.
#pragma once

#include <catena/ndarray/engine/ufunc.h>

namespace nd::special {

#define ND_SPECIAL1(name) CATENA_EXPORT Array name(const Operand& x, const UfuncOptions& options = {});
#define ND_SPECIAL2(name) \
  CATENA_EXPORT Array name(const Operand& x1, const Operand& x2, const UfuncOptions& options = {});

// ---- error functions and the normal distribution ------------------------------------------------
ND_SPECIAL1(erf)       // 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x
ND_SPECIAL1(erfc)      // 1 - erf(x), accurate for large x
ND_SPECIAL1(erfinv)    // the y with erf(y) = x; infinite at -1 and 1, NaN beyond
ND_SPECIAL1(erfcinv)   // the y with erfc(y) = x; inf at 0, -inf at 2
ND_SPECIAL1(ndtr)      // the distribution function of the normal distribution, (1 + erf(x / sqrt(2))) / 2
ND_SPECIAL1(log_ndtr)  // its logarithm, accurate far below 0
ND_SPECIAL1(ndtri)     // its inverse: the quantile of the probability x

// ---- gamma and related functions ----------------------------------------------------------------
ND_SPECIAL1(gamma)    // NaN at -1, -2, ...; exact factorials up to gamma(23)
ND_SPECIAL1(gammaln)  // log(|gamma(x)|); inf at 0, -1, ...
ND_SPECIAL1(digamma)  // the derivative of gammaln
ND_SPECIAL1(psi)      // digamma
ND_SPECIAL2(beta)     // gamma(x1) gamma(x2) / gamma(x1 + x2)
ND_SPECIAL2(betaln)   // log(|beta(x1, x2)|)
// The derivative of digamma of order n >= 0 at x > 0; NaN for x < 0. ValueError for n < 0.
CATENA_EXPORT Array polygamma(std::int64_t n, const Operand& x);
// Riemann's zeta function.
ND_SPECIAL1(zeta)
// The Hurwitz zeta function, the sum of (q + k)^-x over k >= 0 for x > 1 and q > 0. NaN for other x; inf for q = 0, -1,
// ...; NaN for other q < 0.
CATENA_EXPORT Array zeta(const Operand& x, const Operand& q, const UfuncOptions& options = {});

// ---- Bessel functions ---------------------------------------------------------------------------
ND_SPECIAL1(j0)   // of the first kind, order 0
ND_SPECIAL1(j1)   // order 1
ND_SPECIAL1(y0)   // of the second kind, order 0: -inf at 0, NaN below
ND_SPECIAL1(y1)   // order 1
ND_SPECIAL1(i0)   // modified, of the first kind, order 0
ND_SPECIAL1(i0e)  // exp(-|x|) i0(x)
ND_SPECIAL1(i1)   // order 1
ND_SPECIAL1(i1e)  // exp(-|x|) i1(x)

// ---- logistic functions and entropies -----------------------------------------------------------
ND_SPECIAL1(expit)      // 1 / (1 + exp(-x))
ND_SPECIAL1(logit)      // log(x / (1 - x)), the inverse of expit
ND_SPECIAL1(log_expit)  // log(expit(x))
ND_SPECIAL2(xlogy)      // x1 log(x2), which is 0 for x1 = 0
ND_SPECIAL2(xlog1py)    // x1 log(1 + x2), likewise
ND_SPECIAL1(entr)       // -x log(x); 0 at 0, -inf below
ND_SPECIAL2(rel_entr)   // x1 log(x1 / x2) of positive numbers; 0 for x1 = 0, x2 >= 0; else inf

#undef ND_SPECIAL1
#undef ND_SPECIAL2

// ---- functions along axes -------------------------------------------------------------------------
struct LogSumExpOptions {
  [[no_unique_address]] Named named = Named();
  Axes axis = {};  // default: all axes
  Array b = {};    // factors of the exponentials, which broadcast to the array
  bool keepdims = false;
};
// log(sum(b exp(a))) without overflow. Integers are converted to float64. -inf for no elements; NaN for a negative sum.
CATENA_EXPORT Array logsumexp(const Array& a, const LogSumExpOptions& options = {});
template <class B = Array> Array logsumexp(const Array& a, const Axes& axis, const B& b = {}, bool keepdims = false) {
  return logsumexp(a, LogSumExpOptions{.axis = axis, .b = b, .keepdims = keepdims});
}
// exp(x) / sum(exp(x)) and its logarithm. Integers are converted to float64.
CATENA_EXPORT Array softmax(const Array& x, const Axes& axis = {});
CATENA_EXPORT Array log_softmax(const Array& x, const Axes& axis = {});

}  // namespace nd::special

namespace nd {

// Functions that the C++ library has, too.
using special::erf;
using special::erfc;
inline Array lgamma(const Operand& x, const UfuncOptions& options = {}) { return special::gammaln(x, options); }
inline Array tgamma(const Operand& x, const UfuncOptions& options = {}) { return special::gamma(x, options); }

}  // namespace nd
