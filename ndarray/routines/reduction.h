// Reductions: sums, products, extrema and their positions, logical tests, counts. (Means and variances: statistics.h.)
//
//   sum(a)  sum(a, 1)  sum(a, {0, 1})  sum(a, 0, nd::float64)  sum(a, 0, {.keepdims = true})  sum(a, {.axis = 0})
//
// options.axis: nothing (all axes, a 0-d result), one axis or a list; negative axes count from the end.
// options.keepdims keeps reduced axes with length 1. options.out must have the shape of the result and may have any
// dtype. Errors: ValueError for an axis that is out of range or repeated and for an output of another shape or device;
// TypeError for a null array. Equal calls give equal bits. On the CPU results do not depend on the memory layout of the
// array; on CUDA the sum of a view may be rounded differently from that of its copy.
#pragma once

#include <catena/ndarray/core/array.h>

namespace nd {

// The reductions of kernels/lists/reductions.inc, which says what each computes: name(a, options), and with the axes by
// position, followed by a dtype or further options.
#define CATENA_REDUCTION(name, Options)                                  \
  CATENA_EXPORT Array name(const Array& a, const Options& options = {}); \
  ND_REDUCTION_OF_AXES(name, Options)
#include <catena/kernels/lists/reductions.inc>
#undef CATENA_REDUCTION

// Extreme elements, in the dtype of the array; NaN if there is a NaN. Complex numbers are compared by their real parts,
// equal ones by their imaginary parts. ValueError for an empty reduction.
CATENA_EXPORT Array amax(const Array& a, const ReduceOptions& options = {});
CATENA_EXPORT Array amin(const Array& a, const ReduceOptions& options = {});
inline Array max(const Array& a, const ReduceOptions& options = {}) { return amax(a, options); }
inline Array min(const Array& a, const ReduceOptions& options = {}) { return amin(a, options); }

// Extreme elements among those that are not NaN, in the dtype of the array. If there are only NaNs the result is NaN,
// with a RuntimeWarning; checking this waits for the device. ValueError for an empty reduction.
CATENA_EXPORT Array nanmax(const Array& a, const TestOptions& options = {});
CATENA_EXPORT Array nanmin(const Array& a, const TestOptions& options = {});

// int64 positions of the first extreme element, or of the first NaN if there is one, counted in C order over the
// reduced axes. ValueError for an empty reduction, TypeError if options.dtype is not an integer dtype.
CATENA_EXPORT Array argmax(const Array& a, const ArgReduceOptions& options = {});
CATENA_EXPORT Array argmin(const Array& a, const ArgReduceOptions& options = {});

// The number of nonzero elements (NaN is nonzero): of the whole array as a host number, which waits for the device, or
// over axes as int64.
CATENA_EXPORT std::int64_t count_nonzero(const Array& a);
CATENA_EXPORT Array count_nonzero(const Array& a, const TestOptions& options);

// As above with the axes by position, followed by a dtype or further options.
ND_REDUCTION_OF_AXES(amax, ReduceOptions)
ND_REDUCTION_OF_AXES(amin, ReduceOptions)
ND_REDUCTION_OF_AXES(max, ReduceOptions)
ND_REDUCTION_OF_AXES(min, ReduceOptions)
ND_REDUCTION_OF_AXES(nanmax, TestOptions)
ND_REDUCTION_OF_AXES(nanmin, TestOptions)
ND_REDUCTION_OF_AXES(argmax, ArgReduceOptions)
ND_REDUCTION_OF_AXES(argmin, ArgReduceOptions)
ND_REDUCTION_OF_AXES(count_nonzero, TestOptions)

}  // namespace nd
