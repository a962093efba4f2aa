// Views of arrays with other shapes and strides, and whether two arrays have memory in common.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <catena/ndarray/core/array.h>

namespace nd {

struct AsStridedOptions {
  std::optional<Shape> shape = {};      // default: the shape of the array
  std::optional<Strides> strides = {};  // in bytes; default: the strides of the array
};
// Returns a view of the memory of `x` from its first element on. ValueError for lists of different lengths, a negative
// length, and a view that would reach beyond the memory of which `x` is a part. The elements of a view may share
// memory: writing one of them changes the others.
CATENA_EXPORT Array as_strided(const Array& x, const AsStridedOptions& options);
inline Array as_strided(const Array& x, std::initializer_list<catena::Integer> shape,
                        std::initializer_list<catena::Integer> strides) {
  return as_strided(x, {.shape = Shape(shape), .strides = Strides(strides)});
}
template <catena::ShapeLike S, catena::ShapeLike T> Array as_strided(const Array& x, const S& shape, const T& strides) {
  return as_strided(x, {.shape = Shape(shape), .strides = Strides(strides)});
}

// Returns all windows of an array as a view: along `axis`, or all axes, the length is the number of positions of a
// window, and the window itself is along new axes behind all others. sliding_window_view(v, 3)(i) is v(Slice(i, i +
// 3)). An axis may be given several times. ValueError for a negative length, a window that is longer than its axis, and
// another number of lengths than axes.
CATENA_EXPORT Array sliding_window_view(const Array& x, const Dims& window_shape, const Axes& axis = {});

// The addresses from the first byte of an array to the one behind its last byte.
CATENA_EXPORT std::pair<std::uintptr_t, std::uintptr_t> byte_bounds(const Array& a);
// True if the ranges of addresses of both arrays overlap, although they may have no element in common.
CATENA_EXPORT bool may_share_memory(const Array& a, const Array& b);
// True if both arrays have bytes in common, or if that is very costly to determine.
inline bool shares_memory(const Array& a, const Array& b) { return a.shares_memory(b); }

// NumPy's names of these functions.
namespace lib::stride_tricks {
using nd::as_strided;
using nd::sliding_window_view;
}  // namespace lib::stride_tricks

}  // namespace nd
