// Gathers and scatters along chosen axes, as calls of the backend; shared by take, get_item and their gradients.
#pragma once

#include <span>
#include <string_view>

#include <catena/autograd/backend/backend.h>

namespace autograd::internal {

// The elements of `base` that a loop accesses: index array j indexes axis axes[j] of `base`; loop axis k runs along
// axis base_axis[k], or, if that is -1, along an axis of the index arrays, which broadcast to the loop.
struct IndexedAccess {
  const Array& base;
  std::span<const Array> indices;
  const Dims& axes;
  const Shape& loop;
  const Dims& base_axis;
  std::string_view name = "index";      // used in messages
  const Dims* axes_as_given = nullptr;  // axes for messages, if they differ from `axes`
  bool wraps = false;                   // as in catena::call::Index
};

// `out` must have the loop shape and the dtype of the base.
CATENA_EXPORT void gather(const IndexedAccess& from, const Array& out);
CATENA_EXPORT void scatter(catena::ScatterMode mode, const IndexedAccess& to, const Input& values);
// Adds `values`, of the loop shape, to a base of zeros. Floats that go to one element are added in the order of the
// loop on every device; 16-bit floats are added in float32.
CATENA_EXPORT void scatter_sums(const IndexedAccess& to, const Array& values);

}  // namespace autograd::internal
