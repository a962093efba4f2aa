#include <catena/nn/links/torch_cells.h>

#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/filters.h>
#include <catena/nn/links/recurrent_state.h>

namespace nn {

namespace internal {

RecurrentCell::RecurrentCell(int in, int units, int gates, bool bias)
    : weight_ih(initializers::Uniform(1 / std::sqrt(double(units))), {gates * units, in}),
      weight_hh(initializers::Uniform(1 / std::sqrt(double(units))), {gates * units, units}),
      input_size(in),
      hidden_size(units) {
  if (bias) {
    bias_ih.emplace(initializers::Uniform(1 / std::sqrt(double(units))), Shape{gates * units});
    bias_hh.emplace(initializers::Uniform(1 / std::sqrt(double(units))), Shape{gates * units});
  }
  name_params();
}

Variable RecurrentCell::of_input(const Variable& x) const { return linear(x, weight_ih, handle_of(bias_ih)); }
Variable RecurrentCell::of_state(const Variable& h) const { return linear(h, weight_hh, handle_of(bias_hh)); }

}  // namespace internal

namespace {

// A batch of one for x without a batch.
Variable batch_of(const Variable& x) { return x && x.ndim() == 1 ? autograd::expand_dims(x, 0) : x; }
Variable as_given(const Variable& y, const Variable& x) { return x.ndim() == 1 ? autograd::squeeze(y, 0) : y; }

}  // namespace

torch::LSTMState LSTMCell::operator()(const Variable& given, const torch::LSTMState& state) {
  LinkCall called(*this, given);
  const Variable x = batch_of(given), c = internal::or_zeros(batch_of(state.c), x, hidden_size);
  const Variable before = internal::or_zeros(batch_of(state.h), x, hidden_size);
  const Variables gates = autograd::split_axis(of_input(x) + of_state(before), 4, 1);
  const Variable next = autograd::sigmoid(gates[1]) * c + autograd::sigmoid(gates[0]) * autograd::tanh(gates[2]);
  const Variable h = autograd::sigmoid(gates[3]) * autograd::tanh(next);
  return {called(as_given(h, given)), as_given(next, given)};
}

Variable GRUCell::operator()(const Variable& given, const Variable& state) {
  LinkCall called(*this, given);
  const Variable x = batch_of(given), h = internal::or_zeros(batch_of(state), x, hidden_size);
  const Variables of_x = autograd::split_axis(of_input(x), 3, 1), of_h = autograd::split_axis(of_state(h), 3, 1);
  const Variable z = autograd::sigmoid(of_x[1] + of_h[1]);
  const Variable n = autograd::tanh(of_x[2] + autograd::sigmoid(of_x[0] + of_h[0]) * of_h[2]);
  return called(as_given(n + z * (h - n), given));
}

RNNCell::RNNCell(int in, int units, const RNNCellOptions& o)
    : RecurrentCell(in, units, 1, o.bias), is_relu_(o.nonlinearity == "relu") {
  catena::check<catena::ValueError>(o.nonlinearity == "tanh" || is_relu_, "RNNCell", "nonlinearity is \"",
                                    o.nonlinearity, "\"; it must be \"tanh\" or \"relu\"");
  internal::place(*this, o.device, o.dtype);
}
Variable RNNCell::operator()(const Variable& given, const Variable& state) {
  LinkCall called(*this, given);
  const Variable x = batch_of(given);
  const Variable sum = of_input(x) + of_state(internal::or_zeros(batch_of(state), x, hidden_size));
  return called(as_given(is_relu_ ? relu(sum) : autograd::tanh(sum), given));
}

}  // namespace nn
