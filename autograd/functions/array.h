// Differentiable functions that move elements: shapes and axes, indexing, joining and splitting, repeating, padding,
// sorting, copies between devices; and running sums and products. They take any dtype unless a comment says otherwise.
// Negative axes count from the end; InvalidAxis, an InvalidType and an AxisError, for an axis out of range.
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
template <std::same_as<AxisOption> O = AxisOption> Variable expand_dims(const Variable& x, const O& o) {
  return expand_dims(x, o.value_or(0));
}
// Removes the given axes, or all axes, of length 1. ValueError for a given axis of another length.
CATENA_EXPORT Variable squeeze(const Variable& x, const Axes& axis = {});
CATENA_EXPORT Variable transpose(const Variable& x);                    // axes reversed
CATENA_EXPORT Variable transpose(const Variable& x, const Dims& axes);  // negative axes count from the end
CATENA_EXPORT Variable swapaxes(const Variable& x, int axis1, int axis2);
// Moves `axis` before the axis that is now at position `start`.
CATENA_EXPORT Variable rollaxis(const Variable& x, int axis, int start = 0);
CATENA_EXPORT Variable broadcast_to(const Variable& x, const Shape& shape);
CATENA_EXPORT Variable ravel(const Variable& x);  // flatten(x)
// Moves axis source[i] to position destination[i] of the result. ValueError for lists of two lengths or with an axis
// twice.
CATENA_EXPORT Variable moveaxis(const Variable& x, const Dims& source, const Dims& destination);
// Adds axes of length 1 up to that rank, at the places where NumPy adds them.
CATENA_EXPORT Variable atleast_1d(const Variable& x);
CATENA_EXPORT Variable atleast_2d(const Variable& x);
CATENA_EXPORT Variable atleast_3d(const Variable& x);
// Broadcasts all variables to their common shape. ValueError for an empty list, InvalidType if the shapes do not
// broadcast.
CATENA_EXPORT Variables broadcast(const Variables& xs);

// Of an array of the library that is linked, for which the functions of autograd/array.h would fit as well.
template <ForeignArray T> Variable reshape(const T& a, const Shape& shape) { return reshape(as_variable(a), shape); }
template <ForeignArray T> Variable expand_dims(const T& a, int axis) { return expand_dims(as_variable(a), axis); }
template <ForeignArray T> Variable squeeze(const T& a, const Axes& axis = {}) { return squeeze(as_variable(a), axis); }
template <ForeignArray T> Variable transpose(const T& a) { return transpose(as_variable(a)); }
template <ForeignArray T> Variable transpose(const T& a, const Dims& axes) { return transpose(as_variable(a), axes); }
template <ForeignArray T> Variable swapaxes(const T& a, int axis1, int axis2) {
  return swapaxes(as_variable(a), axis1, axis2);
}
template <ForeignArray T> Variable broadcast_to(const T& a, const Shape& shape) {
  return broadcast_to(as_variable(a), shape);
}

// ---- elements ----
// Returns x itself if it has the dtype. Differentiable between floating dtypes; integers and bools, as x or as the
// result, have no gradient.
CATENA_EXPORT Variable cast(const Variable& x, Dtype dtype);
template <std::convertible_to<std::string_view> S> Variable cast(const Variable& x, const S& name) {
  return cast(x, catena::dtype_from_name(name));
}
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

// Returns x with b added at x[items], all values for one element; b broadcasts to the shape of x[items].
CATENA_EXPORT Variable scatter_add(const Variable& x, const std::vector<IndexItem>& items, const Variable& b);

