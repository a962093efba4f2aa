#include <catena/kernels/base/view_layout.h>

#include <algorithm>
#include <cstdlib>

namespace catena {
ViewSpec reversed_axes(const Shape& shape, const Strides& strides) {
  ViewSpec v(shape, strides);
  std::reverse(v.shape.begin(), v.shape.end());
  std::reverse(v.strides.begin(), v.strides.end());
  return v;
}

ViewSpec permuted_axes(std::string_view op, const Shape& shape, const Strides& strides, const Dims& axes) {
  const int rank = shape.size();
  check<ValueError>(axes.size() == rank, op, axes.size(), " axes ", axes, " were given for an array of rank ", rank);
  ViewSpec v(shape, strides);
  std::uint64_t seen = 0;
  for (int k = 0; k < rank; ++k) {
    const int axis = normalize_axis(op, axes[k], rank);
    check<ValueError>(((seen >> axis) & 1) == 0, op, "axis ", axis, " is given twice in ", axes);
    seen |= std::uint64_t(1) << axis;
    v.shape[k] = shape[axis];
    v.strides[k] = strides[axis];
  }
  return v;
}

ViewSpec swapped_axes(std::string_view op, const Shape& shape, const Strides& strides, int axis1, int axis2) {
  const int i = normalize_axis(op, axis1, shape.size()), j = normalize_axis(op, axis2, shape.size());
  ViewSpec v(shape, strides);
  std::swap(v.shape[i], v.shape[j]);
  std::swap(v.strides[i], v.strides[j]);
  return v;
}

Dims rolled_axes(std::string_view op, int axis, int start, int rank) {
  const int from = normalize_axis(op, axis, rank), before = start < 0 ? start + rank : start;
  check<ValueError>(before >= 0 && before <= rank, op, "start ", start, " is out of range for arrays of rank ", rank);
  Dims axes = normalize_axes(op, {}, rank);
  axes.erase(from);
  axes.insert(before > from ? before - 1 : before, from);
  return axes;
}

Dims inverse_axes(const Dims& axes) {
  Dims inverse = axes;
  for (int k = 0; k < axes.size(); ++k) inverse[static_cast<int>(axes[k] < 0 ? axes[k] + axes.size() : axes[k])] = k;
  return inverse;
}

Dims axes_in_memory(const Strides& strides) {
  Dims order;
  for (int axis = 0; axis < strides.size(); ++axis) {
    int at = axis;
    order.push_back(axis);
    for (; at > 0 && std::llabs(strides[int(order[at - 1])]) < std::llabs(strides[axis]); --at)
      order[at] = order[at - 1];
    order[at] = axis;
  }
  return order;
}

std::optional<Dims> dense_order(const Shape& shape, const Strides& strides, std::size_t itemsize) {
  const Dims order = axes_in_memory(strides);
  auto step = static_cast<std::int64_t>(itemsize);
  for (int k = order.size() - 1; k >= 0 && size_of(shape) != 0; --k) {
    const int axis = int(order[k]);
    if (shape[axis] == 1) continue;
    if (strides[axis] != step) return {};
    step *= shape[axis];
  }
  return order;
}

ViewSpec squeezed_axes(std::string_view op, const Shape& shape, const Strides& strides, const Axes& axes) {
  Dims removed;
  if (axes.given()) {
    removed = reduced_axes(op, axes, shape.size());
    for (std::int64_t axis : removed)
      check<ValueError>(shape[int(axis)] == 1, op, "axis ", axis, " of shape ", shape, " has the length ",
                        shape[int(axis)], ", not 1");
  } else {
    for (int axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] == 1) removed.push_back(axis);
  }
  ViewSpec v(shape, strides);
  for (int k = removed.size() - 1; k >= 0; --k) {
    v.shape.erase(static_cast<int>(removed[k]));
    v.strides.erase(static_cast<int>(removed[k]));
  }
  return v;
}

ViewSpec expanded_axes(std::string_view op, const Shape& shape, const Strides& strides, int axis,
                       std::size_t itemsize) {
  const int rank = shape.size(), at = normalize_axis(op, axis, rank + 1);
  ViewSpec v(shape, strides);
  // An axis of length 1 may have any stride; this one also passes the contiguity checks of other libraries.
  const std::int64_t stride = at < rank ? strides[at] * shape[at] : static_cast<std::int64_t>(itemsize);
  v.shape.insert(at, 1);
  v.strides.insert(at, stride);
  return v;
}

ViewSpec without_leading_axes(const Shape& shape, const Strides& strides, int rank) {
  ViewSpec v(shape, strides);
  while (v.shape.size() > rank && v.shape[0] == 1) {
    v.shape.erase(0);
    v.strides.erase(0);
  }
  return v;
}

ViewSpec broadcast_view(std::string_view op, const Shape& shape, const Strides& strides, const Shape& to) {
  checked_size(to);
  ViewSpec v;
  v.shape = to;
  set_broadcast_strides(op, shape, strides, to, v.strides);
  return v;
}

ViewSpec sliced_axis(const Shape& shape, const Strides& strides, int axis, const SliceRange& range) {
  ViewSpec v(shape, strides);
  if (range.length > 0) v.offset = range.start * strides[axis];
  v.shape[axis] = range.length;
  // With at most one element the step is never applied, and multiplying it by the stride could overflow.
  if (range.length > 1) v.strides[axis] *= range.step;
  return v;
}

ViewSpec flipped_axes(std::string_view op, const Shape& shape, const Strides& strides, const Axes& axes) {
  ViewSpec v(shape, strides);
  const int rank = shape.size();
  std::uint64_t seen = 0;
  for (int k = 0; k < (axes.given() ? axes.values().size() : rank); ++k) {
    const int axis = axes.given() ? normalize_axis(op, axes.values()[k], rank) : k;
    check<ValueError>(((seen >> axis) & 1) == 0, op, "axis ", axis, " is given twice in ", axes.values());
    seen |= std::uint64_t(1) << axis;
    v.offset += (std::max<std::int64_t>(shape[axis], 1) - 1) * strides[axis];
    v.strides[axis] = -strides[axis];
  }
  return v;
}

}  // namespace catena
