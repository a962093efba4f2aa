// Recurrent networks over batches of sequences of one length, with PyTorch's options, axes and results: the links of
// n_step.h, whose parameters and initial values they have. nn::LSTM and nn::GRU, which are also Chainer's links, are
// these networks if they get options.
//
//   nn::torch::LSTM lstm(3, 5, {.num_layers = 2, .batch_first = true, .bidirectional = true});
//   auto [output, state] = lstm(x);              // x (B, T, 3) -> (B, T, 2 * 5)
//   auto [h, c] = state;                         // (2 * 2, B, 5)
//   auto [next, last] = lstm(x, {h, c});
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <vector>

#include <catena/nn/functions/torch_sequences.h>
#include <catena/nn/links/n_step.h>
#include <catena/nn/links/recurrent_options.h>

namespace nn::torch {

// The states of S layers in D directions, (S D, B, N), with the index layer * D + direction. Null states are zeros.
struct LSTMState {
  Variable h, c;
  // std::tie(h, c) = cell(x, {h, c}), where the references are those of the result.
  operator std::tuple<Variable&, Variable&>() { return {h, c}; }
};
struct LSTMResult {
  Variable output;  // of the last layer at every time: (T, B, N D), or (B, T, N D) with batch_first
  LSTMState state;  // after the last time
};
struct GRUResult {
  Variable output, state;
};
// The same of packed sequences, in the order in which they were given.
struct PackedLSTMResult {
  utils::rnn::PackedSequence output;
  LSTMState state;
};
struct PackedGRUResult {
  utils::rnn::PackedSequence output;
  Variable state;
};

// x (T, B, in), or (B, T, in) with batch_first -> output and last states. InvalidType for another rank and for states
// of other shapes, ValueError for sequences of length 0.
class CATENA_EXPORT LSTM : public nn::internal::NStepBase {
 public:
  using Options = RecurrentOptions;
  LSTM(int input_size, int hidden_size, const Options& options = {});
  template <std::same_as<Options> O = Options>
  explicit LSTM(const O& o)
      : LSTM(nn::internal::required("LSTM", "input_size", o.input_size),
             nn::internal::required("LSTM", "hidden_size", o.hidden_size), o) {}
  LSTM(int input_size, int hidden_size, int num_layers)
      : LSTM(input_size, hidden_size, Options{.num_layers = num_layers}) {}
  LSTMResult operator()(const Variable& x, const LSTMState& state = {});
  PackedLSTMResult operator()(const utils::rnn::PackedSequence& x, const LSTMState& state = {});
  bool batch_first;
};
namespace internal {
// States (S D, B, N) with the sequences in another order; null, and any states for an empty order, stay as they are.
CATENA_EXPORT Variable reordered(const Variable& states, const std::vector<std::int64_t>& order);

class CATENA_EXPORT OneState : public nn::internal::NStepBase {
 public:
  GRUResult operator()(const Variable& x, const Variable& h = {});
  PackedGRUResult operator()(const utils::rnn::PackedSequence& x, const Variable& h = {});
  bool batch_first;

 protected:
  OneState(nn::internal::NStepCell cell, int in, int out, const RecurrentOptions& o);
};
}  // namespace internal
// The same of GRU cells, whose only state is h: auto [output, h] = gru(x).
class CATENA_EXPORT GRU : public internal::OneState {
 public:
  using Options = RecurrentOptions;
  GRU(int input_size, int hidden_size, const Options& options = {});
  template <std::same_as<Options> O = Options>
  explicit GRU(const O& o)
      : GRU(nn::internal::required("GRU", "input_size", o.input_size),
            nn::internal::required("GRU", "hidden_size", o.hidden_size), o) {}
  GRU(int input_size, int hidden_size, int num_layers)
      : GRU(input_size, hidden_size, Options{.num_layers = num_layers}) {}
};
// h' = tanh(W x + b + W' h + b'), or relu of it.
class CATENA_EXPORT RNN : public internal::OneState {
 public:
  using Options = RNNOptions;
  RNN(int input_size, int hidden_size, const Options& options = {});
  template <std::same_as<Options> O = Options>
  explicit RNN(const O& o)
      : RNN(nn::internal::required("RNN", "input_size", o.input_size),
            nn::internal::required("RNN", "hidden_size", o.hidden_size), o) {}
  RNN(int input_size, int hidden_size, int num_layers)
      : RNN(input_size, hidden_size, Options{.num_layers = num_layers}) {}
};

}  // namespace nn::torch

namespace nn {
using torch::RNN;  // Chainer has no link of this name
}
