// Recurrent networks over batches of sequences of one length, with PyTorch's options, axes and results: the links of
// n_step.h, whose parameters and initial values they have. (nn::LSTM is Chainer's, which is called once per time.)
//
//   nn::torch::LSTM lstm(3, 5, {.num_layers = 2, .batch_first = true, .bidirectional = true});
//   auto [output, state] = lstm(x);              // x (B, T, 3) -> (B, T, 2 * 5)
//   auto [h, c] = state;                         // (2 * 2, B, 5)
//   auto [next, last] = lstm(x, {h, c});
#pragma once

#include <catena/nn/links/lstm.h>
#include <catena/nn/links/n_step.h>

namespace nn::torch {

// The states of S layers in D directions, (S D, B, N), with the index layer * D + direction. Null states are zeros.
struct LSTMState {
  Variable h, c;
};
struct LSTMResult {
  Variable output;  // of the last layer at every time: (T, B, N D), or (B, T, N D) with batch_first
  LSTMState state;  // after the last time
};
struct GRUResult {
  Variable output, state;
};

// x (T, B, in), or (B, T, in) with batch_first -> output and last states. InvalidType for another rank and for states
// of other shapes, ValueError for sequences of length 0.
class CATENA_EXPORT LSTM : public internal::NStepBase {
 public:
  using Options = RecurrentOptions;
  LSTM(int input_size, int hidden_size, const Options& options = {});
  LSTMResult operator()(const Variable& x, const LSTMState& state = {});
  bool batch_first;
};
// The same of GRU cells, whose only state is h: auto [output, h] = gru(x).
class CATENA_EXPORT GRU : public internal::NStepBase {
 public:
  using Options = RecurrentOptions;
  GRU(int input_size, int hidden_size, const Options& options = {});
  GRUResult operator()(const Variable& x, const Variable& h = {});
  bool batch_first;
};

}  // namespace nn::torch
