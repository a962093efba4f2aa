// Long short-term memory layers, called once per time. For a whole sequence in one call, see n_step.h.
//
// Row 4 u + g of the weights belongs to gate g of unit u: candidate a, input gate i, forget gate f, output gate o.
// c' = tanh(a) s(i) + s(f) c, h' = s(o) tanh(c'), where the gates' arguments are upward(x) + lateral(h); see lstm().
//
// The states c and h are variables of the graph, so that backward passes through all calls since reset_state() (for
// truncated backpropagation, cut the graph by unchain_backward). They move with the link and are not saved in files; a
// copy of the link starts with the same states. LSTM is also PyTorch's class of whole sequences, see there.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/activation.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/links/torch_recurrent.h>

namespace nn {

// Options for S units.
struct LSTMOptions {
  Initializer lateral_init = {}, upward_init = {};  // separately for each S rows; default: HeNormal(1 / sqrt 2)
  Initializer bias_init = 0.0;                      // for candidate, input gate and output gate
  Initializer forget_bias_init = 0.0;
};

namespace internal {
class CATENA_EXPORT LSTMBase : public Chain {
 public:
  using Options = LSTMOptions;
  LSTMBase(std::optional<int> in_size, int out_size, const Options& options);
  explicit LSTMBase(int out_size);  // without arrays

  Linear upward;   // W (4 S, in), b (4 S)
  Linear lateral;  // W (4 S, S)
  int state_size;
};
}  // namespace internal

// auto [c, h] = lstm(c, h, x), without stored states. A null c or h is the same as zeros.
class CATENA_EXPORT StatelessLSTM : public internal::LSTMBase {
 public:
  explicit StatelessLSTM(int out_size, const Options& options = {}) : LSTMBase(std::nullopt, out_size, options) {}
  StatelessLSTM(std::optional<int> in_size, int out_size, const Options& options = {})
      : LSTMBase(in_size, out_size, options) {}

  NN_MEMBERS(upward, lateral)
  LSTMState operator()(const Variable& c, const Variable& h, const Variable& x);
};

// Result of a call of LSTM: the variable of the output, and the states after the call. auto [output, state] = lstm(x)
// and auto [h, c] = state take them apart.
class LSTMOutput : public Variable {
 public:
  LSTMOutput(const Variable& output, const torch::LSTMState& last) : Variable(output), state(last) {}
  using Variable::operator=;  // h = nn::relu(h) assigns the variable of the output
  const Variable& output() const noexcept { return *this; }
  template <std::size_t I> auto get() const {
    if constexpr (I == 0) return Variable(*this);
    else return state;
  }
  torch::LSTMState state;
};

// Chainer's link, which is called once per time, and PyTorch's network, which is called with whole sequences.
//
// A matrix x (b, in) is one time, and the result is h (b, S). The batch may become smaller from call to call: the first
// b rows of the states continue, the others are unchanged. A batch larger than that of the states is a TypeError; the
// states are unchanged then. Without an input size, the first call creates W.
//
// x (T, B, in), or packed sequences, are whole sequences: auto [output, state] = lstm(x) gives the output (T, B, S) and
// the states h and c (1, B, S) after the last time. Such a call begins with zeros or with the states that it is given,
// lstm(x, {h, c}), and neither reads nor changes those of the link. Errors are those of torch::LSTM. The parameters are
// Chainer's, with one bias, and files of either library are read.
//
// With PyTorch's options, the link is a torch::LSTM, `layers`, whose parameters replace upward and lateral, and every
// call is one with whole sequences, also that of a matrix (T, in), a sequence without a batch:
//   nn::LSTM lstm(3, 5, {.num_layers = 2, .batch_first = true, .bidirectional = true});
class CATENA_EXPORT LSTM : public internal::LSTMBase {
 public:
  explicit LSTM(int out_size, const Options& options = {}) : LSTMBase(std::nullopt, out_size, options) {}
  LSTM(std::optional<int> in_size, int out_size, const Options& options = {}) : LSTMBase(in_size, out_size, options) {}
  // TypeError without an input size.
  template <std::same_as<RecurrentOptions> O = RecurrentOptions>
  LSTM(std::optional<int> in_size, int out_size, const O& options) : LSTM(AsNetwork{}, in_size, out_size, options) {}
  template <std::same_as<RecurrentOptions> O = RecurrentOptions>  // LSTM({.input_size = 3, .hidden_size = 5})
  explicit LSTM(const O& o)
      : LSTM(AsNetwork{}, o.input_size, internal::required("LSTM", "hidden_size", o.hidden_size), o) {}
  template <std::same_as<int> N>
  LSTM(std::optional<int> in_size, int out_size, N num_layers)
      : LSTM(in_size, out_size, RecurrentOptions{.num_layers = num_layers}) {}

