#include <catena/ndarray/routines/differences.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <catena/kernels/base/error_context.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/array_like.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/loops_signal.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sorting.h>

namespace nd {
namespace {

using catena::check;
using internal::on_device;
using internal::on_one_device;
using internal::part;

bool has_fractions(Dtype t) { return catena::is_floating(t) || catena::is_complex_dtype(t); }

// The elements of an axis but the first ones, and but the last ones; none if there are fewer.
Array all_but_first(const Array& a, int axis, std::int64_t n = 1) {
  const std::int64_t skipped = std::min(n, a.shape()[axis]);
  return part(a, axis, skipped, a.shape()[axis] - skipped);
}
Array all_but_last(const Array& a, int axis, std::int64_t n = 1) {
  return part(a, axis, 0, std::max<std::int64_t>(a.shape()[axis] - n, 0));
}

Array neighbour_differences(const Array& a, int axis) {
  const Array later = all_but_first(a, axis), before = all_but_last(a, axis);
  return a.dtype() == Dtype::bool_ ? later != before : later - before;
}

// ---- gradient -------------------------------------------------------------------------------------
// The distances of the samples along one axis: a number, or an array of the differences of their coordinates.
struct Spacing {
  Operand distance() const { return number ? Operand(*number) : Operand(array); }
  bool uniform() const { return number || array.ndim() == 0; }

