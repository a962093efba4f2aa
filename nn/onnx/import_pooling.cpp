// Operators that pool windows, and the windows themselves.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/operators.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/onnx/import_windows.h>

namespace nn::onnx::importing {

namespace {

using catena::Dims;
using Call = const OperatorCall&;

Dims lengths_of(Call c, const char* name, int axes, std::int64_t otherwise) {
  const Integers given = c.integers(name, Integers(std::size_t(axes), otherwise));
  if (int(given.size()) != axes) c.refuse("its ", name, " has ", given.size(), " lengths for ", axes, " spatial axes");
  Dims result;
  for (const std::int64_t n : given) {
    if (n < 1) c.refuse("its ", name, " has the length ", n);
    result.push_back(n);
  }
  return result;
}

}  // namespace

Dims kernel_of(Call c, const Shape& input) {
  if (input.size() < 3) c.refuse("its input has the shape ", input, "; (n, c, d1, ...) is needed");
  if (c.attribute("kernel_shape") == nullptr) c.refuse("it lacks the attribute kernel_shape");
  return lengths_of(c, "kernel_shape", input.size() - 2, 1);
}

Windows windows_of(Call c, const Shape& input, const Dims& kernel) {
  const int axes = kernel.size();
  Windows w{kernel, lengths_of(c, "strides", axes, 1), lengths_of(c, "dilations", axes, 1), Dims::filled(axes, 0),
            Dims::filled(axes, 0)};
  const std::string automatic = c.text("auto_pad", "NOTSET");
  if (automatic == "VALID") return w;
  if (automatic == "NOTSET") {
    const Integers pads = c.integers("pads", Integers(std::size_t(2 * axes), 0));
    if (int(pads.size()) != 2 * axes) c.refuse("it has ", pads.size(), " pads for ", axes, " spatial axes");
    for (int k = 0; k < axes; ++k) w.before[k] = pads[std::size_t(k)], w.after[k] = pads[std::size_t(axes + k)];
    return w;
  }
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER") c.refuse("its auto_pad is ", automatic);
  for (int k = 0; k < axes; ++k) {
    const std::int64_t n = input[k + 2], out = (n + w.stride[k] - 1) / w.stride[k];
    const std::int64_t total = std::max<std::int64_t>((out - 1) * w.stride[k] + w.span(k) - n, 0);
    w.before[k] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.after[k] = total - w.before[k];
  }
  return w;
}

Variable padded(const Variable& x, const Dims& before, const Dims& after, double value) {
  std::vector<std::pair<std::int64_t, std::int64_t>> widths = {{0, 0}, {0, 0}};
  for (int k = 0; k < before.size(); ++k) widths.emplace_back(before[k], after[k]);
  return autograd::pad(x, widths, "constant", {.constant_values = autograd::Scalar(value)});
}

Variable cut(const Variable& x, const Dims& begin, const Dims& lengths) {
  std::vector<autograd::IndexItem> items(2, autograd::IndexItem(catena::Slice()));
  for (int k = 0; k < begin.size(); ++k) items.emplace_back(catena::Slice(begin[k], begin[k] + lengths[k]));
  return autograd::get_item(x, items);
}

namespace pooling {
namespace {

// Lets the last window extend beyond the padding: ceil_mode. A window that would begin in the padding behind is left
// out.
void extend(Call c, Windows& w, const Shape& input) {
  if (c.integer("ceil_mode", 0) == 0) return;
  for (int k = 0; k < w.axes(); ++k) {
    const std::int64_t n = input[k + 2], span = w.span(k);
    const std::int64_t whole = n + w.before[k] + w.after[k];
    if (whole < span) continue;
    std::int64_t out = (whole - span + w.stride[k] - 1) / w.stride[k] + 1;
    if ((out - 1) * w.stride[k] >= n + w.before[k]) --out;
    w.after[k] = std::max(w.after[k], (out - 1) * w.stride[k] + span - n - w.before[k]);
  }
}

// The windows along a spatial axis, as a new last axis.
Variable taps(const Variable& x, const Windows& w, int k) {
  const Variable all = autograd::unfold(x, k + 2, w.span(k), w.stride[k]);
  return autograd::get_item(
      all, {autograd::IndexItem(catena::ellipsis), autograd::IndexItem(catena::Slice(0, w.span(k), w.dilation[k]))});
}

// The maximum over windows with gaps, of one axis after the other.
Variable dilated_maximum(const Variable& x, const Windows& w) {
  Variable y = padded(x, w.before, w.after, -HUGE_VAL);
  for (int k = 0; k < w.axes(); ++k) y = autograd::max(taps(y, w, k), -1);
  return y;
}

Pair pair_of(const Dims& d) { return {int(d[0]), int(d[1])}; }

Variable maximum(const Variable& x, const Windows& w, const Dims& pad) {
  if (w.axes() == 2)
    return nn::max_pooling_2d(x, pair_of(w.kernel),
                              MaxPoolingOptions{.stride = pair_of(w.stride), .pad = pair_of(pad), .cover_all = false});
  return nn::max_pooling_nd(x, w.kernel, MaxPoolingNdOptions{.stride = w.stride, .pad = pad, .cover_all = false});
}
Variable average(const Variable& x, const Windows& w, std::optional<double> pad_value) {
  if (w.axes() == 2)
    return nn::average_pooling_2d(
        x, pair_of(w.kernel),
        AveragePoolingOptions{.stride = pair_of(w.stride), .pad = pair_of(w.before), .pad_value = pad_value});
  return nn::average_pooling_nd(x, w.kernel,
                                AveragePoolingNdOptions{.stride = w.stride, .pad = w.before, .pad_value = pad_value});
}

Variables max_pool(Call c) {
  const Variable& x = c.input(0);
  if (c.has_output(1)) c.unsupported("its second output, the positions, is not imported");
  const bool floating = is_floating(x);
  const Variable values = floating ? x : constant(autograd::astype(x.data(), Dtype::float32));
  Windows w = windows_of(c, x.shape(), kernel_of(c, x.shape()));
  extend(c, w, x.shape());
  Variable y;
  if (!w.is_dense()) y = dilated_maximum(values, w);
  else if (w.is_symmetric()) y = maximum(values, w, w.before);
  else y = maximum(padded(values, w.before, w.after, -HUGE_VAL), w, Dims::filled(w.axes(), 0));
  return {cast_to(y, x.dtype())};
}

Variables average_pool(Call c) {
  const Variable& x = c.input(0);
  Windows w = windows_of(c, x.shape(), kernel_of(c, x.shape()));
  const Dims before = w.before, after = w.after;
  extend(c, w, x.shape());
  const bool count_pads = c.integer("count_include_pad", 0) != 0;
  if (w.is_dense() && w.is_symmetric() && w.after == after)
    return {average(x, w, count_pads ? std::optional<double>(0.0) : std::nullopt)};
  // The sum of a window divided by the number of its elements that count.
  Variable sums = padded(x, w.before, w.after, 0);
  Shape one = x.shape();  // one example with one channel: the numbers are those of all
  one[0] = one[1] = 1;
  Variable counts = constant(autograd::arrays::ones(one, x.dtype(), x.device()));
  counts = padded(counts, before, after, count_pads ? 1 : 0);
  Dims rest = w.after;
  for (int k = 0; k < w.axes(); ++k) rest[k] -= after[k];
  counts = padded(counts, Dims::filled(w.axes(), 0), rest, 0);
  for (int k = 0; k < w.axes(); ++k)
    for (Variable* v : {&sums, &counts}) *v = autograd::sum(taps(*v, w, k), -1);
  return {sums / counts};
}

autograd::Axes spatial_axes(Call c) {
  const Variable& x = c.input(0);
  if (x.ndim() < 3) c.refuse("its input has the shape ", x.shape(), "; (n, c, d1, ...) is needed");
  Dims axes;
  for (int k = 2; k < x.ndim(); ++k) axes.push_back(k);
  return axes;
}
Variables global_average_pool(Call c) { return {autograd::mean(c.input(0), spatial_axes(c), true)}; }
Variables global_max_pool(Call c) { return {autograd::max(c.input(0), spatial_axes(c), true)}; }

constexpr std::array kOperators = {
    Operator{"AveragePool", average_pool},
    Operator{"GlobalAveragePool", global_average_pool},
    Operator{"GlobalMaxPool", global_max_pool},
    Operator{"MaxPool", max_pool},
};

}  // namespace
}  // namespace pooling

std::span<const Operator> pooling_operators() { return pooling::kOperators; }

}  // namespace nn::onnx::importing
