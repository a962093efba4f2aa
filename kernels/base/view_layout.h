// Layouts of views that move, remove or add axes: pure functions of shape and strides, used by both array interfaces.
#pragma once

#include <catena/kernels/base/shape.h>

namespace catena {

struct ViewLayout {
  Shape shape;
  Strides strides;
};

// The axes in reverse order.
CATENA_EXPORT ViewLayout reversed_axes(const Shape& shape, const Strides& strides);
// Axis k of the result is axis axes[k]. ValueError unless there is one for each axis, none of them twice; IndexError
// for an axis that does not exist.
CATENA_EXPORT ViewLayout permuted_axes(std::string_view op, const Shape& shape, const Strides& strides,
                                       const Dims& axes);
// ValueError for an axis that does not exist.
CATENA_EXPORT ViewLayout swapped_axes(std::string_view op, const Shape& shape, const Strides& strides, int axis1,
                                      int axis2);
// Without the given axes, whose length must be 1, or without all axes of length 1. ValueError for other lengths, for
// axes that do not exist and for axes given twice. A 0-d array has, as in NumPy, the axis 0 or -1 if one axis is given.
CATENA_EXPORT ViewLayout squeezed_axes(std::string_view op, const Shape& shape, const Strides& strides,
                                       const Axes& axes);
// With an axis of length 1 before axis `axis`, which may be the rank; negative numbers count from the end of the
// result. ValueError for other axes.
CATENA_EXPORT ViewLayout expanded_axes(std::string_view op, const Shape& shape, const Strides& strides, int axis,
                                       std::size_t itemsize);

}  // namespace catena
