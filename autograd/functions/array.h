// Differentiable functions that move elements: shapes and axes, indexing, joining and splitting, repeating, padding,
// copies between devices. They take any dtype unless a comment says otherwise. Negative axes count from the end;
// InvalidType for an axis out of range.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/arguments.h>

namespace autograd {

using catena::PadSides;
using catena::Sections;

// ---- shape and axes ----
// One length may be -1 (AssertionError for more than one). InvalidType if the sizes differ.
CATENA_EXPORT Variable reshape(const Variable& x, const Shape& shape);
CATENA_EXPORT Variable flatten(const Variable& x);  // (x.size())
// Adds an axis of length 1 at position `axis` of the result.
CATENA_EXPORT Variable expand_dims(const Variable& x, int axis);
// Removes the given axes, or all axes, of length 1. ValueError for a given axis of another length.
CATENA_EXPORT Variable squeeze(const Variable& x, const Axes& axis = {});
CATENA_EXPORT Variable transpose(const Variable& x);                    // axes reversed
CATENA_EXPORT Variable transpose(const Variable& x, const Dims& axes);  // negative axes count from the end
CATENA_EXPORT Variable swapaxes(const Variable& x, int axis1, int axis2);
// Moves `axis` before the axis that is now at position `start`.
CATENA_EXPORT Variable rollaxis(const Variable& x, int axis, int start = 0);
CATENA_EXPORT Variable broadcast_to(const Variable& x, const Shape& shape);
// Broadcasts all variables to their common shape. ValueError for an empty list, InvalidType if the shapes do not
// broadcast.
CATENA_EXPORT Variables broadcast(const Variables& xs);

// ---- elements ----
// Floating input; returns x itself if it has the dtype.
CATENA_EXPORT Variable cast(const Variable& x, Dtype dtype);
// A copy on another device, or on the same one; the gradient is copied back.
//   copy(x, -1)  to the host    copy(x, 1)  to cuda:1    copy(x, device)
CATENA_EXPORT Variable copy(const Variable& x, const Device& dst);
CATENA_EXPORT Variable copy(const Variable& x, int dst);

// x[items] by NumPy's rules: integers, slices, ellipsis, newaxis, integer arrays and masks. A mask is a bool array and
// is equivalent to the index arrays of its true elements. Gradients of repeated elements are summed, in the order of
// the result. InvalidType for more items than axes; IndexError for an integer out of range, for arrays that do not
// broadcast, and for a mask whose shape differs from the lengths of its axes. An index out of range in an array is an
// IndexError on the CPU; on CUDA it wraps unless nd::check_indices is on.
CATENA_EXPORT Variable get_item(const Variable& x, const std::vector<IndexItem>& items);

// Reverses the order of the elements along the axes; all axes by default.
CATENA_EXPORT Variable flip(const Variable& x, const Axes& axis = {});
CATENA_EXPORT Variable fliplr(const Variable& a);  // axis 1; floating, at least 2 axes (InvalidType)
CATENA_EXPORT Variable flipud(const Variable& a);  // axis 0; floating, at least 1 axis (InvalidType)

// Repeats x reps[k] times along axis k; the shorter one of shape and reps is extended in front with 1. ValueError for a
// negative number.
CATENA_EXPORT Variable tile(const Variable& x, const Dims& reps);

struct PadOptions {
  PadSides<Scalar> constant_values = Scalar(0);  // mode "constant"; cast to the dtype of x
};
// Adds elements before and after each axis, with NumPy's modes: "constant"; "edge", the first or last element;
// "reflect" and "symmetric", the mirrored elements without and with the edge; "wrap", the elements of the opposite
// side. Floating input (InvalidType). The axes are padded in order, so the values of later axes fill the corners.
// ValueError for negative widths, for a list of widths whose length is neither 1 nor the rank, for an unknown mode, and
// for elements copied from an axis of length 0.
CATENA_EXPORT Variable pad(const Variable& x, const PadSides<std::int64_t>& pad_width,
                           std::string_view mode = "constant", const PadOptions& options = {});

// ---- joining and splitting ----
// Joins arrays along `axis`. They must have equal dtypes, ranks and lengths except along `axis` (else InvalidType);
// there must be at least one array (else ValueError).
CATENA_EXPORT Variable concat(const Variables& xs, int axis = 1);
// Joins arrays of one shape along a new axis, which is axis `axis` of the result.
CATENA_EXPORT Variable stack(const Variables& xs, int axis = 0);
// Joins along axis 0 (vstack), 1 (hstack) or 2 (dstack). Before, vstack converts numbers and vectors to rows; hstack
// converts numbers to vectors, and joins vectors along axis 0; dstack reshapes arrays of rank 1 and 2 to (1, N, 1) and
// (M, N, 1). Equal dtypes and ranks (InvalidType).
CATENA_EXPORT Variable vstack(const Variables& xs);
CATENA_EXPORT Variable hstack(const Variables& xs);
CATENA_EXPORT Variable dstack(const Variables& xs);
// Returns equal parts, or the parts between positions; always a list.
//   split_axis(x, 3, 1)       InvalidType unless 3 divides the length
//   split_axis(x, {1, 4}, 0)  x[:1], x[1:4], x[4:]; InvalidType unless the last position is less than the length
// ValueError for fewer than 1 part, and for positions that are negative or decrease.
CATENA_EXPORT Variables split_axis(const Variable& x, const Sections& indices_or_sections, int axis);
// Returns x[0], x[1]... along the axis, without that axis.
CATENA_EXPORT Variables separate(const Variable& x, int axis = 0);

}  // namespace autograd