// ---- positions along an axis ----
// Indices are integers of any dtype, arrays or Variables; they get no gradient. Negative ones count from the end. An
// index out of range is handled as in get_item; IndexError for other dtypes and shapes that do not fit, but ValueError
// for another rank in take_along_axis. Gradients of elements that are selected several times are summed in the order of
// the indices.
//
// y[.., i, ..] = x[.., indices[.., i, ..], ..]; the other axes broadcast, as in NumPy.
CATENA_EXPORT Variable take_along_axis(const Variable& x, const Variable& indices, int axis = -1);
// The same with PyTorch's shapes: the index has the rank of x and is nowhere longer, but for the axis.
CATENA_EXPORT Variable gather(const Variable& x, int axis, const Variable& index);
// Returns x with y[.., index[.., i, ..], ..] = src[.., i, ..]. The index is nowhere longer than src and, but for the
// axis, than x. Of several values for one element one is kept, and the gradient goes to all of them.
CATENA_EXPORT Variable scatter(const Variable& x, int axis, const Variable& index, const Variable& src);
CATENA_EXPORT Variable scatter(const Variable& x, int axis, const Variable& index, double src);
// The same, but src is added to x, all values for one element.
CATENA_EXPORT Variable scatter_add(const Variable& x, int axis, const Variable& index, const Variable& src);
// x[index] along an axis, for an index of rank 1 (IndexError).
CATENA_EXPORT Variable index_select(const Variable& x, int axis, const Variable& index);
// Returns x with alpha source added at the positions `index` of an axis; source has the shape of index_select.
CATENA_EXPORT Variable index_add(const Variable& x, int axis, const Variable& index, const Variable& source,
                                 double alpha = 1);
// Returns x with `value` where the bool mask, which broadcasts, is true (InvalidType).
CATENA_EXPORT Variable masked_fill(const Variable& x, const Variable& mask, const Variable& value);
CATENA_EXPORT Variable masked_fill(const Variable& x, const Variable& mask, double value);
// Returns the elements where the mask is true, as a vector; x and the mask broadcast.
CATENA_EXPORT Variable masked_select(const Variable& x, const Variable& mask);
// Returns a new last axis of length n: 1 at the position that an index names, else 0. IndexError for an index outside
// [0, n); n = -1 is one more than the greatest index. No gradient.
CATENA_EXPORT Variable one_hot(const Variable& indices, std::int64_t n = -1, Dtype dtype = Dtype::float32);

// ---- sorting ----
// Stable, in ascending order, NaN last; descending: NaN first. `values` is differentiable.
CATENA_EXPORT Sorted sort(const Variable& x, int axis = -1, bool descending = false);
CATENA_EXPORT Variable argsort(const Variable& x, int axis = -1, bool descending = false);
// The k greatest elements in descending order, or the k least in ascending order. Of equal elements at the limit it is
// not defined which are taken. ValueError unless 0 <= k <= the length.
CATENA_EXPORT Sorted topk(const Variable& x, std::int64_t k, int axis = -1, bool largest = true);
// Returns 1 at the greatest element along the axis, the first of equal ones, and 0 elsewhere. The gradient passes
// straight through to x. Floating (InvalidType).
CATENA_EXPORT Variable hardmax(const Variable& x, int axis = -1);
// Returns the array `value`, of the shape and dtype of x (InvalidType), with the gradient of x.
CATENA_EXPORT Variable straight_through(const Variable& value, const Variable& x);

// ---- running functions ----
// Element i is the function of elements 0 to i of the axis, or of the flattened array. Sums and products of integers
// are int64 or uint64; without a gradient. 16-bit floats are rounded once.
CATENA_EXPORT Variable cumsum(const Variable& x, std::optional<int> axis = {});
CATENA_EXPORT Variable cumprod(const Variable& x, std::optional<int> axis = {});  // gradients exact at 0
// log(cumsum(exp(x))) without overflow; floating (InvalidType).
CATENA_EXPORT Variable logcumsumexp(const Variable& x, std::optional<int> axis = {});
// Running extrema and their positions, the first of equal ones.
CATENA_EXPORT Sorted cummax(const Variable& x, int axis = -1);
CATENA_EXPORT Sorted cummin(const Variable& x, int axis = -1);

// ---- order and repetition ----
// Reverses the order of the elements along the axes; all axes by default.
CATENA_EXPORT Variable flip(const Variable& x, const Axes& axis = {});
CATENA_EXPORT Variable fliplr(const Variable& a);  // axis 1; floating, at least 2 axes (InvalidType)
CATENA_EXPORT Variable flipud(const Variable& a);  // axis 0; floating, at least 1 axis (InvalidType)

