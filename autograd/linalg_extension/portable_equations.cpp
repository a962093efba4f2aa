// The portable implementation: equations, inverses and determinants by LU with partial pivoting, the Cholesky
// factorization, the exponential, and Fourier transforms. All matrices are float64 in row-major order.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/linalg_extension.h>
#include <catena/autograd/linalg_extension/matrices.h>

namespace autograd {
namespace {

using internal::host_stack;
using internal::on_device_of;
using internal::Stack;

using Numbers = std::vector<double>;

// Replaces a (n, n) by its factors. A column without a pivot is left as it is.
void factor(double* a, std::int32_t* pivots, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k])) pivot = i;
    pivots[k] = std::int32_t(pivot);
    if (pivot != k) std::swap_ranges(a + k * n, a + k * n + n, a + pivot * n);
    if (a[k * n + k] == 0) continue;
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double ratio = a[i * n + k] /= a[k * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= ratio * a[k * n + j];
    }
  }
}

// Replaces b (n, k) by the x of a x = b, or of a^T x = b, for a triangular matrix a (n, n).
void substitute(const double* a, double* b, std::int64_t n, std::int64_t k, const Triangle& t, bool transposed) {
  const bool forward = t.lower != transposed;
  const auto element = [&](std::int64_t i, std::int64_t j) { return transposed ? a[j * n + i] : a[i * n + j]; };
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = forward ? step : n - 1 - step;
    for (std::int64_t j = forward ? 0 : i + 1; j < (forward ? i : n); ++j)
      for (std::int64_t c = 0; c < k; ++c) b[i * k + c] -= element(i, j) * b[j * k + c];
    if (t.unit) continue;
    for (std::int64_t c = 0; c < k; ++c) b[i * k + c] /= element(i, i);
  }
}

constexpr Triangle kL = {.lower = true, .unit = true}, kU = {};

void solve(const double* lu, const std::int32_t* pivots, double* b, std::int64_t n, std::int64_t k, bool transposed) {
  const auto swap_rows = [&](std::int64_t i) {
    if (pivots[i] != i) std::swap_ranges(b + i * k, b + i * k + k, b + pivots[i] * k);
  };
  if (!transposed)
    for (std::int64_t i = 0; i < n; ++i) swap_rows(i);
  substitute(lu, b, n, k, transposed ? kU : kL, transposed);
  substitute(lu, b, n, k, transposed ? kL : kU, transposed);
  if (transposed)
    for (std::int64_t i = n - 1; i >= 0; --i) swap_rows(i);
}

Numbers product(const Numbers& a, const Numbers& b, std::size_t n) {
  Numbers c(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) c[i * n + k] += a[i * n + j] * b[j * n + k];
  return c;
}

// By Taylor's series of a / 2^s, whose norm is at most 1/2, and s squarings.
Numbers exponential(Numbers a, std::size_t n) {
  double norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double row = 0;
    for (std::size_t j = 0; j < n; ++j) row += std::fabs(a[i * n + j]);
    norm = std::max(norm, row);
  }
  if (!std::isfinite(norm)) return Numbers(n * n, std::numeric_limits<double>::quiet_NaN());
  int squarings = 0;
  for (; norm > 0.5; norm /= 2) ++squarings;
  for (double& x : a) x = std::ldexp(x, -squarings);
  Numbers result(n * n, 0.0), term;
  for (std::size_t i = 0; i < n; ++i) result[i * n + i] = 1;
  term = result;
  for (int order = 1; order <= 18; ++order) {
    term = product(term, a, n);
    for (std::size_t i = 0; i < n * n; ++i) result[i] += term[i] /= order;
  }
  for (; squarings > 0; --squarings) result = product(result, result, n);
  return result;
}

// Both operands with the leading axes to which they broadcast.
std::pair<Array, Array> broadcast_stacks(const Array& a, const Array& b) {
  const Shape common = catena::broadcast_shapes("solve", internal::stacked(a, {}), internal::stacked(b, {}));
  const auto spread = [&](const Array& x) {
    Shape shape = common;
    for (int axis = x.ndim() - 2; axis < x.ndim(); ++axis) shape.push_back(x.shape(axis));
    return broadcast_to(x, shape);
  };
  return {spread(a), spread(b)};
}

}  // namespace

Array LinalgExtension::do_inv(const Array& a, bool check) {
  Stack s = host_stack(a);
  Numbers inverses(s.values.size(), 0.0);
  std::vector<std::int32_t> pivots(std::size_t(s.rows), 0);
  for (std::int64_t m = 0; m < s.count; ++m) {
    double *const lu = s.at(m), *const inverse = inverses.data() + m * s.rows * s.rows;
    factor(lu, pivots.data(), s.rows);
    bool singular = false;
    for (std::int64_t i = 0; i < s.rows; ++i) {
      inverse[i * s.rows + i] = 1;
      singular = singular || lu[i * s.rows + i] == 0;
    }
    if (singular && check)
      catena::fail<catena::LinAlgError>("inv", internal::name_of(a, m), " of shape (", s.rows, ", ", s.rows,
                                        ") is singular");
    if (singular) std::fill_n(inverse, s.rows * s.rows, std::numeric_limits<double>::quiet_NaN());
    else solve(lu, pivots.data(), inverse, s.rows, s.rows, false);
  }
  return on_device_of(a, inverses, a.shape());
}

