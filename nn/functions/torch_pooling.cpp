#include <catena/nn/functions/torch_pooling.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/torch_batches.h>

namespace nn::internal {

using autograd::Dims;
using autograd::IndexItem;
using catena::check;
using catena::ValueError;

namespace {

// The windows along the spatial axes of an array.
struct Windows {
  Dims lengths, kernel, stride, padding, dilation;
  Dims number = {};  // of windows

  int axes() const { return kernel.size(); }
  std::int64_t extent(int a) const { return dilation[a] * (kernel[a] - 1) + 1; }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (const std::int64_t k : kernel) n *= k;
    return n;
  }
  // The elements that the last window needs behind x.
  std::int64_t behind(int a) const {
    return std::max<std::int64_t>(0, (number[a] - 1) * stride[a] + extent(a) - lengths[a] - padding[a]);
  }
};

Dims spatial_lengths(const Variable& x) {
  Dims lengths;
  for (int a = 2; a < x.ndim(); ++a) lengths.push_back(x.shape(a));
  return lengths;
}

const Lengths& given_kernel(const char* op, const std::optional<Lengths>& kernel) {
  check<ValueError>(kernel.has_value(), op, "kernel_size is missing");
  return *kernel;
}

void count_windows(const char* op, Windows& w, bool ceil_mode) {
  for (int a = 0; a < w.axes(); ++a) {
    check<ValueError>(w.kernel[a] >= 1 && w.stride[a] >= 1 && w.dilation[a] >= 1, op, "kernel_size ", w.kernel,
                      ", stride ", w.stride, " and dilation ", w.dilation, " must be at least 1");
    check<ValueError>(w.padding[a] >= 0 && 2 * w.padding[a] <= w.extent(a), op, "padding is ", w.padding,
                      "; it must be at least 0 and at most half of the kernel ", w.kernel);
    const std::int64_t rest = w.lengths[a] + 2 * w.padding[a] - w.extent(a);
    std::int64_t n = rest < 0 ? 0 : (rest + (ceil_mode ? w.stride[a] - 1 : 0)) / w.stride[a] + 1;
    if (rest < 0 && ceil_mode) n = (rest + w.stride[a] - 1 >= 0 ? 1 : 0);
    if (ceil_mode && n > 0 && (n - 1) * w.stride[a] >= w.lengths[a] + w.padding[a]) --n;
    check<ValueError>(n >= 1, op, "the windows ", w.kernel, " are larger than the axes ", w.lengths, " with padding ",
                      w.padding);
    w.number.push_back(n);
  }
}

template <class Options>
Windows windows_of(const char* op, const Variable& x, const std::optional<Lengths>& kernel, const Options& o) {
  const int axes = x.ndim() - 2;
  const Lengths& size = given_kernel(op, kernel);
  Windows w{.lengths = spatial_lengths(x),
            .kernel = size.of(op, "kernel_size", axes),
            .stride = o.stride.value_or(size).of(op, "stride", axes),
            .padding = Dims::filled(axes, 0),
            .dilation = Dims::filled(axes, 1)};
  if constexpr (requires { o.padding; }) w.padding = o.padding.of(op, "padding", axes);
  if constexpr (requires { o.dilation; }) w.dilation = o.dilation.of(op, "dilation", axes);
  count_windows(op, w, o.ceil_mode);
  return w;
}

bool is_dilated(const Windows& w) {
  return std::any_of(w.dilation.begin(), w.dilation.end(), [](std::int64_t d) { return d != 1; });
}

// Returns x with the padding that the windows need.
Variable padded(const Variable& x, const Windows& w, double value) {
  std::vector<std::pair<std::int64_t, std::int64_t>> sides(2, {0, 0});
  bool any = false;
  for (int a = 0; a < w.axes(); ++a) {
    sides.emplace_back(w.padding[a], w.behind(a));
    any = any || w.padding[a] > 0 || w.behind(a) > 0;
  }
  return any ? autograd::pad(x, sides, "constant", {.constant_values = autograd::Scalar(value)}) : x;
}

// Leaves out windows that begin behind the end, which Chainer's cover_all has.
Variable kept(const Variable& y, const Windows& w) {
  std::vector<IndexItem> items{catena::ellipsis};
  bool all = true;
  for (int a = 0; a < w.axes(); ++a) {
    all = all && y.shape(2 + a) == w.number[a];
    items.emplace_back(catena::Slice(0, w.number[a]));
  }
  return all ? y : autograd::get_item(y, items);
}

MaxPoolingNdOptions as_chainer(const Windows& w, bool ceil_mode) {
  return {.stride = Lengths(w.stride), .pad = Lengths(w.padding), .cover_all = ceil_mode};
}

// The position of the maximum in each window, for windows with gaps: the first of equal ones, in row-major order.
Array dilated_positions(const Variable& x, const Windows& w) {
  Variable v = padded(x.detach(), w, -std::numeric_limits<double>::infinity());
  Shape shape = x.shape();
  for (int a = 0; a < w.axes(); ++a) {
    v = autograd::unfold(v, 2 + a, w.extent(a), w.stride[a]);
    v = autograd::get_item(v, {catena::ellipsis, catena::Slice(0, w.extent(a), w.dilation[a])});
    shape[2 + a] = w.number[a];
  }
  shape.push_back(w.size());
  return autograd::argmax(v.reshape(shape), x.ndim()).data();
}

// Converts positions in windows to positions in the flattened spatial axes.
Array in_planes(const Array& in_windows, const Windows& w) {
  std::vector<std::int64_t> step(std::size_t(w.axes()), 1);  // of the flattened axes
  for (int a = w.axes() - 2; a >= 0; --a) step[std::size_t(a)] = step[std::size_t(a) + 1] * w.lengths[a + 1];
  std::vector<std::int64_t> inside{0}, first{0};
  for (int a = 0; a < w.axes(); ++a) {
    std::vector<std::int64_t> more_inside, more_first;
    for (const std::int64_t base : inside)
      for (std::int64_t k = 0; k < w.kernel[a]; ++k)
        more_inside.push_back(base + k * w.dilation[a] * step[std::size_t(a)]);
    for (const std::int64_t base : first)
      for (std::int64_t o = 0; o < w.number[a]; ++o)
        more_first.push_back(base + (o * w.stride[a] - w.padding[a]) * step[std::size_t(a)]);
    inside = std::move(more_inside);
    first = std::move(more_first);
  }
  Shape of_windows;
  for (const std::int64_t n : w.number) of_windows.push_back(n);
  const Array offsets = autograd::array(inside, {std::int64_t(inside.size())}, in_windows.device());
  return autograd::take(offsets, autograd::astype(in_windows, autograd::Dtype::int64), 0) +
         autograd::array(first, of_windows, in_windows.device());
}

// Returns the elements of x at positions of its flattened spatial axes.
Variable at_positions(const Variable& x, const Array& positions) {
  const Shape planes{x.shape(0), x.shape(1), -1};
  const Variable picked =
      autograd::take_along_axis(x.reshape(planes), autograd::as_variable(autograd::reshape(positions, planes)), 2);
  return picked.reshape(positions.shape());
}

MaxPoolingResult maxima(const char* op, const Variable& x, const Windows& w, bool ceil_mode) {
  if (is_dilated(w)) {
    const Array positions = in_planes(dilated_positions(x, w), w);
    return {at_positions(x, positions), positions};
  }
  const MaxPoolingResult found = max_windows_with_indices(op, x, Lengths(w.kernel), as_chainer(w, ceil_mode));
  return {kept(found.y, w), in_planes(kept(autograd::as_variable(found.indices), w).data(), w)};
}

// Returns the factors k / c along an axis, where c elements of a window of k count.
Variable factors_of_axis(const Windows& w, int a, bool count_padding, autograd::Device device, autograd::Dtype dtype) {
  std::vector<double> factors;
  for (std::int64_t o = 0; o < w.number[a]; ++o) {
    const std::int64_t first = o * w.stride[a] - w.padding[a], last = first + w.kernel[a];
    const std::int64_t count = count_padding ? std::min(last, w.lengths[a] + w.padding[a]) - first
                                             : std::min(last, w.lengths[a]) - std::max<std::int64_t>(first, 0);
    factors.push_back(double(w.kernel[a]) / double(count));
  }
  Shape shape = Shape::filled(w.axes() + 2, 1);
  shape[2 + a] = w.number[a];
  return autograd::as_variable(autograd::astype(autograd::array(factors, shape, device), dtype));
}

Variable averages(const char* op, const Variable& x, const Windows& w, const AvgPoolOptions& o) {
  const AveragePoolingNdOptions simple{.stride = Lengths(w.stride), .pad = Lengths(w.padding)};
  if (!o.ceil_mode && o.count_include_pad && !o.divisor_override)
    return average_windows(op, x, Lengths(w.kernel), simple);
  const Variable wide_x = wide(x);
  Variable y = average_windows(op, padded(wide_x, w, 0), Lengths(w.kernel), {.stride = Lengths(w.stride)});
  if (o.divisor_override) return narrowed(y * (double(w.size()) / double(*o.divisor_override)), x.dtype());
  for (int a = 0; a < w.axes(); ++a) y = y * factors_of_axis(w, a, o.count_include_pad, x.device(), wide_x.dtype());
  return narrowed(y, x.dtype());
}

}  // namespace

