#include <catena/ndarray/routines/grids.h>

#include <algorithm>
#include <cmath>

#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/datatype.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/operand.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/scan.h>

namespace nd {

using catena::check;

namespace {

// Returns an array of rank 1 as an array of that rank along one axis.
Array along(const Array& line, int axis, int rank) {
  Shape shape = Shape::filled(rank, 1);
  shape[axis] = line.size();
  return line.reshape(shape);
}

std::vector<Array> open_grid(const std::vector<Array>& lines) {
  std::vector<Array> grid;
  const int rank = static_cast<int>(lines.size());
  for (int k = 0; k < rank; ++k) grid.push_back(along(lines[std::size_t(k)], k, rank));
  return grid;
}

Array dense_grid(const char* op, const std::vector<Array>& lines, Dtype dtype) try {
  Shape shape{static_cast<std::int64_t>(lines.size())};
  for (const Array& line : lines) shape.push_back(line.size());
  const Array result = empty(shape, dtype);
  const std::vector<Array> open = open_grid(lines);
  for (std::size_t k = 0; k < open.size(); ++k) internal::assign(op, result(k), open[k]);
  return result;
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

std::vector<Array> position_lines(const Shape& shape, Dtype dtype) {
  catena::checked_size(shape);
  std::vector<Array> lines;
  for (const std::int64_t n : shape) lines.push_back(arange(n, dtype));
  return lines;
}

}  // namespace

// ---- coordinates --------------------------------------------------------------------------------
Array internal::indices(const Shape& dimensions, const IndicesOptions& options) {
  const Dtype dtype = options.dtype.value_or(Dtype::int64);
  return dense_grid("indices", position_lines(dimensions, dtype), dtype);
}

std::vector<Array> internal::index_views(const Shape& shape, Dtype dtype) {
  std::vector<Array> views;
  for (const Array& x : open_grid(position_lines(shape, dtype))) views.push_back(broadcast_to(x, shape));
  return views;
}

std::vector<Array> ogrid(const Shape& shape) { return open_grid(position_lines(shape, Dtype::int64)); }

GridRange::GridRange(const Slice& range) {
  check<ValueError>(range.stop.has_value(), "mgrid", "a range needs a stop");
  if (range.start) start = *range.start;
  stop = *range.stop;
  if (range.step) step = *range.step;
}

namespace {

Dtype range_dtype(const std::vector<GridRange>& ranges) {
  for (const GridRange& r : ranges)
    for (const Scalar& s : {r.start, r.stop, r.step})
      if (s.is_floating() || s.is_complex()) return Dtype::float64;
  return Dtype::int64;
}

// Returns the numbers of a range as start + k * step.
Array numbers(const GridRange& r, Dtype dtype) {
  check<TypeError>(!r.start.is_complex() && !r.stop.is_complex(), "mgrid", "the bounds ", r.start, " and ", r.stop,
                   " must be real");
  const double start = r.start.to_double(), stop = r.stop.to_double();
  if (r.step.is_complex()) {
    const catena::complex128 z = r.step.to<catena::complex128>();
    const auto n = static_cast<std::int64_t>(std::hypot(z.re, z.im));
    return arange(n, Dtype::float64) * (n == 1 ? 1.0 : (stop - start) / static_cast<double>(n - 1)) + start;
  }
  check<ValueError>(r.step.to_double() != 0, "mgrid", "the step of a range is 0");
  const double n = std::max(std::ceil((stop - start) / r.step.to_double()), 0.0);
  check<ValueError>(n < 9.2e18, "mgrid", "the range from ", r.start, " to ", r.stop, " with step ", r.step,
                    " has no length");
  return arange(static_cast<std::int64_t>(n), dtype) * r.step + r.start;
}

std::vector<Array> lines_of(const std::vector<GridRange>& ranges) {
  std::vector<Array> lines;
  for (const GridRange& r : ranges) lines.push_back(numbers(r, range_dtype(ranges)));
  return lines;
}

}  // namespace

Array internal::grid_line(const GridRange& range) { return numbers(range, range_dtype({range})); }
Array mgrid(const std::vector<GridRange>& ranges) { return dense_grid("mgrid", lines_of(ranges), range_dtype(ranges)); }
std::vector<Array> ogrid(const std::vector<GridRange>& ranges) { return open_grid(lines_of(ranges)); }

// ---- sequences ----------------------------------------------------------------------------------
namespace {

bool is_inexact(Dtype t) { return catena::is_floating(t) || catena::is_complex_dtype(t); }
Dtype inexact_dtype(Dtype t) { return is_inexact(t) ? t : Dtype::float64; }
Dtype real_of(Dtype t) { return t == Dtype::complex64 ? Dtype::float32 : t == Dtype::complex128 ? Dtype::float64 : t; }

struct Ends {
  Array start, stop;  // at their common shape, with a new axis of length 1
  Shape shape;        // of the result
  int axis;
};

Ends ends(const char* op, const Operand& start, const Operand& stop, std::int64_t num, int axis, Dtype dtype) {
  check<ValueError>(num >= 0, op, "the number of samples ", num, " is negative");
  const auto [x, y] = internal::as_arrays(start, stop);
  Shape shape = catena::broadcast_shapes(op, x.shape(), y.shape());
  const int at = catena::normalize_axis(op, axis, shape.size() + 1);
  Ends e{broadcast_to(x.astype(dtype, {.copy = false}), shape), broadcast_to(y.astype(dtype, {.copy = false}), shape),
         shape, at};
  e.start = expand_dims(e.start, at);
  e.stop = expand_dims(e.stop, at);
  e.shape.insert(at, num);
  return e;
}

// Returns num numbers from start to stop in their dtype.
Array spaced(const Ends& e, bool endpoint) {
  const DeviceScope scope(e.start.device());
  const std::int64_t num = e.shape[e.axis], div = endpoint ? num - 1 : num;
  const Array k = along(arange(num, real_of(e.start.dtype())), e.axis, e.shape.size());
  const Array distance = e.stop - e.start;
  Array result = k * (div > 0 ? distance / static_cast<double>(div) : distance);
  result += e.start;
  if (endpoint && num > 1) internal::assign("linspace", internal::part(result, e.axis, num - 1, 1), e.stop);
  return result;
}

Dtype dtype_of_ends(const Operand& start, const Operand& stop) {
  const catena::Input inputs[] = {start, stop};
  return inexact_dtype(catena::result_type(inputs));
}

// Return a sequence with equal ratios. Of real ends with the same sign.
Array real_ratios(const Ends& given, bool endpoint) {
  const Array direction = sign(given.start);
  Ends logarithms = given;
  logarithms.start = log10(given.start / direction);
  logarithms.stop = log10(given.stop / direction);
  Array result = power(10.0, spaced(logarithms, endpoint));
  result *= direction;
  return result;
}
// Of complex ends: the start, turned by equal angles and stretched by equal factors.
Array complex_ratios(const Ends& given, bool endpoint) {
  const DeviceScope scope(given.start.device());
  const std::int64_t num = given.shape[given.axis], div = std::max<std::int64_t>(endpoint ? num - 1 : num, 1);
  const Array ratio = given.stop / given.start;
  const Array part = along(arange(num, real_of(ratio.dtype())), given.axis, given.shape.size()) / double(div);
  const Array angle = part * arctan2(ratio.imag(), ratio.real());
  return given.start * (power(absolute(ratio), part) * (cos(angle) + sin(angle) * catena::complex128(0, 1)));
}

}  // namespace

Array linspace(const Operand& start, const Operand& stop, std::int64_t num, const SpacingOptions& options) try {
  const Dtype dtype = dtype_of_ends(start, stop);
  Array result = spaced(ends("linspace", start, stop, num, options.axis, dtype), options.endpoint);
  if (options.dtype && catena::is_integer(*options.dtype) && !catena::is_complex_dtype(dtype))
    result = floor(result, {.out = result});
  return result.astype(options.dtype.value_or(dtype), {.copy = false});
} catch (...) {
  internal::rethrow_out_of_memory("linspace");
}

Array logspace(const Operand& start, const Operand& stop, std::int64_t num, const PowerSpacingOptions& options) try {
  const Array exponents = linspace(start, stop, num, {.endpoint = options.endpoint, .axis = options.axis});
  const Array result = power(options.base, exponents);
  return result.astype(options.dtype.value_or(result.dtype()), {.copy = false});
} catch (...) {
  internal::rethrow_out_of_memory("logspace");
}

Array geomspace(const Operand& start, const Operand& stop, std::int64_t num, const SpacingOptions& options) try {
  const Dtype dtype = promote_types(dtype_of_ends(start, stop), options.dtype.value_or(Dtype::float64));
  const Ends given = ends("geomspace", start, stop, num, options.axis, inexact_dtype(dtype));
  for (const Operand& end : {start, stop}) {
    const bool has_zero = end.is_array() ? bool((end.array() == 0).any()) : end.scalar() == Scalar(0);
    check<ValueError>(!has_zero, "geomspace", "a sequence with equal ratios cannot begin or end with 0");
  }
  Array result =
      catena::is_complex_dtype(dtype) ? complex_ratios(given, options.endpoint) : real_ratios(given, options.endpoint);
  if (num > 0) internal::assign("geomspace", internal::part(result, given.axis, 0, 1), given.start);
  if (num > 1 && options.endpoint)
    internal::assign("geomspace", internal::part(result, given.axis, num - 1, 1), given.stop);
  return result.astype(options.dtype.value_or(dtype), {.copy = false});
} catch (...) {
  internal::rethrow_out_of_memory("geomspace");
}

Array vander(const Array& x, const VanderOptions& options) try {
  check<ValueError>(x.ndim() == 1, "vander", "the array has rank ", x.ndim(), ", must have rank 1");
  const std::int64_t n = options.N.value_or(x.size());
  check<ValueError>(n >= 0, "vander", "the number of columns ", n, " is negative");
  const DeviceScope scope(x.device());
  const Array result = empty({x.size(), n}, promote_types(x.dtype(), Dtype::int64));
  if (result.size() == 0) return result;
  const Array powers = options.increasing ? result : flip(result, 1);
  internal::part(powers, 1, 0, 1).fill(1);
  if (n > 1)
    cumprod(broadcast_to(x.reshape(-1, 1), {x.size(), n - 1}), 1,
            {.dtype = result.dtype(), .out = internal::part(powers, 1, 1, n - 1)});
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("vander");
}

}  // namespace nd
