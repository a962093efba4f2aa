#include <catena/ndarray/routines/quantiles.h>

#include <algorithm>
#include <cmath>

#include <catena/kernels/base/shape.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/element_access.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduced_axes.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/ndarray/routines/statistics.h>

namespace nd {
namespace {

using catena::check;

bool has_nans(const Array& a) { return catena::is_floating(a.dtype()) && any(isnan(a)).item<bool>(); }

// An array whose reduced axes have become its last one.
struct Rows {
  Rows(std::string_view name, const Array& a, const Axes& axis) : op(name) {
    check<TypeError>(!a.is_null(), op, "the array is null");
    check<TypeError>(!catena::is_complex_dtype(a.dtype()), op, "complex numbers have no order");
    axes = catena::reduced_axes(op, axis, a.ndim());
    shape = a.shape();
    array = arranged(a);
    for (int k = 0; k + 1 < array.ndim(); ++k) kept.push_back(array.shape()[k]);
    n = array.shape(-1);
  }
  // The same of another array of that shape.
  Array arranged(const Array& a) const { return internal::reduced_axes_last(a, axes); }
  // The result in its shape or in `out`. `before`: the shape of the fractions, whose axes come first.
  Array finished(const Array& result, const Shape& before, bool keepdims, const Array& out) const {
    Shape full = before;
    for (const std::int64_t length : catena::reduced_shape(shape, axes, keepdims)) full.push_back(length);
    if (out.is_null()) return result.reshape(full);
    check<ValueError>(out.shape() == full, op, "the output has shape ", out.shape(), ", the result ", full);
    internal::assign(op, out, result.reshape(full));
    return out;
  }

