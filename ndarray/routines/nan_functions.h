// Reductions that leave NaNs out, and the replacement of NaNs. (nanmax, nanmin: reduction.h; nancumsum, nancumprod:
// scan.h; nanmedian, nanquantile, nanpercentile: quantiles.h.)
//
//   nansum(a)  nansum(a, 0)  nanmean(a, {0, 1}, {.keepdims = true})  nanvar(a, 0, {.ddof = 1})
//
// Axes, keepdims, outputs, dtypes and their errors are as in reduction.h and statistics.h, and integers and bools give
// what the functions without "nan" give. A complex number is NaN if one of its parts is.
//
// Thread safety: may be called from any thread; the caller must order writes to an array with other accesses.
#pragma once

#include <optional>
#include <string_view>

#include <catena/ndarray/core/array.h>

namespace nd {

// Sum and product with NaN as 0 and as 1.
CATENA_EXPORT Array nansum(const Array& a, const ReduceOptions& options = {});
CATENA_EXPORT Array nanprod(const Array& a, const ReduceOptions& options = {});
// Mean, variance and standard deviation of the elements that are not NaN; NaN if there are none and, as the variance,
// where their number is not above options.ddof. TypeError if options.dtype or the dtype of the output is not a floating
// or complex one, but the array has such elements.
CATENA_EXPORT Array nanmean(const Array& a, const ReduceOptions& options = {});
CATENA_EXPORT Array nanvar(const Array& a, const VarOptions& options = {});
CATENA_EXPORT Array nanstd(const Array& a, const VarOptions& options = {});
// int64 positions of the first extreme element, as argmax and argmin count them. ValueError for elements that are all
// NaN, which waits for the device.
CATENA_EXPORT Array nanargmax(const Array& a, const ArgReduceOptions& options = {});
CATENA_EXPORT Array nanargmin(const Array& a, const ArgReduceOptions& options = {});
ND_REDUCTION_OF_AXES(nansum, ReduceOptions)
ND_REDUCTION_OF_AXES(nanprod, ReduceOptions)
ND_REDUCTION_OF_AXES(nanmean, ReduceOptions)
ND_REDUCTION_OF_AXES(nanvar, VarOptions)
ND_REDUCTION_OF_AXES(nanstd, VarOptions)
ND_REDUCTION_OF_AXES(nanargmax, ArgReduceOptions)
ND_REDUCTION_OF_AXES(nanargmin, ArgReduceOptions)

struct NanToNumOptions {
  bool copy = true;  // false: the array itself is changed and returned
  Scalar nan = 0.0;
  std::optional<Scalar> posinf = {};  // default: the greatest finite number of the dtype
  std::optional<Scalar> neginf = {};  // default: the least one
};
// NaN and both infinities replaced by numbers, in complex elements part by part. Integers and bools stay as they are. A
// scalar with options.copy = false is copied.
CATENA_EXPORT Array nan_to_num(const Operand& x, const NanToNumOptions& options = {});
inline Array nan_to_num(const Operand& x, bool copy, const Scalar& number = 0.0, std::optional<Scalar> posinf = {},
                        std::optional<Scalar> neginf = {}) {
  return nan_to_num(x, {.copy = copy, .nan = number, .posinf = posinf, .neginf = neginf});
}

namespace internal {
// A copy of `a` with every NaN replaced by `value`; the array itself if its dtype has no NaN. TypeError, with `op`, for
// a null array.
CATENA_EXPORT Array without_nans(std::string_view op, const Array& a, const Scalar& value);
}  // namespace internal

}  // namespace nd
