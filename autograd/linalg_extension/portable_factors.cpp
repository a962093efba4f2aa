// The portable implementation: eigenvalues and singular values by Jacobi's rotations, and QR by Householder's
// reflections. All matrices are float64 in row-major order.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/linalg_extension.h>
#include <catena/autograd/linalg_extension/matrices.h>

namespace autograd {
namespace {

using internal::host_stack;
using internal::on_device_of;
using internal::Stack;
using internal::stacked;

using Numbers = std::vector<double>;
constexpr int kMostSweeps = 60;

struct Rotation {
  double c, s;
};
// The rotation that makes the element `off` of the symmetric matrix [[p, off], [off, q]] zero.
Rotation rotation_of(double p, double off, double q) {
  const double tau = (q - p) / (2 * off), t = std::copysign(1.0, tau) / (std::fabs(tau) + std::hypot(1.0, tau));
  const double c = 1 / std::hypot(1.0, t);
  return {c, t * c};
}
// Applies it to two rows or columns, whose elements are `step` apart.
void rotate(double* x, double* y, std::int64_t n, std::int64_t step, const Rotation& r) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double a = x[i * step], b = y[i * step];
    x[i * step] = r.c * a - r.s * b;
    y[i * step] = r.s * a + r.c * b;
  }
}

std::vector<std::int64_t> sorted_by(const Numbers& values, bool descending) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    const double a = values[std::size_t(i)], b = values[std::size_t(j)];
    return descending ? a > b : a < b;
  });
  return order;
}

// Replaces the symmetric a (n, n), given by its lower triangle, by its eigenvectors; writes the eigenvalues to w.
void eigen(double* a, double* w, std::int64_t n) {
  Numbers v(std::size_t(n * n), 0.0), values;
  for (std::int64_t i = 0; i < n; ++i) {
    v[std::size_t(i * n + i)] = 1;
    for (std::int64_t j = i + 1; j < n; ++j) a[i * n + j] = a[j * n + i];
  }
  bool rotated = true;
  for (int sweep = 0; sweep < kMostSweeps && rotated; ++sweep) {
    rotated = false;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = i + 1; j < n; ++j) {
        const double p = a[i * n + i], q = a[j * n + j], off = a[i * n + j];
        if (std::fabs(off) <= 1e-17 * (std::fabs(p) + std::fabs(q)) || off == 0) continue;
        rotated = true;
        const Rotation r = rotation_of(p, off, q);
        rotate(a + i * n, a + j * n, n, 1, r);
        rotate(a + i, a + j, n, n, r);
        rotate(v.data() + i, v.data() + j, n, n, r);
        a[i * n + j] = a[j * n + i] = 0;
      }
  }
  for (std::int64_t i = 0; i < n; ++i) values.push_back(a[i * n + i]);
  const std::vector<std::int64_t> order = sorted_by(values, false);
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t from = order[std::size_t(j)];
    w[j] = values[std::size_t(from)];
    for (std::int64_t i = 0; i < n; ++i) a[i * n + j] = v[std::size_t(i * n + from)];
  }
}

double dot(const double* x, const double* y, std::int64_t n) { return std::inner_product(x, x + n, y, 0.0); }

// Replaces row `at` of q, whose rows before it are orthonormal, by a unit vector that is orthogonal to them.
void complete(double* q, std::int64_t at, std::int64_t m) {
  for (std::int64_t axis = 0; axis < m; ++axis) {
    double* const row = q + at * m;
    std::fill_n(row, m, 0.0);
    row[axis] = 1;
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t i = 0; i < at; ++i) {
        const double part = dot(q + i * m, row, m);
        for (std::int64_t k = 0; k < m; ++k) row[k] -= part * q[i * m + k];
      }
    const double length = std::sqrt(dot(row, row, m));
    if (length < 0.5 / std::sqrt(double(m))) continue;
    for (std::int64_t k = 0; k < m; ++k) row[k] /= length;
    return;
  }
}

