#include <catena/ndarray/routines/nan_functions.h>

#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/datatype.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/operand.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/statistics.h>

namespace nd {
namespace {

using catena::check;

bool may_have_nans(Dtype t) { return catena::is_floating(t) || catena::is_complex_dtype(t); }

// Returns the dtype in which elements of `t` are combined; 16-bit floats are combined in float32 and rounded once.
Dtype dtype_to_sum_in(Dtype t) { return t == Dtype::float16 || t == Dtype::bfloat16 ? Dtype::float32 : t; }

void check_dtypes(std::string_view op, std::optional<Dtype> dtype, const Array& out) {
  check<TypeError>(!dtype || may_have_nans(*dtype), op, "the dtype is ", dtype.value_or(Dtype::float64),
                   ", must be a floating or complex one, as that of the array");
  check<TypeError>(out.is_null() || may_have_nans(out.dtype()), op,
                   "the output must have a floating or complex dtype, as the array");
}

Array nan_result(std::string_view op, const Array& result, Dtype dtype, const Array& out) {
  if (out.is_null()) return result.astype(dtype, {.copy = false});
  check<ValueError>(out.shape() == result.shape(), op, "the output has shape ", out.shape(), ", the result ",
                    result.shape());
  internal::assign(op, out, result.astype(dtype, {.copy = false}));
  return out;
}

Array variance_of_numbers(std::string_view op, const Array& a, const VarOptions& o, bool root) try {
  check<TypeError>(!a.is_null(), op, "the array is null");
  if (!may_have_nans(a.dtype())) return root ? nd::std(a, o) : var(a, o);
  check_dtypes(op, o.dtype, o.out);
  const Dtype dtype = o.dtype.value_or(a.dtype()), working = dtype_to_sum_in(dtype);
  const Array x = a.astype(working, {.copy = false}), there = x == x;
  const Array numbers = count_nonzero(there, {.axis = o.axis, .keepdims = true});
  const Array average = (sum(where(there, x, 0), {.axis = o.axis, .keepdims = true}) / numbers).astype(working);
  const Array away = where(there, x - average, 0);
  const Array squares = catena::is_complex_dtype(working) ? (away * conjugate(away)).real() : square(away);
  const Array total = sum(squares, {.axis = o.axis, .keepdims = o.keepdims});
  const Array divisor = numbers.reshape(total.shape()) - o.ddof;
  Array result = where(divisor > 0, total / divisor, nan);
  if (root) result = sqrt(result);
  return nan_result(op, result, catena::is_complex_dtype(dtype) ? catena::real_dtype(dtype) : dtype, o.out);
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

Array position(std::string_view op, const Array& a, const ArgReduceOptions& o, bool of_greatest) try {
  check<TypeError>(!a.is_null(), op, "the array is null");
  const auto place = [&](const Array& x) { return of_greatest ? argmax(x, o) : argmin(x, o); };
  if (!catena::is_floating(a.dtype())) return place(a);
  const Array gone = isnan(a);
  check<ValueError>(!any(all(gone, {.axis = o.axis})).item<bool>(), op,
                    "the elements along the axes are all NaN, or there are none");
  return place(where(gone, of_greatest ? -inf : inf, a));
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

// The real array `x` without NaNs and infinities.
Array finite_numbers(const Array& x, const NanToNumOptions& o) {
  const finfo limits(x.dtype());
  Array result;
  if (!o.posinf && !o.neginf) {
    result = clip(x, limits.min, limits.max);
  } else {
    result = where(x == inf, o.posinf.value_or(Scalar(limits.max)), x);
    result = where(x == -inf, o.neginf.value_or(Scalar(limits.min)), result);
  }
  return where(isnan(x), o.nan, result);
}

}  // namespace

Array internal::without_nans(std::string_view op, const Array& a, const Scalar& value) {
  check<TypeError>(!a.is_null(), op, "the array is null");
  return may_have_nans(a.dtype()) ? where(isnan(a), value, a) : a;
}

Array nansum(const Array& a, const ReduceOptions& options) try {
  return sum(internal::without_nans("nansum", a, 0), options);
} catch (...) {
  internal::rethrow_out_of_memory("nansum");
}

Array nanprod(const Array& a, const ReduceOptions& options) try {
  return prod(internal::without_nans("nanprod", a, 1), options);
} catch (...) {
  internal::rethrow_out_of_memory("nanprod");
}

Array nanmean(const Array& a, const ReduceOptions& o) try {
  check<TypeError>(!a.is_null(), "nanmean", "the array is null");
  if (!may_have_nans(a.dtype())) return mean(a, o);
  check_dtypes("nanmean", o.dtype, o.out);
  const Dtype dtype = o.dtype.value_or(a.dtype());
  const Array there = a == a;
  const Array total =
      sum(where(there, a, 0), {.axis = o.axis, .dtype = dtype_to_sum_in(dtype), .keepdims = o.keepdims});
  const Array numbers = count_nonzero(there, {.axis = o.axis, .keepdims = o.keepdims});
  return nan_result("nanmean", total / numbers, dtype, o.out);
} catch (...) {
  internal::rethrow_out_of_memory("nanmean");
}

Array nanvar(const Array& a, const VarOptions& options) { return variance_of_numbers("nanvar", a, options, false); }
Array nanstd(const Array& a, const VarOptions& options) { return variance_of_numbers("nanstd", a, options, true); }
Array nanargmax(const Array& a, const ArgReduceOptions& options) { return position("nanargmax", a, options, true); }
Array nanargmin(const Array& a, const ArgReduceOptions& options) { return position("nanargmin", a, options, false); }

Array nan_to_num(const Operand& given, const NanToNumOptions& o) try {
  const Array x = internal::as_array(given, current_device());
  const bool in_place = !o.copy && given.is_array();
  if (!may_have_nans(x.dtype())) return in_place ? x : x.copy();
  if (!catena::is_complex_dtype(x.dtype())) {
    const Array result = finite_numbers(x, o);
    if (!in_place) return result;
    internal::assign("nan_to_num", x, result);
    return x;
  }
  const Array result = in_place ? x : x.copy();
  for (const Array& part : {result.real(), result.imag()})
    internal::assign("nan_to_num", part, finite_numbers(part, o));
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("nan_to_num");
}

}  // namespace nd
