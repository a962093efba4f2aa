// Sets: the distinct elements of arrays, and which elements of one array are in another one.
//
// Arguments are arrays, numbers or lists of numbers, and are flattened unless an axis is given; results have rank 1.
// Two arrays are compared in their common dtype. Distinct elements are in ascending order, complex numbers by their
// real and then their imaginary parts, NaN last; of equal elements, such as 0 and -0, the first one stands for all.
// Since their number determines the shape, all functions but isin and in1d wait for the device; these wait if elements
// are complex.
//
// TypeError for a null array, ValueError for an axis out of range and for arrays on several devices.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/creation.h>

namespace nd {

struct UniqueOptions {
  [[no_unique_address]] Named named = Named();
  bool return_index = false;     // the position of the first occurrence of each element
  bool return_inverse = false;   // for each element of the array, the position in `values`
  bool return_counts = false;    // how often each element occurs
  std::optional<int> axis = {};  // distinct slices along an axis instead of elements
  bool equal_nan = true;         // all NaNs are one element (not of slices, which are different if they have a NaN)
};
// Arrays that were not asked for are null. Converts to the array of values if that is the only one.
struct UniqueResult {
  Array values = {}, indices = {}, inverse_indices = {}, counts = {};

  CATENA_EXPORT Array single_output() const;
};
// The distinct elements; with options, also int64 positions and counts. `inverse_indices` has the shape of `ar`, so
// that take(values, inverse_indices) equals it, or, with an axis, its length. Slices along an axis are ordered by
// their first different elements.
//   nd::Array values = nd::unique(a);
//   auto [values, index, inverse, counts] = nd::unique(a, {.return_counts = true});
CATENA_EXPORT Array unique(const ArrayLike& ar);
CATENA_EXPORT UniqueResult unique(const ArrayLike& ar, const UniqueOptions& options);
template <std::same_as<bool> B>
UniqueResult unique(const ArrayLike& ar, B return_index, bool return_inverse = false, bool return_counts = false,
                    std::optional<int> axis = {}) {
  return unique(ar, UniqueOptions{.return_index = return_index,
                                  .return_inverse = return_inverse,
                                  .return_counts = return_counts,
                                  .axis = axis});
}

// The functions of the array API standard: every NaN is an element of its own.
struct UniqueCountsResult {
  Array values, counts;
};
struct UniqueInverseResult {
  Array values, inverse_indices;
};
CATENA_EXPORT UniqueResult unique_all(const ArrayLike& x);
CATENA_EXPORT UniqueCountsResult unique_counts(const ArrayLike& x);
CATENA_EXPORT UniqueInverseResult unique_inverse(const ArrayLike& x);
CATENA_EXPORT Array unique_values(const ArrayLike& x);

struct IsinOptions {
  bool assume_unique = false;  // accepted as in NumPy; makes no difference
  bool invert = false;         // true for the elements that are not there
  std::string_view kind = {};  // "sort": search in sorted numbers; "table": look up in a table of bools
};
// True for each element that is one of `test_elements`: bools in the shape of `element`. NaN is equal to no element.
// Without a kind, a table is used on the CPU if it is no longer than a few times both arrays. A table waits for the
// device. ValueError for another kind, for a table of other numbers than integers and bools, and for one whose length
// is more than six times that of both arrays.
CATENA_EXPORT Array isin(const ArrayLike& element, const ArrayLike& test_elements, const IsinOptions& options = {});
template <std::same_as<bool> B>
Array isin(const ArrayLike& element, const ArrayLike& test_elements, B assume_unique, bool invert = false,
           std::string_view kind = {}) {
  return isin(element, test_elements, IsinOptions{.assume_unique = assume_unique, .invert = invert, .kind = kind});
}
// The same of the flattened array.
CATENA_EXPORT Array in1d(const ArrayLike& ar1, const ArrayLike& ar2, const IsinOptions& options = {});
template <std::same_as<bool> B>
Array in1d(const ArrayLike& ar1, const ArrayLike& ar2, B assume_unique, bool invert = false,
           std::string_view kind = {}) {
  return in1d(ar1, ar2, IsinOptions{.assume_unique = assume_unique, .invert = invert, .kind = kind});
}

// assume_unique: the elements of each array are distinct; if they are not, results are unspecified.
struct Intersect1dOptions {
  bool assume_unique = false;
  bool return_indices = false;
};
// The common elements and their first positions in both arrays. Converts to the elements if the positions were not
// asked for and are null.
struct Intersect1dResult {
  Array values = {}, indices1 = {}, indices2 = {};

  CATENA_EXPORT Array single_output() const;
};
// The elements of both arrays, in their common dtype. NaN is in no intersection.
CATENA_EXPORT Array intersect1d(const ArrayLike& ar1, const ArrayLike& ar2);
CATENA_EXPORT Intersect1dResult intersect1d(const ArrayLike& ar1, const ArrayLike& ar2,
                                            const Intersect1dOptions& options);
template <std::same_as<bool> B>
Intersect1dResult intersect1d(const ArrayLike& ar1, const ArrayLike& ar2, B assume_unique,
                              bool return_indices = false) {
  return intersect1d(ar1, ar2, Intersect1dOptions{.assume_unique = assume_unique, .return_indices = return_indices});
}

struct SetOptions {
  bool assume_unique = false;
};
// The elements of ar1 that are not in ar2, in the dtype of ar1. With assume_unique they keep their order.
CATENA_EXPORT Array setdiff1d(const ArrayLike& ar1, const ArrayLike& ar2, const SetOptions& options = {});
template <std::same_as<bool> B> Array setdiff1d(const ArrayLike& ar1, const ArrayLike& ar2, B assume_unique) {
  return setdiff1d(ar1, ar2, SetOptions{.assume_unique = assume_unique});
}
// The elements of exactly one of the arrays, in their common dtype.
CATENA_EXPORT Array setxor1d(const ArrayLike& ar1, const ArrayLike& ar2, const SetOptions& options = {});
template <std::same_as<bool> B> Array setxor1d(const ArrayLike& ar1, const ArrayLike& ar2, B assume_unique) {
  return setxor1d(ar1, ar2, SetOptions{.assume_unique = assume_unique});
}
// The elements of at least one of the arrays, in their common dtype.
CATENA_EXPORT Array union1d(const ArrayLike& ar1, const ArrayLike& ar2);

}  // namespace nd
