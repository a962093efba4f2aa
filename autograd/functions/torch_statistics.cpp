#include <catena/autograd/functions/torch_statistics.h>

#include <cmath>

#include <catena/autograd/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/autograd/input_types.h>
#include <catena/kernels/registry/families.h>

namespace autograd {

using catena::check;
using catena::normalize_axis;
using catena::ValueError;
namespace kernels = catena::kernels;

namespace {

Array nans_of(const Variable& x) { return apply(kernels::isnan, {x.data()}); }
Array inverted(const Array& mask) { return apply(kernels::logical_not, {mask}); }

void check_floating(const char* op, const Variable& x) {
  internal::check_input_types(
      op, {x}, [](const type_check::TypeInfoTuple& in_types) { type_check::expect(in_types[0].dtype.kind() == 'f'); });
}
// The axis, whose length is not 0.
int filled_axis(const char* op, const Variable& x, int dim) {
  const int axis = normalize_axis(op, dim, x.ndim());
  check<ValueError>(x.shape(axis) > 0, op, "the axis ", dim, " of the shape ", x.shape(), " has no elements");
  return axis;
}
Variable filled(const char* op, const Variable& x) {
  check<ValueError>(x.size() > 0, op, "there are no elements");
  return flatten(x);
}

// Takes the elements `at` along an axis of sorted values, one for each row.
Sorted at_positions(const Sorted& sorted, int axis, const Array& at, bool keepdim) {
  const Variable index = as_variable(at);
  const Sorted taken{take_along_axis(sorted.values, index, axis), take_along_axis(sorted.indices, index, axis)};
  if (keepdim) return taken;
  return {squeeze(taken.values, axis), squeeze(taken.indices, axis)};
}

}  // namespace

VarMean var_mean(const Variable& x, const CorrectionOptions& o) {
  return {x.var({.dim = o.dim, .correction = o.subtracted(), .keepdim = o.keepdim}), mean(x, o.dim, o.keepdim)};
}
StdMean std_mean(const Variable& x, const CorrectionOptions& o) {
  return {x.std({.dim = o.dim, .correction = o.subtracted(), .keepdim = o.keepdim}), mean(x, o.dim, o.keepdim)};
}
Variable nansum(const Variable& x, const ReductionOptions& o) {
  return sum(where(nans_of(x), 0.0, x), o.axes(), o.keeps());
}
Variable nanmean(const Variable& x, const ReductionOptions& o) {
  const Array count = sum(astype(inverted(nans_of(x)), x.dtype()), o.axes(), o.keeps());
  return nansum(x, o) / count;
}

Variable cov(const Variable& given, const CovOptions& o) {
  check<ValueError>(given.ndim() <= 2, "cov", "x has the shape ", given.shape(), ", its rank must be at most 2");
  const Variable x = given.ndim() == 2 ? given : reshape(given, {1, given.size()});
  const std::int64_t n = x.shape(1);
  Variable weights;
  const auto weigh = [&](const Variable& w) {
    if (!w) return;
    check<ValueError>(w.ndim() == 1 && w.size() == n, "cov", "weights have the shape ", w.shape(), " for ", n,
                      " observations");
    const Variable same = cast(w, x.dtype());
    weights = weights ? weights * same : same;
  };
  weigh(o.fweights);
  weigh(o.aweights);
  Variable centred, product;
  if (weights) {
    const Variable total = sum(weights);
    centred = x - sum(x * weights, 1, true) / total;
    // With aweights, the correction is multiplied by their mean weight.
    const Variable lost = o.aweights ? sum(weights * cast(o.aweights, x.dtype())) / total * o.correction
                                     : as_variable(arrays::full({}, o.correction, x.dtype(), x.device()));
    product = matmul(centred * weights, transpose(centred)) / (total - lost);
  } else {
    centred = x - mean(x, 1, true);
    product = matmul(centred, transpose(centred)) / (double(n) - o.correction);
  }
  return given.ndim() == 2 ? product : reshape(product, {});
}
Variable corrcoef(const Variable& x) {
  const Variable c = cov(x);
  if (c.ndim() == 0) return c / c;
  const Variable deviations = sqrt(diagonal(c));
  // Rounding may lead out of [-1, 1].
  return clip(c / expand_dims(deviations, 1) / deviations, -1, 1);
}

MinMax aminmax(const Variable& x, const ExtremumOptions& o) {
  const std::optional<int> dim = o.value();
  const Axes axes = dim ? Axes(*dim) : Axes();
  return {amin(x, axes, o.keeps()), amax(x, axes, o.keeps())};
}

Sorted median(const Variable& x, int dim, bool keepdim) {
  const int axis = filled_axis("median", x, dim);
  const std::int64_t n = x.shape(axis);
  const Sorted sorted = sort(x, axis);
  // NaN is last.
  const Array last = apply(kernels::isnan, {slice(sorted.values.data(), axis, n - 1, n)});
  return at_positions(sorted, axis, where(last, n - 1, (n - 1) / 2), keepdim);
}
Sorted nanmedian(const Variable& x, int dim, bool keepdim) {
  const int axis = filled_axis("nanmedian", x, dim);
  const Array count = sum(astype(inverted(nans_of(x)), Dtype::int64), axis, true);
  const Array at = apply(kernels::floor_divide, {apply(kernels::maximum, {count - 1, 0}), 2});
  return at_positions(sort(x, axis), axis, at, keepdim);
}
Variable median(const Variable& x) { return median(filled("median", x), 0).values; }
Variable nanmedian(const Variable& x) { return nanmedian(filled("nanmedian", x), 0).values; }
Sorted kthvalue(const Variable& x, std::int64_t k, int dim, bool keepdim) {
  const int axis = filled_axis("kthvalue", x, dim);
  check<ValueError>(k >= 1 && k <= x.shape(axis), "kthvalue", "k is ", k, ", it must be from 1 to ", x.shape(axis));
  Shape one = x.shape();
  one[axis] = 1;
  return at_positions(sort(x, axis), axis, arrays::full(one, k - 1, Dtype::int64, x.device()), keepdim);
}
Sorted mode(const Variable& x, int dim, bool keepdim) {
  const int axis = filled_axis("mode", x, dim);
  const std::int64_t n = x.shape(axis);
  const Sorted sorted = sort(x, axis);
  Shape along = Shape::filled(x.ndim(), 1);
  along[axis] = n;
  const Array places = reshape(arrays::arange(n, Dtype::int64, x.device()), along);
  // The place at which the run of equal elements of each place begins.
  const Array &v = sorted.values.data(), starts = arrays::zeros(x.shape(), Dtype::int64, x.device());
  if (n > 1) {
    const Array differ = apply(kernels::not_equal, {slice(v, axis, 1, n), slice(v, axis, 0, n - 1)});
    assign(slice(starts, axis, 1, n), where(differ, slice(places, axis, 1, n), 0));
  }
  const Array begin = cummax(as_variable(starts), axis).values.data();
  // The first of the longest runs so far ends where this is greatest.
  const Array at = expand_dims(argmax(as_variable(places - begin), axis).data(), axis);
  return at_positions(sorted, axis, astype(at, Dtype::int64), keepdim);
}

namespace {

// Two neighbours among n sorted elements, and the weight of the second one.
struct Neighbours {
  std::vector<std::int64_t> first, second;
  std::vector<double> weight;
};

Neighbours neighbours(const std::vector<double>& q, std::int64_t n, std::string_view interpolation) {
  Neighbours at;
  for (const double f : q) {
    check<ValueError>(f >= 0 && f <= 1, "quantile", "q is ", f, ", it must be from 0 to 1");
    const double place = f * double(n - 1);
    double low = std::floor(place), high = std::ceil(place), weight = place - low;
    if (interpolation == "lower") high = low;
    else if (interpolation == "higher") low = high;
    else if (interpolation == "nearest") low = high = std::nearbyint(place);
    else if (interpolation == "midpoint") weight = 0.5;
    else
      check<ValueError>(interpolation == "linear", "quantile", "the interpolation is \"", interpolation,
                        "\"; it must be \"linear\", \"lower\", \"higher\", \"nearest\" or \"midpoint\"");
    at.first.push_back(std::int64_t(low));
    at.second.push_back(std::int64_t(high));
    at.weight.push_back(low == high ? 0 : weight);
  }
  return at;
}

}  // namespace

Variable quantile(const Variable& given, const std::vector<double>& q, const QuantileOptions& o) {
  check_floating("quantile", given);
  const Variable x = o.dim ? given : filled("quantile", given);
  const int axis = filled_axis("quantile", x, o.dim.value_or(0));
  const std::int64_t n = x.shape(axis);
  const Neighbours at = neighbours(q, n, o.interpolation);
  // The elements with that axis in front: (n, ...).
  const Variable sorted = moveaxis(sort(x, axis).values, axis, 0);
  const Variable low = get_item(sorted, {IndexItem(at.first)}), high = get_item(sorted, {IndexItem(at.second)});
  Shape along = Shape::filled(sorted.ndim(), 1);
  along[0] = std::int64_t(q.size());
  const Array weight = reshape(array(at.weight, {std::int64_t(q.size())}, x.device()), along);
  const Array last = apply(kernels::isnan, {slice(sorted.data(), 0, n - 1, n)});
  // Elements of equal value, infinite ones among them, need no interpolation.
  const Array same = apply(kernels::equal, {low.data(), high.data()});
  const Variable between = low + where(same, 0.0, (high - low) * astype(weight, x.dtype()));
  const Variable y = where(last, std::nan(""), between);
  if (!o.keepdim) return y;
  Shape kept = Shape::filled(given.ndim() + 1, 1);
  kept[0] = std::int64_t(q.size());
  if (o.dim)
    for (int k = 0, from = 1; k < given.ndim(); ++k)
      if (k != axis) kept[k + 1] = y.shape(from++);
  return reshape(y, kept);
}
Variable quantile(const Variable& x, double q, const QuantileOptions& o) {
  return squeeze(quantile(x, std::vector<double>{q}, o), 0);
}
Variable quantile(const Variable& x, const Variable& q, const QuantileOptions& o) {
  check<ValueError>(q.ndim() <= 1, "quantile", "q has the shape ", q.shape(), ", its rank must be at most 1");
  const Variable y = quantile(x, to_vector<double>(q.data()), o);
  return q.ndim() == 0 ? squeeze(y, 0) : y;
}
Variable nanquantile(const Variable& given, const std::vector<double>& q, const QuantileOptions& o) {
  check_floating("nanquantile", given);
  const Variable x = o.dim ? given : filled("nanquantile", given);
  const int axis = filled_axis("nanquantile", x, o.dim.value_or(0));
  Shape one = x.shape();
  one[axis] = 1;
  // NaN comes last.
  const Variable sorted = sort(x, axis).values;
  const std::vector<std::int64_t> counts =
      to_vector<std::int64_t>(sum(astype(inverted(nans_of(x)), Dtype::int64), axis));
  Variables results;
  for (const double f : q) {
    Neighbours at;
    for (const std::int64_t n : counts) {
      const Neighbours next = neighbours({f}, std::max<std::int64_t>(n, 1), o.interpolation);
      at.first.push_back(next.first[0]);
      at.second.push_back(next.second[0]);
      at.weight.push_back(next.weight[0]);
    }
    const auto elements = [&](const std::vector<std::int64_t>& places) {
      return take_along_axis(sorted, as_variable(array(places, one, x.device())), axis);
    };
    const Variable low = elements(at.first), high = elements(at.second);
    const Array same = apply(kernels::equal, {low.data(), high.data()});
    const Array weight = astype(array(at.weight, one, x.device()), x.dtype());
    const Variable y = low + where(same, 0.0, (high - low) * weight);
    results.push_back(!o.keepdim ? squeeze(y, axis) : o.dim ? y : reshape(y, Shape::filled(given.ndim(), 1)));
  }
  return stack(results, 0);
}
Variable nanquantile(const Variable& x, double q, const QuantileOptions& o) {
  return squeeze(nanquantile(x, std::vector<double>{q}, o), 0);
}

Variable diff(const Variable& given, const DiffOptions& o) {
  check<ValueError>(o.n >= 0, "diff", "n is ", o.n, ", it must not be negative");
  const int axis = normalize_axis("diff", o.dim, given.ndim());
  Variables parts;
  if (o.prepend) parts.push_back(o.prepend);
  parts.push_back(given);
  if (o.append) parts.push_back(o.append);
  Variable x = parts.size() == 1 ? given : concat(parts, axis);
  for (std::int64_t k = 0; k < o.n && x.shape(axis) > 0; ++k)
    x = slice(x, axis, 1) - slice(x, axis, 0, x.shape(axis) - 1);
  return x;
}

namespace {

// The areas between neighbours.
template <class W> Variable areas_of(const Variable& y, const W& widths, int axis) {
  const std::int64_t n = y.shape(axis);
  if (n == 0) return y;
  return (slice(y, axis, 1) + slice(y, axis, 0, n - 1)) * widths * 0.5;
}
Variable areas(const Variable& y, const TrapezoidOptions& o) {
  return areas_of(y, o.dx, normalize_axis("trapezoid", o.dim, y.ndim()));
}
Variable areas(const Variable& y, const Variable& x, int dim) {
  const int axis = normalize_axis("trapezoid", dim, y.ndim());
  Variable widths = diff(x, 1, x.ndim() == 1 ? 0 : axis - y.ndim());
  if (x.ndim() == 1) {
    Shape along = Shape::filled(y.ndim(), 1);
    along[axis] = widths.size();
    widths = reshape(widths, along);
  }
  return areas_of(y, widths, axis);
}

}  // namespace

Variable trapezoid(const Variable& y, const TrapezoidOptions& o) { return sum(areas(y, o), o.dim); }
Variable trapezoid(const Variable& y, const Variable& x, int dim) { return sum(areas(y, x, dim), dim); }
Variable cumulative_trapezoid(const Variable& y, const TrapezoidOptions& o) { return cumsum(areas(y, o), o.dim); }
Variable cumulative_trapezoid(const Variable& y, const Variable& x, int dim) { return cumsum(areas(y, x, dim), dim); }

}  // namespace autograd
