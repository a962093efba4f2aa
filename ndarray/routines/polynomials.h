// Polynomials, as arrays of rank 1 of their coefficients: c[0] x^(n-1) + c[1] x^(n-2) + ... + c[n-1].
//
// Arguments are arrays, numbers or lists of numbers, which are copied to the device of the arrays; a number is a
// polynomial of degree 0. Errors: ValueError for polynomials of a rank above 1 and arrays on several devices;
// TypeError for a null array.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/creation.h>

namespace nd {

// The coefficients of the polynomial with the given zeros, the first one of which is 1. float32 and complex numbers
// keep their dtype, others give float64; the result is real if the zeros are real or in conjugate pairs, which waits
// for the device if they are complex.
CATENA_EXPORT Array poly(const ArrayLike& seq_of_zeros);

// The zeros of a polynomial: the eigenvalues of its companion matrix, and a 0 for each 0 behind the last other
// coefficient. Complex, but real if all are real (linalg::eigvals). Waits for the device.
CATENA_EXPORT Array roots(const ArrayLike& p);

// Sum and difference, in the common dtype of both.
CATENA_EXPORT Array polyadd(const ArrayLike& a1, const ArrayLike& a2);
CATENA_EXPORT Array polysub(const ArrayLike& a1, const ArrayLike& a2);
// The product, computed by convolve. As in NumPy, zeros before the first other coefficient of an argument are left out,
// which waits for the device.
CATENA_EXPORT Array polymul(const ArrayLike& a1, const ArrayLike& a2);
// Quotient and remainder; integers give float64. Leading coefficients of the remainder that are close to 0 (1e-8) are
// left out, which waits for the device. ValueError for a polynomial without coefficients.
CATENA_EXPORT std::pair<Array, Array> polydiv(const ArrayLike& u, const ArrayLike& v);

// The values of the polynomial p at x, in the shape of x and the common dtype, by Horner's rule. Without coefficients:
// zeros.
CATENA_EXPORT Array polyval(const ArrayLike& p, const ArrayLike& x);

// The m-th derivative. ValueError for m < 0.
CATENA_EXPORT Array polyder(const ArrayLike& p, std::int64_t m = 1);

struct PolyintOptions {
  std::int64_t m = 1;
  std::optional<ArrayLike> k = {};  // the constants of integration, or one for all; default: 0
};
// The m-th integral. ValueError for m < 0 and fewer than m constants.
CATENA_EXPORT Array polyint(const ArrayLike& p, const PolyintOptions& options = {});
template <std::integral M> Array polyint(const ArrayLike& p, M m) {
  return polyint(p, PolyintOptions{.m = static_cast<std::int64_t>(m)});
}
template <std::integral M> Array polyint(const ArrayLike& p, M m, const ArrayLike& k) {
  return polyint(p, PolyintOptions{.m = static_cast<std::int64_t>(m), .k = k});
}

struct PolyfitOptions {
  std::optional<double> rcond = {};  // singular values below rcond times the largest one count as 0; default: the
                                     // number of points times the machine precision
  bool full = false;                 // accepted as in NumPy: no warning for too low a rank
  Array w = {};                      // weights of the differences, not of their squares
  bool cov = false;                  // the covariance of the coefficients, scaled by the mean of squared differences
};
// Coefficients with the sums of squared differences, rank and singular values of linalg::lstsq for columns of norm 1,
// and the covariance if it was asked for. Converts to the array of coefficients.
struct PolyfitResult {
  Array coefficients = {}, residuals = {};
  std::int64_t rank = 0;
  Array singular_values = {};
  double rcond = 0;
  Array covariance = {};

  Array single_output() const { return coefficients; }
};
// The polynomial of degree `deg` with the least sum of squared differences from the points (x, y), as float64 or
// complex128; y of rank 2 has a polynomial for each column. A RuntimeWarning says that the rank is lower than deg + 1.
// ValueError for deg < 0, and for as few points as coefficients with `cov`; TypeError for x of a rank other than 1 or
// empty, y of a rank other than 1 and 2, and different lengths of x, y and w.
CATENA_EXPORT Array polyfit(const ArrayLike& x, const ArrayLike& y, std::int64_t deg);
CATENA_EXPORT PolyfitResult polyfit(const ArrayLike& x, const ArrayLike& y, std::int64_t deg,
                                    const PolyfitOptions& options);

}  // namespace nd
