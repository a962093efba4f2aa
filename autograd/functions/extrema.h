// Greatest and smallest elements whose gradient is divided among equal elements.
#pragma once

#include <catena/autograd/variable.h>

namespace autograd {

// The greatest and the smallest element along the axes, of all elements for {}. If several elements are equal to the
// result, each has an equal share of its gradient, as with PyTorch's amax and amin; each has the whole gradient with
// max and min of functions/reduction.h. If the result is NaN, the elements that are NaN share it. Integers
// and bools get no gradient. ValueError for an axis that x does not have and if there are no elements.
CATENA_EXPORT Variable amax(const Variable& x, const Axes& axes = {}, bool keepdims = false);
CATENA_EXPORT Variable amin(const Variable& x, const Axes& axes = {}, bool keepdims = false);
template <ForeignArray T> Variable amax(const T& x, const Axes& axes = {}, bool keepdims = false) {
  return amax(Variable(x), axes, keepdims);
}
template <ForeignArray T> Variable amin(const T& x, const Axes& axes = {}, bool keepdims = false) {
  return amin(Variable(x), axes, keepdims);
}

}  // namespace autograd
