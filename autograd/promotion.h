// Promotion of dtypes as in PyTorch.
#pragma once

#include <catena/autograd/operators.h>

namespace autograd::internal {

// The common dtype of two. Integers and bools never widen a floating or complex dtype, as they do in NumPy.
inline Dtype promoted(Dtype a, Dtype b) {
  if (catena::is_exact(a) != catena::is_exact(b)) return catena::is_exact(a) ? b : a;
  return catena::promote_types(a, b);
}
// Returns x, or, kept by `converted`, x in the dtype of the result of x and c. A floating x keeps its dtype. Integers
// and bools become floating beside floating numbers and if they are `divided`, and bools int64 beside integers.
const Variable& beside(const Constant& c, const Variable& x, Variable& converted, bool divided = false);

}  // namespace autograd::internal
