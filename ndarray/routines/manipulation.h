// Changing shapes, axes and order, repeating and padding. Functions said to give a view share memory with their
// argument wherever the strides allow it; "the same array" means another handle to the argument itself. dtypes never
// change; results are C-contiguous unless they are views. Axes may be negative. Functions of the same name as a method
// of Array are that method.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

// ---- copying ------------------------------------------------------------------------------------
struct CopytoOptions {
  Casting casting = Casting::same_kind;
  Array where = {};  // elements of dst are written where this, broadcast to dst, is not 0
};
// dst[...] = src, broadcast. TypeError when the dtype of src does not cast to that of dst (of a scalar: the smallest
// that holds it), ValueError when src or where does not broadcast to dst.
CATENA_EXPORT void copyto(const Array& dst, const Operand& src, const CopytoOptions& options = {});

// ---- shape --------------------------------------------------------------------------------------
inline Array reshape(const Array& a, const Shape& newshape) { return a.reshape(newshape); }
inline Array ravel(const Array& a) { return a.ravel(); }
inline Array squeeze(const Array& a, const Axes& axis = {}) { return a.squeeze(axis); }
// An axis of length 1 before position `axis` of the result (negative: of its rank, ndim + 1); a view. ValueError when
// out of range.
CATENA_EXPORT Array expand_dims(const Array& a, int axis);
// () -> (1,); other arrays themselves. With several arrays: all of them.
CATENA_EXPORT Array atleast_1d(const Array& a);
// () -> (1, 1), (n,) -> (1, n).
CATENA_EXPORT Array atleast_2d(const Array& a);
// () -> (1, 1, 1), (n,) -> (1, n, 1), (m, n) -> (m, n, 1).
CATENA_EXPORT Array atleast_3d(const Array& a);
CATENA_EXPORT std::vector<Array> atleast_1d(const std::vector<Array>& arrays);
CATENA_EXPORT std::vector<Array> atleast_2d(const std::vector<Array>& arrays);
CATENA_EXPORT std::vector<Array> atleast_3d(const std::vector<Array>& arrays);

// ---- axes ---------------------------------------------------------------------------------------
inline Array transpose(const Array& a) { return a.transpose(); }
inline Array transpose(const Array& a, const Dims& axes) { return a.transpose(axes); }
inline Array swapaxes(const Array& a, int axis1, int axis2) { return a.swapaxes(axis1, axis2); }
// The axis moved before position `start` of the original axes (0 <= start <= ndim); a view, or the same array when
// nothing moves. ValueError when either is out of range.
CATENA_EXPORT Array rollaxis(const Array& a, int axis, int start = 0);
// Axes source[k] become axes destination[k], the others keep their order; a view. ValueError for axes out of range or
// given twice and for lists of different lengths.
CATENA_EXPORT Array moveaxis(const Array& a, const Axes& source, const Axes& destination);

// ---- broadcasting: views with strides of 0 where elements repeat
// ----------------------------------------------------------------- ValueError when the array does not fit the shape.
CATENA_EXPORT Array broadcast_to(const Array& array, const Shape& shape);
// All at their common shape; ValueError when there is none.
CATENA_EXPORT std::vector<Array> broadcast_arrays(const std::vector<Array>& arrays);

// ---- repeating
// ------------------------------------------------------------------------------------------------------------- The
// array `reps` times along each axis; the shorter one of shape and reps gets leading ones. Always a copy. ValueError
// for a negative number.
CATENA_EXPORT Array tile(const Array& a, const Dims& reps);
inline Array tile(const Array& a, std::int64_t reps) { return tile(a, Dims{reps}); }
// Every element (along an axis; without one of the flattened array) `repeats` times. A list needs an axis and one
// number for each of its elements. ValueError for negative numbers, a list of another length or without an axis, an
// axis out of range.
CATENA_EXPORT Array repeat(const Array& a, std::int64_t repeats, std::optional<int> axis = {});
CATENA_EXPORT Array repeat(const Array& a, const std::vector<std::int64_t>& repeats, std::optional<int> axis = {});

// ---- rearranging
// ----------------------------------------------------------------------------------------------------------- Views
// with the elements of an axis in reverse. ValueError for an axis out of range (fliplr: axis 1, flipud: axis 0).
CATENA_EXPORT Array flip(const Array& a, int axis);
CATENA_EXPORT Array fliplr(const Array& a);
CATENA_EXPORT Array flipud(const Array& a);
// A copy with elements moved by `shift` places along an axis, the last ones to the front; without an axis of the
// flattened array. An array without elements comes back itself. ValueError for an axis out of range.
CATENA_EXPORT Array roll(const Array& a, std::int64_t shift, std::optional<int> axis = {});
// Turned by k quarters in the plane of two axes, from the first towards the second; a view. ValueError for rank < 2,
// axes out of range or equal, or another number of axes than two.
CATENA_EXPORT Array rot90(const Array& a, int k = 1, const Dims& axes = {0, 1});

// ---- padding
// --------------------------------------------------------------------------------------------------------------- A
// number for every side of every axis: one for all, {before, after} for all axes, or {{before, after}, ...} axis by
// axis.
template <class T>
class PadSides {
 public:
  using Pair = std::pair<T, T>;
  template <class V>
  requires(std::is_arithmetic_v<V>) PadSides(V all) : sides_{{T(all), T(all)}} {}
  PadSides(T all) : sides_{{all, all}} {}
  PadSides(T before, T after) : sides_{{before, after}} {}
  PadSides(std::initializer_list<Pair> sides) : sides_(sides) {}
  PadSides(const std::vector<Pair>& sides) : sides_(sides) {}

  const std::vector<Pair>& sides() const noexcept { return sides_; }

 private:
  std::vector<Pair> sides_;
};

struct PadOptions {
  PadSides<Scalar> constant_values = Scalar(0);  // converted to the dtype of the array
};
// A copy with elements added before and after the ends of each axis. Axes are padded in order, so the values of later
// axes fill the corners. ValueError for negative widths or a list of sides that is neither one nor one per axis;
// NotImplementedError for a mode other than "constant".
CATENA_EXPORT Array pad(const Array& array, const PadSides<std::int64_t>& pad_width, std::string_view mode = "constant",
                        const PadOptions& options = {});

namespace internal {
// The view a[..., start:start+length, ...] along an axis; the caller keeps within its length.
CATENA_EXPORT Array part(const Array& a, int axis, std::int64_t start, std::int64_t length);
}  // namespace internal

}  // namespace nd
