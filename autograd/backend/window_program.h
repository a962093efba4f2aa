// Pooling as elementwise programs over strided views: position k of all windows together is a view of the image.
// Vectors then run over whichever axis is contiguous, and channels-last images keep their memory layout.
//
// For windows of at most nine positions. Where windows lie partly outside, the image is copied into a larger one first;
// that, and the sums over windows that overlap, are many small launches: worth it on the CPU alone. Everything else
// takes the indexed kernels of kernels/nn/pooling.h, whose bits these programs give.
#pragma once

#include <catena/autograd/backend/nn_extension.h>

namespace autograd::internal {

// Whether it pays for x (n, c, spatial...), `out` being the numbers of windows.
bool has_window_program(const Array& x, const Dims& spatial, const PoolingSpec& spec, const Dims& out);
bool has_window_program_backward(const Array& gy, const Dims& spatial, const PoolingSpec& spec, const Dims& out);

// {y, indexes}
Arrays max_pooling_program(const Array& x, const PoolingSpec& spec, const Dims& out);
// gx, of the memory layout of `indexes`.
Array max_pooling_backward_program(const Array& gy, const Array& indexes, const Dims& spatial, const PoolingSpec& spec);

}  // namespace autograd::internal
