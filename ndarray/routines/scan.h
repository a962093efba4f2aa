// Cumulative sums and products along one axis.
//
// The result has the shape of the array (flattened if no axis is given) and the dtype of sum and prod: int64 for bool
// and signed integers, uint64 for unsigned integers, the same dtype for floats (float16 and bfloat16 accumulate in
// float32 and round once per element). Integers wrap. options.dtype: elements are converted to it before they are
// combined, and the result has it. options.out: any dtype, cast unsafely. Errors: ValueError for an axis out of range
// and an output of another shape or device; TypeError for a null array. Equal calls give equal bits. On the CPU
// elements are combined one after the other, so rounded sums depend neither on the memory layout nor on the number of
// threads; other devices combine pieces of long rows.
//
// Thread safety: may be called from any thread; the caller must order writes to an array with other accesses.
#pragma once

#include <optional>

#include <catena/ndarray/core/array.h>

namespace nd {

struct ScanOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<int> axis = {};  // default: the flattened array
  std::optional<Dtype> dtype = {};
  Array out = {};  // may be the array itself
};
// Element i is the sum or product of elements 0 to i.
CATENA_EXPORT Array cumsum(const Array& a, const ScanOptions& options = {});
CATENA_EXPORT Array cumprod(const Array& a, const ScanOptions& options = {});
// As above, with every NaN replaced by 0 (sum) or 1 (product).
CATENA_EXPORT Array nancumsum(const Array& a, const ScanOptions& options = {});
CATENA_EXPORT Array nancumprod(const Array& a, const ScanOptions& options = {});
// cumsum(a, 1), cumsum(a, 1, nd::float64), cumsum(a, 1, {.out = b})
#define ND_SCAN_OF_AXIS(name)                                                                                \
  template <class O = ScanOptions> Array name(const Array& a, std::optional<int> axis, const O& more = {}) { \
    return name(a, internal::at_axis<ScanOptions>(axis, more));                                              \
  }
ND_SCAN_OF_AXIS(cumsum)
ND_SCAN_OF_AXIS(cumprod)
ND_SCAN_OF_AXIS(nancumsum)
ND_SCAN_OF_AXIS(nancumprod)
#undef ND_SCAN_OF_AXIS

struct CumulativeOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<int> axis = {};  // may be omitted only for arrays of rank 1 (ValueError)
  std::optional<Dtype> dtype = {};
  Array out = {};
  bool include_initial = false;  // prepends a 0 or 1, so that the axis is longer by one
};
// cumsum and cumprod as in the array API standard. ValueError for a 0-d array.
CATENA_EXPORT Array cumulative_sum(const Array& a, const CumulativeOptions& options = {});
CATENA_EXPORT Array cumulative_prod(const Array& a, const CumulativeOptions& options = {});

}  // namespace nd
