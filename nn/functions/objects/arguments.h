// Helpers of the calls of function classes. Internal.
#pragma once

#include <optional>

#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/objects/function_object.h>

namespace nn::functions {

// Convert an argument that can only restrict the thread's configuration; a missing value leaves the thread's setting.
inline std::optional<bool> if_true(bool v) { return v ? std::optional(true) : std::nullopt; }
inline std::optional<bool> if_false(bool v) { return v ? std::nullopt : std::optional(false); }

inline Variable at(const Variables& x, std::size_t i) { return i < x.size() ? x[i] : Variable(); }
inline Variables behind(const Variables& x, std::size_t first) {
  Variables rest;
  for (std::size_t i = first; i < x.size(); ++i) rest.push_back(x[i]);
  return rest;
}

// Returns the random numbers of the object's first call, if there was one; later calls repeat them, so that a gradient
// can be compared with differences of values.
inline Array draw_of(const autograd::Arrays& kept) { return kept.empty() ? Array() : kept[0]; }

// Returns x; InvalidType unless it has ndim axes after the first two.
inline const Variable& of_rank(const char* label, const Variable& x, int ndim) {
  internal::check_inputs(label, "x", {x}, [ndim](const autograd::type_check::TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].ndim == variable(ndim, "ndim") + 2);
  });
  return x;
}

}  // namespace nn::functions
