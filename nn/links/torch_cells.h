// One step of recurrent networks with PyTorch's names, parameters and order of gates.
//
//   nn::LSTMCell cell(10, 20);
//   auto [h, c] = cell(x);            // x (B, 10) or (10)
//   auto [h2, c2] = cell(x, {h, c});
//   h = gru_cell(x, h);
//
// weight_ih (G H, in), weight_hh (G H, H), bias_ih and bias_hh (G H) for the G gates of H units, drawn evenly from
// [-1 / sqrt(H), 1 / sqrt(H)). A null state is 0. InvalidType for shapes that do not fit.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include <catena/nn/link.h>
#include <catena/nn/links/torch_recurrent.h>

namespace nn {

struct CellOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> input_size = {}, hidden_size = {};  // in place of the arguments
  bool bias = true;
  LayerDevice device = {};
  LayerDtype dtype = {};
};
struct RNNCellOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> input_size = {}, hidden_size = {};
  bool bias = true;
  std::string_view nonlinearity = "tanh";  // or "relu"; ValueError for others
  LayerDevice device = {};
  LayerDtype dtype = {};
};

namespace internal {
class CATENA_EXPORT RecurrentCell : public Link {
 public:
  NN_MEMBERS(weight_ih, weight_hh, bias_ih, bias_hh)
  Parameter weight_ih, weight_hh;
  std::optional<Parameter> bias_ih, bias_hh;
  int input_size, hidden_size;

 protected:
  RecurrentCell(int in, int units, int gates, bool bias);
  Variable of_input(const Variable& x) const;  // (B, G H)
  Variable of_state(const Variable& h) const;
};
}  // namespace internal

// The gates are in the order i, f, g, o: c' = s(f) c + s(i) tanh(g), h' = s(o) tanh(c').
class CATENA_EXPORT LSTMCell : public internal::RecurrentCell {
 public:
  LSTMCell(int in, int units, const CellOptions& o = {}) : RecurrentCell(in, units, 4, o.bias) {
    internal::place(*this, o.device, o.dtype);
  }
  template <std::same_as<CellOptions> O = CellOptions>
  explicit LSTMCell(const O& o)
      : LSTMCell(internal::required("LSTMCell", "input_size", o.input_size),
                 internal::required("LSTMCell", "hidden_size", o.hidden_size), o) {}
  torch::LSTMState operator()(const Variable& x, const torch::LSTMState& state = {});
};
// The gates are in the order r, z, n: n = tanh(n_x + s(r) n_h), h' = (1 - s(z)) n + s(z) h.
class CATENA_EXPORT GRUCell : public internal::RecurrentCell {
 public:
  GRUCell(int in, int units, const CellOptions& o = {}) : RecurrentCell(in, units, 3, o.bias) {
    internal::place(*this, o.device, o.dtype);
  }
  template <std::same_as<CellOptions> O = CellOptions>
  explicit GRUCell(const O& o)
      : GRUCell(internal::required("GRUCell", "input_size", o.input_size),
                internal::required("GRUCell", "hidden_size", o.hidden_size), o) {}
  NN_MEMBERS_OF(RecurrentCell)
  Variable operator()(const Variable& x, const Variable& h = {});
};
// h' = tanh(W x + b + W' h + b'), or relu of it.
class CATENA_EXPORT RNNCell : public internal::RecurrentCell {
 public:
  RNNCell(int in, int units, const RNNCellOptions& o = {});
  template <std::same_as<RNNCellOptions> O = RNNCellOptions>
  explicit RNNCell(const O& o)
      : RNNCell(internal::required("RNNCell", "input_size", o.input_size),
                internal::required("RNNCell", "hidden_size", o.hidden_size), o) {}
  NN_MEMBERS_OF(RecurrentCell)
  Variable operator()(const Variable& x, const Variable& h = {});

 private:
  bool is_relu_;
};

}  // namespace nn
