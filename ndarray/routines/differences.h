// Differences, derivatives, integrals and interpolation of sampled values.
//
// Arguments are arrays, numbers or lists of numbers, which are copied to the device of the arrays. Errors: ValueError
// for an axis out of range, shapes that do not match and arrays on several devices; TypeError for a null array.
#pragma once

#include <concepts>
#include <cstdint>
#include <numbers>
#include <optional>
#include <vector>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/creation.h>

namespace nd {

namespace internal {
// Arrays, numbers and containers, but no lists in braces, which are options.
template <class X>
concept ArrayArgument = std::convertible_to<const X&, ArrayLike>;
}  // namespace internal

struct DiffOptions {
  [[no_unique_address]] Named named = Named();
  std::int64_t n = 1;  // how often differences are taken
  int axis = -1;
  std::optional<ArrayLike> prepend = {};  // values before and behind the array along the axis; a number is one value
  std::optional<ArrayLike> append = {};
};
// The differences a[i + 1] - a[i] along an axis, which becomes shorter by n. Of bools: whether neighbours are
// different. Integers wrap. ValueError for n < 0 and a 0-d array.
CATENA_EXPORT Array diff(const ArrayLike& a, const DiffOptions& options = {});
template <std::integral N> Array diff(const ArrayLike& a, N n, int axis = -1) {
  return diff(a, DiffOptions{.n = static_cast<std::int64_t>(n), .axis = axis});
}

struct Ediff1dOptions {
  std::optional<ArrayLike> to_end = {};  // values behind and before the differences, of any shape
  std::optional<ArrayLike> to_begin = {};
};
// The differences of the flattened array, with other values at both ends. TypeError if these do not cast to the dtype
// of the array by the rule same_kind, and for bools.
CATENA_EXPORT Array ediff1d(const ArrayLike& ary, const Ediff1dOptions& options = {});
template <internal::ArrayArgument E> Array ediff1d(const ArrayLike& ary, const E& to_end) {
  return ediff1d(ary, Ediff1dOptions{.to_end = to_end});
}
template <internal::ArrayArgument E, internal::ArrayArgument B>
Array ediff1d(const ArrayLike& ary, const E& to_end, const B& to_begin) {
  return ediff1d(ary, Ediff1dOptions{.to_end = to_end, .to_begin = to_begin});
}

struct GradientOptions {
  [[no_unique_address]] Named named = Named();
  Axes axis = {};      // default: all axes
  int edge_order = 1;  // order of the differences at both ends, 1 or 2
};
// One array for each axis. For one axis, the result is that array:
//   nd::Array g = nd::gradient(v);   auto [gy, gx] = nd::gradient(image);   nd::gradient(volume).arrays()[2]
// TypeError if the result of several axes is used as one array.
class CATENA_EXPORT GradientResult : public Array {
 public:
  explicit GradientResult(std::vector<Array> arrays);

  using Array::operator=;
  using Array::get;
  const std::vector<Array>& arrays() const noexcept { return arrays_; }
  operator const std::vector<Array>&() const noexcept { return arrays_; }
  template <std::size_t I> Array get() const { return of_pair(I); }
  Array single_output() const;

 private:
  Array of_pair(std::size_t k) const;

  std::vector<Array> arrays_;
};
// The derivatives along the axes, by central differences of second order inside and one-sided differences at the ends.
// `spacing` is the distance of samples (default: 1) or their coordinates, an array of rank 1 with the length of the
// axis: one number for all axes, or one item for each. Integers give float64, other dtypes stay.
//   gradient(f)   gradient(f, 0.5)   gradient(f, x, {.edge_order = 2})   gradient(f, dy, x)   gradient(f, dx, {.axis =
//   1})
// ValueError for an axis with fewer than edge_order + 1 samples and coordinates of another length or rank; TypeError
// for another number of items and for bools.
CATENA_EXPORT GradientResult gradient(const ArrayLike& f, const GradientOptions& options = {});
namespace internal {
CATENA_EXPORT GradientResult gradient(const ArrayLike& f, const std::vector<ArrayLike>& spacings,
                                      const GradientOptions& options);
}
template <internal::ArrayArgument S>
GradientResult gradient(const ArrayLike& f, const S& spacing, const GradientOptions& options = {}) {
  return internal::gradient(f, {spacing}, options);
}
template <internal::ArrayArgument S0, internal::ArrayArgument S1>
GradientResult gradient(const ArrayLike& f, const S0& spacing0, const S1& spacing1,
                        const GradientOptions& options = {}) {
  return internal::gradient(f, {spacing0, spacing1}, options);
}
template <internal::ArrayArgument S0, internal::ArrayArgument S1, internal::ArrayArgument S2>
GradientResult gradient(const ArrayLike& f, const S0& spacing0, const S1& spacing1, const S2& spacing2,
                        const GradientOptions& options = {}) {
  return internal::gradient(f, {spacing0, spacing1, spacing2}, options);
}

struct TrapezoidOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<ArrayLike> x = {};  // coordinates: of rank 1, or an array that broadcasts to y
  double dx = 1;                    // distance of samples, if there are no coordinates
  int axis = -1;
};
// The integral of samples along an axis by the trapezoidal rule; 0 for fewer than two samples. Integers give float64.
CATENA_EXPORT Array trapezoid(const ArrayLike& y, const TrapezoidOptions& options = {});
template <internal::ArrayArgument X> Array trapezoid(const ArrayLike& y, const X& x, double dx = 1, int axis = -1) {
  return trapezoid(y, TrapezoidOptions{.x = x, .dx = dx, .axis = axis});
}

struct InterpOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<Scalar> left = {};    // the value below xp[0]; default: fp[0]
  std::optional<Scalar> right = {};   // the value above the last of xp; default: the last of fp
  std::optional<Scalar> period = {};  // xp, in any order, and x are taken modulo the period; no left and right then
};
// The piecewise linear function through the points (xp, fp) at x: float64, or complex128 for complex fp, in the shape
// of x. xp must increase, which is not checked. NaN gives NaN. ValueError if xp and fp are empty or not of rank 1 and
// of one length, and for a period of 0.
CATENA_EXPORT Array interp(const ArrayLike& x, const ArrayLike& xp, const ArrayLike& fp,
                           const InterpOptions& options = {});
template <Element E>
Array interp(const ArrayLike& x, const ArrayLike& xp, const ArrayLike& fp, E left, std::optional<Scalar> right = {},
             std::optional<Scalar> period = {}) {
  return interp(x, xp, fp, InterpOptions{.left = Scalar(left), .right = right, .period = period});
}

struct UnwrapOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<Scalar> discont = {};  // differences below it stay; default (and least value): half of the period
  int axis = -1;
  Scalar period = 2 * std::numbers::pi;
};
// Angles without jumps: multiples of the period are added so that neighbours differ by no more than half of it. For an
// integer period and integers the result is exact; otherwise integers give float64.
CATENA_EXPORT Array unwrap(const ArrayLike& p, const UnwrapOptions& options = {});
template <Element E> Array unwrap(const ArrayLike& p, E discont, int axis = -1) {
  return unwrap(p, UnwrapOptions{.discont = Scalar(discont), .axis = axis});
}

}  // namespace nd

template <> struct std::tuple_size<nd::GradientResult> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I> struct std::tuple_element<I, nd::GradientResult> { using type = nd::Array; };
