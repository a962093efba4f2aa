// The weight of a layer that quantize_weights() may have converted. Internal to this folder.
#pragma once

#include <catena/nn/link.h>

namespace nn::internal {

// The parameter with the scales of W.
inline constexpr const char* kScaleName = "W_scale";

inline bool is_quantized(const Parameter& W) { return W.is_initialized() && W.dtype() == Dtype::int8; }
// Returns the scales of a quantized W. RuntimeError if the link has none.
Variable scale_of(Link& link);
// Returns W, or the floating weight that a quantized W stands for.
Variable weight_of(Link& link, const Parameter& W);

}  // namespace nn::internal
