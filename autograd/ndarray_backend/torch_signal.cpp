#include <catena/autograd/ndarray_backend/torch_signal.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <catena/autograd/array.h>
#include <catena/autograd/config.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/autograd/ndarray_backend/torch_complex.h>
#include <catena/autograd/ndarray_backend/torch_fft.h>
#include <catena/autograd/ndarray_backend/torch_functions.h>
#include <catena/autograd/operators.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/histogram.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/special.h>

namespace autograd {

using catena::check;
using catena::ValueError;
using internal::array_of;
using std::numbers::pi;

// ---- windows ----
namespace {

// f(r) of the samples, or 1 for one sample.
Variable window(const char* op, std::int64_t n, bool periodic, const TensorOptions& o,
                double (*f)(double r, double beta), double beta = 0) {
  check<ValueError>(n >= 0, op, "the number of samples is ", n, ", it must not be negative");
  const double last = double(periodic ? n : n - 1);
  std::vector<double> samples(static_cast<std::size_t>(n), 1.0);
  for (std::int64_t k = 0; k < n && n > 1; ++k) samples[std::size_t(k)] = f(2 * double(k) / last - 1, beta);
  const Array a = array<double>(samples, Shape{n}, o.device);
  return internal::tensor_root(astype(a, o.dtype.value_or(get_dtype())), o);
}

}  // namespace

Variable bartlett_window(std::int64_t n, bool periodic, const TensorOptions& o) {
  return window("bartlett_window", n, periodic, o, [](double r, double) { return 1 - std::fabs(r); });
}
Variable blackman_window(std::int64_t n, bool periodic, const TensorOptions& o) {
  return window("blackman_window", n, periodic, o,
                [](double r, double) { return 0.42 + 0.5 * std::cos(pi * r) + 0.08 * std::cos(2 * pi * r); });
}
Variable hann_window(std::int64_t n, bool periodic, const TensorOptions& o) {
  return window("hann_window", n, periodic, o, [](double r, double) { return 0.5 + 0.5 * std::cos(pi * r); });
}
Variable hamming_window(std::int64_t n, bool periodic, double alpha, double beta, const TensorOptions& o) {
  TensorOptions plain = o;
  plain.dtype = Dtype::float64;
  plain.requires_grad = false;
  const Variable cosine =
      window("hamming_window", n, periodic, plain, [](double r, double) { return std::cos(pi * r); });
  const Variable w = n == 1 ? cosine : cosine * beta + alpha;
  return internal::tensor_root(astype(w.data(), o.dtype.value_or(get_dtype())), o);
}
Variable kaiser_window(std::int64_t n, bool periodic, double beta, const TensorOptions& o) {
  return window(
      "kaiser_window", n, periodic, o,
      [](double r, double b) {
        return std::cyl_bessel_i(0, b * std::sqrt(std::max(0.0, 1 - r * r))) / std::cyl_bessel_i(0, b);
      },
      std::fabs(beta));
}

// ---- spectra over time ----
namespace {

// The window of n_fft samples, with zeros on both sides; null for ones.
Variable padded_window(const char* op, const Variable& given, std::int64_t win_length, std::int64_t n_fft,
                       const Variable& like) {
  check<ValueError>(win_length >= 1 && win_length <= n_fft, op, "win_length is ", win_length, ", it must be in [1, ",
                    n_fft, "]");
  check<ValueError>(!given || (given.ndim() == 1 && given.shape(0) == win_length), op, "the window has the shape ",
                    given ? given.shape() : Shape(), ", its length must be ", win_length);
  if (!given && win_length == n_fft) return {};
  const Variable w = given ? given : as_variable(arrays::ones({win_length}, like.dtype(), like.device()));
  const std::int64_t left = (n_fft - win_length) / 2;
  return pad(w, {{left, n_fft - win_length - left}});
}
// The signal with `side` samples more at both ends.
Variable padded_signal(const Variable& x, std::int64_t side, std::string_view mode) {
  const std::int64_t n = x.shape(-1);
  constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"reflect", "reflect"}, {"constant", "constant"}, {"replicate", "edge"}, {"circular", "wrap"}};
  const auto found = std::find_if(std::begin(kModes), std::end(kModes), [&](const auto& m) { return m.first == mode; });
  check<ValueError>(found != std::end(kModes), "stft", "pad_mode is \"", mode,
                    "\", it must be \"reflect\", \"constant\", \"replicate\" or \"circular\"");
  const bool reads_inside = mode == "reflect" || mode == "circular";
  check<ValueError>(!reads_inside || side < n + (mode == "circular"), "stft", "a signal of ", n,
                    " samples is too short to be padded with ", side);
  return pad(x, {{0, 0}, {side, side}}, found->second);
}

}  // namespace

