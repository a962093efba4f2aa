// Medians, percentiles and quantiles.
//
//   median(a)  median(a, 0)  quantile(a, 0.9)  quantile(a, {0.25, 0.75}, 1)  percentile(a, 50, 0, {.method = "lower"})
//
// options.axis: nothing (the flattened array), one axis or a list. With `options.keepdims` the reduced axes stay with
// length 1. options.out has the shape of the result (ValueError) and any dtype. NaN is greater than all numbers, and
// the result for elements with a NaN is NaN; the functions whose names begin with "nan" leave NaNs out, and their
// result is NaN where nothing else is there. They wait for the device. Errors: ValueError for an axis that is out of
// range or repeated, TypeError for complex numbers.
//
// Thread safety: may be called from any thread; the caller must order writes to an array with other accesses.
#pragma once

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/creation.h>

namespace nd {

struct MedianOptions {
  [[no_unique_address]] Named named = Named();
  Axes axis = {};  // default: the flattened array
  Array out = {};
  bool overwrite_input = false;  // accepted as in NumPy; the array is not changed in any case
  bool keepdims = false;
};
// The middle element of the sorted ones, or the mean of the two middle ones. Integers and bools give float64, floats
// keep their dtype. The median of no elements is NaN.
CATENA_EXPORT Array median(const Array& a, const MedianOptions& options = {});
CATENA_EXPORT Array nanmedian(const Array& a, const MedianOptions& options = {});
ND_REDUCTION_OF_AXES(median, MedianOptions)
ND_REDUCTION_OF_AXES(nanmedian, MedianOptions)

struct QuantileOptions {
  [[no_unique_address]] Named named = Named();
  Axes axis = {};  // default: the flattened array
  Array out = {};
  bool overwrite_input = false;  // accepted as in NumPy; the array is not changed in any case
  std::string_view method = "linear";
  bool keepdims = false;
  // How much an element counts: of the shape of the array, or of its axes options.axis. Only for "inverted_cdf".
  Array weights = {};
};
// The elements at the fractions q, from 0 to 1, of the sorted ones. The result for a list or an array q has its shape
// before the other axes. A fraction lies at a position p between two elements, and options.method says which of them it
// stands for. Of n elements, counted from 0:
//   "linear"                     p = (n - 1) q, interpolated
//   "lower", "higher"            the element before or behind (n - 1) q
//   "nearest", "midpoint"        the nearest one, to an even position at half way; the middle between both
//   "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
//   "median_unbiased", "normal_unbiased"         the definitions 1 to 9 of Hyndman and Fan, of which "linear" is 7
// Elements that are interpolated give float64 for integers and keep the dtype of floats; with q as a list or an array
// the result is float64 for floats, too. The others keep the dtype of the array, as "linear" does for integers q. An
// interpolation with infinite elements may give NaN.
// Arrays q on a device are read, which waits for it. ValueError for q out of range, of rank above 2, for an unknown
// method, no elements, weights with another method, weights that are negative, of another shape or without a finite
// positive sum (which is checked on the host). TypeError for bools that would be interpolated.
CATENA_EXPORT Array quantile(const Array& a, const ArrayLike& q, const QuantileOptions& options = {});
CATENA_EXPORT Array nanquantile(const Array& a, const ArrayLike& q, const QuantileOptions& options = {});
// The same with q from 0 to 100.
CATENA_EXPORT Array percentile(const Array& a, const ArrayLike& q, const QuantileOptions& options = {});
CATENA_EXPORT Array nanpercentile(const Array& a, const ArrayLike& q, const QuantileOptions& options = {});

// quantile(a, q, 0), quantile(a, q, {0, 1}, {.keepdims = true})
#define ND_QUANTILE_OF_AXES(name)                                                        \
  template <class O = QuantileOptions>                                                   \
  Array name(const Array& a, const ArrayLike& q, const Axes& axis, const O& more = {}) { \
    return name(a, q, internal::at_axis<QuantileOptions>(axis, more));                   \
  }
ND_QUANTILE_OF_AXES(quantile)
ND_QUANTILE_OF_AXES(nanquantile)
ND_QUANTILE_OF_AXES(percentile)
ND_QUANTILE_OF_AXES(nanpercentile)
#undef ND_QUANTILE_OF_AXES

}  // namespace nd
