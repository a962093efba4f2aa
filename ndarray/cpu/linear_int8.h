// Products of few rows with a matrix of 8-bit weights. Their time is limited by reading the weights, which are a
// quarter of the bytes of float32, so they are read once, in place, and converted on the way.
#pragma once

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/export.h>

namespace nd::cpu {

// y[n, o] = scale[o] sum_k x[n, k] w[o, k] + b[o] for x (N, inputs), int8 w (outputs, inputs), scale (outputs) and b
// (outputs) or null; y is (N, outputs), and all arrays but w are float32. Returns false without doing anything for
// other dtypes and shapes, arrays that are not C-contiguous, and more than 8 rows, for which a product with the
// converted matrix is faster.
CATENA_EXPORT bool linear_int8(const catena::ArrayHeader& x, const catena::ArrayHeader& w,
                               const catena::ArrayHeader& scale, const catena::ArrayHeader* b,
                               const catena::ArrayHeader& y);

}  // namespace nd::cpu
