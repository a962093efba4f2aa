// Means, variances and standard deviations. Axes, keepdims, outputs and their errors are as in reduction.h.
#pragma once

#include <catena/ndarray/core/array.h>

namespace nd {

// Integers and bool give float64; floats keep their dtype (float16 and bfloat16 accumulate in float32 and round once).
// The mean of no elements is NaN. options.dtype: elements are converted to it first.
CATENA_EXPORT Array mean(const Array& a, const ReduceOptions& options = {});

// The mean squared distance from the mean, with the divisor n - ddof, computed without cancellation. dtypes as for
// mean; options.dtype is the dtype of calculation and result. A divisor <= 0 counts as 0: the result is NaN or
// infinity, without an error.
// Of complex numbers: the mean square of the distance to the mean, a real number.
CATENA_EXPORT Array var(const Array& a, const VarOptions& options = {});
// The square root of var.
CATENA_EXPORT Array std(const Array& a, const VarOptions& options = {});

// mean(a, 0), mean(a, {0, 1}, {.keepdims = true})...
ND_REDUCTION_OF_AXES(mean, ReduceOptions)
ND_REDUCTION_OF_AXES(var, VarOptions)
ND_REDUCTION_OF_AXES(std, VarOptions)

}  // namespace nd
