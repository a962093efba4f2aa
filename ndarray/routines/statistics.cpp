#include <catena/ndarray/routines/statistics.h>

#include <algorithm>
#include <limits>

#include <catena/kernels/registry/families.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/reduction.h>
#include <catena/ndarray/engine/ufunc.h>
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
      .axis = o.axis, .keepdims = o.keepdims, .of_nothing = Scalar(kNaN), .fewer = o.ddof};
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
  check<TypeError>(!o.initial, "mean", "a mean has no `initial`");
  if (!o.where.is_null()) return mean_where(a, o);
  if (!a.is_null() && a.ndim() == 0) catena::normalize_axes("mean", o.axis, 0);  // a mean of a 0-d array has no axis
  return internal::apply_reduction(
      catena::kernels::mean, a,
      {.axis = o.axis, .dtype = o.dtype, .out = o.out, .keepdims = o.keepdims, .of_nothing = Scalar(kNaN)});
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
  const Array result(
      internal::new_array(Shape{length}, weights.is_null() ? Dtype::int64 : Dtype::float64, x.device(), "bincount"));
  result.fill(0);
  if (x.size() == 0) return result;
  const Array numbers = x.dtype() == Dtype::bool_ ? as_unsigned(x) : x;
  const catena::call::Index index{numbers.get(), length, static_cast<std::int64_t>(result.itemsize()), 0, true};
  const catena::Input values = weights.is_null() ? catena::Input(Scalar(1)) : catena::Input(*weights.get());
  internal::execute(catena::call::Scatter{
      catena::ScatterMode::add, result.get(), Strides{0}, {&index, 1}, &x.shape(), values, "bincount"});
  return result;
}

}  // namespace nd
