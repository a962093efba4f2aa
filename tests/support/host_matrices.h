// Matrices on the host, in double precision and by the definitions, for comparison with results of linear algebra.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catena/tests/support/ndarray_values.h>

namespace test {

using Complex = std::complex<double>;

struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<Complex> v;

  Matrix(std::int64_t m, std::int64_t n) : rows(m), columns(n), v(std::size_t(m * n)) {}
  Complex& operator()(std::int64_t i, std::int64_t j) { return v[std::size_t(i * columns + j)]; }
  const Complex& operator()(std::int64_t i, std::int64_t j) const { return v[std::size_t(i * columns + j)]; }
};

// Returns the matrices of the last two axes, in the order of the other axes.
inline std::vector<Matrix> matrices_of(const nd::Array& a) {
  const auto v = a.to_vector<Complex>();
  const std::int64_t m = a.shape(-2), n = a.shape(-1);
  std::vector<Matrix> stack;
  for (std::size_t at = 0; m * n > 0 && at < v.size(); at += std::size_t(m * n)) {
    stack.emplace_back(m, n);
    std::copy_n(v.begin() + std::ptrdiff_t(at), m * n, stack.back().v.begin());
  }
  return stack;
}
// Returns the rows of the last axis, as matrices of one column.
inline std::vector<Matrix> columns_of(const nd::Array& a) { return matrices_of(a.reshape({-1, a.shape(-1), 1})); }

inline Matrix unit(std::int64_t n) {
  Matrix e(n, n);
  for (std::int64_t i = 0; i < n; ++i) e(i, i) = 1;
  return e;
}
inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k)
      for (std::int64_t j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}
inline Matrix adjoint(const Matrix& a) {
  Matrix h(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) h(j, i) = std::conj(a(i, j));
  return h;
}
// Returns a matrix with the values of a column on its diagonal.
inline Matrix diagonal(const Matrix& values, std::int64_t rows, std::int64_t columns) {
  Matrix d(rows, columns);
  for (std::int64_t i = 0; i < values.rows; ++i) d(i, i) = values(i, 0);
  return d;
}
inline Matrix first_columns(const Matrix& a, std::int64_t n) {
  Matrix part(a.rows, n);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < n; ++j) part(i, j) = a(i, j);
  return part;
}

// Returns the largest difference of two elements, relative to the largest element if that is above 1.
inline double distance(const Matrix& a, const Matrix& b) {
  if (a.rows != b.rows || a.columns != b.columns) return std::numeric_limits<double>::infinity();
  double most = 0, scale = 1;
  for (std::size_t i = 0; i < a.v.size(); ++i) {
    const double d = std::abs(a.v[i] - b.v[i]);
    if (!(d <= most)) most = d;  // also NaN
    scale = std::max(scale, std::abs(b.v[i]));
  }
  return most / scale;
}
// Returns the error bound for sums of a few numbers near 1.
inline double precision(nd::Dtype t) { return catena::real_dtype(t) == nd::float32 ? 1e-4 : 1e-11; }

// Returns normally distributed elements, complex ones for complex dtypes.
inline nd::Array normal_array(const nd::Shape& shape, nd::Dtype dtype, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<Complex> v(std::size_t(catena::size_of(shape)));
  for (Complex& z : v) z = {normal(random), catena::is_complex_dtype(dtype) ? normal(random) : 0};
  const bool is_complex = catena::is_complex_dtype(dtype);
  if (is_complex) return nd::array(v, shape, {.dtype = dtype});
  std::vector<double> reals(v.size());
  std::transform(v.begin(), v.end(), reals.begin(), [](Complex z) { return z.real(); });
  return nd::array(reals, shape, {.dtype = dtype});
}
// Returns the elements of the matrices, as an array.
inline nd::Array array_of(const std::vector<Matrix>& stack, const nd::Shape& shape, nd::Dtype dtype) {
  std::vector<Complex> v;
  for (const Matrix& m : stack) v.insert(v.end(), m.v.begin(), m.v.end());
  if (catena::is_complex_dtype(dtype)) return nd::array(v, shape, {.dtype = dtype});
  std::vector<double> reals(v.size());
  std::transform(v.begin(), v.end(), reals.begin(), [](Complex z) { return z.real(); });
  return nd::array(reals, shape, {.dtype = dtype});
}
// Returns a a^H + n, which is positive definite.
inline nd::Array positive_array(const nd::Shape& shape, nd::Dtype dtype, std::mt19937& random) {
  std::vector<Matrix> stack = matrices_of(normal_array(shape, dtype, random));
  for (Matrix& m : stack) {
    m = m * adjoint(m);
    for (std::int64_t i = 0; i < m.rows; ++i) m(i, i) += double(m.rows);
  }
  return array_of(stack, shape, dtype);
}

// Returns the same elements in different layouts.
inline std::vector<nd::Array> layouts_of(const nd::Array& a, std::mt19937& random) {
  return {a, a.copy(nd::Order::F), scattered(a, random)};
}

constexpr nd::Dtype kSolvedDtypes[] = {nd::float32, nd::float64, nd::complex64, nd::complex128};

}  // namespace test