Variable stft(const Variable& x, std::int64_t n_fft, const StftOptions& o) {
  check<catena::TypeError>(x.is_floating_point(), "stft", "the dtype is ", x.dtype(), ", it must be floating");
  check<ValueError>(x.ndim() == 1 || x.ndim() == 2, "stft", "the shape is ", x.shape(), ", the rank must be 1 or 2");
  if (x.ndim() == 1) return squeeze(stft(expand_dims(x, 0), n_fft, o), 0);
  const std::int64_t hop = o.hop_length.value_or(n_fft / 4);
  check<ValueError>(n_fft >= 1 && hop >= 1, "stft", "n_fft is ", n_fft, " and hop_length ", hop,
                    ", they must be positive");
  const Variable w = padded_window("stft", o.window, o.win_length.value_or(n_fft), n_fft, x);
  const Variable signal = o.center ? padded_signal(x, n_fft / 2, o.pad_mode) : x;
  const std::int64_t n = signal.shape(-1);
  check<ValueError>(n >= n_fft, "stft", "a signal of ", n, " samples has no frame of ", n_fft);
  Variable samples = unfold(signal, -1, n_fft, hop);
  if (w) samples = samples * broadcast_to(w, samples.shape());
  const fft::FftOptions of_fft{.norm = o.normalized ? "ortho" : "backward"};
  const Variable y = swapaxes(o.onesided ? fft::rfft(samples, of_fft) : fft::fft(samples, of_fft), -1, -2);
  if (o.return_complex) return y;
  return stack({internal::real_part(y), internal::imaginary_part(y)}, -1);
}

Variable istft(const Variable& x, std::int64_t n_fft, const IstftOptions& o) {
  check<catena::TypeError>(x.is_complex(), "istft", "the dtype is ", x.dtype(), ", it must be complex");
  check<ValueError>(x.ndim() == 2 || x.ndim() == 3, "istft", "the shape is ", x.shape(), ", the rank must be 2 or 3");
  if (x.ndim() == 2) return squeeze(istft(expand_dims(x, 0), n_fft, o), 0);
  const std::int64_t hop = o.hop_length.value_or(n_fft / 4), given = o.onesided ? n_fft / 2 + 1 : n_fft;
  check<ValueError>(n_fft >= 1 && hop >= 1, "istft", "n_fft is ", n_fft, " and hop_length ", hop,
                    ", they must be positive");
  check<ValueError>(x.shape(1) == given && x.shape(2) >= 1, "istft", "the shape is ", x.shape(),
                    ", the number of frequencies must be ", given);
  const fft::FftOptions of_fft{.n = n_fft, .norm = o.normalized ? "ortho" : "backward"};
  const Variable z = swapaxes(x, -1, -2);
  Variable samples = o.onesided ? fft::irfft(z, of_fft) : internal::real_part(fft::ifft(z, of_fft));
  Variable w = padded_window("istft", o.window, o.win_length.value_or(n_fft), n_fft, samples);
  if (!w) w = as_variable(arrays::ones({n_fft}, samples.dtype(), samples.device()));
  const Variable all = broadcast_to(w, samples.shape());
  const std::int64_t frames = x.shape(2), n = n_fft + hop * (frames - 1);
  // The position of each sample of each frame in the signal.
  const Array begins = arrays::arange(frames, Dtype::int64, x.device()) * hop;
  const Array places = expand_dims(begins, 1) + arrays::arange(n_fft, Dtype::int64, x.device());
  const Variable positions = as_variable(reshape(places, {frames * n_fft}));
  const auto added = [&](const Variable& v) {
    const Shape flat{v.shape(0), frames * n_fft};
    const Variable none = as_variable(arrays::zeros({v.shape(0), n}, v.dtype(), v.device()));
    return index_add(none, 1, positions, reshape(v, flat));
  };
  const std::int64_t start = o.center ? n_fft / 2 : 0;
  const std::int64_t end = std::min(o.length ? start + *o.length : o.center ? n - n_fft / 2 : n, n);
  check<ValueError>(end > start, "istft", "the frames give a signal of ", end - start, " samples");
  const auto cut = [&](const Variable& v) { return narrow(v, 1, start, end - start); };
  const Variable weights = cut(added(all * all));
  check<ValueError>(nd::Array(weights.data()).min().item<double>() > 1e-11, "istft",
                    "the squares of the windows add up to 0 at a sample");
  const Variable y = cut(added(samples * all)) / weights;
  if (!o.length || *o.length == y.shape(1)) return y;
  return pad(y, {{0, 0}, {0, *o.length - y.shape(1)}});
}

