// Differentiable reductions over axes.
#pragma once

#include <catena/autograd/variable.h>

namespace autograd {

// Floating input. InvalidType for an axis out of range, ValueError for a repeated one.
CATENA_EXPORT Variable sum(const Variable& x, const Axes& axes = {}, bool keepdims = false);
// Sums over the axes that broadcasting `shape` to x's shape adds or stretches: the adjoint of broadcast_to.
CATENA_EXPORT Variable sum_to(const Variable& x, const Shape& shape);
// The mean; 16-bit floats are summed and divided in float32.
CATENA_EXPORT Variable mean(const Variable& x, const Axes& axes = {}, bool keepdims = false);
// Every element that equals the extremum receives the whole gradient.
CATENA_EXPORT Variable max(const Variable& x, const Axes& axes = {}, bool keepdims = false);
CATENA_EXPORT Variable min(const Variable& x, const Axes& axes = {}, bool keepdims = false);

}  // namespace autograd
