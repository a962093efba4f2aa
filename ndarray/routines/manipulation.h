// Changing shapes, axes and order, and repeating. Functions that return a view share memory with their argument
// if the strides allow it; "the same array" is another handle to the argument. dtypes never change; results other than
// views are C-contiguous. Negative axes count from the end. Functions with the name of a method of Array call that
// method.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

// ---- copying ------------------------------------------------------------------------------------
struct CopytoOptions {
  Casting casting = Casting::same_kind;
  Array where = {};  // mask that broadcasts to dst: elements of dst are written where it is nonzero
};
// dst[...] = src, broadcast. TypeError if the dtype of src (for a scalar: the smallest dtype that holds it) does not
// cast to the dtype of dst, ValueError if src or where does not broadcast to dst.
CATENA_EXPORT void copyto(const Array& dst, const Operand& src, const CopytoOptions& options = {});

// ---- shape --------------------------------------------------------------------------------------
// As the members of nd::Array.
inline Array reshape(const Array& a, const Shape& newshape, OrderLike order = Order::C) {
  return a.reshape(newshape, order);
}
inline std::int64_t len(const Array& a) { return a.len(); }  // length of axis 0; TypeError for a 0-d array
inline Array ravel(const Array& a, OrderLike order = Order::C) { return a.ravel(order); }
inline Array squeeze(const Array& a, const Axes& axis = {}) { return a.squeeze(axis); }
// Inserts an axis of length 1 before position `axis` of the result (a negative axis counts from ndim + 1); a view.
// ValueError if it is out of range.
CATENA_EXPORT Array expand_dims(const Array& a, int axis);
// The same for several axes of the result: expand_dims(a, {0, -1}). ValueError for repeated ones.
CATENA_EXPORT Array expand_dims(const Array& a, const Dims& axes);
// () -> (1,); other arrays unchanged. The overload takes and returns several arrays.
CATENA_EXPORT Array atleast_1d(const Array& a);
// () -> (1, 1), (n,) -> (1, n).
CATENA_EXPORT Array atleast_2d(const Array& a);
// () -> (1, 1, 1), (n,) -> (1, n, 1), (m, n) -> (m, n, 1).
CATENA_EXPORT Array atleast_3d(const Array& a);
CATENA_EXPORT std::vector<Array> atleast_1d(const std::vector<Array>& arrays);
CATENA_EXPORT std::vector<Array> atleast_2d(const std::vector<Array>& arrays);
CATENA_EXPORT std::vector<Array> atleast_3d(const std::vector<Array>& arrays);

// ---- axes ---------------------------------------------------------------------------------------
// As the members of nd::Array.
inline Array transpose(const Array& a) { return a.transpose(); }
inline Array transpose(const Array& a, const Dims& axes) { return a.transpose(axes); }
inline Array permute_dims(const Array& a) { return a.transpose(); }
inline Array permute_dims(const Array& a, const Dims& axes) { return a.transpose(axes); }
inline Array swapaxes(const Array& a, int axis1, int axis2) { return a.swapaxes(axis1, axis2); }
// The last two axes swapped; a view. ValueError for rank < 2.
CATENA_EXPORT Array matrix_transpose(const Array& a);
// Moves an axis before position `start` of the original axes (0 <= start <= ndim); a view, or the same array if the
// order does not change. ValueError if either is out of range.
CATENA_EXPORT Array rollaxis(const Array& a, int axis, int start = 0);
// Axes source[k] become axes destination[k], the others keep their order; a view. ValueError for axes out of range or
// repeated, and for lists of different lengths.
CATENA_EXPORT Array moveaxis(const Array& a, const Axes& source, const Axes& destination);

