#include <catena/ndarray/routines/padding.h>

#include <algorithm>
#include <array>

#include <catena/kernels/base/array_layout.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/core/view.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/grids.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/sorting.h>

namespace nd {

using catena::check;
using internal::part;
using internal::view_as;

namespace {

using Sides = std::pair<std::int64_t, std::int64_t>;

// An axis of the result while it is padded: `view` has the full length of this axis and of those before it, and the
// interior of the others. before + length + after is the length of the axis.
struct Axis {
  Array view;
  int axis = 0;
  std::int64_t before = 0, length = 0, after = 0;

  Array range(std::int64_t start, std::int64_t n) const { return part(view, axis, start, n); }
  Array reversed(std::int64_t last, std::int64_t n) const {
    return view_as(view, catena::sliced_axis(view.shape(), view.strides(), axis, {last, n, -1}));
  }
  Array interior() const { return range(before, length); }
  void set(std::int64_t start, std::int64_t n, const Array& values) const {
    if (n > 0) internal::assign("pad", range(start, n), values);
  }
  void set_sides(const Array& first, const Array& last) const {
    set(0, before, first);
    set(before + length, after, last);
  }
};

void pad_edge(const Axis& a) { a.set_sides(a.range(a.before, 1), a.range(a.before + a.length - 1, 1)); }

// The part that is filled already is continued by as many whole periods as it holds.
void pad_wrap(const Axis& a) {
  const std::int64_t end = a.before + a.length;
  for (std::int64_t first = a.before; first > 0;) {
    const std::int64_t period = (end - first) / a.length * a.length, n = std::min(period, first);
    a.set(first - n, n, a.range(first - n + period, n));
    first -= n;
  }
  for (std::int64_t last = end; last < end + a.after;) {
    const std::int64_t period = (last - a.before) / a.length * a.length, n = std::min(period, end + a.after - last);
    a.set(last, n, a.range(last - period, n));
    last += n;
  }
}

// Mirrors the part that is filled already, alternately at both of its ends, until the sides are filled. `edge` is 1 if
// the element at the end is repeated, else 0.
void pad_mirrored(const Axis& a, std::int64_t edge, bool odd) {
  if (a.length == 1 && edge == 0) return pad_edge(a);
  const std::int64_t period = a.length - 1 + edge, total = a.before + a.length + a.after;
  const auto mirrored = [&](std::int64_t last, std::int64_t n, std::int64_t end) {
    const Array chunk = a.reversed(last, n);
    return odd ? a.range(end, 1) * Scalar(2) - chunk : chunk;
  };
  std::int64_t first = a.before, last = a.before + a.length;  // the filled part
  while (first > 0 || last < total) {
    const std::int64_t whole = (last - first - 1 + edge) / period * period;
    if (first > 0) {
      const std::int64_t n = std::min(whole, first);
      a.set(first - n, n, mirrored(first - edge + n, n, first));
      first -= n;
    }
    if (last < total) {
      const std::int64_t n = std::min(whole, total - last);
      a.set(last, n, mirrored(last - 2 + edge, n, last - 1));
      last += n;
    }
  }
}

void pad_ramp(const Axis& a, const std::pair<Scalar, Scalar>& ends) {
  const Dtype dtype = a.view.dtype();
  const auto ramp = [&](const Scalar& end, std::int64_t edge, std::int64_t n) {
    const Array at = a.range(edge, 1).squeeze(a.axis);
    const Array wide = at.astype(catena::is_complex_dtype(dtype) ? Dtype::complex128 : Dtype::float64);
    return linspace(end, wide, n, {.endpoint = false, .dtype = dtype, .axis = a.axis});
  };
  if (a.before > 0) a.set(0, a.before, ramp(ends.first, a.before, a.before));
  if (a.after > 0)
    a.set(a.before + a.length, a.after, flip(ramp(ends.second, a.before + a.length - 1, a.after), a.axis));
}

Array median_of(const Array& chunk, int axis) {
  const std::int64_t n = chunk.shape()[axis];
  if (n == 0) return chunk.mean(axis, {.keepdims = true});
  const Array sorted = sort(chunk, axis), last = part(sorted, axis, n - 1, 1);
  const Array middle = part(sorted, axis, (n - 1) / 2, n % 2 == 0 ? 2 : 1).mean(axis, {.keepdims = true});
  return where(last != last, last, middle);  // NaN is sorted to the end
}

void pad_statistic(const Axis& a, std::string_view mode, const std::optional<Sides>& lengths) {
  const auto statistic = [&](const Array& chunk) {
    if (mode == "maximum") return amax(chunk, a.axis, {.keepdims = true});
    if (mode == "minimum") return amin(chunk, a.axis, {.keepdims = true});
    const Array value = mode == "mean" ? chunk.mean(a.axis, {.keepdims = true}) : median_of(chunk, a.axis);
    return catena::is_integer(chunk.dtype()) ? rint(value) : value;
  };
  const std::int64_t first = std::min(lengths ? lengths->first : a.length, a.length),
                     last = std::min(lengths ? lengths->second : a.length, a.length);
  const Array before = statistic(a.range(a.before, first));
  const Array after =
      first == a.length && last == a.length ? before : statistic(a.range(a.before + a.length - last, last));
  a.set_sides(before, after);
}

constexpr std::array<std::string_view, 11> kModes = {"constant", "edge",    "empty",   "linear_ramp", "maximum", "mean",
                                                     "median",   "minimum", "reflect", "symmetric",   "wrap"};

void check_options(const Array& array, const catena::PadWidths& widths, std::string_view mode,
                   const std::optional<std::vector<Sides>>& lengths, const PadOptions& options) {
  check<ValueError>(std::find(kModes.begin(), kModes.end(), mode) != kModes.end(), "pad", "mode is '", mode,
                    "', must be constant, edge, empty, linear_ramp, maximum, mean, median, minimum, reflect, symmetric "
                    "or wrap");
  check<ValueError>(options.reflect_type == "even" || options.reflect_type == "odd", "pad", "reflect_type is '",
                    options.reflect_type, "', must be 'even' or 'odd'");
  const bool extreme = mode == "maximum" || mode == "minimum";
  if (lengths)
    for (const auto& [before, after] : *lengths)
      check<ValueError>(std::min(before, after) >= (extreme ? 1 : 0), "pad", "stat_length is ", before, " and ", after,
                        extreme ? ", must be positive" : ", must not be negative");
  if (mode == "constant" || mode == "empty") return;
  for (int i = 0; i < array.ndim(); ++i) {
    const auto& [before, after] = widths[std::size_t(i)];
    check<ValueError>(array.shape()[i] > 0 || (before == 0 && after == 0), "pad", "axis ", i, " of shape ",
                      array.shape(), " has no elements that mode '", mode, "' could continue");
  }
}

void pad_axis(const Axis& a, std::string_view mode, const std::optional<Sides>& lengths,
              const std::pair<Scalar, Scalar>& ends, bool odd) {
  if (mode == "edge") pad_edge(a);
  else if (mode == "wrap") pad_wrap(a);
  else if (mode == "reflect") pad_mirrored(a, 0, odd);
  else if (mode == "symmetric") pad_mirrored(a, 1, odd);
  else if (mode == "linear_ramp") pad_ramp(a, ends);
  else pad_statistic(a, mode, lengths);
}

}  // namespace

Array pad(const Array& array, const PadSides<std::int64_t>& pad_width, std::string_view mode,
          const PadOptions& options) try {
  const int rank = array.ndim();
  const catena::PadWidths widths = catena::pad_widths(pad_width, rank);
  const auto value = catena::sides_of_axes("constant_values", options.constant_values, rank);
  const auto ends = catena::sides_of_axes("end_values", options.end_values, rank);
  std::optional<std::vector<Sides>> lengths;
  if (options.stat_length) lengths = catena::sides_of_axes("stat_length", *options.stat_length, rank);
  check_options(array, widths, mode, lengths, options);
  const catena::Padded p = catena::padded(array.shape(), widths, array.itemsize());
  const Array result(internal::new_array(p.shape, array.dtype(), array.device()));
  Array filled = view_as(result, p.interior);
  internal::assign("pad", filled, array);
  if (mode == "constant") {
    for (const catena::Padded::Side& side : p.sides) {
      const auto& [before, after] = value[std::size_t(side.axis)];
      view_as(result, side.view).fill(side.after ? after : before);
    }
  }
  if (mode == "constant" || mode == "empty" || result.size() == 0) return result;
  const std::optional<Sides> all;
  for (int i = 0; i < rank; ++i) {
    const auto& [before, after] = widths[std::size_t(i)];
    if (before == 0 && after == 0) continue;
    Shape shape = filled.shape();
    const std::int64_t length = shape[i];
    shape[i] += before + after;
    filled = internal::make_view(filled, shape, filled.strides(), -before * filled.strides()[i]);
    pad_axis({filled, i, before, length, after}, mode, lengths ? std::optional((*lengths)[std::size_t(i)]) : all,
             ends[std::size_t(i)], options.reflect_type == "odd");
  }
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("pad");
}

namespace {

// Calls f for every vector along the last axis.
template <class F> void for_vectors(const Array& a, const F& f) {
  if (a.ndim() == 1) return f(a);
  for (std::int64_t i = 0; i < a.shape(0); ++i) for_vectors(a(i), f);
}

}  // namespace

Array pad(const Array& array, const PadSides<std::int64_t>& pad_width, const internal::PadFunction& f) {
  const catena::PadWidths widths = catena::pad_widths(pad_width, array.ndim());
  const Array result = pad(array, pad_width);
  for (int axis = 0; axis < array.ndim() && result.size() > 0; ++axis)
    for_vectors(moveaxis(result, axis, -1), [&](const Array& vector) { f(vector, widths[std::size_t(axis)], axis); });
  return result;
}

}  // namespace nd
