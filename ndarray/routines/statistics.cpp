#include <catena/ndarray/routines/statistics.h>

#include <algorithm>
#include <limits>
#include <vector>

#include <catena/kernels/registry/families.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/reduction.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd {
namespace {

using catena::check;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Returns the dtype in which the variance of elements of `t` is computed; 16-bit floats are computed in float32 and
// rounded once.
Dtype working_dtype(Dtype t) {
  if (t == Dtype::float64 || !catena::is_floating(t)) return Dtype::float64;
  return Dtype::float32;
}

Array spread(std::string_view op, const Array& a, const VarOptions& o, bool root);

// The variance of complex numbers is the sum of the variances of their real and imaginary parts.
Array spread_of_complex(std::string_view op, const Array& a, const VarOptions& o, bool root) {
  VarOptions parts = o;
  parts.out = Array();
  Array result = spread(op, a.real(), parts, false) + spread(op, a.imag(), parts, false);
  if (root) sqrt(result, {.out = result});
  if (o.out.is_null()) return result;
  check<ValueError>(o.out.shape() == result.shape(), op, "the output has shape ", o.out.shape(), ", the result ",
                    result.shape());
  internal::assign(op, o.out, result);
  return o.out;
}

// Returns the variance of elements converted to o.dtype, or its square root.
Array spread(std::string_view op, const Array& a, const VarOptions& o, bool root) {
  check<TypeError>(!a.is_null(), op, "the array is null");
  if (o.dtype && catena::is_complex_dtype(*o.dtype)) {  // the result is a real number
    VarOptions real = o;
    real.dtype = catena::real_dtype(*o.dtype);
    return spread(op, a, real, root);
  }
  if (catena::is_complex_dtype(a.dtype())) return spread_of_complex(op, a, o, root);
  const Dtype result_dtype = o.dtype ? *o.dtype : (catena::is_floating(a.dtype()) ? a.dtype() : Dtype::float64);
  const Dtype working = working_dtype(result_dtype);
  const catena::KernelDef& def = catena::kernels::var;
  // If no loop computes in o.dtype, elements are converted to it first, as in NumPy.
  const Array source = o.dtype && *o.dtype != working ? a.astype(*o.dtype, {.copy = false}) : a;
  const Dims axes = catena::normalize_axes(op, o.axis, a.ndim());
  const Shape shape = catena::reduced_shape(a.shape(), axes, o.keepdims);
  if (!o.out.is_null()) {
    check<ValueError>(o.out.shape() == shape, op, "the output has shape ", o.out.shape(), ", the result ", shape);
    internal::check_output_layout(op, *o.out.get());
    const Operand operand(a);
    internal::common_device(op, {&operand, 1}, {&o.out, 1});
  }

  const internal::ReductionOptions options{
      .axis = o.axis, .keepdims = o.keepdims, .empty_value = Scalar(kNaN), .ddof = o.ddof};
  int loop = 0;
  while (def.loop_table[loop].type[0] != working) ++loop;
  Array result = internal::reduce_with_loop(def, loop, source, options, working);
  if (root) sqrt(result, {.out = result});
  if (o.out.is_null()) return result.astype(result_dtype, {.copy = false});
  // Converted to the result dtype before `out`, so that an output does not change the number of roundings.
  internal::assign(op, o.out, result.astype(result_dtype, {.copy = false}));
  return o.out;
}

}  // namespace

