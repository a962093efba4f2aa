// Weights of 8 bits for inference: a quarter of the memory, and of the time in which one example reads them.
//
//   nn::quantize_weights(net);                                    // of all Linear and convolution layers
//   nn::quantize_weights(net, {.match = "body/*"});               // of some of them
//   nn::serializers::save_npz("net.npz", net);                    // a quarter of the size; nn::export_program likewise
#pragma once

#include <string>
#include <vector>

#include <catena/nn/functions/quantization.h>
#include <catena/nn/link.h>

namespace nn {

struct QuantizeOptions {
  std::string match = "*";  // the paths of layers or weights: nn/path_pattern.h
  int bits = 8;             // ValueError for other widths
};

// Replaces the weights W of the Linear, Convolution2D and ConvolutionND layers at the paths that match (Convolution1D,
// Convolution3D, and the layers inside of LSTM, Inception and others included) by int8 values, and adds their scales as
// a parameter "W_scale" (quantize_per_channel()). Biases and all other layers stay as they are. Returns the paths of
// these weights, "/l1/W", also of those that were int8 before.
//
// Such a layer computes what it would with the rounded weights. It is for inference: its backward is a RuntimeError
// unless the scales are frozen (disable_update("*/W_scale")), with which the weights are constants. It is saved and
// loaded as any other link, by a link that is quantized, too: call this function before load_npz. to_dtype() converts
// scales as well, which float16 may not hold: convert a model before.
//
// KeyError if no layer matches; ValueError, with the path, for a weight without a shape (call the model once first) and
// for NaN and infinity. Nothing is changed then. The layers' hooks that replace W need floating weights: TypeError in
// the next call.
CATENA_EXPORT std::vector<std::string> quantize_weights(Link& model, const QuantizeOptions& options = {});

// PyTorch's and other names for what there is. Compilers show these lines in their error messages.
template <class... A> void quantize(A&&...) = delete;          // nn::quantize_weights(model)
template <class... A> void quantize_dynamic(A&&...) = delete;  // nn::quantize_weights(model)

}  // namespace nn
