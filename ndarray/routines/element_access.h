// Elements by position and by condition: reading and writing along an axis, writing flat positions and masks, choices
// by conditions, and positions as numbers. (take, take_along_axis, extract, compress, choose: indexing.h.)
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>

namespace nd {

// ---- along an axis ------------------------------------------------------------------------------
// Writes the elements that take_along_axis reads: `values` is broadcast to their shape (ValueError) and cast unsafely.
// If several values have the same destination, the last one stays on the CPU, and an undefined one on other devices.
CATENA_EXPORT void put_along_axis(const Array& arr, const Array& indices, const Operand& values,
                                  std::optional<int> axis);

// ---- flat positions and masks -------------------------------------------------------------------
struct PutOptions {
  // The rule for an index out of range: "raise" is an IndexError, which waits for the device; "wrap" takes the index
  // modulo the size; "clip" takes the nearest element, also for negative indices. Without a mode, as in a(i) = v: an
  // IndexError on the CPU, and wrap on CUDA.
  std::optional<std::string_view> mode = {};
};
// Writes values (an array, a number or a list; cast unsafely) to positions in the flattened array, in place; fewer
// values than positions are repeated, and no values write nothing. ValueError for another mode.
CATENA_EXPORT void put(const Array& a, const IndexKey& ind, const ArrayLike& v, const PutOptions& options = {});
inline void put(const Array& a, const IndexKey& ind, const ArrayLike& v, std::string_view mode) {
  put(a, ind, v, {.mode = mode});
}

// Writes values to the elements where the mask is true, one after the other, repeated as often as needed, in place.
// ValueError for a mask of another size, and for no values but a true element of the mask; TypeError for an array of
// values whose dtype does not cast safely. Waits for the device unless there is a single value.
CATENA_EXPORT void place(const Array& arr, const Array& mask, const ArrayLike& vals);
// As place, but an element gets the value at its own position: a[i] = values[i % size of values]. No values write
// nothing. Never waits.
CATENA_EXPORT void putmask(const Array& a, const Array& mask, const ArrayLike& values);

// ---- choices by conditions ----------------------------------------------------------------------
// Elements of the first array of `choicelist` whose condition is true, else of `default_`; all broadcast. The dtype is
// the promotion of all choices and the default. ValueError for no conditions or lists of different lengths, TypeError
// for a condition whose dtype is not bool.
CATENA_EXPORT Array select(const std::vector<Array>& condlist, const std::vector<Operand>& choicelist,
                           const Operand& default_ = 0);

// A value of piecewise where a condition holds: a number, or a function of the elements.
class Piece {
 public:
  template <Element E> Piece(E number) : number_(number) {}
  Piece(const Scalar& number) : number_(number) {}
  template <class F>
  requires(std::is_invocable_r_v<Array, F&, const Array&>) Piece(F function) : function_(std::move(function)) {}

  const Scalar& number() const noexcept { return number_; }
  const catena::Function<Array(const Array&)>& function() const noexcept { return function_; }  // empty: a number

 private:
  Scalar number_;
  catena::Function<Array(const Array&)> function_;
};
// Returns an array of the shape and dtype of `x` with the values of piece k where condition k holds: piecewise(x, {x <
// 0, x >= 0}, {-1, [](auto& y) { return y * 2; }}). A further piece is for elements without a true condition; they are
// 0 if there is none. Functions get the elements as an array of rank 1, which waits for the device. ValueError for
// another number of pieces.
CATENA_EXPORT Array piecewise(const Array& x, const std::vector<Array>& condlist, const std::vector<Piece>& funclist);

// ---- positions as numbers -----------------------------------------------------------------------
struct RavelOptions {
  std::vector<std::string_view> mode = {"raise"};  // "raise", "wrap" or "clip", for all axes or one for each
  Order order = Order::C;                          // or F
};
// Returns the positions in the flattened array of shape `dims` of the elements at multi_index[0], multi_index[1]...,
// which are numbers or arrays of integers that broadcast; int64. ValueError for an index out of range in mode "raise",
// which waits for the device, another number of indices than dimensions, another mode or order; TypeError for indices
// that are not integers.
CATENA_EXPORT Array ravel_multi_index(const std::vector<Operand>& multi_index, const Shape& dims,
                                      const RavelOptions& options = {});
CATENA_EXPORT Array ravel_multi_index(const std::vector<Array>& multi_index, const Shape& dims,
                                      const RavelOptions& options = {});
inline Array ravel_multi_index(std::initializer_list<Operand> multi_index, const Shape& dims,
                               const RavelOptions& options = {}) {
  return ravel_multi_index(std::vector<Operand>(multi_index), dims, options);
}
// Returns the positions along each axis of an array of that shape of the elements at positions `indices` of the
// flattened array: one int64 array for each axis, as from nonzero(). ValueError for an index out of range, which waits
// for the device, and for another order; TypeError for indices that are not integers.
CATENA_EXPORT std::vector<Array> unravel_index(const Operand& indices, const Shape& shape, Order order = Order::C);

}  // namespace nd
