// Options of functions and members along axes, with PyTorch's names and NumPy's: x.sum({.dim = 1}) is
// x.sum({.axis = 1}), and keepdim is keepdims.
#pragma once

#include <optional>

#include <catena/kernels/base/norm_order.h>
#include <catena/kernels/base/shape.h>

namespace autograd {

namespace internal {
// The first member of options that stand where axes may stand. It makes initializers without names fail, so that {0, 1}
// is a list of axes.
struct Named {
  explicit Named() = default;
};
}  // namespace internal

// Of functions along one axis.
struct AxisOption {
  [[no_unique_address]] internal::Named named = internal::Named();
  std::optional<int> dim = {}, axis = dim;
};
// Of reductions over one or several axes. Where axes are given by position, too, axes of the options are a ValueError.
struct ReductionOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  catena::Axes dim = {}, axis = dim;         // default: all axes
  bool keepdim = false, keepdims = keepdim;  // the axes stay, with the length 1
};
// Of reductions over one axis, or over all elements.
struct ExtremumOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  std::optional<int> dim = {}, axis = dim;
  bool keepdim = false, keepdims = keepdim;
};
struct VarianceOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  catena::Axes dim = {}, axis = dim;
  bool unbiased = false;  // PyTorch's default is true
  // The divisor is the number of elements minus this.
  double ddof = unbiased ? 1 : 0, correction = ddof;
  bool keepdim = false, keepdims = keepdim;
};
struct NormOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  catena::NormOrder p = {}, ord = p;
  catena::Axes dim = {}, axis = dim;
  bool keepdim = false, keepdims = keepdim;
};
struct SortOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  int dim = -1, axis = dim;
  bool descending = false;
};
struct TopKOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  int dim = -1, axis = dim;
  bool largest = true;
  bool sorted = true;  // the results are in order with either value
};
struct FlattenOptions {
  int start_dim = 0, end_dim = -1;
};

}  // namespace autograd
