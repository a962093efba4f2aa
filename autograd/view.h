// Views of arrays with a given layout.
#pragma once

#include <catena/autograd/backend/backend.h>
#include <catena/kernels/base/view_layout.h>

namespace autograd::internal {

// A view without elements points at the first element of `a`.
inline Array view_as(const Array& a, const catena::ViewSpec& v) {
  return a.backend().view(a, v.shape, v.strides, catena::size_of(v.shape) != 0 ? v.offset : 0);
}

}  // namespace autograd::internal
