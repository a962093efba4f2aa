// Common parts of the functions and layers with PyTorch's arguments: inputs without a batch, padding "same". Internal
// to this library.
#pragma once

#include <catena/autograd/functions/array.h>
#include <catena/kernels/base/text.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/functions/torch_convolution.h>

namespace nn::internal {

// Calls f with x (N, C, d1, ..., d axes), or with a batch of one of x (C, d1, ...), which the result does not have.
// InvalidType for other ranks.
template <class F> Variable with_batch(const char* op, const Variable& x, int axes, const F& f) {
  catena::check<catena::TypeError>(bool(x), op, "the input is null");
  if (x.ndim() != axes + 1 && x.ndim() != axes + 2)
    throw catena::InvalidType(catena::concat("x.ndim == ", axes + 1, " or x.ndim == ", axes + 2),
                              catena::concat(x.ndim(), " is neither"),
                              catena::concat("Invalid operation is performed in: ", op, "\n\n"));
  if (x.ndim() == axes + 2) return f(x);
  return autograd::squeeze(f(autograd::expand_dims(x, 0)), 0);
}

// The same for f that returns a MaxPoolingResult.
template <class F> MaxPoolingResult with_batch_of_maxima(const char* op, const Variable& x, int axes, const F& f) {
  autograd::Array indices;
  const Variable y = with_batch(op, x, axes, [&](const Variable& batch) {
    MaxPoolingResult r = f(batch);
    indices = r.indices;
    return r.y;
  });
  if (x.ndim() == axes + 1) indices = autograd::reshape(indices, y.shape());
  return {y, indices};
}

// The padding of both sides of each axis, and that behind it alone, with which a convolution keeps the lengths.
struct SamePadding {
  autograd::Dims both, behind;
};
// ValueError for a stride other than 1.
SamePadding same_padding(const char* op, const autograd::Dims& kernel, const Lengths& stride, const Lengths& dilation);
// Returns x with zeros behind its last axes.
Variable padded_behind(const Variable& x, const autograd::Dims& behind);
// The spatial lengths of a transposed convolution of x (N, C, ...), output_padding included. ValueError unless that is
// at least 0 and less than the stride or the dilation.
Lengths transposed_size(const char* op, const Variable& x, const autograd::Dims& kernel,
                        const ConvTransposeFuncOptions& options);
// max_pooling_nd and average_pooling_nd, as the functions of the number of axes of x; `op` names them in errors.
Variable max_windows(const char* op, const Variable& x, const Lengths& size, const MaxPoolingNdOptions& o);
MaxPoolingResult max_windows_with_indices(const char* op, const Variable& x, const Lengths& size,
                                          const MaxPoolingNdOptions& o);
Variable average_windows(const char* op, const Variable& x, const Lengths& size, const AveragePoolingNdOptions& o);
// adaptive_max_pooling_nd with the positions of the maxima in the flattened spatial axes, int64. ValueError for an
// empty x; other errors are those of that function, with `op` as its name.
MaxPoolingResult adaptive_max_pool_with_positions(const char* op, const Variable& x, const Lengths& output_size);

}  // namespace nn::internal
