// Solves small systems of equations by Gaussian elimination, in rows [a | b] whose two parts consist of whole vectors,
// so that the compiler vectorises the loops. Every element is computed independently, so results do not depend on
// alignment.
#include <algorithm>
#include <cmath>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/lapack.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

constexpr std::int64_t kMostRows = 64, kMostColumns = 64;
constexpr std::int64_t kVector = 16;  // elements; at least the length of every vector

constexpr std::int64_t whole_vectors(std::int64_t n) { return (n + kVector - 1) / kVector * kVector; }

template <class T>
inline __attribute__((always_inline)) void subtract(T* __restrict y, const T* __restrict x, T factor, std::int64_t n) {
  for (std::int64_t v = 0; v < n; v += kVector)
    for (std::int64_t j = 0; j < kVector; ++j) y[v + j] -= factor * x[v + j];
}

template <class T>
inline __attribute__((always_inline)) int eliminate(T* __restrict rows, std::int64_t n, std::int64_t columns) {
  const std::int64_t left = whole_vectors(n), width = left + whole_vectors(columns);
  const auto row = [=](std::int64_t i) { return rows + i * width; };
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(row(i)[k]) > std::abs(row(pivot)[k])) pivot = i;
    if (row(pivot)[k] == 0) return static_cast<int>(k) + 1;
    const std::int64_t from = k / kVector * kVector;
    if (pivot != k) std::swap_ranges(row(k) + from, row(k) + width, row(pivot) + from);
    // In all these rows, the elements before column k are 0.
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T factor = row(i)[k] / row(k)[k];
      subtract(row(i) + from, row(k) + from, factor, width - from);
      row(i)[k] = 0;
    }
  }
  for (std::int64_t k = n - 1; k >= 0; --k) {
    T* const x = row(k) + left;
    for (std::int64_t j = 0; j < width - left; ++j) x[j] /= row(k)[k];
    for (std::int64_t i = 0; i < k; ++i) subtract(row(i) + left, x, row(i)[k], width - left);
  }
  return 0;
}

template <class T>
inline __attribute__((always_inline)) int solve(const T* a, T* b, T* rows, std::int64_t n, std::int64_t columns) {
  const std::int64_t left = whole_vectors(n), width = left + whole_vectors(columns);
  std::fill_n(rows, n * width, T(0));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) rows[i * width + j] = a[j * n + i];
    for (std::int64_t j = 0; j < columns; ++j) rows[i * width + left + j] = b[j * n + i];
  }
  const int status = eliminate(rows, n, columns);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < n; ++i) b[j * n + i] = rows[i * width + left + j];
  return status;
}

CATENA_MULTIARCH int solve_float(const float* a, float* b, float* rows, std::int64_t n, std::int64_t columns) {
  return solve(a, b, rows, n, columns);
}
CATENA_MULTIARCH int solve_double(const double* a, double* b, double* rows, std::int64_t n, std::int64_t columns) {
  return solve(a, b, rows, n, columns);
}

}  // namespace

bool is_small_solve(const Factorize& call) {
  return call.kind == Factorization::solve && !catena::is_complex_dtype(call.dtype) && call.rows <= kMostRows &&
         call.other <= kMostColumns;
}

std::size_t work_of_small_solve(const Factorize& call) {
  const std::int64_t width = whole_vectors(call.rows) + whole_vectors(call.other);
  return static_cast<std::size_t>(call.rows * width) * catena::itemsize(call.dtype);
}

int small_solve(const Factorize& call, std::byte* a, std::byte* b, std::byte* work) {
  const auto run = [&]<class T>(int (*solve_typed)(const T*, T*, T*, std::int64_t, std::int64_t)) {
    return solve_typed(reinterpret_cast<const T*>(a), reinterpret_cast<T*>(b), reinterpret_cast<T*>(work), call.rows,
                       call.other);
  };
  return call.dtype == Dtype::float32 ? run(&solve_float) : run(&solve_double);
}

}  // namespace nd::cpu
