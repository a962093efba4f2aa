#include <catena/nn/links/gru.h>

#include <string>

#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
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

internal::GRUBase::GRUBase()
    : W_r(std::nullopt, 1),
      U_r(std::nullopt, 1),
      W_z(std::nullopt, 1),
      U_z(std::nullopt, 1),
      W(std::nullopt, 1),
      U(std::nullopt, 1) {}

Variable internal::GRUBase::next(const Variable& h, const Variable& x) {
  const Variable r = sigmoid(W_r(x) + U_r(h)), z = sigmoid(W_z(x) + U_z(h));
  return linear_interpolate(z, tanh(W(x) + U(r * h)), h);
}

GRU::GRU(AsNetwork, int in, std::optional<int> units, const RecurrentOptions& o) : GRUBase() {
  catena::check<catena::TypeError>(units.has_value(), "GRU", "PyTorch's options need a hidden size");
  layers.emplace(in, *units, o);
}

void GRU::visit_declared(MemberVisitor& visitor) {
  Link::visit_declared(visitor);
  if (layers) internal::visit_all(visitor, "layers", layers);
  else internal::visit_all(visitor, "W_r, U_r, W_z, U_z, W, U", W_r, U_r, W_z, U_z, W, U);
}
Variable GRU::call(const Variables& args) { return internal::invoke(*this, args); }

// x (.., in). PyTorch's order of the sizes is the likely reason if x has as many numbers as there are units.
void GRU::expect_inputs(const Variable& x) {
  const std::int64_t in = W_r.W.shape(1), given = x.ndim() > 0 ? x.shape(-1) : 0;
  if (given == in) return;
  const bool is_swapped = given == W_r.out_size;
  throw catena::InvalidType(
      catena::concat("x.shape[-1] == ", std::to_string(in)),
      catena::concat(std::to_string(given), " != ", std::to_string(in)),
      catena::concat("Invalid operation is performed in: GRU",
                     is_swapped ? ", whose sizes are GRU(n_units, n_inputs); PyTorch's order is that of "
                                  "nn::GRU(in, out, {.num_layers = 1})"
                                : ""));
}

Variables GRU::outputs_by_time(const OfInput& all, const std::vector<std::int64_t>& batch_sizes, Variable& state) {
  const Variables rs = autograd::split(all.r, batch_sizes, 0), zs = autograd::split(all.z, batch_sizes, 0),
                  as = autograd::split(all.a, batch_sizes, 0);
  Variables ys;
  for (std::size_t t = 0; t < batch_sizes.size(); ++t) {
    const std::int64_t batch = batch_sizes[t], whole = state.shape(0);
    const Variable h = batch < whole ? state(autograd::Slice(0, batch)) : state;
    const Variable r = sigmoid(rs[t] + U_r(h)), z = sigmoid(zs[t] + U_z(h));
    const Variable y = linear_interpolate(z, h, tanh(as[t] + r * U(h)));
    state = batch == whole ? y : autograd::concat({y, state(autograd::Slice(batch, {}))}, 0);
    ys.push_back(y);
  }
  return ys;
}

GRUOutput GRU::of_sequences(const Variable& x, const Variable& given) {
  LinkCall called(*this, x);
  if (layers && x && x.ndim() == 2) {
    const int batch = layers->batch_first ? 0 : 1;
    const torch::GRUResult y = (*layers)(x.unsqueeze(batch), given ? given.unsqueeze(1) : given);
    return {called(y.output.squeeze(batch)), y.state.squeeze(1)};
  }
  if (layers) {
    const torch::GRUResult y = (*layers)(x, given);
    return {called(y.output), y.state};
  }
  internal::expect_rank("GRU", x, 3);
  catena::check<catena::ValueError>(x.shape(0) > 0, "GRU", "x has the shape ", x.shape(),
                                    "; the length of axis 0, the axis of times, must be at least 1");
  expect_inputs(x);
  const std::int64_t times = x.shape(0), batch = x.shape(1);
  Variable state = internal::initial_state("GRU", x, batch, given, W_r.out_size);
  const Variables ys = outputs_by_time(of_input(reshape(x, {times * batch, x.shape(2)})),
                                       std::vector<std::int64_t>(std::size_t(times), batch), state);
  return {called(autograd::stack(ys, 0)), state.unsqueeze(0)};
}

torch::PackedGRUResult GRU::operator()(const utils::rnn::PackedSequence& x, const Variable& given) {
  LinkCall called(*this, x.data);
  if (layers) {
    torch::PackedGRUResult y = (*layers)(x, given);
    y.output.data = called(y.output.data);
    return y;
  }
  expect_inputs(x.data);
  const std::int64_t batch = x.batch_sizes.empty() ? 0 : x.batch_sizes[0];
  Variable state =
      internal::initial_state("GRU", x.data, batch, torch::internal::reordered(given, x.sorted_indices), W_r.out_size);
  utils::rnn::PackedSequence output = x;
  output.data = called(autograd::concat(outputs_by_time(of_input(x.data), x.batch_sizes, state), 0));
  return {output, torch::internal::reordered(state.unsqueeze(0), x.unsorted_indices)};
}

GRUOutput GRU::operator()(const Variable& h_or_x, const Variable& x_or_state) {
  if (layers || (h_or_x && h_or_x.ndim() == 3)) return of_sequences(h_or_x, x_or_state);
  LinkCall called(*this, h_or_x, x_or_state);
  const Variable next_h = called(next(h_or_x, x_or_state));
  return {next_h, next_h};
}

Variable StatefulGRU::operator()(const Variable& x) {
  LinkCall called(*this, x);
  return called(h = h ? next(h, x) : sigmoid(W_z(x)) * tanh(W(x)));
}

void StatefulGRU::set_state(const Variable& h_new) { h = internal::state_on(own_device(), h_new); }

void StatefulGRU::on_device_changed() { set_state(h); }

}  // namespace nn
