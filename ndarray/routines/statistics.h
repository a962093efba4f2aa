// Means, variances and standard deviations. Axes, keepdims, outputs and their errors: as in reduction.h.
#pragma once

#include <catena/ndarray/core/array.h>

namespace nd {

// Integers and bool give float64; floats keep their dtype (float16 and bfloat16 accumulate in float32 and round once).
// The mean of nothing is NaN. options.dtype: elements are converted to it first.
CATENA_EXPORT Array mean(const Array& a, const ReduceOptions& options = {});

// Mean squared distance from the mean, with the divisor n - ddof, computed without cancellation. dtypes as for mean;
// options.dtype is that of calculation and result. A divisor that is not positive divides by 0: NaN or infinity, no
// error.
CATENA_EXPORT Array var(const Array& a, const VarOptions& options = {});
// The square root of var.
CATENA_EXPORT Array std(const Array& a, const VarOptions& options = {});

}  // namespace nd
