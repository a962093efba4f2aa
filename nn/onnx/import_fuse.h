// Graphs that compute the same with fewer nodes, for inference. Internal to
// this folder.
#pragma once

#include <catena/nn/onnx/model.h>

namespace nn::onnx::importing {

// Takes each BatchNormalization behind a convolution whose result nothing else
// reads into the weight and the bias of the convolution, if all of them are
// initializers. Returns the number of nodes that have gone.
int fuse_batch_normalization(Model& model);

}  // namespace nn::onnx::importing
