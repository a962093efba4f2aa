#include <catena/ndarray/routines/complex_order.h>

#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduced_axes.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/sorting.h>

namespace nd {
namespace {

using catena::check;

// The positions of the first extreme numbers of the rows, of shape (the other axes..., 1). A number with a NaN counts
// as the most extreme one, or not at all if `skips_nan`.
Array positions_in_rows(const Array& rows, bool greatest, bool skips_nan = false) {
  const auto extremum = [&](const Array& x) {
    return greatest ? amax(x, {.axis = -1, .keepdims = true}) : amin(x, {.axis = -1, .keepdims = true});
  };
  const double beyond = greatest ? -nd::inf : nd::inf;
  const Array is_nan = isnan(rows), x = where(is_nan, beyond, rows.real());
  const Array first = (x == extremum(x)) & logical_not(is_nan), y = where(first, rows.imag(), beyond);
  const Array best = first & (y == extremum(y));
  const ArgReduceOptions last = {.axis = -1, .keepdims = true};
  if (skips_nan) return argmax(best, last);
  return where(any(is_nan, {.axis = -1, .keepdims = true}), argmax(is_nan, last), argmax(best, last));
}

struct Rows {
  Rows(std::string_view op, const Array& a, const Axes& axis, bool keepdims)
      : axes(catena::reduced_axes(op, axis, a.ndim())),
        shape(catena::reduced_shape(a.shape(), axes, keepdims)),
        rows(internal::reduced_axes_last(a, axes)) {
    check<ValueError>(rows.shape(-1) > 0 || catena::size_of(shape) == 0, op, "a reduction of no elements has no value");
  }
  Array finished(std::string_view op, const Array& result, const Array& out) const {
    const Array shaped = result.reshape(shape);
    if (out.is_null()) return shaped;
    check<ValueError>(out.shape() == shape, op, "the output has shape ", out.shape(), ", the result ", shape);
    internal::assign(op, out, shaped);
    return out;
  }
  catena::Dims axes;
  Shape shape;
  Array rows;
};

}  // namespace

Array internal::complex_argsort(const Array& a, int axis) {
  const Array x = a.real(), y = a.imag();
  const Array group = 2 * isnan(x).astype(Dtype::int8) + isnan(y).astype(Dtype::int8);
  return lexsort({y, x, group}, axis);
}

Array internal::complex_position(std::string_view op, const Array& a, const ArgReduceOptions& o, bool greatest) {
  const Rows r(op, a, o.axis, o.keepdims);
  const Array found = positions_in_rows(r.rows, greatest);
  return r.finished(op, o.dtype ? found.astype(*o.dtype, {.copy = false}) : found, o.out);
}

Array internal::complex_extremum(std::string_view op, const Array& a, const ReduceOptions& o, bool greatest) {
  const Rows r(op, a, o.axis, o.keepdims);
  const Array found = take_along_axis(r.rows, positions_in_rows(r.rows, greatest), -1);
  return r.finished(op, o.dtype ? found.astype(*o.dtype, {.copy = false}) : found, o.out);
}

Array internal::complex_nan_extremum(std::string_view op, const Array& a, const TestOptions& o, bool greatest) {
  const Rows r(op, a, o.axis, o.keepdims);
  return r.finished(op, take_along_axis(r.rows, positions_in_rows(r.rows, greatest, true), -1), o.out);
}

}  // namespace nd
