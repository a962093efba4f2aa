// Shapes of the arrays that joins, splits, repetitions, padding and products make, and the views of them that are
// written: pure functions, used by both array interfaces. `op` begins the messages of errors.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <catena/kernels/base/arguments.h>
#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/view_layout.h>

namespace catena {

// Returns the shape of NumPy's atleast_1d, atleast_2d and atleast_3d: () becomes (1,), (n,) becomes (1, n), and for
// three axes (n,) becomes (1, n, 1) and (m, n) becomes (m, n, 1).
CATENA_EXPORT Shape at_least(int rank, const Shape& shape);

// ---- joining and splitting ----
struct Joined {
  Shape shape;
  int axis;     // counted from the front
  Dtype dtype;  // promotion of all dtypes
};
// The result of joining arrays along an axis. TypeError for a null or 0-d array; ValueError for no arrays, different
// ranks, and different lengths on another axis; IndexError for an axis that does not exist.
CATENA_EXPORT Joined joined(std::string_view op, std::span<const ArrayHeader* const> arrays, int axis);

// Returns the parts of an axis of length n. A number of parts must be positive; it must divide the length if the parts
// are `equal`, else the first n % parts parts are longer by one (ValueError). Positions are clamped like those of
// slices.
CATENA_EXPORT std::vector<SliceRange> split_ranges(std::string_view op, const Sections& sections, int axis,
                                                   std::int64_t n, bool equal);

// ---- repeating ----
// Repeats an array reps[k] times along axis k; the shorter one of shape and reps is extended in front with 1. The array
// is reshaped to `apart`, which has an axis of length 1 for each repetition, broadcast to `repeated` and reshaped to
// `result`; `strides` are those of the broadcast array. ValueError for negative numbers and for a result that is too
// large.
struct Tiling {
  Shape apart, repeated, result;
  Strides strides;
};
CATENA_EXPORT Tiling tiling(std::string_view op, const Shape& shape, const Strides& strides, const Dims& reps);

// ---- padding ----
// Returns one pair for each axis. ValueError unless one pair or one for each axis is given.
template <class T>
std::vector<std::pair<T, T>> sides_of_axes(std::string_view what, const PadSides<T>& given, int rank) {
  const auto& sides = given.sides();
  if (sides.size() == 1) return std::vector<std::pair<T, T>>(static_cast<std::size_t>(rank), sides[0]);
  check<ValueError>(sides.size() == static_cast<std::size_t>(rank), "pad", what, " has sides for ", sides.size(),
                    " axes, the array has rank ", rank);
  return sides;
}
using PadWidths = std::vector<std::pair<std::int64_t, std::int64_t>>;
// As sides_of_axes; also ValueError for negative widths.
CATENA_EXPORT PadWidths pad_widths(const PadSides<std::int64_t>& given, int rank);

// The parts of a C-contiguous padded array, in the order in which they are written: the interior, then the sides of the
// axes in order, so that the sides of later axes fill the corners. ValueError for widths that are too large.
struct Padded {
  struct Side {
    int axis;
    bool after;
    ViewSpec view;
  };
  Shape shape;
  ViewSpec interior;
  std::vector<Side> sides;  // without empty ones
};
CATENA_EXPORT Padded padded(const Shape& shape, const PadWidths& widths, std::size_t itemsize);

// ---- products ----
// The shape of the product of matrices, where a vector on the left is a row and one on the right a column, and the
// shape of the result, which does not have the axis added to a vector. ValueError for 0-d operands, inner lengths that
// differ, and leading axes that do not broadcast.
struct MatmulShapes {
  MatmulShapes() noexcept {}  // an aggregate would be cleared first, with the lengths that are not used
  Shape product, result;
};
CATENA_EXPORT MatmulShapes matmul_shapes(const Shape& a, const Shape& b);

}  // namespace catena
