// Options of functions and members along axes, with PyTorch's names and NumPy's: x.sum({.dim = 1}) is
// x.sum({.axis = 1}). ValueError if axes or an order are given by both names. The axes of a reduction stay if keepdim
// or keepdims is true.
#pragma once

#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/named.h>
#include <catena/kernels/base/norm_order.h>
#include <catena/kernels/base/shape.h>

namespace autograd {

namespace internal {
// Returns the option whose name is given; without either name, an absent option.
template <class T> const T& one_of(const T& axis, bool has_axis, const T& dim, bool has_dim) {
  catena::check<catena::ValueError>(!has_axis || !has_dim, "dim", "the axis is given by two names, dim and axis");
  return has_axis ? axis : dim;
}
inline const catena::Axes& given_axes(const catena::Axes& axis, const catena::Axes& dim) {
  return one_of(axis, axis.given(), dim, dim.given());
}
inline const std::optional<int>& given_axis(const std::optional<int>& axis, const std::optional<int>& dim) {
  return one_of(axis, axis.has_value(), dim, dim.has_value());
}
}  // namespace internal

// Options of functions along one axis.
struct AxisOption {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> dim = {}, axis = {};
  std::optional<int> value() const { return internal::given_axis(axis, dim); }
  int value_or(int by_default) const { return value().value_or(by_default); }
};
// Options of reductions over one or several axes; default: all. ValueError for axes by position and in the options.
struct ReductionOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  catena::Axes dim = {}, axis = {};
  bool keepdim = false, keepdims = false;  // the axes stay, with the length 1
  const catena::Axes& axes() const { return internal::given_axes(axis, dim); }
  bool keeps() const { return keepdim || keepdims; }
};
// Options of reductions over one axis, or over all elements.
struct ExtremumOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> dim = {}, axis = {};
  bool keepdim = false, keepdims = false;
  std::optional<int> value() const { return internal::given_axis(axis, dim); }
  bool keeps() const { return keepdim || keepdims; }
};
struct VarianceOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  catena::Axes dim = {}, axis = {};
  // The divisor is the number of elements minus ddof, or minus PyTorch's correction. unbiased is a ddof of 1; its
  // default in PyTorch is true. ValueError for several of them.
  bool unbiased = false;
  double ddof = 0;
  std::optional<double> correction = {};
  bool keepdim = false, keepdims = false;
  const catena::Axes& axes() const { return internal::given_axes(axis, dim); }
  bool keeps() const { return keepdim || keepdims; }
  double subtracted() const {
    catena::check<catena::ValueError>(int(unbiased) + int(ddof != 0) + int(correction.has_value()) <= 1, "var",
                                      "the divisor is given by several of unbiased, ddof and correction");
    return correction.value_or(unbiased ? 1 : ddof);
  }
};
struct NormOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  catena::NormOrder p = {}, ord = {};
  catena::Axes dim = {}, axis = {};
  bool keepdim = false, keepdims = false;
  const catena::NormOrder& order() const {
    catena::check<catena::ValueError>(p.absent() || ord.absent(), "norm", "the order is given by two names, p and ord");
    return ord.absent() ? p : ord;
  }
  const catena::Axes& axes() const { return internal::given_axes(axis, dim); }
  bool keeps() const { return keepdim || keepdims; }
  // Returns the same options with an order that a call has by position.
  NormOptions with_order(const catena::NormOrder& given) const {
    catena::check<catena::ValueError>(order().absent(), "norm", "the order is given twice");
    return {.ord = given, .axis = axes(), .keepdims = keeps()};
  }
};
struct SortOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> dim = {}, axis = {};  // default: the last axis
  bool descending = false;
  int value() const { return internal::given_axis(axis, dim).value_or(-1); }
};
struct TopKOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> dim = {}, axis = {};  // default: the last axis
  bool largest = true;
  bool sorted = true;  // the results are in order with either value
  int value() const { return internal::given_axis(axis, dim).value_or(-1); }
};
struct FlattenOptions {
  int start_dim = 0, end_dim = -1;
};
// Factors of the terms of addmm and its relatives: beta x + alpha a b.
struct BetaAlphaOptions {
  double beta = 1, alpha = 1;
};

}  // namespace autograd
