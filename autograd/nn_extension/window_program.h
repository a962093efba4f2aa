// Pooling as elementwise programs over strided views: the elements at position k of all windows are one view of the
// image. The loops then vectorise along whichever axis is contiguous, and channels-last images keep their layout.
//
// Used for windows of at most nine positions. If windows extend beyond the image, the image is first copied to a larger
// one. This copy, and sums over overlapping windows, need many small launches and are faster only on the CPU. All other
// cases use the indexed kernels of kernels/nn/pooling.h, with bit-identical results.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

// True if x (n, c, spatial...) should be pooled by a program; `out` are the numbers of windows.
bool has_window_program(const Array& x, const Dims& spatial, const PoolingSpec& spec, const Dims& out);
bool has_window_program_backward(const Array& gy, const Dims& spatial, const PoolingSpec& spec, const Dims& out);

// Returns {y, indexes}.
Arrays max_pooling_program(const Array& x, const PoolingSpec& spec, const Dims& out);
// Returns only y.
Array max_pooling_values_program(const Array& x, const PoolingSpec& spec, const Dims& out);
// Returns gx, in the memory layout of `indexes`.
Array max_pooling_backward_program(const Array& gy, const Array& indexes, const Dims& spatial, const PoolingSpec& spec);

}  // namespace autograd::internal
