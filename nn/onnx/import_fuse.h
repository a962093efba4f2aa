// Graphs that compute the same with fewer nodes, for inference. Internal to
// this folder.
#pragma once

#include <catena/nn/onnx/model.h>

namespace nn::onnx::importing {

// Takes each BatchNormalization behind a convolution whose result nothing else
// reads into the weight and the bias of the convolution, if all of them are
// initializers. Returns the number of nodes that have gone.
int fuse_batch_normalization(Model& model);

// Gives a Gemm the int8 weight of the DequantizeLinear before it, and the
// scales, one for each output, as a fourth input, if the Gemm is a layer with
// the weight as its right operand and nothing else reads the floating one.
// Returns the number of nodes that have gone.
int fuse_quantized_products(Model& model);

}  // namespace nn::onnx::importing
