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
  return autograd::as_variable(autograd::zeros({batch, units}, x.dtype(), x.device()));
}
// Returns the state, or that before the first call on x if it is null.
inline Variable or_zeros(const Variable& state, const Variable& x, std::int64_t units) {
  return state ? state : zero_state(x, x.shape(0), units);
}

}  // namespace nn::internal