Variable max_pool(int axes, const Variable& x, const std::optional<Lengths>& kernel, const MaxPoolOptions& o) {
  const std::string op = catena::concat("max_pool", axes, "d");
  check<ValueError>(!o.return_indices, op, "return_indices is true: call ", op, "_with_indices");
  return with_batch(op.c_str(), x, axes, [&](const Variable& batch) {
    const Windows w = windows_of(op.c_str(), batch, kernel, o);
    if (is_dilated(w)) return at_positions(batch, in_planes(dilated_positions(batch, w), w));
    return kept(max_windows(op.c_str(), batch, Lengths(w.kernel), as_chainer(w, o.ceil_mode)), w);
  });
}

MaxPoolingResult max_pool_with_indices(int axes, const Variable& x, const std::optional<Lengths>& kernel,
                                       const MaxPoolOptions& o) {
  const std::string op = catena::concat("max_pool", axes, "d_with_indices");
  return with_batch_of_maxima(op.c_str(), x, axes, [&](const Variable& batch) {
    return maxima(op.c_str(), batch, windows_of(op.c_str(), batch, kernel, o), o.ceil_mode);
  });
}

Variable avg_pool(int axes, const Variable& x, const std::optional<Lengths>& kernel, const AvgPoolOptions& o) {
  const std::string op = catena::concat("avg_pool", axes, "d");
  check<ValueError>(o.divisor_override != 0, op, "divisor_override is 0");
  return with_batch(op.c_str(), x, axes, [&](const Variable& batch) {
    return averages(op.c_str(), batch, windows_of(op.c_str(), batch, kernel, o), o);
  });
}