// ---- derivatives of samples ----
namespace {

// The distances (n - 1) of neighbours, in the shape in which they broadcast along an axis.
Variable distances(const Variable& x, const GradientSpacing& spacing, std::size_t k, int axis) {
  Shape along = Shape::filled(x.ndim(), 1), whole = x.shape();
  along[axis] = whole[axis] = x.shape(axis) - 1;
  Variable d;
  if (!spacing.coordinates().empty()) {
    const Variable& at = spacing.coordinates()[k];
    check<ValueError>(at.ndim() == 1 && at.shape(0) == x.shape(axis), "gradient", "the coordinates have the shape ",
                      at.shape(), ", the axis ", axis, " has ", x.shape(axis), " samples");
    d = narrow(at, 0, 1, at.shape(0) - 1) - narrow(at, 0, 0, at.shape(0) - 1);
  } else {
    const std::vector<double>& steps = spacing.steps();
    d = as_variable(arrays::full({along[axis]}, steps[steps.size() == 1 ? 0 : k], x.dtype(), x.device()));
  }
  return broadcast_to(reshape(d, along), whole);
}
// The derivative of the parabola through three samples at the first one; d is the distance of the first two, e that of
// the last two.
Variable at_end(const Variable& a, const Variable& b, const Variable& c, const Variable& d, const Variable& e) {
  return -a * (d * 2 + e) / (d * (d + e)) + b * (d + e) / (d * e) - c * d / (e * (d + e));
}
Variable derivative(const Variable& x, const Variable& d, int axis, int edge_order) {
  const std::int64_t n = x.shape(axis);
  const auto sample = [&](std::int64_t k) { return narrow(x, axis, k, 1); };
  const auto distance = [&](std::int64_t k) { return narrow(d, axis, k, 1); };
  Variables parts;
  if (edge_order == 1) parts.push_back((sample(1) - sample(0)) / distance(0));
  else parts.push_back(at_end(sample(0), sample(1), sample(2), distance(0), distance(1)));
  if (n > 2) {
    const Variable before = narrow(d, axis, 0, n - 2), after = narrow(d, axis, 1, n - 2);
    const Variable left = (narrow(x, axis, 1, n - 2) - narrow(x, axis, 0, n - 2)) / before;
    const Variable right = (narrow(x, axis, 2, n - 2) - narrow(x, axis, 1, n - 2)) / after;
    parts.push_back((left * after + right * before) / (before + after));
  }
  if (edge_order == 1) parts.push_back((sample(n - 1) - sample(n - 2)) / distance(n - 2));
  else parts.push_back(-at_end(sample(n - 1), sample(n - 2), sample(n - 3), distance(n - 2), distance(n - 3)));
  return concat(parts, axis);
}

}  // namespace

