// Means, variances and standard deviations. Axes, keepdims, outputs and their errors are as in reduction.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

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

}  // namespace nd