// ---- broadcasting: views with stride 0 along repeated axes --------------------------------------
// ValueError if the array does not broadcast to the shape.
CATENA_EXPORT Array broadcast_to(const Array& array, const Shape& shape);
// The common shape of arrays of these shapes: broadcast_shapes({3, 1}, {4}). ValueError if there is none.
CATENA_EXPORT Shape broadcast_shapes(const std::vector<Shape>& shapes);
inline Shape broadcast_shapes(const Shape& a, const Shape& b) { return broadcast_shapes(std::vector{a, b}); }
inline Shape broadcast_shapes(const Shape& a, const Shape& b, const Shape& c) {
  return broadcast_shapes(std::vector{a, b, c});
}
// Returns views of all arrays at their common shape; ValueError if there is none.
CATENA_EXPORT std::vector<Array> broadcast_arrays(const std::vector<Array>& arrays);
template <std::convertible_to<const Array&>... A>
requires(sizeof...(A) > 1) std::vector<Array> broadcast_arrays(const A&... arrays) {
  return broadcast_arrays(std::vector<Array>{arrays...});
}
// The common shape of several arrays, and views of them at that shape: broadcast(a, b).shape(). ValueError if there is
// none.
class CATENA_EXPORT broadcast {
 public:
  explicit broadcast(const std::vector<Operand>& arrays);
  explicit broadcast(std::initializer_list<Operand> arrays) : broadcast(std::vector<Operand>(arrays)) {}
  template <class... A>
  requires(std::convertible_to<const A&, Operand>&&...) explicit broadcast(const A&... arrays)
      : broadcast(std::vector<Operand>{arrays...}) {}

  const Shape& shape() const noexcept { return shape_; }
  int nd() const noexcept { return shape_.size(); }
  std::int64_t size() const noexcept { return catena::size_of(shape_); }
  // Returns the arguments: arrays as views of the common shape, scalars as 0-d arrays on the current device.
  const std::vector<Array>& values() const noexcept { return values_; }

 private:
  Shape shape_;
  std::vector<Array> values_;
};

// ---- repeating ----------------------------------------------------------------------------------
// Repeats the array reps[k] times along axis k; the shorter of shape and reps is extended by leading ones. Always a
// copy. ValueError for a negative number.
CATENA_EXPORT Array tile(const Array& a, const Dims& reps);
// Repeats every element `repeats` times along an axis (of the flattened array without one). A list or an array has one
// number for each position along it, or a single one. ValueError for negative numbers, a list of another length, an
// axis out of range; TypeError for an array whose dtype is not an integer. An array waits for its device.
CATENA_EXPORT Array repeat(const Array& a, std::int64_t repeats, std::optional<int> axis = {});
CATENA_EXPORT Array repeat(const Array& a, const std::vector<std::int64_t>& repeats, std::optional<int> axis = {});
namespace internal {
CATENA_EXPORT Array repeat_each(const Array& a, const Array& repeats, std::optional<int> axis);
}
template <std::convertible_to<const Array&> R>
Array repeat(const Array& a, const R& repeats, std::optional<int> axis = {}) {
  return internal::repeat_each(a, repeats, axis);
}

// ---- rearranging --------------------------------------------------------------------------------
// Views with the elements of an axis reversed. ValueError for an axis out of range (fliplr: axis 1, flipud: axis 0).
// Without axes, all are reversed.
CATENA_EXPORT Array flip(const Array& a, int axis);
CATENA_EXPORT Array flip(const Array& a, const Axes& axes = {});
CATENA_EXPORT Array fliplr(const Array& a);
CATENA_EXPORT Array flipud(const Array& a);
// Returns a copy with the elements moved by `shift` positions along an axis (of the flattened array without one);
// elements moved past the end continue at the start. Returns an array without elements itself. ValueError for an axis
// out of range.
CATENA_EXPORT Array roll(const Array& a, std::int64_t shift, std::optional<int> axis = {});
// As above along several axes, each by its number of `shift`; a single number belongs to each axis, a single axis to
// each number. ValueError for lists of different lengths.
CATENA_EXPORT Array roll(const Array& a, const Dims& shift, const Dims& axes);
// Rotates by k times 90 degrees in the plane of two axes, from the first towards the second; a view. ValueError for
// rank < 2, axes out of range or equal, or a number of axes other than two.
CATENA_EXPORT Array rot90(const Array& a, int k = 1, const Dims& axes = {0, 1});

namespace internal {
// Returns the view a[..., start:start+length, ...] along an axis. The range is not checked.
CATENA_EXPORT Array part(const Array& a, int axis, std::int64_t start, std::int64_t length);
}  // namespace internal

}  // namespace nd
