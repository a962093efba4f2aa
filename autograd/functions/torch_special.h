// The functions of torch.special, and those of torch that have one of its functions under another name. Integers and
// bools as the only argument are converted to the floating dtype of the configuration, and as degrees of polynomials to
// that of x. Otherwise inputs are floating and of one dtype (InvalidType); two operands broadcast, and one of them may
// be a number. Values outside of the domain of a function give NaN.
#pragma once

#include <concepts>
#include <type_traits>

#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/special.h>
#include <catena/autograd/functions/torch_arithmetic.h>
#include <catena/autograd/functions/torch_names.h>

namespace autograd {

#include <catena/autograd/functions/number_operands.inc>

CATENA_NUMBER_OPERANDS(xlogy)
CATENA_NUMBER_OPERANDS(xlog1py)
// The modified Bessel function of the first kind of order 0.
CATENA_EXPORT Variable i0(const Variable& x);
// The regularized lower and upper incomplete gamma functions of order a >= 0 at x >= 0, computed by the host in
// float64. Differentiable in x; NotImplementedError for the gradient of a.
CATENA_EXPORT Variable igamma(const Variable& a, const Variable& x);
CATENA_EXPORT Variable igammac(const Variable& a, const Variable& x);
CATENA_NUMBER_OPERANDS(igamma)
CATENA_NUMBER_OPERANDS(igammac)
// The logarithm of the multivariate gamma function of dimension p. ValueError for p < 1.
CATENA_EXPORT Variable mvlgamma(const Variable& x, int p);

namespace special {
using autograd::digamma, autograd::entr, autograd::erf, autograd::erfc, autograd::erfinv, autograd::exp2,
    autograd::expit, autograd::expm1, autograd::gammaln, autograd::i0, autograd::log1p, autograd::log_ndtr,
    autograd::logit, autograd::logsumexp, autograd::ndtr, autograd::ndtri, autograd::polygamma, autograd::round,
    autograd::sinc, autograd::xlog1py, autograd::xlogy;

// Other names of digamma, mvlgamma, igamma and igammac.
inline Variable psi(const Variable& x) { return digamma(x); }
inline Variable multigammaln(const Variable& x, int p) { return mvlgamma(x, p); }
inline Variable gammainc(const Variable& a, const Variable& x) { return igamma(a, x); }
inline Variable gammaincc(const Variable& a, const Variable& x) { return igammac(a, x); }
CATENA_NUMBER_OPERANDS(gammainc)
CATENA_NUMBER_OPERANDS(gammaincc)
// exp(x^2) erfc(x) without overflow for x > 0, computed by the host in float64.
CATENA_EXPORT Variable erfcx(const Variable& x);
// The Hurwitz zeta function, the sum of (q + k)^-x over k >= 0. NotImplementedError for the gradient of x.
CATENA_EXPORT Variable zeta(const Variable& x, const Variable& q);
CATENA_NUMBER_OPERANDS(zeta)
// exp(x) / sum(exp(x)) along an axis, and its logarithm.
CATENA_EXPORT Variable softmax(const Variable& x, int dim);
CATENA_EXPORT Variable log_softmax(const Variable& x, int dim);
template <std::same_as<DtypeAxisOptions> O = DtypeAxisOptions> Variable softmax(const Variable& x, const O& o) {
  return softmax(o.converted(x), o.value().value_or(-1));
}
template <std::same_as<DtypeAxisOptions> O = DtypeAxisOptions> Variable log_softmax(const Variable& x, const O& o) {
  return log_softmax(o.converted(x), o.value().value_or(-1));
}

// ---- Bessel functions of the orders 0 and 1 ----
// Of the first and of the second kind (j, y), modified ones (i, k; k is computed by the host in float64), with the
// factor exp(-|x|) (i0e, i1e) or exp(x) (scaled k), and spherical ones.
CATENA_EXPORT Variable bessel_j0(const Variable& x);
CATENA_EXPORT Variable bessel_j1(const Variable& x);
CATENA_EXPORT Variable bessel_y0(const Variable& x);
CATENA_EXPORT Variable bessel_y1(const Variable& x);
CATENA_EXPORT Variable i0e(const Variable& x);
CATENA_EXPORT Variable i1(const Variable& x);
CATENA_EXPORT Variable i1e(const Variable& x);
inline Variable modified_bessel_i0(const Variable& x) { return i0(x); }
inline Variable modified_bessel_i1(const Variable& x) { return i1(x); }
CATENA_EXPORT Variable modified_bessel_k0(const Variable& x);
CATENA_EXPORT Variable modified_bessel_k1(const Variable& x);
CATENA_EXPORT Variable scaled_modified_bessel_k0(const Variable& x);
CATENA_EXPORT Variable scaled_modified_bessel_k1(const Variable& x);
CATENA_EXPORT Variable spherical_bessel_j0(const Variable& x);
// Airy's function Ai, without a gradient, computed by the host in float64.
CATENA_EXPORT Variable airy_ai(const Variable& x);

// ---- orthogonal polynomials of the degree n at x ----
// n is rounded toward 0; the polynomial is 0 for n < 0, and NaN for an infinite n. ValueError for n above a million
// unless the value overflows, and but for Chebyshev polynomials from -1 to 1. Without a gradient, computed by the host
// in float64.
#define CATENA_POLYNOMIAL(name)                                      \
  CATENA_EXPORT Variable name(const Variable& x, const Variable& n); \
  CATENA_NUMBER_OPERANDS(name)
CATENA_POLYNOMIAL(chebyshev_polynomial_t)
CATENA_POLYNOMIAL(chebyshev_polynomial_u)
CATENA_POLYNOMIAL(chebyshev_polynomial_v)
CATENA_POLYNOMIAL(chebyshev_polynomial_w)
// The same at 2 x - 1.
CATENA_POLYNOMIAL(shifted_chebyshev_polynomial_t)
CATENA_POLYNOMIAL(shifted_chebyshev_polynomial_u)
CATENA_POLYNOMIAL(shifted_chebyshev_polynomial_v)
CATENA_POLYNOMIAL(shifted_chebyshev_polynomial_w)
CATENA_POLYNOMIAL(hermite_polynomial_h)
CATENA_POLYNOMIAL(hermite_polynomial_he)
CATENA_POLYNOMIAL(laguerre_polynomial_l)
CATENA_POLYNOMIAL(legendre_polynomial_p)
#undef CATENA_POLYNOMIAL
}  // namespace special
#undef CATENA_NUMBER_OPERANDS

}  // namespace autograd
