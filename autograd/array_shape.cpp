// Views, joins and gathers of the value API.
#include <algorithm>
#include <optional>

#include <catena/autograd/array.h>

#include <catena/autograd/indexed_access.h>
#include <catena/kernels/base/view_layout.h>

namespace autograd {
namespace {

using catena::check;
using catena::normalize_axis;
using catena::ValueError;

Array view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes = 0) {
  return a.backend().view(a, shape, strides, offset_bytes);
}
Array view(const Array& a, const catena::ViewLayout& layout) { return view(a, layout.shape, layout.strides); }

}  // namespace

Array reshape(const Array& a, const Shape& shape) {
  const Shape to = catena::resolve_reshape("reshape", a.shape(), shape);
  if (to == a.shape()) return view(a, to, a.strides());
  const auto strides = catena::reshape_strides(a.shape(), a.strides(), to, catena::itemsize(a.dtype()));
  if (strides) return view(a, to, *strides);
  const Array packed = copy(a);
  return view(packed, to, catena::c_strides(to, catena::itemsize(a.dtype())));
}

Array transpose(const Array& a) { return view(a, catena::reversed_axes(a.shape(), a.strides())); }

Array transpose(const Array& a, const Dims& axes) {
  return view(a, catena::permuted_axes("transpose", a.shape(), a.strides(), axes));
}

Array swapaxes(const Array& a, int axis1, int axis2) {
  return view(a, catena::swapped_axes("swapaxes", a.shape(), a.strides(), axis1, axis2));
}

Array broadcast_to(const Array& a, const Shape& shape) {
  if (a.shape() == shape) return a;
  catena::checked_size(shape);
  return view(a, shape, catena::broadcast_strides("broadcast_to", a.shape(), a.strides(), shape));
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
  return view(a, catena::expanded_axes("expand_dims", a.shape(), a.strides(), axis, catena::itemsize(a.dtype())));
}

Array squeeze(const Array& a, const Axes& axes) {
  return view(a, catena::squeezed_axes("squeeze", a.shape(), a.strides(), axes));
}

Array concatenate(std::span<const Array> arrays, int axis) {
  check<ValueError>(!arrays.empty(), "concatenate", "at least one array is needed");
  for (const Array& a : arrays) check<ValueError>(bool(a), "concatenate", "an array is null");
  check_same_device("concatenate", arrays);
  const Array& first = arrays[0];
  const int at = normalize_axis("concatenate", axis, first.ndim());
  Shape shape = first.shape();
  Dtype dtype = first.dtype();
  for (const Array& a : arrays.subspan(1)) {
    bool fits = a.ndim() == shape.size();
    for (int i = 0; fits && i < shape.size(); ++i) fits = i == at || a.shape(i) == shape[i];
    check<ValueError>(fits, "concatenate", "shapes ", first.shape(), " and ", a.shape(), " differ outside axis ", at);
    check<ValueError>(!__builtin_add_overflow(shape[at], a.shape(at), &shape[at]), "concatenate", "axis ", at,
                      " is too long");
    dtype = catena::promote_types(dtype, a.dtype());
  }
  Array out = first.backend().empty(shape, dtype, first.device());
  std::int64_t start = 0;
  for (const Array& a : arrays) {
    assign(slice(out, at, start, start + a.shape(at)), a);
    start += a.shape(at);
  }
  return out;
}

Array slice(const Array& a, int axis, std::int64_t start, std::int64_t stop, std::int64_t step) {
  const int at = normalize_axis("slice", axis, a.ndim());
  check<ValueError>(step != 0, "slice", "the step is 0");
  // Python's rules: negative positions count from the end, positions beyond the ends are clipped.
  const std::int64_t n = a.shape(at), low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto clip = [&](std::int64_t i) { return std::clamp(i < 0 ? i + n : i, low, high); };
  const std::int64_t first = clip(start), last = clip(stop);
  std::int64_t length = 0;
  if (step > 0 && first < last) length = (last - first - 1) / step + 1;
  if (step < 0 && last < first) length = (first - last - 1) / -step + 1;
  Shape shape = a.shape();
  Strides strides = a.strides();
  const std::int64_t offset = length > 0 ? first * strides[at] : 0;
  shape[at] = length;
  // With at most one element the stride is never used. It is not changed then, because the product with `step` could
  // overflow.
  if (length > 1) strides[at] *= step;
  return view(a, shape, strides, offset);
}

Array take(const Array& a, const Array& indices, int axis) {
  const int at = normalize_axis("take", axis, a.ndim());
  check<catena::IndexError>(catena::is_integer(indices.dtype()), "take", "indices must be integers, they are ",
                            indices.dtype());
  const Array both[] = {a, indices};
  check_same_device("take", both);
  check<catena::IndexError>(a.shape(at) != 0 || indices.size() == 0, "take", "axis ", at, " of shape ", a.shape(),
                            " has no elements");
  // The axes of the result: the axes of `a` before `at`, the axes of the indices, the axes of `a` after `at`.
  Shape loop, index_shape = indices.shape();
  Dims base_axis;
  for (int i = 0; i < at; ++i) {
    loop.push_back(a.shape(i));
    base_axis.push_back(i);
  }
  for (std::int64_t n : indices.shape()) {
    loop.push_back(n);
    base_axis.push_back(-1);
  }
  for (int i = at + 1; i < a.ndim(); ++i) {
    loop.push_back(a.shape(i));
    base_axis.push_back(i);
    index_shape.push_back(1);
  }
  const Array index = index_shape == indices.shape() ? indices : reshape(indices, index_shape);
  Array out = a.backend().empty(loop, a.dtype(), a.device());
  const Dims axes{at};
  internal::gather({a, {&index, 1}, axes, loop, base_axis, "take"}, out);
  return out;
}

}  // namespace autograd
