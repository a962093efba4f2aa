// The windows of convolutions and pooling: attributes of their nodes. Internal to this folder.
#pragma once

#include <catena/nn/onnx/import_operator.h>

namespace nn::onnx::importing {

// Along each spatial axis.
struct Windows {
  catena::Dims kernel, stride, dilation, before, after;  // `before` and `after` are the pads

  int axes() const noexcept { return kernel.size(); }
  bool is_symmetric() const noexcept { return before == after; }
  bool is_dense() const noexcept { return dilation == catena::Dims::filled(axes(), 1); }
  // Number of elements from the first to the last one of a window.
  std::int64_t span(int k) const noexcept { return dilation[k] * (kernel[k] - 1) + 1; }
};

// Reads the attributes, and determines the pads of auto_pad, for an input of shape (n, c, d1, ...) and a kernel.
Windows windows_of(const OperatorCall& call, const Shape& input, const catena::Dims& kernel);
// kernel_shape, which must have one length for each spatial axis.
catena::Dims kernel_of(const OperatorCall& call, const Shape& input);
// Returns x with the pads of its spatial axes.
Variable padded(const Variable& x, const catena::Dims& before, const catena::Dims& after, double value);
// Returns the part of the spatial axes from `begin` on with these lengths.
Variable cut(const Variable& x, const catena::Dims& begin, const catena::Dims& lengths);

}  // namespace nn::onnx::importing
