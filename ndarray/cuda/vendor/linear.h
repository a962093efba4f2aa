// Products with a bias in one call of cuBLASLt.
#pragma once

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/export.h>

namespace nd::cuda {

// out = x w^T + b for x (N, inputs), w (outputs, inputs), b (outputs) and out (N, outputs), all of one dtype on one
// CUDA device, rounded once. Enqueues one call on the current stream, or returns false without doing anything: for
// dtypes other than float16, bfloat16 and float32, strides and alignments that cuBLASLt does not take, products whose
// sums are so long that they are computed in pieces, and without cuBLASLt.
CATENA_EXPORT bool linear(const catena::ArrayHeader& x, const catena::ArrayHeader& w, const catena::ArrayHeader& b,
                          const catena::ArrayHeader& out);

}  // namespace nd::cuda
