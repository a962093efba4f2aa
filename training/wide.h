// Arithmetic of rules that are programs of array functions: 16-bit parameters are computed in float32, in which their
// states are kept. Internal to training.
#pragma once

#include <catena/autograd/array_backend.h>
#include <catena/training/optimizer.h>

namespace training::internal {

// The array itself, or a 16-bit one in float32.
inline Array wide(const Array& a) { return autograd::astype(a, catena::compute_dtype(a.dtype())); }

// A state of the given shape for a parameter.
inline Array wide_zeros(const Variable& param, const autograd::Shape& shape) {
  const Array& p = param.data();
  const Array state = p.backend().empty(shape, catena::compute_dtype(p.dtype()), p.device());
  autograd::fill(state, 0);
  return state;
}

// States of zeros in the shape of a parameter.
inline void init_wide_states(const Variable& param, std::span<Array> states) {
  for (Array& state : states) state = wide_zeros(param, param.shape());
}

}  // namespace training::internal
