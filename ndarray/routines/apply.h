// Functions of the user's own on parts of an array. They are called on the host, once for each part: a function of
// whole arrays, or nd::fuse, is faster.
//
// Thread safety: may be called from any thread.
#pragma once

#include <concepts>
#include <utility>

#include <catena/kernels/base/function.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/creation.h>

namespace nd {
namespace internal {

using ArrayFunction = catena::Function<Array(const Array&)>;
CATENA_EXPORT Array apply_along_axis(const ArrayFunction& f, int axis, const Array& a);

// The result of a step of apply_over_axes, with the axis.
CATENA_EXPORT Array with_axis(const Array& result, const Array& before, int axis);

template <class T> Array as_result(T&& value) {
  if constexpr (std::convertible_to<T&&, Array>) return Array(std::forward<T>(value));
  else return array(std::forward<T>(value));
}

}  // namespace internal

// Calls f(row) with every row of rank 1 along an axis. f gives an array or a number; the axes of its results, which
// have one shape (ValueError), take the place of the axis. ValueError if there is no row, and for an axis out of range.
//
//   nd::apply_along_axis([](const nd::Array& row) { return row.max() - row.min(); }, 0, a)
template <std::invocable<const Array&> F> Array apply_along_axis(F&& f, int axis, const Array& a) {
  return internal::apply_along_axis([&f](const Array& row) { return internal::as_result(f(row)); }, axis, a);
}

// Calls f(a, axis) with each axis in turn, with the result of the call before as `a`. A result lacks the axis, or has
// it (ValueError for other ranks).
template <std::invocable<const Array&, int> F> Array apply_over_axes(F&& f, const Array& a, const Axes& axes) {
  Array result = a;
  if (!axes.given()) return apply_over_axes(f, a, catena::normalize_axes("apply_over_axes", axes, a.ndim()));
  for (const std::int64_t given : axes.values()) {
    const int axis = catena::normalize_axis("apply_over_axes", given, a.ndim());
    result = internal::with_axis(internal::as_result(f(std::as_const(result), axis)), result, axis);
  }
  return result;
}

}  // namespace nd