Variable lp_pool(int axes, const Variable& x, const std::optional<Lengths>& kernel, const LPPoolOptions& o) {
  const std::string op = catena::concat("lp_pool", axes, "d");
  check<ValueError>(o.norm_type != 0, op, "norm_type is 0");
  return with_batch(op.c_str(), x, axes, [&](const Variable& batch) {
    const Windows w = windows_of(op.c_str(), batch, kernel, o);
    const AvgPoolOptions plain{.stride = Lengths(w.stride), .ceil_mode = o.ceil_mode};
    const Variable means = averages(op.c_str(), pow(wide(batch), o.norm_type), w, plain);
    // relu makes the derivative 0 where a window is 0.
    const Variable sums = autograd::sign(means.detach()) * nn::relu(autograd::absolute(means)) * double(w.size());
    return narrowed(pow(sums, 1 / o.norm_type), x.dtype());
  });
}

Variable max_unpool(int axes, const Variable& x, const Array& indices, const std::optional<Lengths>& kernel,
                    const MaxUnpoolOptions& o) {
  const std::string op = catena::concat("max_unpool", axes, "d");
  check<ValueError>(x && indices && indices.shape() == x.shape(), op, "the indices must have the shape of x, ",
                    x ? catena::to_string(x.shape()) : std::string("which is null"));
  return with_batch(op.c_str(), x, axes, [&](const Variable& batch) {
    const Lengths& size = given_kernel(op.c_str(), kernel);
    const Dims k = size.of(op, "kernel_size", axes), s = o.stride.value_or(size).of(op, "stride", axes),
               p = o.padding.of(op, "padding", axes);
    Shape result{batch.shape(0), batch.shape(1)};
    for (int a = 0; a < axes; ++a)
      result.push_back(o.output_size ? o.output_size->of(op, "output_size", axes)[a]
                                     : (batch.shape(2 + a) - 1) * s[a] + k[a] - 2 * p[a]);
    const Shape planes{batch.shape(0), batch.shape(1), -1};
    const Variable empty =
        autograd::as_variable(autograd::reshape(autograd::arrays::zeros(result, x.dtype(), x.device()), planes));
    const Variable positions = autograd::as_variable(autograd::reshape(indices, planes));
    return autograd::scatter(empty, 2, positions, batch.reshape(planes)).reshape(result);
  });
}

Variable adaptive_avg_pool(int axes, const Variable& x, const Lengths& output_size) {
  const std::string op = catena::concat("adaptive_avg_pool", axes, "d");
  return with_batch(op.c_str(), x, axes,
                    [&](const Variable& batch) { return adaptive_average_pooling_nd(batch, output_size); });
}
Variable adaptive_max_pool(int axes, const Variable& x, const Lengths& output_size) {
  const std::string op = catena::concat("adaptive_max_pool", axes, "d");
  return with_batch(op.c_str(), x, axes,
                    [&](const Variable& batch) { return adaptive_max_pooling_nd(batch, output_size); });
}
MaxPoolingResult adaptive_max_pool_with_indices(int axes, const Variable& x, const Lengths& output_size) {
  const std::string op = catena::concat("adaptive_max_pool", axes, "d_with_indices");
  return with_batch_of_maxima(op.c_str(), x, axes, [&](const Variable& batch) {
    return adaptive_max_pool_with_positions(op.c_str(), batch, output_size);
  });
}

}  // namespace nn::internal
