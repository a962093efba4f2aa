// Gradients of results on which nothing depends, for functions whose backward needs all of them. Internal.
#pragma once

#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/variable.h>

namespace autograd::internal {

// The backend, shape, dtype and device of an array, without its elements.
struct ArrayKind {
  Backend* backend;
  Shape shape;
  Dtype dtype;
  Device device;
  explicit ArrayKind(const Array& a) : backend(&a.backend()), shape(a.shape()), dtype(a.dtype()), device(a.device()) {}
};
CATENA_EXPORT std::vector<ArrayKind> kinds_of(const Arrays& arrays);
// Returns the gradients of results of these kinds, with zeros where there is none.
CATENA_EXPORT Variables with_zeros(const Variables& gy, const std::vector<ArrayKind>& kinds);

}  // namespace autograd::internal