  std::string_view op;
  Dims axes;
  Shape shape, kept;  // of the given array; of the axes that are not reduced
  Array array;        // (kept axes..., n)
  std::int64_t n = 0;
};

// ---- medians ------------------------------------------------------------------------------------

// NaN where the row has one: partition() moves NaN to the end of a row.
Array with_nan_of(const Array& sorted, const Array& result) {
  if (!catena::is_floating(sorted.dtype())) return result;
  return where(isnan(sorted(ellipsis, -1)), nan, result);
}

Array median_of(const Array& rows) {
  const std::int64_t n = rows.shape(-1), before = (n - 1) / 2, behind = n / 2;
  if (n == 0) return mean(rows, -1);
  const Array sorted = partition(rows, std::vector<std::int64_t>{before, behind});
  return with_nan_of(sorted, mean(sorted(ellipsis, Slice(before, behind + 1)), -1));
}

// The median of rows with different numbers of NaNs, which come last in sorted rows.
Array median_of_numbers(const Array& rows) {
  if (rows.ndim() == 1) return median_of(rows(~isnan(rows)));
  const Array numbers = count_nonzero(rows == rows, -1);
  const Array middle = stack({maximum(numbers - 1, 0) / 2, numbers / 2}, -1).astype(Dtype::int64);
  const Array result = mean(take_along_axis(nd::sort(rows), middle, -1), -1);
  return where(numbers == 0, nan, result);
}

// ---- fractions and positions --------------------------------------------------------------------

struct Fractions {
  Fractions(std::string_view op, const ArrayLike& q, double greatest) {
    const Array& given = q.array();
    check<TypeError>(!given.is_null(), op, "q is null");
    check<TypeError>(!catena::is_complex_dtype(given.dtype()), op, "q is complex");
    check<ValueError>(given.ndim() <= 2, op, "q has rank ", given.ndim(), ", must be a number or have rank 1 or 2");
    shape = given.shape();
    is_number = q.number().has_value();
    are_whole = greatest == 1 && !catena::is_floating(given.dtype());
    values = given.to_vector<double>();
    for (double& value : values) {
      check<ValueError>(value >= 0 && value <= greatest, op, "q is ", value, ", must be from 0 to ", greatest);
      value /= greatest;
    }
  }
  std::vector<double> values;
  Shape shape;
  bool is_number = false;  // which does not decide about the dtype of the result
  bool are_whole = false;  // integers: the result of "linear" is an element of the array
};

// Methods that differ in alpha and beta have the position n q + (alpha + q (1 - alpha - beta)) - 1.
struct Method {
  std::string_view name;
  bool is_element = false;  // the positions are whole numbers
  double alpha = nan, beta = nan;
};
constexpr Method kMethods[] = {
    {"linear"},
    {"lower", true},
    {"higher", true},
    {"nearest", true},
    {"midpoint"},
    {"inverted_cdf", true},
    {"averaged_inverted_cdf"},
    {"closest_observation", true},
    {"interpolated_inverted_cdf", false, 0, 1},
    {"hazen", false, 0.5, 0.5},
    {"weibull", false, 0, 0},
    {"median_unbiased", false, 1 / 3., 1 / 3.},
    {"normal_unbiased", false, 3 / 8., 3 / 8.},
};
const Method& method_of(std::string_view op, std::string_view name) {
  for (const Method& method : kMethods)
    if (method.name == name) return method;
  std::string known;
  for (const Method& method : kMethods) known += (known.empty() ? "'" : ", '") + std::string(method.name) + "'";
  check<ValueError>(false, op, "method is '", name, "', must be one of ", known);
  return kMethods[0];
}

double either(bool first, double x, double y) { return first ? x : y; }
Array either(const Array& first, const Array& x, const Array& y) { return where(first, x, y); }

// The position of the fraction q among n sorted elements, counted from 0, for numbers and for arrays of float64. It may
// lie before the first or behind the last element.
template <class T> T position(const Method& method, const T& n, const T& q) {
  using std::ceil, std::floor, std::rint;
  if (!std::isnan(method.alpha)) return n * q + (method.alpha + q * (1 - method.alpha - method.beta)) - 1.;
  if (method.name == "inverted_cdf") return ceil(n * q) - 1.;
  if (method.name == "averaged_inverted_cdf") {
    const T p = n * q - 1., whole = floor(p);
    return either(p == whole, p + 0.5, whole + 1.);
  }
  if (method.name == "closest_observation") {
    const T p = n * q - 1.5, whole = floor(p);
    return either((p == whole) & (whole - floor(whole / 2.) * 2. == 1.), whole, whole + 1.);
  }
  const T p = (n - 1.) * q;
  if (method.name == "lower") return floor(p);
  if (method.name == "higher") return ceil(p);
  if (method.name == "nearest") return rint(p);
  if (method.name == "midpoint") return (floor(p) + ceil(p)) * 0.5;
  return p;
}

// `part` of the way from x to y. Integers are calculated in float64.
Array between(const Array& x, const Array& y, double part) {
  const Array way = y - x;
  return part >= 0.5 ? y - way * (1 - part) : x + way * part;
}
Array between(const Array& x, const Array& y, const Array& part) {
  const Array way = y - x;
  return where(part >= 0.5, y - way * (1 - part), x + way * part);
}
Array as_float(std::string_view op, const Array& x) {
  check<TypeError>(x.dtype() != Dtype::bool_, op, "bools cannot be interpolated; choose the method 'nearest', or ",
                   "convert them with astype(nd::float64)");
  return catena::is_floating(x.dtype()) ? x : x.astype(Dtype::float64);
}

// ---- quantiles ----------------------------------------------------------------------------------

// The shape of the fractions and of the kept axes; the result before it gets its axes.
Array empty_or_nan(const Rows& rows, const Fractions& q) {
  Shape shape{static_cast<std::int64_t>(q.values.size())};
  for (const std::int64_t length : rows.kept) shape.push_back(length);
  const DeviceScope scope(rows.array.device());
  return full(shape, nan, catena::is_floating(rows.array.dtype()) ? rows.array.dtype() : Dtype::float64);
}

// Returns the quantiles of rows of the same length, NaN where there is a NaN: one for each fraction along the first
// axis.
Array quantiles_of(const Rows& rows, const Array& elements, const Fractions& q, const Method& method) {
  const auto n = static_cast<double>(elements.shape(-1));
  std::vector<std::int64_t> before, behind;
  std::vector<double> part;
  for (const double fraction : q.values) {
    const double p = std::clamp(position(method, n, fraction), 0., n - 1), whole = std::floor(p);
    before.push_back(static_cast<std::int64_t>(whole));
    behind.push_back(static_cast<std::int64_t>(std::min(whole + 1, n - 1)));
    part.push_back(p - whole);
  }
  const bool is_element = method.is_element || (q.are_whole && method.name == "linear");
  std::vector<std::int64_t> places = before;
  if (!is_element) places.insert(places.end(), behind.begin(), behind.end());
  const Array sorted = partition(elements, places);
  if (q.is_number) {
    const Array x = sorted(ellipsis, before[0]);
    if (is_element) return with_nan_of(sorted, x.copy());
    return with_nan_of(sorted, between(as_float(rows.op, x), as_float(rows.op, sorted(ellipsis, behind[0])), part[0]));
  }
  const Array first = moveaxis(sorted, -1, 0), x = take(first, before, 0);
  if (is_element) return with_nan_of(sorted, x);
  Shape along = Shape::filled(first.ndim(), 1);
  along[0] = static_cast<std::int64_t>(part.size());
  const DeviceScope scope(sorted.device());
  return with_nan_of(sorted,
                     between(as_float(rows.op, x), as_float(rows.op, take(first, behind, 0)), array(part, along)));
}

// The fractions as a column in front of the kept axes, float64 on the device of the rows.
Array column_of(const Rows& rows, const Fractions& q) {
  Shape shape = Shape::filled(rows.kept.size() + 1, 1);
  shape[0] = static_cast<std::int64_t>(q.values.size());
  const DeviceScope scope(rows.array.device());
  return array(q.values, shape);
}
// Element `places`, of shape (fractions, kept axes...), of every row.
Array elements_at(const Array& sorted, const Array& places) {
  return moveaxis(take_along_axis(sorted, moveaxis(places.astype(Dtype::int64), 0, -1), -1), -1, 0);
}

// Returns the quantiles of rows with different numbers of NaNs, which come last in sorted rows.
Array quantiles_of_numbers(const Rows& rows, const Fractions& q, const Method& method) {
  const Array sorted = nd::sort(rows.array);
  const Array n = count_nonzero(sorted == sorted, -1).astype(Dtype::float64), last = maximum(n - 1., 0.);
  const Array p = clip(position(method, n, column_of(rows, q)), 0., last), whole = floor(p);
  const Array x = elements_at(sorted, whole);
  if (method.is_element || (q.are_whole && method.name == "linear")) return x;
  const Array result = between(x, elements_at(sorted, minimum(whole + 1., last)), p - whole);
  return q.is_number ? result.astype(sorted.dtype(), {.copy = false}) : result;
}

// ---- weights ------------------------------------------------------------------------------------

// Returns the first elements at which the sum of the weights reaches each fraction of the whole sum. An element without
// weight never does. `skip`: NaNs have no weight.
Array weighted_quantiles(const Rows& rows, const Array& given, const Fractions& q, bool skip) {
  check<ValueError>(!any(given < 0).item<bool>(), rows.op, "there are negative weights");
  const Array order = argsort(rows.array), sorted = take_along_axis(rows.array, order, -1);
  Array weights = take_along_axis(given.astype(Dtype::float64, {.copy = false}), order, -1);
  if (skip) weights = where(isnan(sorted), 0., weights);
  Array share = cumsum(weights, -1);
  const Array sum = share(ellipsis, Slice(-1, {}));
  const Array is_sum = isfinite(sum) & (sum > 0);
  const Array good = skip ? is_sum | isnan(sorted(ellipsis, Slice(0, 1))) : is_sum;
  check<ValueError>(all(good).item<bool>(), rows.op, "the sum of the weights is 0 or not finite");
  share = share / sum;
  std::vector<Array> places;
  for (const double fraction : q.values)
    places.push_back(minimum(count_nonzero((share < fraction) | (share == 0), -1), rows.n - 1));
  if (places.empty()) return empty_or_nan(rows, q).astype(sorted.dtype());
  const Array result = elements_at(sorted, stack(places));
  return skip ? result : with_nan_of(sorted, result);
}

// ---- the functions ------------------------------------------------------------------------------

Array quantile_of(std::string_view op, const Array& a, const ArrayLike& given, const QuantileOptions& o,
                  double greatest, bool skip) try {
  const Rows rows(op, a, o.axis);
  const Fractions q(op, given, greatest);
  const Method& method = method_of(op, o.method);
  const auto finished = [&](const Array& result) { return rows.finished(result, q.shape, o.keepdims, o.out); };
  if (!o.weights.is_null()) {
    check<ValueError>(method.name == "inverted_cdf", op, "the method '", method.name,
                      "' takes no weights; only 'inverted_cdf' does");
    check<TypeError>(!catena::is_complex_dtype(o.weights.dtype()), op, "the weights are complex");
  }
  const bool is_empty = q.values.empty() || catena::size_of(rows.kept) == 0;
  if (is_empty || rows.n == 0) {
    check<ValueError>(is_empty || skip, op, "an array of shape ", a.shape(),
                      " has no elements along the axes, so that there is no quantile");
    return finished(empty_or_nan(rows, q));
  }
  const bool has_gaps = skip && has_nans(a);
  if (!o.weights.is_null()) {
    const Array weights = broadcast_to(internal::weights_along(op, a, o.axis, o.weights), a.shape());
    return finished(weighted_quantiles(rows, rows.arranged(weights), q, has_gaps));
  }
  if (!has_gaps) return finished(quantiles_of(rows, rows.array, q, method));
  if (!rows.kept.empty()) return finished(quantiles_of_numbers(rows, q, method));
  const Array numbers = rows.array(~isnan(rows.array));
  return finished(numbers.size() == 0 ? empty_or_nan(rows, q) : quantiles_of(rows, numbers, q, method));
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

}  // namespace

Array median(const Array& a, const MedianOptions& o) try {
  const Rows rows("median", a, o.axis);
  return rows.finished(median_of(rows.array), {}, o.keepdims, o.out);
} catch (...) {
  internal::rethrow_out_of_memory("median");
}

Array nanmedian(const Array& a, const MedianOptions& o) try {
  const Rows rows("nanmedian", a, o.axis);
  const Array result = has_nans(a) ? median_of_numbers(rows.array) : median_of(rows.array);
  return rows.finished(result, {}, o.keepdims, o.out);
} catch (...) {
  internal::rethrow_out_of_memory("nanmedian");
}

Array quantile(const Array& a, const ArrayLike& q, const QuantileOptions& options) {
  return quantile_of("quantile", a, q, options, 1, false);
}
Array nanquantile(const Array& a, const ArrayLike& q, const QuantileOptions& options) {
  return quantile_of("nanquantile", a, q, options, 1, true);
}
Array percentile(const Array& a, const ArrayLike& q, const QuantileOptions& options) {
  return quantile_of("percentile", a, q, options, 100, false);
}
Array nanpercentile(const Array& a, const ArrayLike& q, const QuantileOptions& options) {
  return quantile_of("nanpercentile", a, q, options, 100, true);
}

}  // namespace nd