Variables gradient(const Variable& x, const GradientOptions& o) {
  check<catena::TypeError>(x.is_floating_point(), "gradient", "the dtype is ", x.dtype(), ", it must be floating");
  check<ValueError>(o.edge_order == 1 || o.edge_order == 2, "gradient", "edge_order is ", o.edge_order,
                    ", it must be 1 or 2");
  std::vector<int> axes;
  if (o.dim.given())
    for (const int axis : o.dim.values()) axes.push_back(catena::normalize_axis("gradient", axis, x.ndim()));
  else
    for (int k = 0; k < x.ndim(); ++k) axes.push_back(k);
  const std::size_t given = std::max(o.spacing.steps().size(), o.spacing.coordinates().size());
  check<ValueError>((given == 1 && o.spacing.coordinates().empty()) || given == axes.size(), "gradient", given,
                    " spacings are given for ", axes.size(), " axes");
  Variables all;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    check<ValueError>(x.shape(axes[k]) > o.edge_order, "gradient", "the axis ", axes[k], " has ", x.shape(axes[k]),
                      " samples, it needs ", o.edge_order + 1);
    all.push_back(derivative(x, distances(x, o.spacing, k, axes[k]), axes[k], o.edge_order));
  }
  return all;
}

// ---- histograms ----
namespace {

HistogramResult counted(const Variable& x, nd::HistogramOptions options, const HistogramOptions& o) {
  check<catena::TypeError>(x.is_floating_point(), "histogram", "the dtype is ", x.dtype(), ", it must be floating");
  check<ValueError>(o.range.empty() || o.range.size() == 2, "histogram", "the range has ", o.range.size(),
                    " numbers, it must have 2");
  const nd::DeviceScope scope(x.device());
  if (!o.range.empty()) options.range = nd::BinRange(o.range[0], o.range[1]);
  options.density = o.density;
  options.weights = array_of(o.weight);
  const auto [counts, edges] = nd::histogram(array_of(x), options);
  return {as_variable(counts.astype(x.dtype())), as_variable(edges.astype(x.dtype()))};
}
HistogramddResult counted(const Variable& points, nd::HistogramddOptions options, const HistogramddOptions& o) {
  check<catena::TypeError>(points.is_floating_point(), "histogramdd", "the dtype is ", points.dtype(),
                           ", it must be floating");
  check<ValueError>(points.ndim() == 2, "histogramdd", "the shape is ", points.shape(), ", the rank must be 2");
  check<ValueError>(o.range.empty() || std::int64_t(o.range.size()) == 2 * points.shape(1), "histogramdd",
                    "the range has ", o.range.size(), " numbers, it must have ", 2 * points.shape(1));
  const nd::DeviceScope scope(points.device());
  for (std::size_t k = 0; k + 1 < o.range.size(); k += 2) options.range.emplace_back(o.range[k], o.range[k + 1]);
  options.density = o.density;
  options.weights = array_of(o.weight);
  const auto [counts, edges] = nd::histogramdd(array_of(points), options);
  HistogramddResult result{as_variable(counts.astype(points.dtype())), {}};
  for (const nd::Array& e : edges) result.bin_edges.push_back(as_variable(e.astype(points.dtype())));
  return result;
}

}  // namespace

HistogramResult histogram(const Variable& x, std::int64_t bins, const HistogramOptions& o) {
  return counted(x, nd::HistogramOptions{.bins = bins}, o);
}
HistogramResult histogram(const Variable& x, const Variable& edges, const HistogramOptions& o) {
  return counted(x, nd::HistogramOptions{.bins = array_of(edges)}, o);
}
HistogramddResult histogramdd(const Variable& points, const std::vector<std::int64_t>& bins,
                              const HistogramddOptions& o) {
  nd::HistogramddOptions options;
  options.bins = std::vector<nd::Bins>(bins.begin(), bins.end());
  return counted(points, options, o);
}
HistogramddResult internal::histogram_of_edges(const Variable& points, const Variables& edges,
                                               const HistogramddOptions& o) {
  std::vector<nd::Array> all;
  for (const Variable& e : edges) all.push_back(array_of(e));
  nd::HistogramddOptions options;
  options.bins = all;
  return counted(points, options, o);
}

}  // namespace autograd
