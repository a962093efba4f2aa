// Functions of the value API that call several kernels: reductions of any layout, selection, products.
#include <catena/autograd/array.h>

#include <catena/autograd/backend/backend.h>
#include <catena/kernels/base/array_layout.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>

namespace autograd {

using catena::check;
using catena::KernelDef;
using catena::ValueError;

namespace {

// Runs a reduction whose result does not depend on the positions of elements, and reads them in memory order.
Array reduce_in_any_order(const KernelDef& kernel, const Array& a, const Axes& axes, bool keepdims) {
  if (!a || !axes.given() || a.is_c_contiguous()) return reduce(kernel, a, axes, keepdims);
  const auto order = catena::dense_order(a.shape(), a.strides(), catena::itemsize(a.dtype()));
  if (!order) return reduce(kernel, a, axes, keepdims);
  const Dims along = catena::normalize_axes(kernel.name, axes, a.ndim()), inverse = catena::inverse_axes(*order);
  Dims moved;
  for (std::int64_t axis : along) moved.push_back(inverse[int(axis)]);
  const Array kept = transpose(reduce(kernel, transpose(a, *order), moved, true), inverse);
  return keepdims ? kept : squeeze(kept, along);
}

}  // namespace

Array sum(const Array& a, const Axes& axes, bool keepdims) {
  return reduce_in_any_order(catena::kernels::sum, a, axes, keepdims);
}
Array mean(const Array& a, const Axes& axes, bool keepdims) {
  return reduce_in_any_order(catena::kernels::mean, a, axes, keepdims);
}
Array amax(const Array& a, const Axes& axes, bool keepdims) {
  return reduce_in_any_order(catena::kernels::amax, a, axes, keepdims);
}
Array amin(const Array& a, const Axes& axes, bool keepdims) {
  return reduce_in_any_order(catena::kernels::amin, a, axes, keepdims);
}

Array where(const Operand& condition, const Operand& x, const Operand& y) {
  // A nonzero condition counts as true. A scalar condition becomes an array, because the dtypes of the values would be
  // promoted with the dtype of a number.
  const Array* near = condition.is_array() ? &condition.array()
                      : x.is_array()       ? &x.array()
                      : y.is_array()       ? &y.array()
                                           : nullptr;
  Array truth;
  if (condition.is_array()) {
    truth = astype(condition.array(), Dtype::bool_);
  } else {
    Backend& backend = near ? near->backend() : default_backend();
    truth = backend.empty({}, Dtype::bool_, near ? near->device() : backend.default_device());
    fill(truth, condition.scalar());
  }
  return apply(catena::kernels::where, {truth, x, y});
}

bool has_nan(const Array& a) {
  if (!catena::is_floating(a.dtype()) || a.size() == 0) return false;
  return item(reduce(catena::kernels::any, apply(catena::kernels::isnan, {a}))).to<bool>();
}

Array matmul(const Array& a, const Array& b, bool transpose_a, bool transpose_b) {
  check<ValueError>(bool(a) && bool(b), "matmul", "an operand is null");
  const Array both[] = {a, b};
  check_same_device("matmul", both);
  if (a.dtype() != b.dtype()) {
    const Dtype t = catena::promote_types(a.dtype(), b.dtype());
    return matmul(astype(a, t), astype(b, t), transpose_a, transpose_b);
  }
  Array swapped_a, swapped_b;
  if (transpose_a && a.ndim() > 1) swapped_a = swapaxes(a, -1, -2);
  if (transpose_b && b.ndim() > 1) swapped_b = swapaxes(b, -1, -2);
  const Array &left = swapped_a ? swapped_a : a, &right = swapped_b ? swapped_b : b;
  const catena::MatmulShapes shapes = catena::matmul_shapes(left.shape(), right.shape());
  const Array out = a.backend().empty(shapes.product, a.dtype(), a.device());
  if (a.ndim() > 1 && b.ndim() > 1) {
    a.backend().execute(catena::call::Matmul{left.get(), right.get(), out.get()});
    return out;
  }
  const Array rows = a.ndim() > 1 ? left : expand_dims(a, 0), columns = b.ndim() > 1 ? right : expand_dims(b, 1);
  a.backend().execute(catena::call::Matmul{rows.get(), columns.get(), out.get()});
  return reshape(out, shapes.result);
}

}  // namespace autograd