// Moves the elements by `shift` places along each axis, or in the flattened array; those of the end come to the front.
CATENA_EXPORT Variable roll(const Variable& x, std::int64_t shift, const Axes& axis = {});
CATENA_EXPORT Variable roll(const Variable& x, const Dims& shift, const Axes& axis);  // one for each axis
// Turns by 90 degrees k times, from the first axis towards the second.
CATENA_EXPORT Variable rot90(const Variable& x, int k = 1, const Dims& axes = {0, 1});
// Repeats each element along the axis, or of the flattened array, as NumPy's repeat: one number for all elements, or
// one for each. ValueError for negative numbers and for a list of another length than the axis.
CATENA_EXPORT Variable repeat(const Variable& x, std::int64_t repeats, std::optional<int> axis = {});
CATENA_EXPORT Variable repeat(const Variable& x, const std::vector<std::int64_t>& repeats,
                              std::optional<int> axis = {});
template <std::same_as<AxisOption> O = AxisOption>
Variable repeat(const Variable& x, std::int64_t repeats, const O& o) {
  return repeat(x, repeats, o.value());
}
// Repeats x reps[k] times along axis k; the shorter one of shape and reps is extended in front with 1. ValueError for a
// negative number.
CATENA_EXPORT Variable tile(const Variable& x, const Dims& reps);

// ---- diagonals, grids and windows ----
// x with 0 above (tril) or below (triu) the k-th diagonal of its last two axes. At least 2 axes (InvalidType).
CATENA_EXPORT Variable tril(const Variable& x, std::int64_t k = 0);
CATENA_EXPORT Variable triu(const Variable& x, std::int64_t k = 0);
struct DiagonalOption {
  std::int64_t diagonal = 0;
};
template <std::same_as<DiagonalOption> O = DiagonalOption> Variable tril(const Variable& x, const O& o) {
  return tril(x, o.diagonal);
}
template <std::same_as<DiagonalOption> O = DiagonalOption> Variable triu(const Variable& x, const O& o) {
  return triu(x, o.diagonal);
}
// The diagonal x[i, i + offset] of two axes, as the last axis of the result.
CATENA_EXPORT Variable diagonal(const Variable& x, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);
// Makes the last axis the offset-th diagonal of matrices of zeros: the adjoint of diagonal.
CATENA_EXPORT Variable diag_embed(const Variable& x, std::int64_t offset = 0);
// The matrix with the diagonal x, a vector, or the diagonal of x, a matrix. ValueError for other ranks.
CATENA_EXPORT Variable diag(const Variable& x, std::int64_t k = 0);
// The coordinates of a grid over vectors: for "ij" axis k of every result runs along xs[k]; for "xy", NumPy's default,
// the first two axes are exchanged. ValueError for other texts and ranks above 1.
CATENA_EXPORT Variables meshgrid(const Variables& xs, std::string_view indexing = "xy");
// Replaces an axis of length n by the (n - size) / step + 1 windows of it; the elements of a window are a new last
// axis. ValueError for a size above n and a step below 1.
CATENA_EXPORT Variable unfold(const Variable& x, int axis, std::int64_t size, std::int64_t step = 1);
// Returns y[i, j, ..] = e[offset + i strides[0] + j strides[1] + ..], where e are the elements of x in C order. The
// gradients of elements that appear several times are added. ValueError for positions outside of x.
CATENA_EXPORT Variable as_strided(const Variable& x, const Shape& shape, const Dims& strides, std::int64_t offset = 0);

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
CATENA_EXPORT Variables unbind(const Variable& x, int axis = 0);  // separate(x, axis)
// Splits as PyTorch does: into at most `chunks` parts of one length, or into parts of the given lengths, whose sum is
// that of the axis. The last part may be shorter. ValueError for negative lengths and other sums.
CATENA_EXPORT Variables chunk(const Variable& x, std::int64_t chunks, int axis = 0);
CATENA_EXPORT Variables split(const Variable& x, std::int64_t length, int axis = 0);
CATENA_EXPORT Variables split(const Variable& x, const std::vector<std::int64_t>& lengths, int axis = 0);

}  // namespace autograd
