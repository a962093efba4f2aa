// Gated recurrent units (Cho et al. 2014), called once per time. For a whole sequence in one call, see n_step.h, whose
// formula applies the reset gate at another place.
//
//   r = s(W_r x + U_r h), z = s(W_z x + U_z h), a = tanh(W x + U (r h)); h' = (1 - z) h + z a
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/links/linear.h>
#include <catena/nn/links/recurrent_options.h>

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

  Linear W_r, U_r, W_z, U_z, W, U;

 protected:
  Variable next(const Variable& h, const Variable& x);
};
}  // namespace internal

// h' = gru(h, x), without a stored state. n_inputs: as many as units, unless given.
class CATENA_EXPORT GRU : public internal::GRUBase {
 public:
  explicit GRU(int n_units, std::optional<int> n_inputs = {}, const Options& options = {})
      : GRUBase(n_units, n_inputs, options) {}
  // PyTorch's layer of this name has other parameters. Compilers show this line in their error messages.
  template <std::same_as<RecurrentOptions> O = RecurrentOptions>
  GRU(int, int, const O&) = delete;  // nn::torch::GRU gru(in, out, {.num_layers = 2})

  NN_MEMBERS(W_r, U_r, W_z, U_z, W, U)
  Variable operator()(const Variable& h, const Variable& x);
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
