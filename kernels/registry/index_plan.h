// Plans of indexing by arrays: how the items of an index select elements, by NumPy's rules. Pure functions, used by
// both array interfaces; the calls that execute a plan are call::Gather and call::Scatter.
#pragma once

#include <span>
#include <string_view>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/index_key.h>
#include <catena/kernels/base/small_vector.h>

namespace catena {

// One item of an index: a basic key or an array of integers. A mask is replaced by the positions of its true elements,
// one array for each of its axes.
struct IndexPart {
  const ArrayHeader* array = nullptr;  // null: `key`
  Key key = 0;
  int axis = 0;  // number of the indexed axis in messages

  bool is_array() const noexcept { return array != nullptr; }
  // Returns the number of axes that the item indexes; 0 for an ellipsis, which takes the rest.
  int axes() const noexcept {
    return is_array() || key.kind() == Key::Kind::integer || key.kind() == Key::Kind::slice ? 1 : 0;
  }
};

// A selection by index arrays. The basic keys are applied first, by `view`, which keeps the indexed axes. The shape of
// the index arrays, broadcast together, replaces the indexed axes if these are adjacent among the items, else it comes
// first; an integer beside index arrays counts as one of them.
struct IndexPlan {
  struct Indexed {
    const ArrayHeader* array;
    int view_axis;    // the axis of the view that it indexes
    int axis;         // the number of that axis in messages
    Strides strides;  // of the array, broadcast to `shape`
  };
  ViewSpec view;
  Shape shape;  // of the selection; empty, as `axes`, without arrays: then the view is the selection
  Dims axes;    // the axis of the view along which each axis of `shape` runs; -1: an axis of the index arrays
  SmallVector<Indexed, 2> arrays;  // in the order of the items

  // Returns the strides of the view along the axes of `shape`, 0 along axes of the index arrays.
  CATENA_EXPORT Strides view_strides() const;
};
// `wraps`: an integer beside index arrays is taken modulo the length of its axis, else it is an IndexError if it is out
// of range. IndexError also for arrays of other dtypes or that do not broadcast, for too many items, and for indices of
// an axis of length 0.
CATENA_EXPORT IndexPlan plan_index(std::string_view op, const Shape& shape, const Strides& strides,
                                   std::span<const IndexPart> parts, bool wraps);

// IndexError unless the dtype is one of integers.
CATENA_EXPORT void check_index_dtype(std::string_view op, Dtype dtype);
// IndexError unless the shape of a mask equals the lengths of the axes from `axis` on of an array of `shape`. As in
// NumPy, a mask may have length 0 along any axis: it selects nothing.
CATENA_EXPORT void check_mask(std::string_view op, const Shape& mask, const Shape& shape, int axis);

}  // namespace catena
