// Sorting, searching and counting. (argmax, argmin and count_nonzero: reduction.h.)
//
// The order is ascending; NaN stands behind all numbers. Every sort is stable: equal elements, zeros of both signs and
// NaNs among themselves keep their order. Results do not depend on the layout of the array in memory. Errors:
// ValueError for an axis out of range (a 0-d array has none) and arrays on different devices; TypeError for a null
// array.
//
// Thread safety: may be called from any thread; writing an array that another thread uses is the caller's to order.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

struct SortOptions {
  std::optional<int> axis = -1;  // nothing: the array is flattened
  std::string_view kind =
      {};  // "quicksort", "mergesort", "heapsort" or "stable"; all are the same here (ValueError for another name)
};
// A sorted copy, of the shape of the array. (a.sort(axis) sorts in place.)
CATENA_EXPORT Array sort(const Array& a, const SortOptions& options = {});
// The int64 positions along the axis that sort: take_along_axis(a, argsort(a), -1) is sort(a).
CATENA_EXPORT Array argsort(const Array& a, const SortOptions& options = {});
// sort(a, {.axis = 0}).
CATENA_EXPORT Array msort(const Array& a);
// The int64 positions that sort by the last of several keys, where that is equal by the one before it, and so on. All
// keys have one shape (ValueError); TypeError when there is none.
CATENA_EXPORT Array lexsort(const std::vector<Array>& keys, int axis = -1);

struct PartitionOptions {
  std::optional<int> axis = -1;  // nothing: the array is flattened
};
// A copy with element kth (of a sorted array) in its place, no greater one before and no smaller one behind it; with
// several kth that holds for each. Negative ones count from the end. ValueError for one out of range.
CATENA_EXPORT Array partition(const Array& a, const std::vector<std::int64_t>& kth,
                              const PartitionOptions& options = {});
inline Array partition(const Array& a, std::int64_t kth, const PartitionOptions& options = {}) {
  return partition(a, std::vector<std::int64_t>{kth}, options);
}
// The int64 positions that partition.
CATENA_EXPORT Array argpartition(const Array& a, const std::vector<std::int64_t>& kth,
                                 const PartitionOptions& options = {});
inline Array argpartition(const Array& a, std::int64_t kth, const PartitionOptions& options = {}) {
  return argpartition(a, std::vector<std::int64_t>{kth}, options);
}

struct SearchOptions {
  std::string_view side = "left";  // before equal elements, or "right": behind them (ValueError for another word)
  Array sorter = {};               // integer positions that sort `a`, as argsort gives them
};
// Where the values would have to be inserted into the sorted array `a` of rank 1 to keep it sorted: int64, of the shape
// of `values`. Both are compared in their common dtype. An array that is not sorted gives meaningless places, no error.
// ValueError for another rank or a sorter of another shape than that of `a`, TypeError for a sorter that is not of an
// integer dtype.
CATENA_EXPORT Array searchsorted(const Array& a, const Operand& values, const SearchOptions& options = {});

struct DigitizeOptions {
  bool right = false;  // the bin of a value includes its right edge, not its left one
};
// The number of the bin of every element: i for bins[i-1] <= x < bins[i], or bins[i-1] > x >= bins[i] when they
// decrease; 0 or len(bins) beyond their ends. ValueError when the bins are not of rank 1 or neither increase nor
// decrease, which is found out on the host: waits for the device.
CATENA_EXPORT Array digitize(const Operand& x, const Array& bins, const DigitizeOptions& options = {});

// The positions of all elements that are not 0 (NaN is not), in C order: one int64 array per axis. A 0-d array counts
// as one of length 1. All of these wait for the device, which tells their number.
CATENA_EXPORT std::vector<Array> nonzero(const Array& a);
// The same; where(condition, x, y) is in math.h.
inline std::vector<Array> where(const Array& condition) { return nonzero(condition); }
// Positions in the flattened array.
CATENA_EXPORT Array flatnonzero(const Array& a);
// One row per element that is not 0: its position along every axis; shape (count, rank).
CATENA_EXPORT Array argwhere(const Array& a);

}  // namespace nd
