// The bounds of clip, for arrays and for traced values.
#pragma once

#include <catena/kernels/base/export.h>
#include <catena/kernels/registry/bind.h>

namespace nd::internal {

// A number that lies beyond the integers of `x`, of whose dtype all arrays are, clips nothing, so the last of these
// integers stands for it. A bound on the other side, which no element reaches, stays as it is and does not fit.
struct ClipBounds {
  catena::Input low, high;
};
CATENA_EXPORT ClipBounds clip_bounds(const catena::Input& x, const catena::Input& low, const catena::Input& high);

}  // namespace nd::internal
