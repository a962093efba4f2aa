#include <catena/kernels/base/view_layout.h>

#include <algorithm>

namespace catena {

ViewLayout reversed_axes(const Shape& shape, const Strides& strides) {
  ViewLayout v{shape, strides};
  std::reverse(v.shape.begin(), v.shape.end());
  std::reverse(v.strides.begin(), v.strides.end());
  return v;
}

ViewLayout permuted_axes(std::string_view op, const Shape& shape, const Strides& strides, const Dims& axes) {
  const int rank = shape.size();
  check<ValueError>(axes.size() == rank, op, axes.size(), " axes ", axes, " were given for an array of rank ", rank);
  ViewLayout v{shape, strides};
  std::uint64_t seen = 0;
  for (int k = 0; k < rank; ++k) {
    const int axis = normalize_axis<IndexError>(op, axes[k], rank);
    check<ValueError>(((seen >> axis) & 1) == 0, op, "axis ", axis, " is given twice in ", axes);
    seen |= std::uint64_t(1) << axis;
    v.shape[k] = shape[axis];
    v.strides[k] = strides[axis];
  }
  return v;
}

ViewLayout swapped_axes(std::string_view op, const Shape& shape, const Strides& strides, int axis1, int axis2) {
  const int i = normalize_axis(op, axis1, shape.size()), j = normalize_axis(op, axis2, shape.size());
  ViewLayout v{shape, strides};
  std::swap(v.shape[i], v.shape[j]);
  std::swap(v.strides[i], v.strides[j]);
  return v;
}

ViewLayout squeezed_axes(std::string_view op, const Shape& shape, const Strides& strides, const Axes& axes) {
  Dims removed;
  if (axes.given()) {
    removed = reduced_axes(op, axes, shape.size());
    for (std::int64_t axis : removed)
      check<ValueError>(shape[static_cast<int>(axis)] == 1, op, "axis ", axis, " of shape ", shape,
                        " has a length other than 1");
  } else {
    for (int axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] == 1) removed.push_back(axis);
  }
  ViewLayout v{shape, strides};
  for (int k = removed.size() - 1; k >= 0; --k) {
    v.shape.erase(static_cast<int>(removed[k]));
    v.strides.erase(static_cast<int>(removed[k]));
  }
  return v;
}

ViewLayout expanded_axes(std::string_view op, const Shape& shape, const Strides& strides, int axis,
                         std::size_t itemsize) {
  const int rank = shape.size();
  check<ValueError>(axis >= -rank - 1 && axis <= rank, op, "axis ", axis, " is out of range for an array of rank ",
                    rank, ", where it is from ", -rank - 1, " to ", rank);
  const int at = axis < 0 ? axis + rank + 1 : axis;
  ViewLayout v{shape, strides};
  // An axis of length 1 may have any stride; this one also passes the contiguity checks of other libraries.
  const std::int64_t stride = at < rank ? strides[at] * shape[at] : static_cast<std::int64_t>(itemsize);
  v.shape.insert(at, 1);
  v.strides.insert(at, stride);
  return v;
}

}  // namespace catena
