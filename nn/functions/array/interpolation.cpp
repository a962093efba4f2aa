// Interpolation along the spatial axes of images.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/functions/array/resampling.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/pooling.h>

namespace nn {

using autograd::Dims;
using internal::narrowed;
using internal::resampled;
using internal::Taps;
using internal::wide;

namespace {

// The resampling of one axis.
struct Axis {
  std::int64_t from, to;
  double step;  // distance of neighbouring outputs, in inputs
  bool align_corners;

  // Returns the input at which output i is, with the centres of pixels at whole numbers.
  double place(std::int64_t i) const { return align_corners ? double(i) * step : (double(i) + 0.5) * step - 0.5; }
};

Axis axis_of(std::int64_t from, std::int64_t to, bool align_corners, const std::optional<double>& factor) {
  if (align_corners) return {from, to, to > 1 ? double(from - 1) / double(to - 1) : 0.0, true};
  return {from, to, factor ? 1 / *factor : double(from) / double(to), false};
}

Taps nearest_taps(const Axis& a, bool exact, bool by_size) {
  Taps taps;
  for (std::int64_t i = 0; i < a.to; ++i) {
    // The quotient of integers is exact.
    std::int64_t at = 0;
    if (by_size) at = exact ? (2 * i + 1) * a.from / (2 * a.to) : i * a.from / a.to;
    else at = std::int64_t(std::floor((double(i) + (exact ? 0.5 : 0.0)) * a.step));
    taps.add(std::min(at, a.from - 1), 1);
    taps.end_output();
  }
  return taps;
}

Taps linear_taps(const Axis& a) {
  Taps taps;
  for (std::int64_t i = 0; i < a.to; ++i) {
    const double place = std::max(a.place(i), 0.0);
    const std::int64_t low = std::min(std::int64_t(place), std::max<std::int64_t>(a.from - 2, 0));
    const double above = std::min(place - double(low), 1.0);
    taps.add(low, 1 - above);
    taps.add(std::min(low + 1, a.from - 1), above);
    taps.end_output();
  }
  return taps;
}

// The weight of a pixel at a distance, for the coefficient c of Keys' kernels.
double cubic(double distance, double c) {
  const double d = std::abs(distance);
  if (d <= 1) return ((c + 2) * d - (c + 3)) * d * d + 1;
  if (d < 2) return ((d - 5) * d + 8) * d * c - 4 * c;
  return 0;
}

Taps cubic_taps(const Axis& a) {
  Taps taps;
  for (std::int64_t i = 0; i < a.to; ++i) {
    const double place = a.place(i), low = std::floor(place);
    for (int k = -1; k <= 2; ++k)
      taps.add(std::clamp<std::int64_t>(std::int64_t(low) + k, 0, a.from - 1), cubic(place - low - k, -0.75));
    taps.end_output();
  }
  return taps;
}

// Weights of a kernel that is widened by the distance of neighbouring outputs, so that every pixel contributes.
Taps averaging_taps(const Axis& a, bool is_cubic) {
  const double spread = std::max(a.step, 1.0), support = (is_cubic ? 2 : 1) * spread;
  Taps taps;
  for (std::int64_t i = 0; i < a.to; ++i) {
    const double center = (double(i) + 0.5) * a.step;
    const std::int64_t first = std::max<std::int64_t>(std::int64_t(center - support + 0.5), 0),
                       last = std::min(std::int64_t(center + support + 0.5), a.from);
    const std::size_t begin = taps.weight.size();
    double total = 0;
    for (std::int64_t k = first; k < last; ++k) {
      const double distance = (double(k) - center + 0.5) / spread;
      taps.add(k, is_cubic ? cubic(distance, -0.5) : std::max(1 - std::abs(distance), 0.0));
      total += taps.weight.back();
    }
    for (std::size_t k = begin; k < taps.weight.size(); ++k) taps.weight[k] /= total;
    taps.end_output();
  }
  return taps;
}

enum class Mode { nearest, nearest_exact, linear, cubic, area };
Mode mode_of(std::string_view name) {
  if (name == "nearest") return Mode::nearest;
  if (name == "nearest-exact") return Mode::nearest_exact;
  if (name == "linear" || name == "bilinear" || name == "trilinear") return Mode::linear;
  if (name == "cubic" || name == "bicubic") return Mode::cubic;
  if (name == "area") return Mode::area;
  catena::fail<catena::ValueError>("interpolate", "mode is \"", name,
                                   "\"; it must be \"nearest\", \"nearest-exact\", \"linear\", \"cubic\" or \"area\"");
}

Taps taps_of(Mode mode, const Axis& a, const InterpolateOptions& o) {
  const bool is_cubic = mode == Mode::cubic;
  if (mode == Mode::nearest || mode == Mode::nearest_exact)
    return nearest_taps(a, mode == Mode::nearest_exact, !o.scale_factor);
  if (o.antialias) return averaging_taps(a, is_cubic);
  return is_cubic ? cubic_taps(a) : linear_taps(a);
}

// Returns the spatial lengths of the result.
Dims lengths_of(const Variable& x, const InterpolateOptions& o) {
  constexpr const char* op = "interpolate";
  catena::check<catena::ValueError>(o.size.has_value() != o.scale_factor.has_value(), op,
                                    "one of size and scale_factor must be given");
  const int axes = x.ndim() - 2;
  Dims lengths;
  if (o.size) lengths = o.size->of(op, "size", axes);
  else
    for (int a = 0; a < axes; ++a)
      lengths.push_back(std::int64_t(std::floor(double(x.shape(2 + a)) * *o.scale_factor)));
  internal::check_lengths(op, x, lengths);
  return lengths;
}

}  // namespace

Variable interpolate(const Variable& x, const InterpolateOptions& o) {
  const Mode mode = mode_of(o.mode);
  const int axes = internal::spatial_axes("Interpolate", x);
  const bool has_weights = mode == Mode::linear || mode == Mode::cubic;
  catena::check<catena::ValueError>(has_weights || (!o.align_corners && !o.antialias), "interpolate", "the mode \"",
                                    o.mode, "\" has neither align_corners nor antialias");
  catena::check<catena::ValueError>(!o.antialias || !o.align_corners, "interpolate",
                                    "antialias cannot be combined with align_corners");
  const Dims lengths = lengths_of(x, o);
  if (mode == Mode::area) return adaptive_average_pooling_nd(x, lengths);
  Variable y = has_weights ? wide(x) : x;
  // Axes that shrink come first, so that the intermediate arrays are small.
  std::vector<int> order;
  for (int a = 0; a < axes; ++a) order.push_back(a);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return lengths[a] * x.shape(2 + b) < lengths[b] * x.shape(2 + a); });
  std::vector<std::pair<int, Axis>> maps;
  for (const int a : order) {
    const Axis axis = axis_of(x.shape(2 + a), lengths[a], o.align_corners, o.scale_factor);
    const bool is_moved = o.scale_factor && !o.align_corners && axis.step != 1.0;
    if (axis.from != axis.to || is_moved) maps.emplace_back(2 + a, axis);
  }
  for (std::size_t k = 0; k < maps.size(); ++k)
    y = resampled(y, maps[k].first, taps_of(mode, maps[k].second, o),
                  {.cyclic_x = has_weights && k > 0, .cyclic_y = has_weights && k + 1 < maps.size()});
  // A result of the size of x is a variable of its own, as any other.
  return y.is_same(x) ? autograd::identity(x) : narrowed(y, x.dtype());
}

Variable resize_images(const Variable& x, Pair output_shape) {
  return resize_images(x, output_shape, "bilinear", true);
}

Variable resize_images(const Variable& x, Pair output_shape, std::string_view mode, bool align_corners) {
  internal::expect_rank("ResizeImages", x, 4);
  catena::check<catena::ValueError>(output_shape.y > 0 && output_shape.x > 0, "resize_images", "the output shape (",
                                    output_shape.y, ", ", output_shape.x, ") is not positive");
  const Mode known = mode_of(mode);
  return interpolate(x, {.size = Lengths(output_shape),
                         .mode = mode,
                         .align_corners = align_corners && (known == Mode::linear || known == Mode::cubic)});
}

}  // namespace nn
