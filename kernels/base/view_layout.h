// Layouts of views: pure functions of shape and strides, used by both array interfaces. Negative axes count from the
// end. `op` begins the messages of errors.
#pragma once

#include <optional>

#include <catena/kernels/base/index_key.h>

namespace catena {

// ---- orders of axes ----
// The axes in reverse order.
CATENA_EXPORT ViewSpec reversed_axes(const Shape& shape, const Strides& strides);
// Axis k of the result is axis axes[k]. ValueError unless there is one for each axis, none of them twice; IndexError
// for an axis that does not exist.
CATENA_EXPORT ViewSpec permuted_axes(std::string_view op, const Shape& shape, const Strides& strides, const Dims& axes);
// ValueError for an axis that does not exist.
CATENA_EXPORT ViewSpec swapped_axes(std::string_view op, const Shape& shape, const Strides& strides, int axis1,
                                    int axis2);
// Returns the permutation that moves an axis before position `start` of the given axes. ValueError unless the axis
// exists and 0 <= start <= rank.
CATENA_EXPORT Dims rolled_axes(std::string_view op, int axis, int start, int rank);
// Returns the permutation that restores the order of axes before `axes`, a permutation.
CATENA_EXPORT Dims inverse_axes(const Dims& axes);
// Returns the axes from the largest to the smallest stride, equal ones in their own order, as NumPy's order K.
CATENA_EXPORT Dims axes_in_memory(const Strides& strides);
// Returns axes_in_memory() if that permutation makes the array C-contiguous: its elements are adjacent. Else nothing.
CATENA_EXPORT std::optional<Dims> dense_order(const Shape& shape, const Strides& strides, std::size_t itemsize);

// ---- axes of length 1 ----
// Without the given axes, whose length must be 1, or without all axes of length 1. ValueError for other lengths, for
// axes that do not exist and for axes given twice. A 0-d array has, as in NumPy, the axis 0 or -1 if one axis is given.
CATENA_EXPORT ViewSpec squeezed_axes(std::string_view op, const Shape& shape, const Strides& strides, const Axes& axes);
// With an axis of length 1 before axis `axis`, which may be the rank; negative numbers count from the end of the
// result. ValueError for other axes.
CATENA_EXPORT ViewSpec expanded_axes(std::string_view op, const Shape& shape, const Strides& strides, int axis,
                                     std::size_t itemsize);
// Without leading axes of length 1 as long as there are more than `rank` axes, as NumPy assigns.
CATENA_EXPORT ViewSpec without_leading_axes(const Shape& shape, const Strides& strides, int rank);

// ---- other shapes (reshape: resolve_reshape and reshape_strides of shape.h) ----
// With stride 0 along repeated axes. ValueError if the shape does not broadcast to `to`.
CATENA_EXPORT ViewSpec broadcast_view(std::string_view op, const Shape& shape, const Strides& strides, const Shape& to);
// The range of an axis. Nothing is checked.
CATENA_EXPORT ViewSpec sliced_axis(const Shape& shape, const Strides& strides, int axis, const SliceRange& range);
// The elements along the axes in reverse order. ValueError for axes that do not exist and for axes given twice.
CATENA_EXPORT ViewSpec flipped_axes(std::string_view op, const Shape& shape, const Strides& strides, const Axes& axes);

}  // namespace catena
