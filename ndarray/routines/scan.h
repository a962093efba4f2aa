// Running sums and products along one axis.
//
// The result has the shape of the array (flattened without an axis) and the dtype that sum and prod give: bool and
// signed integers int64, unsigned ones uint64, floats their own (float16 and bfloat16 accumulate in float32 and round
// once per element). Integers wrap. options.dtype: elements are converted to it before they are joined, and the result
// has it. options.out: any dtype, converted unsafely. Errors: ValueError for an axis out of range and an output of
// another shape or device; TypeError for a null array. The same call gives the same bits every time. On the CPU
// elements are joined one after the other, so that sums that round depend neither on the layout of the array in memory
// nor on the number of threads; other devices join pieces of long rows.
//
// Thread safety: may be called from any thread; writing an array that another thread uses is the caller's to order.
#pragma once

#include <optional>

#include <catena/ndarray/core/array.h>

namespace nd {

struct ScanOptions {
  std::optional<int> axis = {};  // default: of the flattened array
  std::optional<Dtype> dtype = {};
  Array out = {};  // may be the array itself
};
// Element i is the sum or product of elements 0 to i.
CATENA_EXPORT Array cumsum(const Array& a, const ScanOptions& options = {});
CATENA_EXPORT Array cumprod(const Array& a, const ScanOptions& options = {});
// The same with every NaN taken as 0 and as 1.
CATENA_EXPORT Array nancumsum(const Array& a, const ScanOptions& options = {});
CATENA_EXPORT Array nancumprod(const Array& a, const ScanOptions& options = {});

struct CumulativeOptions {
  std::optional<int> axis = {};  // may be left out for arrays of rank 1 only (ValueError)
  std::optional<Dtype> dtype = {};
  Array out = {};
  bool include_initial = false;  // a 0 or 1 comes first, so that the axis is longer by one
};
// cumsum and cumprod as the array API standard has them. ValueError for a 0-d array.
CATENA_EXPORT Array cumulative_sum(const Array& a, const CumulativeOptions& options = {});
CATENA_EXPORT Array cumulative_prod(const Array& a, const CumulativeOptions& options = {});

}  // namespace nd
