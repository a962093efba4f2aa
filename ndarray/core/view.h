// Views of arrays with a given layout.
#pragma once

#include <catena/kernels/base/view_layout.h>
#include <catena/ndarray/core/array.h>

namespace nd::internal {

inline Array view_as(const Array& a, const catena::ViewSpec& v) { return make_view(a, v.shape, v.strides, v.offset); }

}  // namespace nd::internal