namespace {

// The mean of the elements that `where` selects: their sum, computed in the working dtype, by their number.
Array mean_where(const Array& a, const ReduceOptions& o) {
  check<ValueError>(catena::broadcasts_to(o.where.shape(), a.shape()), "mean", "`where` of shape ", o.where.shape(),
                    " does not broadcast to the shape ", a.shape());
  const Dtype result = o.dtype.value_or(
      catena::is_floating(a.dtype()) || catena::is_complex_dtype(a.dtype()) ? a.dtype() : Dtype::float64);
  const bool is_complex = catena::is_complex_dtype(result);
  const ReduceOptions axes{.axis = o.axis, .keepdims = o.keepdims};
  const Array values = a.astype(is_complex ? result : working_dtype(result), {.copy = false});
  const Array total = sum(where(o.where, values, 0), axes);
  const Array count = nd::count_nonzero(broadcast_to(o.where, a.shape()), {.axis = o.axis, .keepdims = o.keepdims});
  const Array means =
      true_divide(total, count.astype(catena::real_dtype(total.dtype()))).astype(result, {.copy = false});
  if (o.out.is_null()) return means;
  check<ValueError>(o.out.shape() == means.shape(), "mean", "the output has shape ", o.out.shape(), ", the result ",
                    means.shape());
  internal::assign("mean", o.out, means);
  return o.out;
}

}  // namespace

Array mean(const Array& a, const ReduceOptions& o) {
  check<TypeError>(!o.initial, "mean", "a mean has no `initial`; use a sum with `initial` and divide it");
  if (!o.where.is_null()) return mean_where(a, o);
  if (!a.is_null() && a.ndim() == 0) catena::normalize_axes("mean", o.axis, 0);  // a mean of a 0-d array has no axis
  return internal::apply_reduction(
      catena::kernels::mean, a,
      {.axis = o.axis, .dtype = o.dtype, .out = &o.out, .keepdims = o.keepdims, .empty_value = Scalar(kNaN)});
}

Array var(const Array& a, const VarOptions& options) { return spread("var", a, options, false); }
Array std(const Array& a, const VarOptions& options) try { return spread("std", a, options, true); } catch (...) {
  internal::rethrow_out_of_memory("std");
}

// ---- counting -----------------------------------------------------------------------------------
namespace {

// Returns integers and bools as unsigned numbers of their width; negative numbers become the largest.
Array as_unsigned(const Array& x) {
  switch (x.dtype()) {
    case Dtype::bool_: return x.astype(Dtype::uint8);
    case Dtype::int8: return x.view(Dtype::uint8);
    case Dtype::int16: return x.view(Dtype::uint16);
    case Dtype::int32: return x.view(Dtype::uint32);
    case Dtype::int64: return x.view(Dtype::uint64);
    default: return x;
  }
}

// Returns one more than the largest number. One pass finds the largest number and detects negative ones.
std::int64_t count_of_numbers(const Array& x) {
  const auto largest = amax(as_unsigned(x)).item<std::uint64_t>();
  if (kind_of(x.dtype()) == catena::DtypeKind::signed_) {
    const bool negative = (largest >> (8 * x.itemsize() - 1)) != 0;
    check<ValueError>(!negative, "bincount", "the negative number ", negative ? amin(x).item() : Scalar(0),
                      " cannot be counted");
  }
  check<ValueError>(largest < INT64_MAX, "bincount", "the number ", largest, " is too large to be counted");
  return static_cast<std::int64_t>(largest) + 1;
}

}  // namespace

Array bincount(const Array& x, const BincountOptions& options) {
  const Array& weights = options.weights;
  check<ValueError>(x.ndim() == 1, "bincount", "an array of shape ", x.shape(), " has rank ", x.ndim(),
                    ", must have rank 1");
  check<TypeError>(catena::is_integer(x.dtype()) || x.dtype() == Dtype::bool_, "bincount", "elements of ", x.dtype(),
                   " cannot be counted; they must be integers or bools");
  const std::int64_t least = options.minlength.value_or(1);
  check<ValueError>(least > 0, "bincount", "minlength is ", least, ", must be positive");
  if (!weights.is_null()) {
    check<ValueError>(weights.shape() == x.shape(), "bincount", "the weights have shape ", weights.shape(),
                      ", the numbers ", x.shape());
    check<TypeError>(!catena::is_complex_dtype(weights.dtype()), "bincount", "the weights are complex");
  }
  const std::int64_t needed = x.size() == 0 ? 0 : count_of_numbers(x);
  const std::int64_t length = options.minlength ? std::max(needed, least) : needed;
  const Array numbers = x.dtype() == Dtype::bool_ ? as_unsigned(x) : x;
  return internal::counted("bincount", numbers, weights, length);
}

