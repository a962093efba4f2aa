// The keys of basic indexing (integers, slices, ellipsis and newaxis) and the views that they select.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <catena/kernels/base/shape.h>

namespace catena {

// Python's start:stop:step. Without a start, the slice begins at the end of the axis at which a step of that sign
// begins; without a stop, it runs to the other end.
//   Slice()  Slice(5)  Slice(2, 5)  Slice({}, -1)  Slice({}, {}, -1)    // Slice(5): up to 5, as Python's slice(5)
struct Slice {
  std::optional<std::int64_t> start, stop, step;

  constexpr Slice() = default;
  template <std::integral I> explicit constexpr Slice(I stop_) : stop(static_cast<std::int64_t>(stop_)) {}
  constexpr Slice(std::optional<std::int64_t> start_, std::optional<std::int64_t> stop_,
                  std::optional<std::int64_t> step_ = {})
      : start(start_), stop(stop_), step(step_) {}
  static constexpr Slice all() { return {}; }
};

// The types of ellipsis (as many full slices as fit) and newaxis (a new axis of length 1).
struct Ellipsis {};
struct NewAxis {};

// One item of a basic key. A bool is not an index.
class Key {
 public:
  enum class Kind : std::uint8_t { integer, slice, ellipsis, newaxis };

  template <std::integral I>
  requires(!std::same_as<I, bool>) Key(I index) : kind_(Kind::integer), index_(static_cast<std::int64_t>(index)) {}
  Key(const Slice& s) : kind_(Kind::slice), slice_(s) {}
  Key(Ellipsis) : kind_(Kind::ellipsis) {}
  Key(NewAxis) : kind_(Kind::newaxis) {}

  Kind kind() const noexcept { return kind_; }
  std::int64_t index() const noexcept { return index_; }
  const Slice& slice() const noexcept { return slice_; }

 private:
  Kind kind_;
  std::int64_t index_ = 0;
  Slice slice_;
};

inline constexpr Ellipsis ellipsis{};  // full slices for all remaining axes
inline constexpr NewAxis newaxis{};    // inserts an axis of length 1
inline constexpr Slice _{};            // a full slice: a(_, 0) is column 0

// The type of None.
struct NoneType : NewAxis {
  template <class T> constexpr operator std::optional<T>() const { return {}; }
  operator Axes() const { return {}; }
};
#ifndef None  // a macro of X11
// Python's None: a new axis among keys, and an absent bound, axis or other option elsewhere: a(None, 0),
// Slice(-3, None), a.sum(None).
inline constexpr NoneType None{};
#endif

// A view: shape, strides, and the byte offset from the first element of the source to the first element of the view.
struct ViewSpec {
  ViewSpec() noexcept {}  // an aggregate would be cleared first, with the lengths that are not used
  ViewSpec(const Shape& of, const Strides& steps, std::int64_t first = 0) noexcept
      : shape(of), strides(steps), offset(first) {}

  Shape shape;
  Strides strides;
  std::int64_t offset = 0;
};
// Returns the view that basic keys select, by NumPy's rules. IndexError: an integer out of range, more keys than axes.
// ValueError: a second ellipsis, a step of 0.
CATENA_EXPORT ViewSpec basic_index(std::string_view op, const Shape& shape, const Strides& strides,
                                   std::span<const Key> keys);
// A slice of an axis of length n, resolved to start, length and step (clamped as in Python, for both signs of the
// step).
struct SliceRange {
  std::int64_t start, length, step;
};
CATENA_EXPORT SliceRange resolve_slice(std::string_view op, const Slice& slice, std::int64_t n);

}  // namespace catena