// The factors of a matrix whose k columns of length m are the rows of `columns`, k <= m. Afterwards these rows are the
// left vectors, and the rows of `right` (k, k) the right ones.
void singular(double* columns, double* right, double* s, std::int64_t k, std::int64_t m) {
  Numbers v(std::size_t(k * k), 0.0), lengths;
  for (std::int64_t i = 0; i < k; ++i) v[std::size_t(i * k + i)] = 1;
  bool rotated = true;
  for (int sweep = 0; sweep < kMostSweeps && rotated; ++sweep) {
    rotated = false;
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = i + 1; j < k; ++j) {
        double *const x = columns + i * m, *const y = columns + j * m;
        const double p = dot(x, x, m), q = dot(y, y, m), off = dot(x, y, m);
        if (std::fabs(off) <= 1e-16 * std::sqrt(p * q) || off == 0) continue;
        rotated = true;
        const Rotation r = rotation_of(p, off, q);
        rotate(x, y, m, 1, r);
        rotate(v.data() + i * k, v.data() + j * k, k, 1, r);
      }
  }
  for (std::int64_t i = 0; i < k; ++i) lengths.push_back(std::sqrt(dot(columns + i * m, columns + i * m, m)));
  const std::vector<std::int64_t> order = sorted_by(lengths, true);
  const Numbers old(columns, columns + k * m);
  const double tiny = k == 0 ? 0 : 1e-15 * lengths[std::size_t(order[0])];
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int64_t from = order[std::size_t(i)];
    s[i] = lengths[std::size_t(from)];
    std::copy_n(v.data() + from * k, k, right + i * k);
    if (s[i] <= tiny) complete(columns, i, m);
    else
      for (std::int64_t c = 0; c < m; ++c) columns[i * m + c] = old[std::size_t(from * m + c)] / s[i];
  }
}

// Writes the factors of a (m, n), which it overwrites: q (m, k) and r (k, n).
void reflect(double* a, double* q, double* r, std::int64_t m, std::int64_t n) {
  const std::int64_t k = std::min(m, n);
  std::vector<Numbers> reflections;
  // x -= 2 v (v^T x) for a column of x
  const auto apply = [&](const Numbers& v, double* x, std::int64_t columns, std::int64_t column) {
    double part = 0;
    for (std::int64_t i = 0; i < m; ++i) part += v[std::size_t(i)] * x[i * columns + column];
    for (std::int64_t i = 0; i < m; ++i) x[i * columns + column] -= 2 * part * v[std::size_t(i)];
  };
  for (std::int64_t j = 0; j < k; ++j) {
    Numbers v(std::size_t(m), 0.0);
    for (std::int64_t i = j; i < m; ++i) v[std::size_t(i)] = a[i * n + j];
    const double length = std::sqrt(dot(v.data(), v.data(), m));
    v[std::size_t(j)] += std::copysign(length, v[std::size_t(j)]);
    const double size = std::sqrt(dot(v.data(), v.data(), m));
    if (size > 0)
      for (double& x : v) x /= size;
    for (std::int64_t c = j; c < n; ++c) apply(v, a, n, c);
    reflections.push_back(std::move(v));
  }
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) r[i * n + j] = j < i ? 0 : a[i * n + j];
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < k; ++j) q[i * k + j] = i == j ? 1 : 0;
  for (std::size_t j = reflections.size(); j-- > 0;)
    for (std::int64_t c = 0; c < k; ++c) apply(reflections[j], q, k, c);
}

}  // namespace

Arrays LinalgExtension::do_eigh(const Array& a) {
  Stack s = host_stack(a);
  Numbers values(std::size_t(s.count * s.rows), 0.0);
  for (std::int64_t m = 0; m < s.count; ++m) eigen(s.at(m), values.data() + m * s.rows, s.rows);
  return {on_device_of(a, values, stacked(a, {s.rows})), on_device_of(a, s.values, a.shape())};
}

Arrays LinalgExtension::do_svd(const Array& a) {
  // The columns of a tall matrix, the rows of a wide one.
  const bool tall = a.shape(a.ndim() - 2) >= a.shape(a.ndim() - 1);
  Stack s = host_stack(tall ? swapaxes(a, -2, -1) : a);
  const std::int64_t k = s.rows, m = s.columns;
  Numbers right(std::size_t(s.count * k * k), 0.0), values(std::size_t(s.count * k), 0.0);
  for (std::int64_t i = 0; i < s.count; ++i) singular(s.at(i), right.data() + i * k * k, values.data() + i * k, k, m);
  const Array longer = on_device_of(a, s.values, stacked(a, {k, m})),
              square = on_device_of(a, right, stacked(a, {k, k})), sizes = on_device_of(a, values, stacked(a, {k}));
  if (tall) return {swapaxes(longer, -2, -1), sizes, square};
  return {swapaxes(square, -2, -1), sizes, longer};
}

Arrays LinalgExtension::do_qr(const Array& a) {
  Stack s = host_stack(a);
  const std::int64_t m = s.rows, n = s.columns, k = std::min(m, n);
  Numbers q(std::size_t(s.count * m * k), 0.0), r(std::size_t(s.count * k * n), 0.0);
  for (std::int64_t i = 0; i < s.count; ++i) reflect(s.at(i), q.data() + i * m * k, r.data() + i * k * n, m, n);
  return {on_device_of(a, q, stacked(a, {m, k})), on_device_of(a, r, stacked(a, {k, n}))};
}

}  // namespace autograd
