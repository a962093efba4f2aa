// Convolutions with filters of one element and a stride read only some of the positions. These are copied to a dense
// array, the input of a convolution without strides, which libraries compute much faster. Internal to this folder.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

// True for a convolution of x with w and result y of this kind.
bool is_sampled(const Shape& x, const Shape& w, const Shape& y, const ConvolutionSpec& spec);
// Returns the spec without strides.
ConvolutionSpec dense(const ConvolutionSpec& spec);
// Returns a channels-last copy of the positions that are read; each axis has the length in `out`.
Array sampled(const Array& x, const Dims& out, const ConvolutionSpec& spec);
// Returns a channels-last array of this shape with `gx` at the positions that are read, and zeros elsewhere.
Array spread(const Array& gx, const Shape& shape, const ConvolutionSpec& spec);

}  // namespace autograd::internal
