// For reductions that are made of functions along one axis.
#pragma once

#include <catena/ndarray/core/array.h>

namespace nd::internal {

// The array with the axes, which are normalised and sorted, as one last axis: of shape (the other axes..., their
// number of elements). A view where the layout allows it.
CATENA_EXPORT Array reduced_axes_last(const Array& a, const catena::Dims& axes);

}  // namespace nd::internal
