#include <catena/nn/links/gru.h>

#include <catena/nn/functions/activation.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/recurrent_state.h>

namespace nn {

internal::GRUBase::GRUBase(int n_units, std::optional<int> n_inputs, const Options& o)
    : W_r(n_inputs.value_or(n_units), n_units, {.initialW = o.init, .initial_bias = o.bias_init}),
      U_r(n_units, n_units, {.initialW = o.inner_init, .initial_bias = o.bias_init}),
      W_z(n_inputs.value_or(n_units), n_units, {.initialW = o.init, .initial_bias = o.bias_init}),
      U_z(n_units, n_units, {.initialW = o.inner_init, .initial_bias = o.bias_init}),
      W(n_inputs.value_or(n_units), n_units, {.initialW = o.init, .initial_bias = o.bias_init}),
      U(n_units, n_units, {.initialW = o.inner_init, .initial_bias = o.bias_init}) {}

Variable internal::GRUBase::next(const Variable& h, const Variable& x) {
  const Variable r = sigmoid(W_r(x) + U_r(h)), z = sigmoid(W_z(x) + U_z(h));
  return linear_interpolate(z, tanh(W(x) + U(r * h)), h);
}

Variable GRU::operator()(const Variable& h, const Variable& x) {
  LinkCall called(*this, h, x);
  return called(next(h, x));
}

Variable StatefulGRU::operator()(const Variable& x) {
  LinkCall called(*this, x);
  return called(h = h ? next(h, x) : sigmoid(W_z(x)) * tanh(W(x)));
}

void StatefulGRU::set_state(const Variable& h_new) { h = internal::state_on(own_device(), h_new); }

void StatefulGRU::on_device_changed() { set_state(h); }

}  // namespace nn
