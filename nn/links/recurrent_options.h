// PyTorch's options of the recurrent networks in torch_recurrent.h.
#pragma once

#include <optional>
#include <string_view>

#include <catena/nn/layer_place.h>

namespace nn {

// Of torch::LSTM and torch::GRU.
struct RecurrentOptions {
  std::optional<int> input_size = {}, hidden_size = {};  // in place of the arguments
  int num_layers = 1;
  bool bias = true;
  bool batch_first = false;  // x is (B, T, in) instead of (T, B, in)
  double dropout = 0;        // of the input of every layer but the first one, in train mode
  bool bidirectional = false;
  LayerDevice device = {};
  LayerDtype dtype = {};
};
// Of RNN.
struct RNNOptions {
  std::optional<int> input_size = {}, hidden_size = {};
  int num_layers = 1;
  std::string_view nonlinearity = "tanh";  // or "relu"; ValueError for others
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
  LayerDevice device = {};
  LayerDtype dtype = {};
};

}  // namespace nn
