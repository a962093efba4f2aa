// Sorting, searching and counting. (argmax, argmin and count_nonzero: reduction.h.)
//
// The order is ascending; NaN comes after all numbers. All sorts are stable: equal elements, which include zeros of
// both signs and NaNs among themselves, keep their order. Results do not depend on the memory layout of the array.
// Errors: ValueError for an axis out of range (a 0-d array has none) and arrays on different devices; TypeError for a
// null array.
//
// Thread safety: may be called from any thread; the caller must order writes to an array with other accesses.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

struct SortOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<int> axis = -1;  // without a value: the array is flattened
  std::string_view kind =
      {};  // "quicksort", "mergesort", "heapsort" or "stable", all equivalent (ValueError for other names)
};
// A sorted copy with the shape of the array. (a.sort(axis) sorts in place.) NaN comes last. Complex numbers are sorted
// by their real parts, equal ones by their imaginary parts.
CATENA_EXPORT Array sort(const Array& a, const SortOptions& options = {});
inline Array sort(const Array& a, std::optional<int> axis) { return sort(a, {.axis = axis}); }
// Returns the int64 positions that sort along the axis: take_along_axis(a, argsort(a), -1) equals sort(a).
CATENA_EXPORT Array argsort(const Array& a, const SortOptions& options = {});
inline Array argsort(const Array& a, std::optional<int> axis) { return argsort(a, {.axis = axis}); }
// sort(a, {.axis = 0}).
CATENA_EXPORT Array msort(const Array& a);
// sort(a) along the last axis as complex numbers: complex64 for integers of 8 and 16 bits, else at least complex128.
CATENA_EXPORT Array sort_complex(const Array& a);
// Returns the int64 positions that sort by several keys, the last of which is the primary one. All keys have one shape
// (ValueError); TypeError for no keys.
CATENA_EXPORT Array lexsort(const std::vector<Array>& keys, int axis = -1);

struct PartitionOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<int> axis = -1;  // without a value: the array is flattened
};
// Returns a copy in which element kth is the one of the sorted array, with no greater element before it and no smaller
// one behind it; with several kth this holds for each. Negative kth count from the end. ValueError for kth out of
// range. The order of the elements between these positions is undefined, except that NaN is last. Rows are partitioned
// only as far as necessary, in a time proportional to their length. Sorted as a whole are rows with NaN on the CPU, and
// on CUDA rows of up to 2048 elements or with more than 7 kth.
CATENA_EXPORT Array partition(const Array& a, const std::vector<std::int64_t>& kth,
                              const PartitionOptions& options = {});
inline Array partition(const Array& a, std::int64_t kth, const PartitionOptions& options = {}) {
  return partition(a, std::vector<std::int64_t>{kth}, options);
}
inline Array partition(const Array& a, std::int64_t kth, std::optional<int> axis) {
  return partition(a, kth, {.axis = axis});
}
// Returns the int64 positions that partition.
CATENA_EXPORT Array argpartition(const Array& a, const std::vector<std::int64_t>& kth,
                                 const PartitionOptions& options = {});
inline Array argpartition(const Array& a, std::int64_t kth, const PartitionOptions& options = {}) {
  return argpartition(a, std::vector<std::int64_t>{kth}, options);
}
inline Array argpartition(const Array& a, std::int64_t kth, std::optional<int> axis) {
  return argpartition(a, kth, {.axis = axis});
}

struct SearchOptions {
  std::string_view side = "left";  // "left": before equal elements, "right": behind them (ValueError for other strings)
  Array sorter = {};               // integer positions that sort `a`, such as the result of argsort
};
// Returns the positions at which `values` would have to be inserted into the sorted array `a` of rank 1 to keep it
// sorted: int64, with the shape of `values`. Both are compared in their common dtype. If `a` is not sorted, the
// positions are meaningless, without an error. ValueError for another rank or a sorter of a shape other than that of
// `a`, TypeError for a sorter that is not of an integer dtype.
CATENA_EXPORT Array searchsorted(const Array& a, const Operand& values, const SearchOptions& options = {});
inline Array searchsorted(const Array& a, const Operand& values, std::string_view side) {
  return searchsorted(a, values, {.side = side});
}

struct DigitizeOptions {
  bool right = false;  // bins include their right edge instead of their left one
};
// The bin number of every element: i for bins[i-1] <= x < bins[i], or bins[i-1] > x >= bins[i] if the bins decrease; 0
// or len(bins) beyond their ends; NaN is the greatest number. ValueError if the bins are not of rank 1 or not
// monotonic; that check waits for the device.
CATENA_EXPORT Array digitize(const Operand& x, const Array& bins, const DigitizeOptions& options = {});

// Returns the positions of all elements that are not 0 (NaN is not 0), in C order: one int64 array per axis. A 0-d
// array counts as an array of length 1. This function and the next three wait for the device, because the number of
// positions determines the shape.
CATENA_EXPORT std::vector<Array> nonzero(const Array& a);
// As nonzero; where(condition, x, y) is in math.h.
inline std::vector<Array> where(const Array& condition) { return nonzero(condition); }
// Returns the positions in the flattened array.
CATENA_EXPORT Array flatnonzero(const Array& a);
namespace internal {
// Returns the arrays of nonzero() as the rows of one array.
CATENA_EXPORT Array nonzero_rows(const Array& a);
}  // namespace internal
// Returns one row per nonzero element with its position along every axis; shape (count, rank).
CATENA_EXPORT Array argwhere(const Array& a);

}  // namespace nd
