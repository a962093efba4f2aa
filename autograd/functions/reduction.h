// Differentiable reductions over axes.
#pragma once

#include <concepts>
#include <optional>

#include <catena/autograd/variable.h>

namespace autograd {

// The reductions of autograd/reductions.inc, with their rules. InvalidType for integers and bools where the
// list says floating, InvalidAxis for an axis out of range, ValueError for a repeated one.
// Templates, so that options in braces, sum(x, {.dim = 1}), are not taken for a list of axes.
#define CATENA_REDUCTION_RULE(name, ...)                                                              \
  template <class A = Axes>                                                                           \
  Variable name(const Variable& x, const std::type_identity_t<A>& axes = {}, bool keepdims = false) { \
    return x.name(axes, keepdims);                                                                    \
  }
#include <catena/autograd/reductions.inc>
#undef CATENA_REDUCTION_RULE
// Over one axis, taken apart as in PyTorch: auto [values, indices] = max(x, 1).
template <std::same_as<int> I> Extremes max(const Variable& x, I axis, bool keepdims = false) {
  return x.max(axis, keepdims);
}
template <std::same_as<int> I> Extremes min(const Variable& x, I axis, bool keepdims = false) {
  return x.min(axis, keepdims);
}

inline Extremes max(const Variable& x, const ExtremumOptions& o) { return x.max(o); }
inline Extremes min(const Variable& x, const ExtremumOptions& o) { return x.min(o); }
// With options: sum(x, {.dim = 1, .keepdim = true}), mean(x, {2, 3}, {.keepdims = true}).
inline Variable sum(const Variable& x, const ReductionOptions& o) { return x.sum(o); }
template <ForeignArray T> Variable sum(const T& x, const ReductionOptions& o) { return Variable(x).sum(o); }
inline Variable sum(const Variable& x, const Axes& axes, const ReductionOptions& o) { return x.sum(axes, o); }
inline Variable mean(const Variable& x, const ReductionOptions& o) { return x.mean(o); }
template <ForeignArray T> Variable mean(const T& x, const ReductionOptions& o) { return Variable(x).mean(o); }
inline Variable mean(const Variable& x, const Axes& axes, const ReductionOptions& o) { return x.mean(axes, o); }
inline Variable prod(const Variable& x, const ReductionOptions& o) { return x.prod(o); }
inline Variable prod(const Variable& x, const Axes& axes, const ReductionOptions& o) { return x.prod(axes, o); }
inline Variable var(const Variable& x, const VarianceOptions& o) { return x.var(o); }
inline Variable std(const Variable& x, const VarianceOptions& o) { return x.std(o); }

// var(x, 0, {.ddof = 1}). NaN or inf if the divisor is not positive. ValueError for axes by position and in the
// options.
CATENA_EXPORT Variable var(const Variable& x, const Axes& axes, const VarianceOptions& options);
CATENA_EXPORT Variable std(const Variable& x, const Axes& axes, const VarianceOptions& options);

// Sums over the axes that broadcasting `shape` to the shape of x adds or extends: the adjoint of broadcast_to.
CATENA_EXPORT Variable sum_to(const Variable& x, const Shape& shape);
// Returns sum(x w) / sum(w). The weights w have the shape of x, or, if axes are given, the lengths of x along these
// axes. Null weights are equal weights, as in mean. Differentiable in x and w. InvalidType for weights of another dtype
// or shape.
CATENA_EXPORT Variable average(const Variable& x, const Axes& axes = {}, const Variable& weights = {},
                               bool keepdims = false);
struct AverageOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Axes axis = {};
  Variable weights = {};
  bool keepdims = false;
};
template <std::same_as<AverageOptions> O = AverageOptions> Variable average(const Variable& x, const O& o) {
  return average(x, o.axis, o.weights, o.keepdims);
}
inline Variable mean(const Variable& x, const Axes& axes, const Variable& weights, bool keepdims = false) {
  return average(x, axes, weights, keepdims);
}

// Returns log(sum(exp(x))) without overflow; -inf if all elements are -inf, and then their gradients are 0.
CATENA_EXPORT Variable logsumexp(const Variable& x, const Axes& axes = {}, bool keepdims = false);
template <std::same_as<ReductionOptions> O = ReductionOptions> Variable logsumexp(const Variable& x, const O& o) {
  return logsumexp(x, o.axes(), o.keeps());
}
// Returns the sum of the squares of x (B, ...) over all axes but the first, (B). At least 2 axes (InvalidType).
CATENA_EXPORT Variable batch_l2_norm_squared(const Variable& x);

// Returns, as int32, the position of the greatest or least element along an axis, which the result does not have, or in
// the flattened array; among equal elements, the first. No gradient. ValueError if there are no elements.
CATENA_EXPORT Variable argmax(const Variable& x, std::optional<int> axis = {});
CATENA_EXPORT Variable argmin(const Variable& x, std::optional<int> axis = {});

}  // namespace autograd
