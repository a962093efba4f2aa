#include <catena/ndarray/engine/clip_bounds.h>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/scalar.h>

namespace nd::internal {

using catena::Dtype;
using catena::Scalar;

ClipBounds clip_bounds(const catena::Input& x, const catena::Input& low, const catena::Input& high) {
  const auto is_alike = [&](const catena::Input& bound) {
    return bound.is_array() ? bound.array().dtype == x.array().dtype
                            : catena::is_integer(bound.scalar().natural_dtype());
  };
  if (!x.is_array() || !catena::is_integer(x.array().dtype) || !is_alike(low) || !is_alike(high)) return {low, high};
  const Dtype t = x.array().dtype;
  const Scalar lowest = Scalar::lowest(t), highest = Scalar::highest(t);
  return {low.is_array() || low.scalar().fits(t) || low.scalar() > lowest ? low : catena::Input(lowest),
          high.is_array() || high.scalar().fits(t) || !(high.scalar() > highest) ? high : catena::Input(highest)};
}

}  // namespace nd::internal
