// States of recurrent layers, which are variables beside the parameters: not saved, moved with the link. Internal.
#pragma once

#include <optional>

#include <catena/autograd/variable_node.h>
#include <catena/nn/functions/array.h>

namespace nn::internal {

using autograd::Variable;

// v itself where it is on the device of the link, else a copy through which gradients flow; v where the link has none
// yet. Null stays null.
inline Variable state_on(const std::optional<autograd::Device>& device, const Variable& v) {
  return !v || !device || v.device() == *device ? v : autograd::copy(v, *device);
}

// The state before the first call on x.
inline Variable zero_state(const Variable& x, std::int64_t batch, std::int64_t units) {
  return autograd::internal::constant_variable(autograd::zeros({batch, units}, x.dtype(), x.device()));
}

}  // namespace nn::internal
