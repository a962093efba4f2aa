// Operators that are matrix products and convolutions.
#include <algorithm>
#include <array>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/einsum.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/operators.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/quantization.h>
#include <catena/nn/onnx/import_windows.h>

namespace nn::onnx::importing {

namespace products {
namespace {

using catena::Dims;
using Call = const OperatorCall&;

// NumPy's matmul, with ranks of vectors removed.
Variables matmul(Call c) {
  const Variable& a = c.input(0);
  const Variable b = beside(c.input(1), a);
  if (!is_floating(a)) c.unsupported("products of ", a.dtype(), " are not imported");
  if (a.ndim() > 2 || b.ndim() > 2) return {autograd::matmul(a, b)};
  const Variable left = a.ndim() == 1 ? autograd::reshape(a, {1, a.size()}) : a;
  const Variable right = b.ndim() == 1 ? autograd::reshape(b, {b.size(), 1}) : b;
  const Variable y = autograd::matmul(left, right);
  if (a.ndim() == 2 && b.ndim() == 2) return {y};
  Shape shape;
  if (a.ndim() == 2) shape.push_back(y.shape(0));
  if (b.ndim() == 2) shape.push_back(y.shape(1));
  return {autograd::reshape(y, shape)};
}

Variables gemm(Call c) {
  const Variable& a = c.input(0);
  // import_fuse.h: weights of 8 bits with their scales behind the bias.
  if (c.has(3)) return {nn::quantized_linear(a, beside(c.input(1), a), beside(c.input(3), a), c.optional(2))};
  const Variable b = beside(c.input(1), a);
  if (!is_floating(a)) c.unsupported("products of ", a.dtype(), " are not imported");
  const bool transa = c.integer("transA", 0) != 0, transb = c.integer("transB", 0) != 0;
  const double alpha = c.number("alpha", 1), beta = c.number("beta", 1);
  const Variable bias = c.optional(2);
  // A layer: the weight is a row for each output.
  if (!transa && transb && alpha == 1 && beta == 1 && bias && bias.ndim() == 1 && bias.shape(0) == b.shape(0))
    return {nn::linear(a, b, bias)};
  Variable y = autograd::matmul(a, b, transa, transb);
  if (alpha != 1) y = y * alpha;
  if (bias && beta != 0) y = y + (beta == 1 ? bias : bias * beta);
  return {y};
}

Variables einsum(Call c) { return {autograd::einsum(c.text("equation", ""), c.inputs())}; }

Dims spatial(const Shape& shape) {
  Dims lengths;
  for (int k = 2; k < shape.size(); ++k) lengths.push_back(shape[k]);
  return lengths;
}

Variables convolution(Call c) {
  Variable x = c.input(0);
  const Variable W = beside(c.input(1), x), b = c.optional(2);
  if (x.ndim() < 3 || W.ndim() != x.ndim())
    c.refuse("its input and weight have the shapes ", x.shape(), " and ", W.shape());
  Windows w = windows_of(c, x.shape(), spatial(W.shape()));
  if (!w.is_symmetric()) {
    x = padded(x, w.before, w.after, 0);
    w.before = Dims::filled(w.axes(), 0);
  }
  const auto groups = int(c.integer("group", 1));
  if (w.axes() == 2) {
    const auto pair = [](const Dims& d) { return Pair(int(d[0]), int(d[1])); };
    return {nn::convolution_2d(
        x, W, b,
        ConvolutionOptions{
            .stride = pair(w.stride), .pad = pair(w.before), .dilate = pair(w.dilation), .groups = groups})};
  }
  return {nn::convolution_nd(
      x, W, b, ConvolutionNdOptions{.stride = w.stride, .pad = w.before, .dilate = w.dilation, .groups = groups})};
}

// output_shape and SAME: the pads remove elements of the result; a longer result is extended by zeros.
void set_output_pads(Call c, Windows& w, const Dims& full, Dims& extra) {
  const Integers given = c.integers("output_shape");
  const std::string automatic = c.text("auto_pad", "NOTSET");
  if (given.empty() && !automatic.starts_with("SAME")) return;
  if (!given.empty() && int(given.size()) != w.axes())
    c.refuse("output_shape has ", given.size(), " lengths for ", w.axes(), " spatial axes");
  for (int k = 0; k < w.axes(); ++k) {
    const std::int64_t n = c.input(0).shape(k + 2);
    const std::int64_t length = given.empty() ? n * w.stride[k] : given[std::size_t(k)];
    const std::int64_t total = std::max<std::int64_t>(full[k] + extra[k] - length, 0);
    extra[k] = std::max(extra[k], length - full[k]);
    w.before[k] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.after[k] = total - w.before[k];
  }
}

Variables transposed_convolution(Call c) {
  const Variable& x = c.input(0);
  const Variable W = beside(c.input(1), x), b = c.optional(2);
  if (x.ndim() < 3 || W.ndim() != x.ndim())
    c.refuse("its input and weight have the shapes ", x.shape(), " and ", W.shape());
  const Dims kernel = spatial(W.shape());
  const int axes = kernel.size();
  const Integers given = c.integers("output_padding", Integers(std::size_t(axes), 0));
  if (int(given.size()) != axes) c.refuse("output_padding has ", given.size(), " lengths for ", axes, " spatial axes");
  Windows w = windows_of(c, x.shape(), kernel);
  Dims full = Dims::filled(axes, 0), extra = full, none = full, lengths = full;
  for (int k = 0; k < axes; ++k) {
    full[k] = w.stride[k] * (x.shape(k + 2) - 1) + w.span(k);
    extra[k] = given[std::size_t(k)];
  }
  set_output_pads(c, w, full, extra);
  bool fits = true;  // whether the function's pads and size express it
  for (int k = 0; k < axes; ++k) {
    lengths[k] = full[k] + extra[k] - w.before[k] - w.after[k];
    fits = fits && w.before[k] >= 0 && lengths[k] + 2 * w.before[k] >= full[k] &&
           lengths[k] + 2 * w.before[k] < full[k] + w.stride[k];
  }
  const auto groups = int(c.integer("group", 1));
  DeconvolutionNdOptions options{.stride = w.stride, .dilate = w.dilation, .groups = groups};
  if (fits) {
    options.pad = w.before;
    options.outsize = lengths;
    return {nn::deconvolution_nd(x, W, b, options)};
  }
  // Without pads, then extended by zeros and cut; the bias is added to all elements.
  Variable y = padded(nn::deconvolution_nd(x, W, {}, options), none, extra, 0);
  y = cut(y, w.before, lengths);
  if (b)
    y = y + autograd::reshape(b, [&] {
          Shape shape = Shape::filled(axes + 1, 1);
          shape[0] = b.size();
          return shape;
        }());
  return {y};
}

// (x - zero point) scale, with one scale and zero point for all elements or for each index of an axis.
Variables dequantize_linear(Call c) {
  const auto [x, scale] = on_one_device(c.input(0), c.input(1));
  if (c.integer("block_size", 0) != 0) c.unsupported("scales of blocks are not imported");
  const auto along = [&](const Variable& v) {
    if (v.ndim() == 0 || v.size() == 1) return autograd::reshape(v, {});
    Shape shape = Shape::filled(x.ndim(), 1);
    const int axis = c.axis(c.integer("axis", 1), x.ndim());
    if (v.ndim() != 1 || v.shape(0) != x.shape(axis))
      c.refuse("its input has the shape ", x.shape(), ", its scale or zero point ", v.shape());
    shape[axis] = v.shape(0);
    return autograd::reshape(v, shape);
  };
  if (!c.has(2) && x.dtype() == Dtype::int8 && scale.ndim() == 1 && scale.size() > 1)
    return {nn::dequantize(x, scale, c.axis(c.integer("axis", 1), x.ndim()))};
  Variable wide = cast_to(x, scale.dtype());
  if (c.has(2)) wide = wide - along(cast_to(beside(c.input(2), x), scale.dtype()));
  return {wide * along(scale)};
}

constexpr std::array kOperators = {
    Operator{"Conv", convolution},
    Operator{"ConvTranspose", transposed_convolution},
    Operator{"DequantizeLinear", dequantize_linear, 1u << 2, 1u << 1},
    Operator{"Einsum", einsum},
    Operator{"Gemm", gemm, 0, 1u << 3},
    Operator{"MatMul", matmul},
};

}  // namespace
}  // namespace products

std::span<const Operator> product_operators() { return products::kOperators; }

}  // namespace nn::onnx::importing
