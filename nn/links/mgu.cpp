#include <catena/nn/links/mgu.h>

#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/recurrent_state.h>

namespace nn {

internal::MGUBase::MGUBase(int n_inputs, int n_units)
    : W_f(n_units + n_inputs, n_units), W_h(n_units + n_inputs, n_units) {}

Variable internal::MGUBase::next(const Variable& h, const Variable& x) {
  const Variable f = sigmoid(W_f(autograd::concat({h, x}, 1)));
  return linear_interpolate(f, tanh(W_h(autograd::concat({f * h, x}, 1))), h);
}

Variable StatelessMGU::operator()(const Variable& h, const Variable& x) {
  LinkCall called(*this, h, x);
  return called(next(h, x));
}

Variable StatefulMGU::operator()(const Variable& x) {
  LinkCall called(*this, x);
  return called(h = next(internal::or_zeros(h, x, state_size), x));
}

void StatefulMGU::set_state(const Variable& h_new) { h = internal::state_on(own_device(), h_new); }

void StatefulMGU::on_device_changed() { set_state(h); }

}  // namespace nn
