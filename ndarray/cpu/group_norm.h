// Normalization of groups of channels: a pass over a group for its statistics and one that writes, with the formulas of
// kernels/nn/normalization.h. A channel has one gamma and one beta for all of its positions, which therefore stay in
// registers, and the gradient needs only two sums per channel. Row-wise kernels have no channels: they would read
// parameters and keep sums for every element.
#pragma once

#include <catena/kernels/base/array_header.h>

namespace nd::cpu {

using catena::ArrayHeader;

// x is (N, G, C, P): examples, groups, channels of a group and their positions. 16-bit floats are computed in float32.
// x, gy, y and gx have one floating dtype; gamma, beta and their gradients (G * C), center and scale (N, G, 1, 1) have
// that of the computation. All are C-contiguous. Results do not depend on the number of threads.

// True for an array that is not empty and whose channels have enough positions.
CATENA_EXPORT bool takes_group_norm(const ArrayHeader& x);
// Writes y, center and scale; see layer_norm_fwd.
CATENA_EXPORT void group_norm(const ArrayHeader& x, const ArrayHeader& gamma, const ArrayHeader& beta, double eps,
                              const ArrayHeader& y, const ArrayHeader& center, const ArrayHeader& scale);
// Writes the gradients of x, gamma and beta; see layer_norm_bwd.
CATENA_EXPORT void group_norm_backward(const ArrayHeader& x, const ArrayHeader& gy, const ArrayHeader& gamma,
                                       const ArrayHeader& center, const ArrayHeader& scale, const ArrayHeader& gx,
                                       const ArrayHeader& ggamma, const ArrayHeader& gbeta);

}  // namespace nd::cpu
