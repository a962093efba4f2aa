// Joining and splitting arrays. Joined arrays are new and C-contiguous, and their dtype is the promotion of all dtypes;
// parts are views.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <catena/kernels/base/arguments.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/creation.h>

namespace nd {

// Joins arrays along an axis. TypeError for a null or 0-d array; ValueError for no arrays, different ranks, different
// lengths on another axis, several devices; IndexError for an axis out of range.
CATENA_EXPORT Array concatenate(const std::vector<Array>& arrays, int axis = 0);
struct ConcatenateOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<int> axis = 0;           // {}: the arrays are flattened first
  Array out = {};                        // must have the shape of the result
  std::optional<Dtype> dtype = {};       // dtype of the result; not together with `out`
  Casting casting = Casting::same_kind;  // rule for the casts to the dtype of the result
};
// Also ValueError for an output of another shape or on another device, TypeError for both an output and a dtype, and
// for elements that do not cast to the dtype of the result under options.casting.
CATENA_EXPORT Array concatenate(const std::vector<Array>& arrays, const ConcatenateOptions& options);
// Joins arrays of one shape (ValueError) along a new axis. A negative axis counts from the rank + 1 of the result;
// IndexError if it is out of range.
CATENA_EXPORT Array stack(const std::vector<Array>& arrays, int axis = 0);
struct StackOptions {
  [[no_unique_address]] Named named = Named();
  int axis = 0;
  Array out = {};  // these: as in ConcatenateOptions
  std::optional<Dtype> dtype = {};
  Casting casting = Casting::same_kind;
};
CATENA_EXPORT Array stack(const std::vector<Array>& arrays, const StackOptions& options);
// atleast_2d of each array, joined along axis 0. Errors of this and the next three functions: as for concatenate.
CATENA_EXPORT Array vstack(const std::vector<Array>& arrays);
// atleast_1d of each array, joined along axis 0 if the first is 1-D, else along axis 1.
CATENA_EXPORT Array hstack(const std::vector<Array>& arrays);
// atleast_3d of each array, joined along axis 2.
CATENA_EXPORT Array dstack(const std::vector<Array>& arrays);
// 1-D arrays as columns and 2-D arrays (ValueError for others), joined along axis 1.
CATENA_EXPORT Array column_stack(const std::vector<Array>& arrays);

// ---- joining by position ------------------------------------------------------------------------
// An argument of r_ and c_.
struct Joined : ArrayLike {
  using ArrayLike::ArrayLike;
  CATENA_EXPORT Joined(const Slice& range);          // NotImplementedError
  CATENA_EXPORT Joined(std::string_view directive);  // NotImplementedError
  Joined(const char* directive) : Joined(std::string_view(directive)) {}
};

// Joins its arguments along `axis`, after extending all to at least `ndmin` axes. The own axes of an extended array
// then begin at position trans1d; a negative trans1d counts from the end: -1 puts all new axes before them. Numbers
// become arrays of one element, cast to the common dtype of arrays and numbers. `matrix`: a result of rank 1 becomes a
// row of rank 2. Errors as for concatenate.
struct AxisConcatenator {
  int axis = 0;
  bool matrix = false;
  int ndmin = 1;
  int trans1d = -1;

  CATENA_EXPORT Array join(const std::vector<Joined>& items) const;
  template <class... Items>
  requires(std::convertible_to<const Items&, Joined>&&...) Array operator()(const Items&... items) const {
    return join({Joined(items)...});
  }
  static constexpr std::int64_t len() { return 0; }
};
struct RClass : AxisConcatenator {};
struct CClass : AxisConcatenator {
  constexpr CClass() : AxisConcatenator{.axis = -1, .ndmin = 2, .trans1d = 0} {}
};
// r_(a, 1, b): joins arrays and numbers along axis 0.
inline constexpr RClass r_{};
// c_(x, y): joins along the last axis; arrays of rank 1 are columns.
inline constexpr CClass c_{};

// ---- splitting ----------------------------------------------------------------------------------
using catena::Sections;

// Splits along an axis. A number of parts must divide the length (ValueError). Positions are clamped like the positions
// of slices, so they may be beyond the end or decrease. ValueError for fewer than 1 parts, IndexError for an axis out
// of range.
CATENA_EXPORT std::vector<Array> split(const Array& a, const Sections& indices_or_sections, int axis = 0);
// As split, also for lengths that the number of parts does not divide: the first n % parts parts are longer by one;
// surplus parts are empty.
CATENA_EXPORT std::vector<Array> array_split(const Array& a, const Sections& indices_or_sections, int axis = 0);
// vsplit splits along axis 0 (rank >= 2); hsplit along axis 0 of 1-D arrays and axis 1 of others (rank >= 1); dsplit
// along axis 2 (rank >= 3). ValueError for a lower rank.
CATENA_EXPORT std::vector<Array> vsplit(const Array& a, const Sections& indices_or_sections);
CATENA_EXPORT std::vector<Array> hsplit(const Array& a, const Sections& indices_or_sections);
CATENA_EXPORT std::vector<Array> dsplit(const Array& a, const Sections& indices_or_sections);
// The slices along an axis without that axis, as views: unstack(x)[i] is x(i). ValueError for a 0-d array and an axis
// out of range.
CATENA_EXPORT std::vector<Array> unstack(const Array& x, int axis = 0);

}  // namespace nd
