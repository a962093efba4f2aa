// Views, joins and gathers of the value API.
#include <catena/autograd/array.h>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/indexed_access.h>
#include <catena/autograd/view.h>
#include <catena/kernels/base/array_layout.h>
#include <catena/kernels/registry/index_plan.h>

namespace autograd {

using catena::check;
using catena::normalize_axis;
using catena::ValueError;
using internal::view_as;

Array reshape(const Array& a, const Shape& shape) {
  const Shape to = catena::resolve_reshape("reshape", a.shape(), shape);
  if (to == a.shape()) return a.backend().view(a, to, a.strides(), 0);
  const std::size_t itemsize = catena::itemsize(a.dtype());
  if (const auto strides = catena::reshape_strides(a.shape(), a.strides(), to, itemsize))
    return a.backend().view(a, to, *strides, 0);
  return a.backend().view(copy(a), to, catena::c_strides(to, itemsize), 0);
}

Array transpose(const Array& a) { return view_as(a, catena::reversed_axes(a.shape(), a.strides())); }

Array transpose(const Array& a, const Dims& axes) {
  return view_as(a, catena::permuted_axes("transpose", a.shape(), a.strides(), axes));
}

Array swapaxes(const Array& a, int axis1, int axis2) {
  return view_as(a, catena::swapped_axes("swapaxes", a.shape(), a.strides(), axis1, axis2));
}

Array broadcast_to(const Array& a, const Shape& shape) {
  if (a.shape() == shape) return a;
  return view_as(a, catena::broadcast_view("broadcast_to", a.shape(), a.strides(), shape));
}

Array sum_to(const Array& a, const Shape& shape) {
  if (a.shape() == shape) return a;
  const int extra = a.ndim() - shape.size();
  check<ValueError>(extra >= 0, "sum_to", "shape ", a.shape(), " was not broadcast from ", shape);
  Dims axes;
  for (int i = 0; i < a.ndim(); ++i) {
    const std::int64_t wanted = i < extra ? 1 : shape[i - extra];
    check<ValueError>(wanted == a.shape(i) || wanted == 1, "sum_to", "shape ", a.shape(), " was not broadcast from ",
                      shape);
    if (i < extra || wanted != a.shape(i)) axes.push_back(i);
  }
  const Array summed = astype(sum(a, axes, true), a.dtype());
  return extra == 0 ? summed : reshape(summed, shape);
}

Array expand_dims(const Array& a, int axis) {
  return view_as(a, catena::expanded_axes("expand_dims", a.shape(), a.strides(), axis, catena::itemsize(a.dtype())));
}

Array squeeze(const Array& a, const Axes& axes) {
  return view_as(a, catena::squeezed_axes("squeeze", a.shape(), a.strides(), axes));
}

Array concatenate(std::span<const Array> arrays, int axis) {
  catena::SmallVector<const catena::ArrayHeader*, 8> headers;
  for (const Array& a : arrays) headers.push_back(a.get());
  const auto [shape, at, dtype] = catena::joined("concatenate", headers, axis);
  check_same_device("concatenate", arrays);
  Array out = arrays[0].backend().empty(shape, dtype, arrays[0].device());
  std::int64_t start = 0;
  for (const Array& a : arrays) {
    assign(view_as(out, catena::sliced_axis(shape, out.strides(), at, {start, a.shape(at), 1})), a);
    start += a.shape(at);
  }
  return out;
}

Array slice(const Array& a, int axis, std::int64_t start, std::int64_t stop, std::int64_t step) {
  const int at = normalize_axis("slice", axis, a.ndim());
  const catena::SliceRange range = catena::resolve_slice("slice", catena::Slice(start, stop, step), a.shape(at));
  return view_as(a, catena::sliced_axis(a.shape(), a.strides(), at, range));
}

Array take(const Array& a, const Array& indices, int axis) {
  const int at = normalize_axis("take", axis, a.ndim());
  catena::check_index_dtype("take", indices.dtype());
  const Array both[] = {a, indices};
  check_same_device("take", both);
  catena::SmallVector<catena::IndexPart, 4> parts;
  for (int i = 0; i < at; ++i) parts.push_back({nullptr, catena::Slice(), i});
  parts.push_back({indices.get(), 0, at});
  const catena::IndexPlan plan = catena::plan_index("take", a.shape(), a.strides(), parts, false);
  const Array index = view_as(indices, {plan.shape, plan.arrays[0].strides, 0});
  Array out = a.backend().empty(plan.shape, a.dtype(), a.device());
  internal::gather({a, {&index, 1}, {at}, plan.shape, plan.axes, "take"}, out);
  return out;
}

}  // namespace autograd
