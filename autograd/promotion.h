// Promotion of dtypes as in PyTorch.
#pragma once

#include <catena/kernels/base/dtype.h>

namespace autograd::internal {

using catena::Dtype;

// The common dtype of two. Integers and bools never widen a floating or complex dtype, as they do in NumPy.
inline Dtype promoted(Dtype a, Dtype b) {
  if (catena::is_exact(a) != catena::is_exact(b)) return catena::is_exact(a) ? b : a;
  return catena::promote_types(a, b);
}
// The complex dtype whose parts have this floating dtype, or float32.
inline Dtype complex_of(Dtype floating) { return floating == Dtype::float64 ? Dtype::complex128 : Dtype::complex64; }

}  // namespace autograd::internal
