// Views of arrays with a given layout.
#pragma once

#include <catena/autograd/backend/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/kernels/base/view_layout.h>

namespace autograd::internal {

inline Array view_as(const Array& a, const catena::ViewSpec& v) {
  return a.backend().view(a, v.shape, v.strides, v.offset);
}

}  // namespace autograd::internal
