// Weights of 8 bits for inference: int8 values with a float32 scale for each output channel, symmetric around 0.
//
// nn::quantize_weights (nn/links/quantization.h) converts the layers of a model; these are its parts.
#pragma once

#include <optional>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/export.h>

namespace nn {

// values (the shape of w, int8) and scale (the length of `axis`, float32), with w ~ values * scale.
struct QuantizedWeight {
  autograd::Array values, scale;
};

// Rounds w times 1 / scale to the nearest integer, ties to even, where scale is the greatest |w| of a channel / 127.5,
// as PyTorch's PerChannelMinMaxObserver with qscheme=torch.per_channel_symmetric has it. Values lie in -128..127, and
// |w - values * scale| is scale / 2 at most, up to float32's rounding. A channel of zeros has zeros as values. `axis`
// is that of the output channels. TypeError unless w is floating; ValueError for NaN and infinity, which have no
// integer, and for an axis that w does not have.
//   const auto [values, scale] = nn::quantize_per_channel(w);
CATENA_EXPORT QuantizedWeight quantize_per_channel(const autograd::Array& w, int axis = 0);

// Returns values * scale in the dtype of scale, as ONNX's DequantizeLinear without a zero point does: int8 values, and
// scale (the length of `axis`). InvalidType for other dtypes and shapes. Neither has a gradient: a backward that would
// need that of scale is a RuntimeError.
CATENA_EXPORT autograd::Variable dequantize(const autograd::Variable& values, const autograd::Variable& scale,
                                            int axis = 0);

// linear(x, dequantize(W, scale), b, n_batch_axes). Without a graph, few rows of x are multiplied with the int8 values
// themselves on the CPU, which takes a quarter of the memory traffic.
CATENA_EXPORT autograd::Variable quantized_linear(const autograd::Variable& x, const autograd::Variable& W,
                                                  const autograd::Variable& scale, const autograd::Variable& b = {},
                                                  std::optional<int> n_batch_axes = {});

}  // namespace nn
