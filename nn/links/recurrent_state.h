// States of recurrent layers: variables that are no parameters, are not saved, and move with the link. Internal.
#pragma once

#include <optional>

#include <catena/autograd/variable.h>
#include <catena/nn/functions/array.h>

namespace nn::internal {

using autograd::Variable;

// Returns v itself if it is on the device of the link or the link has no device yet, else a copy through which
// gradients flow. Null stays null.
inline Variable state_on(const std::optional<autograd::Device>& device, const Variable& v) {
  return !v || !device || v.device() == *device ? v : autograd::copy(v, *device);
}

// Returns the state before the first call on x.
inline Variable zero_state(const Variable& x, std::int64_t batch, std::int64_t units) {
  return autograd::as_variable(autograd::arrays::zeros({batch, units}, x.dtype(), x.device()));
}
// Returns the state, or that before the first call on x if it is null.
inline Variable or_zeros(const Variable& state, const Variable& x, std::int64_t units) {
  return state ? state : zero_state(x, x.shape(0), units);
}

// Returns the state (B, units) of a given state (1, B, units); zeros for null. InvalidType for another shape.
inline Variable initial_state(const char* label, const Variable& x, std::int64_t batch, const Variable& given,
                              std::int64_t units) {
  if (!given) return zero_state(x, batch, units);
  const autograd::Shape expected = {1, batch, units};
  if (given.shape() != expected)
    throw catena::InvalidType(catena::concat("state.shape == ", catena::to_string(expected)),
                              catena::concat(catena::to_string(given.shape()), " != ", catena::to_string(expected)),
                              catena::concat("Invalid operation is performed in: ", label));
  return autograd::reshape(given, {batch, units});
}

}  // namespace nn::internal
