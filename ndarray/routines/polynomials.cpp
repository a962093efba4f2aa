#include <catena/ndarray/routines/polynomials.h>

#include <algorithm>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/warning.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/array_like.h>
#include <catena/ndarray/routines/comparison.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/matrix_functions.h>
#include <catena/ndarray/routines/padding.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/signal.h>
#include <catena/ndarray/routines/sorting.h>

namespace nd {
namespace {

using catena::check;
using internal::on_device;
using internal::on_one_device;

Array checked_coefficients(std::string_view op, const Array& p) {
  check<ValueError>(p.ndim() <= 1, op, "a polynomial has the shape ", p.shape(), ", must have rank 1");
  return p.ravel();
}

std::pair<Array, Array> two_polynomials(std::string_view op, const ArrayLike& a1, const ArrayLike& a2) {
  const auto [x, y] = on_one_device(op, a1, a2);
  return {checked_coefficients(op, x), checked_coefficients(op, y)};
}

// The position of the first true element, or the last position.
std::int64_t first_true(const Array& mask) {
  mask(-1).fill(true);
  return argmax(mask).item<std::int64_t>();
}

// Without the coefficients before the first one that is not 0, but the last one; no coefficients are a 0.
Array without_leading_zeros(const Array& p) {
  if (p.size() == 0) return zeros_like(p, {.shape = Shape(1)});
  return p(Slice(first_true(p != 0), {}));
}

// With zeros for higher powers, at least n coefficients.
Array with_leading_zeros(const Array& a, std::int64_t n) { return a.size() < n ? pad(a, {n - a.size(), 0}) : a; }

Array with_fractions(const Array& a) {
  const bool is_inexact = catena::is_floating(a.dtype()) || catena::is_complex_dtype(a.dtype());
  return is_inexact ? a : a.astype(Dtype::float64);
}

// n, n - 1, ... 1 on the device of an array.
Array descending(const Array& like, std::int64_t n) {
  const DeviceScope scope(like.device());
  return arange(n, 0, -1);
}

// True if each complex number comes with its conjugate.
bool is_symmetric(const Array& z) {
  const auto sorted = [](const Array& x) { return take(x, lexsort({x.imag(), x.real()})); };
  return bool((sorted(z) == sorted(conjugate(z))).all());
}

// The distance from 1 to the next number.
double machine_precision(Dtype t) {
  switch (catena::real_dtype(t)) {
    case Dtype::float16: return 0x1p-10;
    case Dtype::bfloat16: return 0x1p-7;
    case Dtype::float32: return 0x1p-23;
    default: return 0x1p-52;
  }
}

// The powers deg, deg - 1, ... 0 of x, as the rows of an array.
Array powers_of(const Array& x, std::int64_t deg) {
  const Array rows = empty_like(x, {.shape = Shape{deg + 1, x.size()}});
  rows(deg).fill(1);
  for (std::int64_t k = deg; k > 0; --k) multiply(rows(k), x, {.out = rows(k - 1)});
  return rows;
}

Array on_columns(const Array& scale, const Array& y) { return y.ndim() == 2 ? scale(_, newaxis) : scale; }

}  // namespace

Array poly(const ArrayLike& seq_of_zeros) try {
  Array zeros_of = checked_coefficients("poly", on_one_device("poly", seq_of_zeros)[0]);
  const bool keeps = zeros_of.dtype() == Dtype::float32 || catena::is_complex_dtype(zeros_of.dtype());
  if (!keeps) zeros_of = zeros_of.astype(Dtype::float64);
  const std::int64_t n = zeros_of.size();
  const Array c = zeros_like(zeros_of, {.shape = Shape(n + 1)});
  c(0).fill(1);
  for (std::int64_t k = 0; k < n; ++k) c(Slice(1, k + 2)) -= c(Slice(0, k + 1)) * zeros_of(k);
  return catena::is_complex_dtype(c.dtype()) && is_symmetric(zeros_of) ? c.real().copy() : c;
} catch (...) {
  internal::rethrow_out_of_memory("poly");
}

Array roots(const ArrayLike& p_in) try {
  const Array p = with_fractions(checked_coefficients("roots", on_one_device("roots", p_in)[0]));
  const Array places = flatnonzero(p);
  if (places.size() == 0) return zeros_like(p, {.dtype = Dtype::float64, .shape = Shape(0)});
  const std::int64_t first = places(0).item<std::int64_t>(), last = places(-1).item<std::int64_t>();
  const std::int64_t degree = last - first;
  const Array zero = zeros_like(p, {.shape = Shape(p.size() - 1 - last)});
  if (degree == 0) return zero.astype(Dtype::float64, {.copy = false});
  const Array companion = zeros_like(p, {.shape = Shape{degree, degree}});
  if (degree > 1) companion(Slice(1, {})).diagonal().fill(1);
  companion(0) = -p(Slice(first + 1, last + 1)) / p(first);
  const Array nonzero_roots = linalg::eigvals(companion);
  return concatenate({nonzero_roots, zero.astype(nonzero_roots.dtype())});
} catch (...) {
  internal::rethrow_out_of_memory("roots");
}

Array polyadd(const ArrayLike& a1, const ArrayLike& a2) try {
  const auto [x, y] = two_polynomials("polyadd", a1, a2);
  return with_leading_zeros(x, y.size()) + with_leading_zeros(y, x.size());
} catch (...) {
  internal::rethrow_out_of_memory("polyadd");
}

Array polysub(const ArrayLike& a1, const ArrayLike& a2) try {
  const auto [x, y] = two_polynomials("polysub", a1, a2);
  return with_leading_zeros(x, y.size()) - with_leading_zeros(y, x.size());
} catch (...) {
  internal::rethrow_out_of_memory("polysub");
}

Array polymul(const ArrayLike& a1, const ArrayLike& a2) try {
  const auto [x, y] = two_polynomials("polymul", a1, a2);
  return convolve(without_leading_zeros(x), without_leading_zeros(y));
} catch (...) {
  internal::rethrow_out_of_memory("polymul");
}

std::pair<Array, Array> polydiv(const ArrayLike& u_in, const ArrayLike& v_in) try {
  const auto [u, v_given] = two_polynomials("polydiv", u_in, v_in);
  check<ValueError>(u.size() > 0 && v_given.size() > 0, "polydiv", "a polynomial has no coefficients");
  const Array v = with_fractions(v_given);
  const Dtype dtype = catena::promote_types(with_fractions(u).dtype(), v.dtype());
  Array r = u.astype(dtype);
  const std::int64_t steps = u.size() - v.size() + 1;
  const Array q = zeros_like(r, {.shape = Shape(std::max<std::int64_t>(steps, 1))});
  const Array scale = 1.0 / v(0);
  for (std::int64_t k = 0; k < steps; ++k) {
    const Array d = q(k);
    multiply(scale, r(k), {.out = d});
    r(Slice(k, k + v.size())) -= d * v;
  }
  r = r(Slice(first_true(~isclose(r, 0, 1e-14)), {}));
  return {q, r};
} catch (...) {
  internal::rethrow_out_of_memory("polydiv");
}

Array polyval(const ArrayLike& p_in, const ArrayLike& x_in) try {
  const auto [given, x] = on_one_device("polyval", p_in, x_in);
  const Array p = checked_coefficients("polyval", given);
  if (p.size() == 0) return zeros_like(x);
  if (p.size() == 1) return x * 0 + p(0);
  Array y = x * p(0);
  y += p(1);
  for (std::int64_t k = 2; k < p.size(); ++k) {
    y *= x;
    y += p(k);
  }
  return y;
} catch (...) {
  internal::rethrow_out_of_memory("polyval");
}

Array polyder(const ArrayLike& p_in, std::int64_t m) try {
  Array p = checked_coefficients("polyder", on_one_device("polyder", p_in)[0]);
  check<ValueError>(m >= 0, "polyder", "the order of the derivative is ", m, ", must not be negative");
  for (; m > 0; --m) p = p(Slice({}, -1)) * descending(p, std::max<std::int64_t>(p.size() - 1, 0));
  return p;
} catch (...) {
  internal::rethrow_out_of_memory("polyder");
}

Array polyint(const ArrayLike& p_in, const PolyintOptions& o) try {
  Array p = checked_coefficients("polyint", on_one_device("polyint", p_in)[0]);
  check<ValueError>(o.m >= 0, "polyint", "the order of the integral is ", o.m, ", must not be negative");
  const Array constants = o.k ? checked_coefficients("polyint", on_device(*o.k, p.device()))
                              : zeros_like(p, {.dtype = Dtype::float64, .shape = Shape(1)});
  check<ValueError>(constants.size() == 1 || constants.size() >= o.m, "polyint", "there are ", constants.size(),
                    " constants for ", o.m, " integrals; write one for all, or one for each");
  for (std::int64_t k = 0; k < o.m; ++k) {
    const std::int64_t at = constants.size() == 1 ? 0 : k;
    p = concatenate({p / descending(p, p.size()), constants(Slice(at, at + 1))});
  }
  return p;
} catch (...) {
  internal::rethrow_out_of_memory("polyint");
}

Array polyfit(const ArrayLike& x, const ArrayLike& y, std::int64_t deg) { return polyfit(x, y, deg, {}).coefficients; }

PolyfitResult polyfit(const ArrayLike& x_in, const ArrayLike& y_in, std::int64_t deg, const PolyfitOptions& o) try {
  const auto [x_given, y_given] = on_one_device("polyfit", x_in, y_in);
  const Array x = with_fractions(x_given), y = with_fractions(y_given);
  check<ValueError>(deg >= 0, "polyfit", "the degree is ", deg, ", must not be negative");
  check<TypeError>(x.ndim() == 1 && x.size() > 0, "polyfit", "x has the shape ", x.shape(),
                   ", must have rank 1 and elements");
  check<TypeError>(y.ndim() == 1 || y.ndim() == 2, "polyfit", "y has the shape ", y.shape(), ", must have rank 1 or 2");
  check<TypeError>(x.shape()[0] == y.shape()[0], "polyfit", "x has ", x.shape()[0], " points, y ", y.shape()[0]);
  const bool weighted = !o.w.is_null();
  check<TypeError>(!weighted || o.w.shape() == x.shape(), "polyfit", "the weights have the shape ",
                   weighted ? o.w.shape() : Shape(), ", must be that of x, ", x.shape());
  check<ValueError>(!o.cov || o.full || x.size() > deg + 1, "polyfit", x.size(), " points for ", deg + 1,
                    " coefficients are too few for a covariance");
  const double rcond = o.rcond.value_or(static_cast<double>(x.size()) * machine_precision(x.dtype()));
  Array rows = powers_of(x.astype(catena::promote_types(x.dtype(), Dtype::int64), {.copy = false}), deg), rhs = y;
  if (weighted) {
    const Array w = with_fractions(o.w);
    rows = std::move(rows) * w;
    rhs = rhs * on_columns(w, y);
  }
  const Array scale = sqrt(sum(rows * rows, 1));
  rows = std::move(rows) / scale(_, newaxis);
  const auto [c, residuals, rank, s] = linalg::lstsq(rows.transpose(), rhs, rcond);
  if (rank != deg + 1 && !o.full)
    catena::warn("RuntimeWarning", catena::concat("polyfit: the rank is ", rank, " for ", deg + 1, " coefficients"));
  PolyfitResult result{.coefficients = c / on_columns(scale, y),
                       .residuals = residuals,
                       .rank = rank,
                       .singular_values = s,
                       .rcond = rcond};
  if (!o.cov || o.full) return result;
  const Array unscaled = linalg::inv(dot(rows, rows.transpose())) / outer(scale, scale);
  const Array factor = residuals / static_cast<double>(x.size() - deg - 1);
  result.covariance = (y.ndim() == 2 ? unscaled(ellipsis, newaxis) : unscaled) * factor;
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("polyfit");
}

}  // namespace nd
