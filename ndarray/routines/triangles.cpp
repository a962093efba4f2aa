#include <catena/ndarray/routines/triangles.h>

#include <algorithm>

#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/sorting.h>

namespace nd {

using catena::check;

namespace {

// Returns bools that are true where column - row <= k, on the current device. They depend on this difference alone, so
// the rows are views of one line, each a position further to the left than the row above.
Array at_and_below(std::string_view op, std::int64_t rows, std::int64_t columns, std::int64_t k) {
  check<ValueError>(rows >= 0 && columns >= 0, op, "the shape ", Shape{rows, columns}, " has a negative length");
  if (rows == 0 || columns == 0) return zeros({rows, columns}, Dtype::bool_);
  std::int64_t length = 0;
  check<ValueError>(!__builtin_add_overflow(rows, columns - 1, &length), op, "the shape ", Shape{rows, columns},
                    " is too large");
  const Array line = empty(length, Dtype::bool_);
  const std::int64_t end = std::clamp(rows + std::clamp(k, -rows, columns), std::int64_t(0), length);
  internal::part(line, 0, 0, end).fill(true);
  internal::part(line, 0, end, length - end).fill(false);
  return internal::make_view(line, {rows, columns}, {-1, 1}, rows - 1);
}

Array at_and_below(std::string_view op, const Array& m, std::int64_t k) {
  check<ValueError>(m.ndim() > 0, op, "a 0-d array has no triangle; the rank must be at least 1");
  const DeviceScope scope(m.device());
  return at_and_below(op, m.shape(-std::min(m.ndim(), 2)), m.shape(-1), k);
}

// The elements above diagonal k begin at diagonal k + 1, those below it end at diagonal k - 1.
std::int64_t before(std::int64_t k) { return k == INT64_MIN ? k : k - 1; }

void check_matrix(std::string_view op, const Array& arr) {
  check<ValueError>(arr.ndim() == 2, op, "the array has rank ", arr.ndim(), ", must be a matrix");
}

}  // namespace

Array tri(std::int64_t N, const TriOptions& options) try {
  return at_and_below("tri", N, options.M.value_or(N), options.k).astype(options.dtype);
} catch (...) {
  internal::rethrow_out_of_memory("tri");
}

Array tril(const Array& m, std::int64_t k) try { return where(at_and_below("tril", m, k), m, false); } catch (...) {
  internal::rethrow_out_of_memory("tril");
}
Array triu(const Array& m, std::int64_t k) try {
  return where(at_and_below("triu", m, before(k)), false, m);
} catch (...) {
  internal::rethrow_out_of_memory("triu");
}

std::pair<Array, Array> internal::rows_and_columns(const Array& matrix) {
  check<ValueError>(matrix.ndim() == 2, "mask_indices", "the mask has rank ", matrix.ndim(), ", must be a matrix");
  const std::vector<Array> found = nonzero(matrix);
  return {found[0], found[1]};
}
Array internal::ones_for_mask(std::int64_t n) { return nd::ones({n, n}, Dtype::int64); }

std::pair<Array, Array> tril_indices(std::int64_t n, const TriangleOptions& options) try {
  return internal::rows_and_columns(at_and_below("tril_indices", n, options.m.value_or(n), options.k));
} catch (...) {
  internal::rethrow_out_of_memory("tril_indices");
}
std::pair<Array, Array> triu_indices(std::int64_t n, const TriangleOptions& options) try {
  return internal::rows_and_columns(
      logical_not(at_and_below("triu_indices", n, options.m.value_or(n), before(options.k))));
} catch (...) {
  internal::rethrow_out_of_memory("triu_indices");
}
std::pair<Array, Array> tril_indices_from(const Array& arr, std::int64_t k) {
  check_matrix("tril_indices_from", arr);
  const DeviceScope scope(arr.device());
  return tril_indices(arr.shape(0), k, arr.shape(1));
}
std::pair<Array, Array> triu_indices_from(const Array& arr, std::int64_t k) {
  check_matrix("triu_indices_from", arr);
  const DeviceScope scope(arr.device());
  return triu_indices(arr.shape(0), k, arr.shape(1));
}

std::vector<Array> diag_indices(std::int64_t n, int ndim) {
  check<ValueError>(n >= 0 && ndim >= 0, "diag_indices", "the length ", n, " or the rank ", ndim, " is negative");
  return std::vector<Array>(static_cast<std::size_t>(ndim), arange(n));
}
std::vector<Array> diag_indices_from(const Array& arr) {
  check<ValueError>(arr.ndim() >= 2, "diag_indices_from", "an array of rank ", arr.ndim(),
                    " has no diagonal; the rank must be at least 2");
  for (const std::int64_t n : arr.shape())
    check<ValueError>(n == arr.shape(0), "diag_indices_from", "the lengths of shape ", arr.shape(), " differ");
  const DeviceScope scope(arr.device());
  return diag_indices(arr.shape(0), arr.ndim());
}

}  // namespace nd
