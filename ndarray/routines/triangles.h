// Triangles and diagonals of matrices: the matrices and the positions of their elements.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

struct TriOptions {
  std::optional<std::int64_t> M = {};  // columns; default: N
  std::int64_t k = 0;                  // number of the diagonal; above the main one for k > 0
  Dtype dtype = Dtype::float64;
};
// N rows with ones at and below diagonal k, and zeros above it. ValueError for a negative length.
CATENA_EXPORT Array tri(std::int64_t N, const TriOptions& options = {});
inline Array tri(std::int64_t N, Dtype dtype) { return tri(N, {.dtype = dtype}); }
inline Array tri(std::int64_t N, std::optional<std::int64_t> M, std::int64_t k = 0, Dtype dtype = Dtype::float64) {
  return tri(N, {.M = M, .k = k, .dtype = dtype});
}

// Return a copy in which the elements above (tril) or below (triu) diagonal k are zero: of a matrix, or of all matrices
// over the last two axes. An array of rank 1 is the row of a square matrix, repeated. ValueError for rank 0.
CATENA_EXPORT Array tril(const Array& m, std::int64_t k = 0);
CATENA_EXPORT Array triu(const Array& m, std::int64_t k = 0);

struct TriangleOptions {
  std::int64_t k = 0;
  std::optional<std::int64_t> m = {};  // columns; default: n
};
// Return the rows and the columns of the elements of a triangle of an n x m matrix, in C order: a(rows, columns) are
// the elements. Both wait for the device.
CATENA_EXPORT std::pair<Array, Array> tril_indices(std::int64_t n, const TriangleOptions& options = {});
CATENA_EXPORT std::pair<Array, Array> triu_indices(std::int64_t n, const TriangleOptions& options = {});
inline std::pair<Array, Array> tril_indices(std::int64_t n, std::int64_t k, std::optional<std::int64_t> m = {}) {
  return tril_indices(n, {.k = k, .m = m});
}
inline std::pair<Array, Array> triu_indices(std::int64_t n, std::int64_t k, std::optional<std::int64_t> m = {}) {
  return triu_indices(n, {.k = k, .m = m});
}
// The same of a matrix of the shape of `arr`, on its device. ValueError for another rank than 2.
CATENA_EXPORT std::pair<Array, Array> tril_indices_from(const Array& arr, std::int64_t k = 0);
CATENA_EXPORT std::pair<Array, Array> triu_indices_from(const Array& arr, std::int64_t k = 0);

// Return the positions of the main diagonal of an array of rank `ndim` with n elements along each axis: one array for
// each axis. diag_indices_from: ValueError for rank < 2 and for axes of different lengths.
CATENA_EXPORT std::vector<Array> diag_indices(std::int64_t n, int ndim = 2);
CATENA_EXPORT std::vector<Array> diag_indices_from(const Array& arr);

namespace internal {
CATENA_EXPORT std::pair<Array, Array> rows_and_columns(const Array& matrix);
CATENA_EXPORT Array ones_for_mask(std::int64_t n);
}  // namespace internal

// Returns the rows and the columns where mask_func(ones, k) is nonzero, for an n x n matrix of ones: mask_indices(3,
// nd::triu, 1) is triu_indices(3, 1). Waits for the device.
template <class F> std::pair<Array, Array> mask_indices(std::int64_t n, F&& mask_func, std::int64_t k = 0) {
  return internal::rows_and_columns(mask_func(internal::ones_for_mask(n), k));
}

}  // namespace nd