Array internal::counted(std::string_view op, const Array& numbers, const Array& weights, std::int64_t length) {
  const Array result(new_array(Shape{length}, weights.is_null() ? Dtype::int64 : Dtype::float64, numbers.device(), op));
  result.fill(0);
  if (numbers.size() == 0) return result;
  const catena::call::Index index{numbers.get(), length, static_cast<std::int64_t>(result.itemsize()), 0, true};
  const catena::Input values = weights.is_null() ? catena::Input(Scalar(1)) : catena::Input(*weights.get());
  execute(catena::call::Scatter{
      catena::ScatterMode::add, result.get(), Strides{0}, {&index, 1}, &numbers.shape(), values, op});
  return result;
}

// ---- ranges and averages ------------------------------------------------------------------------

Array ptp(const Array& a, const TestOptions& o) try {
  const Array greatest = amax(a, {.axis = o.axis, .keepdims = o.keepdims});
  const Array least = amin(a, {.axis = o.axis, .keepdims = o.keepdims});
  return subtract(greatest, least, {.out = o.out});
} catch (...) {
  internal::rethrow_out_of_memory("ptp");
}

Array internal::weights_along(std::string_view op, const Array& a, const Axes& axis, const Array& weights) {
  if (weights.shape() == a.shape()) return weights;
  check<TypeError>(axis.given(), op, "the weights have shape ", weights.shape(), ", the array ", a.shape(),
                   "; weights of axes need the option axis");
  Shape lengths, broadcast = Shape::filled(a.ndim(), 1);
  std::vector<std::int64_t> axes;
  Dims order;
  for (const std::int64_t k : axis.values()) {
    axes.push_back(catena::normalize_axis(op, k, a.ndim()));
    order.push_back(order.size());
    lengths.push_back(broadcast[static_cast<int>(axes.back())] = a.shape()[static_cast<int>(axes.back())]);
  }
  check<ValueError>(weights.shape() == lengths, op, "the weights have shape ", weights.shape(),
                    ", must have the shape ", a.shape(), " of the array or ", lengths, " of the axes");
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return axes[std::size_t(i)] < axes[std::size_t(j)]; });
  return weights.transpose(order).reshape(broadcast);
}

std::pair<Array, Array> average_returned(const Array& a, const AverageOptions& o) try {
  check<TypeError>(!a.is_null(), "average", "the array is null");
  if (o.weights.is_null()) {
    const Array result = mean(a, {.axis = o.axis, .keepdims = o.keepdims});
    const DeviceScope scope(a.device());
    const std::int64_t elements = result.size() == 0 ? 0 : a.size() / result.size();
    return {result, full(result.shape(), elements, result.dtype())};
  }
  const Array weights = internal::weights_along("average", a, o.axis, o.weights);
  const bool is_exact = catena::is_exact(a.dtype());
  const Dtype common = catena::promote_types(a.dtype(), weights.dtype());
  const Dtype dtype = is_exact ? catena::promote_types(common, Dtype::float64) : common;
  const Array scale = sum(weights, {.axis = o.axis, .dtype = dtype, .keepdims = o.keepdims});
  check<ValueError>(!any(scale == 0).item<bool>(), "average", "the weights sum to 0, so that there is no average");
  const Array result = sum(multiply(a, weights, {.dtype = dtype}), {.axis = o.axis, .keepdims = o.keepdims}) / scale;
  return {result, scale.shape() == result.shape() ? scale : broadcast_to(scale, result.shape()).copy()};
} catch (...) {
  internal::rethrow_out_of_memory("average");
}
Array average(const Array& a, const AverageOptions& options) {
  if (!a.is_null() && options.weights.is_null()) return mean(a, {.axis = options.axis, .keepdims = options.keepdims});
  return average_returned(a, options).first;
}

