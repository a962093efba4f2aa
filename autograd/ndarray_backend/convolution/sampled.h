// Convolutions with filters of one element and a stride read a part of the positions only: copied together, they are
// the input of a convolution without strides, which libraries compute several times as fast. Internal to this folder.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

// Whether a convolution of x with w that gives y is such a one.
bool is_sampled(const Shape& x, const Shape& w, const Shape& y, const ConvolutionSpec& spec);
// The same without strides.
ConvolutionSpec dense(const ConvolutionSpec& spec);
// The positions that are read, of which each axis has as many as `out`: a copy, channels-last.
Array sampled(const Array& x, const Dims& out, const ConvolutionSpec& spec);
// An array of this shape, channels-last, of zeros but for the positions that are read, which are those of `gx`.
Array spread(const Array& gx, const Shape& shape, const ConvolutionSpec& spec);

}  // namespace autograd::internal
