// Minimal gated units (Zhou et al.: Minimal Gated Unit for Recurrent Neural Networks, 2016).
//
//   f = s(W_f [h, x]), a = tanh(W_h [f h, x]); h' = f a + (1 - f) h
#pragma once

#include <catena/nn/links/linear.h>

namespace nn {

namespace internal {
class CATENA_EXPORT MGUBase : public Chain {
 public:
  MGUBase(int n_inputs, int n_units);

  Linear W_f, W_h;  // (n_units, n_units + n_inputs), with a bias

 protected:
  Variable next(const Variable& h, const Variable& x);
};
}  // namespace internal

// h' = mgu(h, x), without a stored state: x (b, n_inputs), h (b, n_units).
class CATENA_EXPORT StatelessMGU : public internal::MGUBase {
 public:
  StatelessMGU(int n_inputs, int n_units) : MGUBase(n_inputs, n_units) {}

  NN_MEMBERS(W_f, W_h)
  Variable operator()(const Variable& h, const Variable& x);
};
using MGU = StatelessMGU;

// x (b, in) -> h (b, out). The first h is zero. The state is a variable of the graph, moves with the link, and is not
// saved in files; a copy of the link starts with the same state.
class CATENA_EXPORT StatefulMGU : public internal::MGUBase {
 public:
  StatefulMGU(int in_size, int out_size) : MGUBase(in_size, out_size), state_size(out_size) {}

  NN_MEMBERS(W_f, W_h)
  Variable operator()(const Variable& x);
  void set_state(const Variable& h_new);  // as for LSTM
  void reset_state() { h = Variable(); }

  int state_size;
  Variable h;  // null before the first call

 protected:
  void on_device_changed() override;
};

}  // namespace nn