  std::optional<Scalar> number = {};
  Array array = {};
};

Spacing spacing_of(const Array& f, int axis, const ArrayLike& given) {
  if (given.number()) return {.number = given.number()};
  const Array x = on_device(given, f.device());
  if (x.ndim() == 0) return {.array = x};
  check<ValueError>(x.ndim() == 1, "gradient", "coordinates have the shape ", x.shape(), ", must have rank 1");
  check<ValueError>(x.size() == f.shape()[axis], "gradient", "there are ", x.size(),
                    " coordinates for an axis of length ", f.shape()[axis]);
  return {.array = neighbour_differences(has_fractions(x.dtype()) ? x : x.astype(Dtype::float64), 0)};
}

// The combination of three neighbours that has second order.
struct Weights {
  Array of(const Array& x, const Array& y, const Array& z) const {
    Array sum = a * x;
    sum = std::move(sum) + b * y;
    return std::move(sum) + c * z;
  }
  Array a, b, c;
};

// In the middle of samples with the distances d1, d2, and at the first and the last of them.
Weights central(const Array& d1, const Array& d2) {
  const Array both = d1 + d2;
  return {.a = -d2 / (d1 * both), .b = (d2 - d1) / (d1 * d2), .c = d1 / (d2 * both)};
}
Weights at_first(const Array& d1, const Array& d2) {
  const Array both = d1 + d2;
  return {.a = -(2.0 * d1 + d2) / (d1 * both), .b = both / (d1 * d2), .c = -d1 / (d2 * both)};
}
Weights at_last(const Array& d1, const Array& d2) {
  const Array both = d1 + d2;
  return {.a = d2 / (d1 * both), .b = -both / (d1 * d2), .c = (2.0 * d2 + d1) / (d2 * both)};
}

// One sample of an axis, of which the axis is kept.
Array sample_at(const Array& f, int axis, std::int64_t at) {
  return part(f, axis, at < 0 ? at + f.shape()[axis] : at, 1);
}

// Writes the one-sided difference at one end; `side` is 0 for the first sample and -1 for the last one.
void write_end(const Array& out, const Array& f, int axis, const Spacing& d, int order, std::int64_t side) {
  const Array target = sample_at(out, axis, side);
  const std::int64_t inward = side == 0 ? 1 : -1;
  if (order == 1) {
    const Array x = sample_at(f, axis, std::min(side, side + inward)),
                y = sample_at(f, axis, std::max(side, side + inward));
    subtract(y, x, {.out = target});
    true_divide(target, d.uniform() ? d.distance() : Operand(d.array(side)), {.out = target});
    return;
  }
  const std::int64_t first = side == 0 ? 0 : -3;
  const Array x = sample_at(f, axis, first), y = sample_at(f, axis, first + 1), z = sample_at(f, axis, first + 2);
  if (d.uniform()) {
    const Array sum = side == 0 ? -1.5 * x + 2.0 * y - 0.5 * z : 0.5 * x - 2.0 * y + 1.5 * z;
    true_divide(sum, d.distance(), {.out = target});
    return;
  }
  const Array d1 = d.array(side == 0 ? 0 : -2), d2 = d.array(side == 0 ? 1 : -1);
  copyto(target, (side == 0 ? at_first(d1, d2) : at_last(d1, d2)).of(x, y, z));
}

Array derivative(const Array& f, int axis, const Spacing& d, int order) {
  const Array out = empty_like(f);
  const Array before = all_but_last(f, axis, 2), behind = all_but_first(f, axis, 2);
  const Array inside = all_but_last(all_but_first(out, axis), axis);
  if (d.uniform()) {
    subtract(behind, before, {.out = inside});
    true_divide(inside, d.number ? Operand(2.0 * *d.number) : Operand(2.0 * d.array), {.out = inside});
  } else {
    Shape along = Shape::filled(f.ndim(), 1);
    along[axis] = d.array.size() - 1;
    const Array d1 = all_but_last(d.array, 0).reshape(along), d2 = all_but_first(d.array, 0).reshape(along);
    copyto(inside, central(d1, d2).of(before, all_but_last(all_but_first(f, axis), axis), behind));
  }
  write_end(out, f, axis, d, order, 0);
  write_end(out, f, axis, d, order, -1);
  return out;
}

GradientResult gradient_of(const ArrayLike& samples, const std::vector<ArrayLike>& spacing,
                           const GradientOptions& o) try {
  Array f = on_one_device("gradient", samples)[0];
  check<ValueError>(o.edge_order == 1 || o.edge_order == 2, "gradient", "edge_order is ", o.edge_order,
                    ", must be 1 or 2");
  check<TypeError>(f.dtype() != Dtype::bool_, "gradient", "bools have no differences; convert them to numbers");
  Dims axes;
  if (!o.axis.given()) catena::normalize_axes("gradient", o.axis, f.ndim());
  for (int k = 0; k < (o.axis.given() ? o.axis.values().size() : f.ndim()); ++k)
    axes.push_back(o.axis.given() ? catena::normalize_axis("gradient", o.axis.values()[k], f.ndim()) : k);
  catena::normalize_axes("gradient", Axes(axes), f.ndim());
  const bool one_for_all = spacing.size() == 1 && spacing[0].array().ndim() == 0;
  check<TypeError>(spacing.empty() || one_for_all || static_cast<int>(spacing.size()) == axes.size(), "gradient",
                   spacing.size(), " spacings are given for ", axes.size(),
                   " axes; write one number for all axes, or one item for each");
  if (!has_fractions(f.dtype())) f = f.astype(Dtype::float64);
  std::vector<Spacing> distances;
  for (int k = 0; k < axes.size(); ++k) {
    const int axis = static_cast<int>(axes[k]);
    check<ValueError>(f.shape()[axis] > o.edge_order, "gradient", "axis ", axis, " has ", f.shape()[axis],
                      " samples; differences of order ", o.edge_order, " need at least ", o.edge_order + 1);
    distances.push_back(spacing.empty() ? Spacing{.number = Scalar(1.0)}
                                        : spacing_of(f, axis, spacing[one_for_all ? 0 : static_cast<std::size_t>(k)]));
  }
  std::vector<Array> results;
  for (int k = 0; k < axes.size(); ++k)
    results.push_back(derivative(f, static_cast<int>(axes[k]), distances[static_cast<std::size_t>(k)], o.edge_order));
  return GradientResult(std::move(results));
} catch (...) {
  internal::rethrow_out_of_memory("gradient");
}

// ---- interpolation --------------------------------------------------------------------------------
// The points of a periodic function, sorted, with one more point before and behind them.
std::pair<Array, Array> over_period(const Array& xp, const Array& fp, double period) {
  const Array place = remainder(xp, period), order = argsort(place);
  const Array x = take(place, order), f = take(fp, order);
  return {concatenate({x(Slice(-1, {})) - period, x, x(Slice({}, 1)) + period}),
          concatenate({f(Slice(-1, {})), f, f(Slice({}, 1))})};
}

// The values below and above all points, if they are not those at the ends.
struct Outside {
  std::optional<double> left, right;
};

// Of arrays of float64.
Array interpolated(const Array& x, const Array& xp, const Array& fp, const Outside& outside) {
  if (x.device().kind == Device::Kind::cpu) {
    const Array values = internal::contiguous(x), points = internal::contiguous(xp), heights = internal::contiguous(fp);
    const Array result = empty_like(values);
    internal::interpolate_samples(values.data<const double>(), values.size(), points.data<const double>(),
                                  heights.data<const double>(), points.size(), result.data<double>(), outside.left,
                                  outside.right);
    return result;
  }
  // Numbers outside are moved to the ends. Behind the last point the function is constant.
  const Array rise = neighbour_differences(fp, 0) / neighbour_differences(xp, 0);
  const Array slopes = concatenate({rise, zeros_like(fp(Slice(0, 1)))});
  const Array inside = clip(x, xp(0), xp(-1));
  const Array at = searchsorted(all_but_first(xp, 0), inside, "right");
  const Array distance = inside - take(xp, at), slope = take(slopes, at), base = take(fp, at);
  const Array result = slope * distance + base;
  // Next to an infinity or NaN: the value of the point itself, or one that is seen from the next point, or the common
  // value of both.
  const Array last = minimum(at + 1, xp.size() - 1), next = take(fp, last);
  const Array from_next = slope * (inside - take(xp, last)) + next;
  const Array other = where(isnan(from_next) & (next == base), base, from_next);
  const Array in_between = where(isnan(result), other, result);
  const Array all = where(isnan(x), x, where((distance == 0) | (at == xp.size() - 1), base, in_between));
  if (outside.left) copyto(all, *outside.left, {.where = x < xp(0)});
  if (outside.right) copyto(all, *outside.right, {.where = x > xp(-1)});
  return all;
}

// Real and imaginary parts of complex points apart.
Array interpolated_parts(const Array& x, const Array& xp, const Array& fp, const InterpOptions& o) {
  const auto outside = [&](bool imaginary) {
    const auto part_of = [&](const std::optional<Scalar>& z) -> std::optional<double> {
      if (!z || o.period) return {};
      const complex128_t number = z->to<complex128_t>();
      return imaginary ? number.im : number.re;
    };
    return Outside{part_of(o.left), part_of(o.right)};
  };
  if (!catena::is_complex_dtype(fp.dtype())) return interpolated(x, xp, fp, outside(false));
  const Array result = empty_like(x, {.dtype = fp.dtype()});
  copyto(result.real(), interpolated(x, xp, fp.real(), outside(false)));
  copyto(result.imag(), interpolated(x, xp, fp.imag(), outside(true)));
  copyto(result.imag(), 0, {.where = isnan(x)});
  return result;
}

}  // namespace

Array diff(const ArrayLike& array, const DiffOptions& o) try {
  Array a = on_one_device("diff", array)[0];
  check<ValueError>(o.n >= 0, "diff", "n is ", o.n, ", must not be negative");
  if (o.n == 0) return a;
  check<ValueError>(a.ndim() > 0, "diff", "a 0-d array has no differences");
  const int axis = catena::normalize_axis("diff", o.axis, a.ndim());
  if (o.prepend || o.append) {
    const auto values = [&](const ArrayLike& given) {
      const Array x = on_device(given, a.device());
      check<ValueError>(x.ndim() == 0 || x.ndim() == a.ndim(), "diff", "values of the shape ", x.shape(),
                        " are put before or behind an array of the shape ", a.shape(), "; the ranks must be the same");
      Shape one = a.shape();
      one[axis] = 1;
      return x.ndim() == 0 ? broadcast_to(x, one) : x;
    };
    std::vector<Array> pieces;
    if (o.prepend) pieces.push_back(values(*o.prepend));
    pieces.push_back(a);
    if (o.append) pieces.push_back(values(*o.append));
    a = concatenate(pieces, axis);
  }
  for (std::int64_t k = 0; k < o.n; ++k) a = neighbour_differences(a, axis);
  return a;
} catch (...) {
  internal::rethrow_out_of_memory("diff");
}

Array ediff1d(const ArrayLike& ary, const Ediff1dOptions& o) try {
  const Array a = on_one_device("ediff1d", ary)[0].ravel();
  const auto ends = [&](const std::optional<ArrayLike>& given, std::string_view name) {
    const Array x = given ? on_device(*given, a.device()).ravel() : a(Slice(0));
    check<TypeError>(catena::can_cast(x.dtype(), a.dtype(), Casting::same_kind), "ediff1d", name, " is ", x.dtype(),
                     ", which does not cast to ", a.dtype(), "; convert it before");
    return x;
  };
  const Array begin = ends(o.to_begin, "to_begin"), end = ends(o.to_end, "to_end");
  const std::int64_t n = std::max<std::int64_t>(a.size() - 1, 0);
  const Array result = empty_like(a, {.shape = Shape(begin.size() + n + end.size())});
  subtract(all_but_first(a, 0), all_but_last(a, 0), {.out = part(result, 0, begin.size(), n)});
  if (begin.size() > 0) copyto(part(result, 0, 0, begin.size()), begin);
  if (end.size() > 0) copyto(part(result, 0, begin.size() + n, end.size()), end);
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("ediff1d");
}

// ---- derivatives and integrals --------------------------------------------------------------------
GradientResult::GradientResult(std::vector<Array> arrays)
    : Array(arrays.size() == 1 ? arrays[0] : Array()), arrays_(std::move(arrays)) {}

Array GradientResult::single_output() const {
  check<TypeError>(arrays_.size() == 1, "gradient", "the result has ", arrays_.size(),
                   " arrays, and is used as one; take one of its arrays()");
  return arrays_[0];
}

Array GradientResult::of_pair(std::size_t k) const {
  check<TypeError>(arrays_.size() == 2, "gradient", "the result has ", arrays_.size(),
                   " arrays, and is used as two; take them from its arrays()");
  return arrays_[k];
}

GradientResult gradient(const ArrayLike& f, const GradientOptions& options) { return gradient_of(f, {}, options); }
GradientResult internal::gradient(const ArrayLike& f, const std::vector<ArrayLike>& spacings,
                                  const GradientOptions& options) {
  return gradient_of(f, spacings, options);
}

Array trapezoid(const ArrayLike& samples, const TrapezoidOptions& o) try {
  const Array y = on_one_device("trapezoid", samples)[0];
  const int axis = catena::normalize_axis("trapezoid", o.axis, y.ndim());
  if (o.x || y.dtype() == Dtype::bool_ || y.shape()[axis] < 2) {
    Array widths;
    if (o.x) {
      Array x = on_device(*o.x, y.device());
      if (x.ndim() == 1) {
        Shape along = Shape::filled(y.ndim(), 1);
        along[axis] = x.size();
        x = x.reshape(along);
      }
      widths =
          neighbour_differences(x, catena::normalize_axis("trapezoid", x.ndim() == y.ndim() ? axis : o.axis, x.ndim()));
    }
    Array sums = all_but_first(y, axis) + all_but_last(y, axis);
    sums = (o.x ? widths * std::move(sums) : o.dx * std::move(sums)) / 2.0;
    return sum(sums, axis);
  }
  // Both ends apart from the others, which are only summed.
  const Dtype result = has_fractions(y.dtype()) ? y.dtype() : Dtype::float64;
  const Dtype working = catena::compute_dtype(result);
  Array total = sum(all_but_last(all_but_first(y, axis), axis), axis, working);
  const auto end = [&](std::int64_t at) {
    return sample_at(y, axis, at).astype(working, {.copy = false}).squeeze(axis);
  };
  total += (end(0) + end(-1)) / 2.0;
  total *= o.dx;
  return total.astype(result, {.copy = false});
} catch (...) {
  internal::rethrow_out_of_memory("trapezoid");
}

Array interp(const ArrayLike& x_in, const ArrayLike& xp_in, const ArrayLike& fp_in, const InterpOptions& o) try {
  auto [x, xp, fp] = on_one_device("interp", x_in, xp_in, fp_in);
  check<ValueError>(xp.ndim() == 1 && xp.shape() == fp.shape(), "interp", "xp has the shape ", xp.shape(), ", fp ",
                    fp.shape(), ", which must be one and of rank 1");
  check<ValueError>(xp.size() > 0, "interp", "there are no points");
  const auto in_float64 = [](const Array& a) { return a.astype(Dtype::float64, {.copy = false}); };
  x = in_float64(x), xp = in_float64(xp);
  fp = fp.astype(catena::is_complex_dtype(fp.dtype()) ? Dtype::complex128 : Dtype::float64, {.copy = false});
  if (o.period) {
    const double period = std::abs(o.period->to_double());
    check<ValueError>(period != 0, "interp", "the period is 0");
    std::tie(xp, fp) = over_period(xp, fp, period);
    return interpolated_parts(remainder(x, period), xp, fp, o);
  }
  return interpolated_parts(x, xp, fp, o);
} catch (...) {
  internal::rethrow_out_of_memory("interp");
}

Array unwrap(const ArrayLike& p, const UnwrapOptions& o) try {
  const Array a = on_one_device("unwrap", p)[0];
  check<ValueError>(a.ndim() > 0, "unwrap", "a 0-d array has no neighbours");
  const int axis = catena::normalize_axis("unwrap", o.axis, a.ndim());
  const bool exact = !o.period.is_floating() && catena::is_integer(a.dtype());
  const std::int64_t whole = exact ? o.period.to<std::int64_t>() : 0;
  check<ValueError>(!exact || whole > 0, "unwrap", "the period is ", o.period, ", must be positive");
  const Scalar middle = exact ? Scalar(whole / 2) : Scalar(o.period.to_double() / 2);
  const Dtype dtype = exact || has_fractions(a.dtype()) ? a.dtype() : Dtype::float64;
  const Array result = a.astype(dtype), jumps = neighbour_differences(result, axis);
  const Array later = all_but_first(result, axis);
  Array turned = remainder(jumps + middle, o.period);
  subtract(turned, middle, {.out = turned});
  // Half of the period, in either direction, keeps its sign.
  if (!exact || whole % 2 == 0) copyto(turned, middle, {.where = (turned == -middle) & (jumps > 0)});
  subtract(turned, jumps, {.out = turned});
  const Scalar limit = o.discont ? *o.discont : Scalar(o.period.to_double() / 2);
  copyto(turned, 0, {.where = absolute(jumps) < limit});
  add(later, cumsum(turned, axis), {.out = later, .casting = Casting::unsafe});
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("unwrap");
}

}  // namespace nd
