// Gated recurrent units (Cho et al. 2014), called once per time. For a whole sequence in one call, see n_step.h, whose
// formula applies the reset gate at another place.
//
//   r = s(W_r x + U_r h), z = s(W_z x + U_z h), a = tanh(W x + U (r h)); h' = (1 - z) h + z a
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include <catena/nn/links/linear.h>
#include <catena/nn/links/torch_recurrent.h>

namespace nn {

struct GRUOptions {
  Initializer init = {}, inner_init = {};  // for the matrices of x and of h; default: HeNormal(1 / sqrt 2)
  Initializer bias_init = 0.0;             // for the bias of each of the six linear maps
};

namespace internal {
class CATENA_EXPORT GRUBase : public Chain {
 public:
  using Options = GRUOptions;
  GRUBase(int n_units, std::optional<int> n_inputs, const Options& options);
  GRUBase();  // without arrays of matrices

  Linear W_r, U_r, W_z, U_z, W, U;

 protected:
  Variable next(const Variable& h, const Variable& x);
};
}  // namespace internal

// Result of a call of GRU: the variable of the output, and the state after the call: auto [output, state] = gru(x).
class GRUOutput : public Variable {
 public:
  GRUOutput(const Variable& output, const Variable& last) : Variable(output), state(last) {}
  using Variable::operator=;  // h = nn::relu(h) assigns the variable of the output
  const Variable& output() const noexcept { return *this; }
  template <std::size_t I> Variable get() const { return I == 0 ? Variable(*this) : state; }
  Variable state;
};

// Chainer's link, which is called once per time, and PyTorch's network, which is called with whole sequences.
//
// h' = gru(h, x) for matrices, without a stored state. GRU(n_units, n_inputs) has as many inputs as units unless given.
//
// x (T, B, in) is a batch of whole sequences: auto [output, state] = gru(x), or gru(x, state), gives the output (T, B,
// units) and the state (1, B, units) after the last time, with PyTorch's formula, whose reset gate is applied to U h,
// and the same parameters. InvalidType for other x, ValueError for sequences of length 0.
//
// PyTorch's class has its sizes in the other order, GRU(input_size, hidden_size). With PyTorch's options, the link is a
// torch::GRU, `layers`, whose parameters replace those of the link, and every call is one with whole sequences, also
// that of a matrix (T, in), a sequence without a batch:
//   nn::GRU gru(3, 5, {.num_layers = 1});
//   nn::GRU other(3, 5, {.num_layers = 2, .batch_first = true});
class CATENA_EXPORT GRU : public internal::GRUBase {
 public:
  explicit GRU(int n_units, std::optional<int> n_inputs = {}, const Options& options = {})
      : GRUBase(n_units, n_inputs, options) {}
  template <std::same_as<RecurrentOptions> O = RecurrentOptions>
  GRU(int input_size, std::optional<int> hidden_size, const O& options)
      : GRU(AsNetwork{}, input_size, hidden_size, options) {}
  template <std::same_as<RecurrentOptions> O = RecurrentOptions>  // GRU({.input_size = 3, .hidden_size = 5})
  explicit GRU(const O& o)
      : GRU(AsNetwork{}, internal::required("GRU", "input_size", o.input_size), o.hidden_size, o) {}
  template <std::same_as<int> N>
  GRU(int input_size, std::optional<int> hidden_size, N num_layers)
      : GRU(input_size, hidden_size, RecurrentOptions{.num_layers = num_layers}) {}

  GRUOutput operator()(const Variable& x) { return of_sequences(x, {}); }
  GRUOutput operator()(const Variable& h_or_x, const Variable& x_or_state);
  torch::PackedGRUResult operator()(const utils::rnn::PackedSequence& x, const Variable& state = {});
  Variable call(const Variables& args) override;

  std::optional<torch::GRU> layers;

 protected:
  void visit_declared(MemberVisitor& visitor) override;

 private:
  struct AsNetwork {};
  GRU(AsNetwork, int input_size, std::optional<int> hidden_size, const RecurrentOptions& options);
  GRUOutput of_sequences(const Variable& x, const Variable& state);
  void expect_inputs(const Variable& x);
  // The products of x (n, in) with the weights of r, z and a, with their biases: (n, units) each.
  struct OfInput {
    Variable r, z, a;
  };
  OfInput of_input(const Variable& x) { return {W_r(x), W_z(x), W(x)}; }
  // The outputs (B_t, units) of the times, each of which has the next B_t rows of the arguments; the state goes on.
  Variables outputs_by_time(const OfInput& all, const std::vector<std::int64_t>& batch_sizes, Variable& state);
};

// The GRU with the sizes in the order of later versions of Chainer: StatelessGRU(in_size, out_size).
class CATENA_EXPORT StatelessGRU : public GRU {
 public:
  StatelessGRU(int in_size, int out_size, const Options& options = {}) : GRU(out_size, in_size, options) {}
};

// x (b, in) -> h (b, out). The first h' is z a, without the maps of h and their biases. The state h is a variable of
// the graph, moves with the link, and is not saved in files; a copy of the link starts with the same state.
class CATENA_EXPORT StatefulGRU : public internal::GRUBase {
 public:
  StatefulGRU(std::optional<int> in_size, int out_size, const Options& options = {})
      : GRUBase(out_size, in_size, options), state_size(out_size) {}

  NN_MEMBERS(W_r, U_r, W_z, U_z, W, U)
  Variable operator()(const Variable& x);
  void set_state(const Variable& h_new);  // as for LSTM
  void reset_state() { h = Variable(); }

  int state_size;
  Variable h;  // null before the first call

 protected:
  void on_device_changed() override;
};

}  // namespace nn

template <> struct std::tuple_size<nn::GRUOutput> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I> struct std::tuple_element<I, nn::GRUOutput> { using type = nn::Variable; };
