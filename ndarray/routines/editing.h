// Arrays with elements added or removed: copies, except trim_zeros, which returns a view.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>

namespace nd {

// Returns the array with `values` (an array, a number or a list) behind its last element along an axis; without one,
// both are flattened. The dtype is the promotion of both. Errors as for concatenate.
CATENA_EXPORT Array append(const Array& arr, const ArrayLike& values, std::optional<int> axis = {});

// Returns the array with `values` before position `obj` of an axis; of the flattened array without one. `obj` may be a
// number, a slice, a list or an array of positions, or a mask; positions are those in `arr`, from -n to n, and equal
// ones keep the order of the values. The values are cast to the dtype of `arr`; at a single position, they may have any
// length along the axis, otherwise they broadcast to the inserted elements. IndexError for a position out of range,
// ValueError for values that do not broadcast. Waits for the device if the positions are an array there.
CATENA_EXPORT Array insert(const Array& arr, const IndexKey& obj, const ArrayLike& values,
                           std::optional<int> axis = {});

// NumPy's delete: returns the array without the elements that `obj` selects along an axis, of the flattened array
// without one. `obj` may be a number, a slice, a list or an array of positions, or a mask of the length of the axis.
// IndexError for a number out of range, and on the CPU for an array with one (on CUDA it wraps); ValueError for a mask
// of another length. Arrays and masks wait for the device.
CATENA_EXPORT Array delete_(const Array& arr, const IndexKey& obj, std::optional<int> axis = {});

// Returns an array of that shape with the elements in C order, repeated as often as needed; zeros if there are none.
// ValueError for a negative length.
CATENA_EXPORT Array resize(const Array& a, const Shape& new_shape);

// An array, or a list of such objects: the argument of block.
class Block {
 public:
  template <std::convertible_to<const Array&> A> Block(const A& array) : array_(array) {}
  Block(std::initializer_list<Block> list) : list_(list) {}
  template <class T>
  requires(std::convertible_to<const T&, Block>) Block(const std::vector<T>& list) : list_(list.begin(), list.end()) {}

  bool is_array() const noexcept { return !array_.is_null(); }
  const Array& array() const noexcept { return array_; }
  const std::vector<Block>& list() const noexcept { return list_; }

 private:
  Array array_;
  std::vector<Block> list_;
};
// Joins the blocks of a matrix, block({{a, b}, {c, d}}): arrays of an innermost list along the last axis, such lists
// along the last but one, and so on. Arrays of lower rank get leading axes of length 1. ValueError for an empty list,
// lists of different depths and blocks that do not fit together.
CATENA_EXPORT Array block(const Block& arrays);

struct TrimZerosOptions {
  std::string_view trim = "fb";  // f: at the front, b: at the back
  Axes axis = {};                // default: all axes
};
// Returns a view without the zeros at both ends: of an array of several axes, the least part that contains all other
// elements. ValueError for another `trim`. Waits for the device.
CATENA_EXPORT Array trim_zeros(const Array& filt, const TrimZerosOptions& options = {});
inline Array trim_zeros(const Array& filt, std::string_view trim, const Axes& axis = {}) {
  return trim_zeros(filt, {.trim = trim, .axis = axis});
}

}  // namespace nd