Array LinalgExtension::do_det(const Array& a) {
  Stack s = host_stack(a);
  const Shape shape = internal::stacked(a, {});
  Numbers dets(std::size_t(catena::size_of(shape)), 1.0);
  std::vector<std::int32_t> pivots(std::size_t(s.rows), 0);
  for (std::int64_t m = 0; m < s.count; ++m) {
    factor(s.at(m), pivots.data(), s.rows);
    for (std::int64_t i = 0; i < s.rows; ++i)
      dets[std::size_t(m)] *= (pivots[std::size_t(i)] == i ? 1 : -1) * s.at(m)[i * s.rows + i];
  }
  return on_device_of(a, dets, shape);
}

Array LinalgExtension::do_cholesky(const Array& a) {
  Stack s = host_stack(a);
  const std::int64_t n = s.rows;
  for (std::int64_t m = 0; m < s.count; ++m) {
    double* const l = s.at(m);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i)
        for (std::int64_t k = 0; k < j; ++k) l[i * n + j] -= l[i * n + k] * l[j * n + k];
      if (!(l[j * n + j] > 0))
        catena::fail<catena::LinAlgError>("cholesky", internal::name_of(a, m), " of shape (", n, ", ", n,
                                          ") is not positive definite: its leading minor of order ", j + 1,
                                          " is not positive");
      const double root = std::sqrt(l[j * n + j]);
      for (std::int64_t i = j; i < n; ++i) l[i * n + j] /= root;
      for (std::int64_t k = j + 1; k < n; ++k) l[j * n + k] = 0;
    }
  }
  return on_device_of(a, s.values, a.shape());
}

LUFactors LinalgExtension::do_lu(const Array& a) {
  Stack s = host_stack(a);
  const Shape shape = catena::reduced_shape(a.shape(), a.ndim() - 1, false);
  std::vector<std::int32_t> pivots(std::size_t(s.count * s.rows), 0);
  for (std::int64_t m = 0; m < s.count; ++m) factor(s.at(m), pivots.data() + m * s.rows, s.rows);
  return {on_device_of(a, s.values, a.shape()), a.backend().from_host(pivots.data(), shape, Dtype::int32, a.device())};
}

Array LinalgExtension::do_lu_solve(const LUFactors& factors, const Array& b, bool transposed) {
  const auto [lu, right] = broadcast_stacks(factors.lu, b);
  const Shape shape = catena::reduced_shape(lu.shape(), lu.ndim() - 1, false);
  const std::vector<std::int32_t> pivots = to_vector<std::int32_t>(broadcast_to(factors.pivots, shape));
  Stack f = host_stack(lu), x = host_stack(right);
  for (std::int64_t m = 0; m < x.count; ++m)
    solve(f.at(m), pivots.data() + m * f.rows, x.at(m), x.rows, x.columns, transposed);
  return on_device_of(b, x.values, right.shape());
}

Array LinalgExtension::do_solve_triangular(const Array& a, const Array& b, const Triangle& triangle, bool transposed) {
  const auto [left, right] = broadcast_stacks(a, b);
  Stack t = host_stack(left), x = host_stack(right);
  for (std::int64_t m = 0; m < t.count; ++m) {
    for (std::int64_t i = 0; i < t.rows && !triangle.unit; ++i)
      if (t.at(m)[i * t.rows + i] == 0)
        catena::fail<catena::LinAlgError>("solve_triangular", internal::name_of(left, m), " of shape (", t.rows, ", ",
                                          t.rows, ") is singular: an element of its diagonal is exactly 0");
    if (m < x.count) substitute(t.at(m), x.at(m), x.rows, x.columns, triangle, transposed);
  }
  return on_device_of(b, x.values, right.shape());
}

// By the definition; the angles are of j k modulo n, so that they stay small.
Arrays LinalgExtension::do_fourier(const Array& real, const Array& imag, bool inverse) {
  const Numbers re = to_vector<double>(real), im = to_vector<double>(imag);
  const std::size_t n = std::size_t(real.shape(real.ndim() - 1));
  Numbers cosines, sines, y_re(re.size(), 0.0), y_im(re.size(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double angle = (inverse ? 1 : -1) * 6.283185307179586477 * double(i) / double(n);
    cosines.push_back(std::cos(angle));
    sines.push_back(std::sin(angle));
  }
  for (std::size_t at = 0; at < re.size(); ++at)
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t from = at / n * n + j, turn = at % n * j % n;
      y_re[at] += re[from] * cosines[turn] - im[from] * sines[turn];
      y_im[at] += re[from] * sines[turn] + im[from] * cosines[turn];
    }
  return {on_device_of(real, y_re, real.shape()), on_device_of(real, y_im, real.shape())};
}

Array LinalgExtension::do_expm(const Array& a) {
  Stack s = host_stack(a);
  for (std::int64_t m = 0; m < s.count; ++m) {
    const Numbers y = exponential(Numbers(s.at(m), s.at(m) + s.rows * s.rows), std::size_t(s.rows));
    std::copy(y.begin(), y.end(), s.at(m));
  }
  return on_device_of(a, s.values, a.shape());
}

}  // namespace autograd
