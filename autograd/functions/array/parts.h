// Parts of arrays along one axis, for the functions of this folder.
#pragma once

#include <catena/autograd/functions/array.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/view.h>
#include <catena/kernels/base/view_layout.h>

namespace autograd::internal {

// Returns the axis counted from the front. Throws the InvalidType of a function with this label unless x has it; `name`
// begins the message if type checks are off.
inline int checked_axis(const char* label, const char* name, const Variable& x, int axis) {
  check_input_types(label, {x}, [axis](const type_check::TypeInfoTuple& in_types) { expect_axes(in_types, axis); });
  return catena::normalize_axis(name, axis, x.ndim());
}

// x[start:stop] of an axis, counted from the front.
inline Variable part(const Variable& x, int axis, std::int64_t start, std::int64_t stop) {
  std::vector<IndexItem> items(static_cast<std::size_t>(axis), Slice());
  items.emplace_back(Slice(start, stop));
  return get_item(x, items);
}

// A view of the elements of an axis in reverse order.
inline Array reversed(const Array& a, int axis) {
  return view_as(a, catena::flipped_axes("flip", a.shape(), a.strides(), axis));
}

}  // namespace autograd::internal
