// Means, variances and standard deviations. Axes, keepdims, outputs and their errors are as in reduction.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <catena/ndarray/core/array.h>

namespace nd {

// Integers and bool give float64; floats keep their dtype (float16 and bfloat16 accumulate in float32 and round once).
// The mean of no elements is NaN. options.dtype: elements are converted to it first.
CATENA_EXPORT Array mean(const Array& a, const ReduceOptions& options = {});

// The mean squared distance from the mean, with the divisor n - ddof, computed without cancellation. dtypes as for
// mean; options.dtype is the dtype of calculation and result. A divisor <= 0 counts as 0: the result is NaN or
// infinity, without an error.
// Of complex numbers: the mean square of the distance to the mean, a real number; dtypes count as their real ones.
CATENA_EXPORT Array var(const Array& a, const VarOptions& options = {});
// The square root of var.
CATENA_EXPORT Array std(const Array& a, const VarOptions& options = {});

// mean(a, 0), mean(a, {0, 1}, {.keepdims = true})...
ND_REDUCTION_OF_AXES(mean, ReduceOptions)
ND_REDUCTION_OF_AXES(var, VarOptions)
ND_REDUCTION_OF_AXES(std, VarOptions)

// Maximum minus minimum, in the dtype of the array; NaN if there is a NaN. Integers wrap. ValueError for an empty
// reduction, TypeError for bools.
CATENA_EXPORT Array ptp(const Array& a, const TestOptions& options = {});
ND_REDUCTION_OF_AXES(ptp, TestOptions)

struct AverageOptions {
  [[no_unique_address]] Named named = Named();
  Axes axis = {};
  Array weights = {};  // default: 1 for all elements
  bool keepdims = false;
};
// The mean with weights: sum(a * weights) / sum(weights). The weights have the shape of the array or, with axes, the
// lengths of these. The result has the common dtype of both, float64 for integers and bools; without weights it is
// mean(a). ValueError for a sum of weights that is 0, which waits for the device (NumPy: ZeroDivisionError), and for
// weights of another shape; TypeError for these if no axis is given.
CATENA_EXPORT Array average(const Array& a, const AverageOptions& options = {});
// The average, and the sums of the weights in its shape (without weights: the number of elements). NumPy's
// average(a, returned=True).
CATENA_EXPORT std::pair<Array, Array> average_returned(const Array& a, const AverageOptions& options = {});
ND_REDUCTION_OF_AXES(average, AverageOptions)
template <std::convertible_to<const Array&> W> Array average(const Array& a, const Axes& axis, const W& weights) {
  return average(a, {.axis = axis, .weights = weights});
}
template <class O = AverageOptions>
std::pair<Array, Array> average_returned(const Array& a, const Axes& axis, const O& more = {}) {
  return average_returned(a, internal::at_axis<AverageOptions>(axis, more));
}

struct CovOptions {
  Array y = {};                  // more variables, of the form of m
  bool rowvar = true;            // a variable is a row; false: a column
  bool bias = false;             // the divisor is the number of observations, instead of one less
  std::optional<int> ddof = {};  // the divisor is the number of observations minus ddof, whatever `bias` is
  Array fweights = {};           // how often each observation counts: integers of rank 1
  Array aweights = {};           // how much each observation counts: numbers of rank 1
  std::optional<Dtype> dtype = {};
};
// The covariance matrix of variables: entry (i, j) is the covariance of the variables i and j, and the diagonal has the
// variances. m has rank 2, or rank 1 for one variable, whose result is an array of rank 0. The dtype is float64, or
// complex128 for complex numbers, unless it is given. A divisor <= 0 counts as 0, without an error.
// ValueError for a higher rank, numbers of observations that differ, weights of another rank or length, negative
// weights; TypeError for fweights that are not whole numbers. Checking weights waits for the device.
CATENA_EXPORT Array cov(const Array& m, const CovOptions& options = {});
template <std::convertible_to<const Array&> Y> Array cov(const Array& m, const Y& y, CovOptions options = {}) {
  options.y = y;
  return cov(m, options);
}
inline Array cov(const Array& m, const Array& y, bool rowvar, bool bias = false, std::optional<int> ddof = {},
                 const Array& fweights = {}, const Array& aweights = {}) {
  return cov(m, {.y = y, .rowvar = rowvar, .bias = bias, .ddof = ddof, .fweights = fweights, .aweights = aweights});
}

struct CorrcoefOptions {
  Array y = {};
  bool rowvar = true;
  std::optional<Dtype> dtype = {};
};
// The matrix of correlation coefficients: the covariances divided by the standard deviations of both variables, at most
// 1 and at least -1, in complex numbers part by part. Arguments and errors as for cov.
CATENA_EXPORT Array corrcoef(const Array& x, const CorrcoefOptions& options = {});
template <std::convertible_to<const Array&> Y>
Array corrcoef(const Array& x, const Y& y, CorrcoefOptions options = {}) {
  options.y = y;
  return corrcoef(x, options);
}
inline Array corrcoef(const Array& x, const Array& y, bool rowvar) { return corrcoef(x, {.y = y, .rowvar = rowvar}); }

struct BincountOptions {
  Array weights = {};                          // of the shape of x: they are summed instead of counting the elements
  std::optional<std::int64_t> minlength = {};  // minimal length of the result, at least 1
};
// Counts how often each number from 0 on occurs in `x`, an array of rank 1 of integers or bools. The result is int64,
// of length max(x) + 1 or options.minlength, whichever is more; for an array without elements, all counts are 0. With
// weights: the sums of the weights of each number, in float64 and, on the CPU, in the order of the elements. Waits for
// the device. ValueError for another rank, a negative number, weights of another shape, a minlength below 1; TypeError
// for other dtypes.
CATENA_EXPORT Array bincount(const Array& x, const BincountOptions& options = {});
template <std::convertible_to<const Array&> W>
Array bincount(const Array& x, const W& weights, std::optional<std::int64_t> minlength = {}) {
  return bincount(x, {.weights = weights, .minlength = minlength});
}

namespace internal {
// The weights of the elements of `a` in a shape that broadcasts to that of `a`: of its shape, or of the lengths of the
// axes. TypeError for another shape without axes, ValueError with them.
CATENA_EXPORT Array weights_along(std::string_view op, const Array& a, const Axes& axis, const Array& weights);
// Counts how often each number from 0 to length - 1 occurs in `numbers`, unsigned or not negative integers of any shape
// below `length`; with weights that are not null, the sums of these, in float64. Nothing is checked.
CATENA_EXPORT Array counted(std::string_view op, const Array& numbers, const Array& weights, std::int64_t length);
}  // namespace internal

}  // namespace nd