// ---- covariances --------------------------------------------------------------------------------
namespace {

// The variables as rows. `op`: used in messages.
Array variables(std::string_view op, const Array& m, bool rowvar, Dtype dtype) {
  check<TypeError>(!m.is_null(), op, "the array is null");
  check<ValueError>(m.ndim() <= 2, op, "an array of shape ", m.shape(), " has rank ", m.ndim(),
                    ", must have at most 2");
  const Array x = m.astype(dtype, {.copy = false});
  if (m.ndim() < 2) return x.reshape({1, -1});
  return rowvar ? x : x.transpose();
}

Array conjugate_transpose(const Array& x) {
  return catena::is_complex_dtype(x.dtype()) ? conjugate(x).transpose() : x.transpose();
}

// Weights of n observations as float64; null if there are none.
Array observation_weights(std::string_view name, const Array& weights, std::int64_t n) {
  if (weights.is_null()) return weights;
  check<ValueError>(weights.ndim() == 1 && weights.size() == n, "cov", "the ", name, " have shape ", weights.shape(),
                    ", must have shape (", n, ",), one for each observation");
  check<TypeError>(!catena::is_complex_dtype(weights.dtype()), "cov", "the ", name, " are complex");
  check<ValueError>(!any(weights < 0).item<bool>(), "cov", "there are negative ", name);
  return weights.astype(Dtype::float64, {.copy = false});
}

}  // namespace

Array cov(const Array& m, const CovOptions& o) try {
  check<TypeError>(!m.is_null(), "cov", "the array is null");
  Dtype dtype = catena::promote_types(m.dtype(), Dtype::float64);
  if (!o.y.is_null()) dtype = catena::promote_types(dtype, o.y.dtype());
  if (o.dtype) dtype = *o.dtype;
  Array x = variables("cov", m, o.rowvar, dtype);
  const DeviceScope scope(m.device());
  if (x.shape(0) == 0) return zeros({0, 0});
  if (!o.y.is_null()) {
    const Array y = variables("cov", o.y, o.rowvar || (o.y.ndim() == 2 && o.y.shape(0) == 1), dtype);
    check<ValueError>(y.shape(1) == x.shape(1), "cov", "m has ", x.shape(1), " observations, y has ", y.shape(1));
    x = concatenate({x, y});
  }
  const std::int64_t n = x.shape(1);
  const Array frequencies = observation_weights("fweights", o.fweights, n);
  if (!frequencies.is_null())
    check<TypeError>(all(frequencies == rint(frequencies)).item<bool>(), "cov", "fweights must be whole numbers");
  const Array importance = observation_weights("aweights", o.aweights, n);
  const Array weights = frequencies.is_null()  ? importance
                        : importance.is_null() ? frequencies
                                               : frequencies * importance;
  const int ddof = o.ddof.value_or(o.bias ? 0 : 1);
  if (weights.is_null()) {
    x = x - mean(x, 1, {.keepdims = true});
    const Array factor = array(1. / std::max<double>(static_cast<double>(n - ddof), 0));
    return (matmul(x, conjugate_transpose(x)) * factor.astype(catena::real_dtype(dtype))).squeeze();
  }
  const auto [middle, sums] = average_returned(x, {.axis = 1, .weights = weights, .keepdims = true});
  const Array total = sum(weights);
  Array divisor = total;
  if (ddof != 0) divisor = importance.is_null() ? total - ddof : total - ddof * sum(weights * importance) / total;
  x = x - middle;
  return (matmul(x, conjugate_transpose(x * weights)) * (1. / maximum(divisor, 0.))).squeeze();
} catch (...) {
  internal::rethrow_out_of_memory("cov");
}

Array corrcoef(const Array& x, const CorrcoefOptions& o) try {
  const Array c = cov(x, {.y = o.y, .rowvar = o.rowvar, .dtype = o.dtype});
  if (c.ndim() == 0) return c / c;
  const Array deviation = sqrt(diag(c).real());
  const Array result = c / deviation.reshape({-1, 1}) / deviation;
  if (!catena::is_complex_dtype(c.dtype())) return clip(result, -1, 1, {.out = result});
  for (const Array& part : {result.real(), result.imag()}) clip(part, -1, 1, {.out = part});
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("corrcoef");
}

}  // namespace nd