  LSTMOutput operator()(const Variable& x);
  LSTMOutput operator()(const Variable& x, const torch::LSTMState& state);
  torch::PackedLSTMResult operator()(const utils::rnn::PackedSequence& x, const torch::LSTMState& state = {});
  Variable call(const Variables& args) override;
  // Sets the states, as copies on the link's device if they are on another one. The device of a link that was never
  // moved is that of its parameters.
  void set_state(const Variable& c_new, const Variable& h_new);
  void reset_state() { c = h = Variable(); }

  Variable c, h;  // (B, S) with the largest batch since reset_state(), null before the first call
  std::optional<torch::LSTM> layers;

 protected:
  void visit_declared(MemberVisitor& visitor) override;
  void on_device_changed() override;

 private:
  struct AsNetwork {};
  LSTM(AsNetwork, std::optional<int> in_size, int out_size, const RecurrentOptions& options);
  LSTMOutput of_sequences(const Variable& x, const torch::LSTMState& state);
  // The outputs (B_t, S) of the times, whose gates (B_t, 4 S) are given; the states go on.
  Variables outputs_by_time(const Variables& gates, torch::LSTMState& state);
};

// An LSTM with full matrices from the cell state to the gates (Gers and Schmidhuber 2000): i and f read c, o reads c'.
// All batches must have the size of the first one.
class CATENA_EXPORT StatefulPeepholeLSTM : public Chain {
 public:
  StatefulPeepholeLSTM(std::optional<int> in_size, int out_size);

  NN_MEMBERS(upward, lateral, peep_i, peep_f, peep_o)
  Variable operator()(const Variable& x);
  void reset_state() { c = h = Variable(); }

  Linear upward, lateral, peep_i, peep_f, peep_o;
  int state_size;
  Variable c, h;

 protected:
  void on_device_changed() override;
};

struct StatefulZoneoutLSTMOptions {
  double c_ratio = 0.5, h_ratio = 0.5;  // the probability of keeping an element of c and of h
  std::optional<bool> train = {};       // default: the thread's train mode; false: nothing is kept
};
// An LSTM that keeps random elements of the states (Krueger et al. 2016); h' is computed from c' before elements of c
// are kept. All batches must have the size of the first one.
class CATENA_EXPORT StatefulZoneoutLSTM : public Chain {
 public:
  using Options = StatefulZoneoutLSTMOptions;
  StatefulZoneoutLSTM(std::optional<int> in_size, int out_size, const Options& options = {});
  // StatefulZoneoutLSTM(3, 2, 0.5, 0.1)
  template <std::convertible_to<double> R>
  StatefulZoneoutLSTM(std::optional<int> in_size, int out_size, R c_ratio_, double h_ratio_ = 0.5,
                      std::optional<bool> train_ = {})
      : StatefulZoneoutLSTM(in_size, out_size, Options{double(c_ratio_), h_ratio_, train_}) {}

  NN_MEMBERS(upward, lateral)
  Variable operator()(const Variable& x);
  void set_state(const Variable& c_new, const Variable& h_new);  // as for LSTM
  void reset_state() { c = h = Variable(); }

  Linear upward, lateral;
  int state_size;
  double c_ratio, h_ratio;
  std::optional<bool> train;
  Variable c, h;

 protected:
  void on_device_changed() override;
};

}  // namespace nn

template <> struct std::tuple_size<nn::LSTMOutput> : std::integral_constant<std::size_t, 2> {};
template <> struct std::tuple_element<0, nn::LSTMOutput> { using type = nn::Variable; };
template <> struct std::tuple_element<1, nn::LSTMOutput> { using type = nn::torch::LSTMState; };
