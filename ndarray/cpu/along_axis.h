// The rows of two arrays along one axis, for scans and sorts, which distribute the rows over threads.
#pragma once

#include <catena/ndarray/cpu/walk.h>

namespace nd::cpu {

// Returns a walk over the rows. `in` and `out` must have the same shape. A unit of the walk is the first element of a
// row, that is, a position along all other axes.
inline Walk walk_rows(catena::BoundOperand in, catena::BoundOperand out, int axis) {
  catena::Shape shape = *in.shape;
  catena::Strides in_strides = *in.strides, out_strides = *out.strides;
  shape.erase(axis);
  in_strides.erase(axis);
  out_strides.erase(axis);
  in.strides = &in_strides;
  out.strides = &out_strides;
  const catena::BoundOperand both[] = {in, out};
  return Walk(both, shape, 1);
}

}  // namespace nd::cpu
