// Loops over masks in host memory.
//
// Thread safety: may be called from any thread.
#pragma once

#include <catena/ndarray/core/array.h>

namespace nd::internal {

// Writes the element of `value` to every element of `a` at which the mask, of bools, is true. Both are C-contiguous, of
// one shape, and share no memory; `value` has one element, of the dtype of `a`.
void fill_true(const Array& a, const Array& mask, const Array& value);

}  // namespace nd::internal
