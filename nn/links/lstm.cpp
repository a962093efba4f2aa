#include <catena/nn/links/lstm.h>

#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/recurrent_state.h>

namespace nn {

using autograd::Slice;

namespace {

// Fills each quarter of the rows as a separate matrix. This matters for initializers whose values depend on each other.
Initializer by_quarters(const Initializer& one) {
  return {[one](const Array& a) {
            const std::int64_t n = a.shape(0) / 4;
            for (std::int64_t k = 0; k < 4; ++k) init_weight(autograd::slice(a, 0, k * n, (k + 1) * n), one);
          },
          one.dtype()};
}

// Initializes the biases of the gates, in the order a, i, f, o of unit 0, then of unit 1.
Initializer by_gates(const Initializer& others, const Initializer& forget) {
  return {[others, forget](const Array& a) {
            const std::int64_t n = a.shape(0) / 4;
            const Array gates = autograd::reshape(a, {n, 4});
            for (std::int64_t g = 0; g < 4; ++g)
              init_weight(autograd::squeeze(autograd::slice(gates, 1, g, g + 1), 1), g == 2 ? forget : others);
          },
          others.dtype()};
}

// Returns the arguments (b, S) of one gate from gates (b, 4 S).
Variable gate(const Variable& gates, int g) {
  const Variable by_unit = reshape(gates, {gates.shape(0), gates.shape(1) / 4, 4});
  return get_item(by_unit, {Slice(), Slice(), g});
}

// Whether x (T, B, in) is a sequence for the matrix W (4 S, in); another x of rank 3 has one row per example.
bool is_sequence(const Variable& x, const Parameter& W) {
  if (!x || x.ndim() != 3) return false;
  const Shape known = W.known_shape();
  return known.size() == 2 && known[1] == x.shape(2);
}
torch::LSTMState initial(const Variable& x, std::int64_t batch, const torch::LSTMState& given, std::int64_t units) {
  return {internal::initial_state("LSTM", x, batch, given.h, units),
          internal::initial_state("LSTM", x, batch, given.c, units)};
}

}  // namespace

internal::LSTMBase::LSTMBase(std::optional<int> in_size, int out_size, const Options& o)
    : upward(in_size, 4 * out_size,
             {.initialW = by_quarters(o.upward_init),
              .initial_bias = by_gates(o.bias_init, o.forget_bias_init),
              .n_batch_axes = 1}),
      lateral(out_size, 4 * out_size, {.nobias = true, .initialW = by_quarters(o.lateral_init)}),
      state_size(out_size) {}
internal::LSTMBase::LSTMBase(int out_size)
    : upward(std::nullopt, 4 * out_size, {.nobias = true, .n_batch_axes = 1}),
      lateral(std::nullopt, 4 * out_size, {.nobias = true}),
      state_size(out_size) {}

LSTMState StatelessLSTM::operator()(const Variable& c, const Variable& h, const Variable& x) {
  LinkCall called(*this, c, h, x);
  Variable gates = upward(x);
  if (h) gates = gates + lateral(h);
  const LSTMState next = lstm(internal::or_zeros(c, x, state_size), gates);
  called.end({next.c, next.h});
  return next;
}

LSTM::LSTM(AsNetwork, std::optional<int> in_size, int out_size, const RecurrentOptions& options) : LSTMBase(out_size) {
  catena::check<catena::TypeError>(in_size.has_value(), "LSTM", "PyTorch's options need an input size");
  layers.emplace(*in_size, out_size, options);
}

void LSTM::visit_declared(MemberVisitor& visitor) {
  Link::visit_declared(visitor);
  if (layers) internal::visit_all(visitor, "layers", layers);
  else internal::visit_all(visitor, "upward, lateral", upward, lateral);
}
Variable LSTM::call(const Variables& args) { return internal::invoke(*this, args); }

Variables LSTM::outputs_by_time(const Variables& gates, torch::LSTMState& state) {
  Variables ys;
  for (const Variable& of_x : gates) {
    const std::int64_t batch = of_x.shape(0), all = state.h.shape(0);
    const Variable before = batch < all ? get_item(state.h, {Slice(0, batch)}) : state.h;
    const auto [next, y] = lstm(state.c, of_x + lateral(before));
    state.c = next;
    state.h = batch == all ? y : autograd::concat({y, get_item(state.h, {Slice(batch, {})})}, 0);
    ys.push_back(y);
  }
  return ys;
}

LSTMOutput LSTM::of_sequences(const Variable& x, const torch::LSTMState& given) {
  LinkCall called(*this, x);
  if (layers && x && x.ndim() == 2) {
    const int batch = layers->batch_first ? 0 : 1;
    const auto with_batch = [](const Variable& s) { return s ? s.unsqueeze(1) : s; };
    const torch::LSTMResult y = (*layers)(x.unsqueeze(batch), {with_batch(given.h), with_batch(given.c)});
    return {called(y.output.squeeze(batch)), {y.state.h.squeeze(1), y.state.c.squeeze(1)}};
  }
  if (layers) {
    const torch::LSTMResult y = (*layers)(x, given);
    return {called(y.output), y.state};
  }
  internal::expect_rank("LSTM", x, 3);
  const std::int64_t times = x.shape(0), batch = x.shape(1);
  catena::check<catena::ValueError>(times > 0, "LSTM", "x has the shape ", x.shape(),
                                    "; the length of axis 0, the axis of times, must be at least 1");
  torch::LSTMState state = initial(x, batch, given, state_size);
  const Variable gates = reshape(upward(reshape(x, {times * batch, x.shape(2)})), {times, batch, 4 * state_size});
  const Variable output = autograd::stack(outputs_by_time(autograd::separate(gates, 0), state), 0);
  return {called(output), {state.h.unsqueeze(0), state.c.unsqueeze(0)}};
}

LSTMOutput LSTM::operator()(const Variable& x, const torch::LSTMState& state) { return of_sequences(x, state); }

torch::PackedLSTMResult LSTM::operator()(const utils::rnn::PackedSequence& x, const torch::LSTMState& given) {
  LinkCall called(*this, x.data);
  if (layers) {
    torch::PackedLSTMResult y = (*layers)(x, given);
    y.output.data = called(y.output.data);
    return y;
  }
  const std::int64_t batch = x.batch_sizes.empty() ? 0 : x.batch_sizes[0];
  torch::LSTMState state = initial(
      x.data, batch,
      {torch::internal::reordered(given.h, x.sorted_indices), torch::internal::reordered(given.c, x.sorted_indices)},
      state_size);
  utils::rnn::PackedSequence output = x;
  output.data = called(autograd::concat(outputs_by_time(autograd::split(upward(x.data), x.batch_sizes, 0), state), 0));
  return {output,
          {torch::internal::reordered(state.h.unsqueeze(0), x.unsorted_indices),
           torch::internal::reordered(state.c.unsqueeze(0), x.unsorted_indices)}};
}

LSTMOutput LSTM::operator()(const Variable& x) {
  if (layers || is_sequence(x, upward.W)) return of_sequences(x, {});
  LinkCall called(*this, x);
  // Done before the first call of `upward` creates its W. For an invalid x, `upward` throws the error.
  if (h && x && x.ndim() > 0)
    catena::check<catena::TypeError>(x.shape(0) <= h.shape(0), "LSTM", "x has ", x.shape(0),
                                     " examples, the states have ", h.shape(0),
                                     ": a batch may only become smaller (sort sequences by decreasing length; "
                                     "reset_state() begins anew)");
  Variable gates = upward(x);
  const std::int64_t batch = x.shape(0), all = h ? h.shape(0) : batch;
  if (h && batch > 0) gates = gates + lateral(batch < all ? get_item(h, {Slice(0, batch)}) : h);
  const auto [next, y] = lstm(c ? c : internal::zero_state(x, all, state_size), gates);
  c = next;
  if (batch == all) h = y;
  else if (batch > 0) h = autograd::concat({y, get_item(h, {Slice(batch, {})})}, 0);
  return {called(y), {h, c}};
}

void LSTM::set_state(const Variable& c_new, const Variable& h_new) {
  c = internal::state_on(own_device(), c_new);
  h = internal::state_on(own_device(), h_new);
}

void LSTM::on_device_changed() { set_state(c, h); }

StatefulPeepholeLSTM::StatefulPeepholeLSTM(std::optional<int> in_size, int out_size)
    : upward(in_size, 4 * out_size, {.n_batch_axes = 1}),
      lateral(out_size, 4 * out_size, {.nobias = true}),
      peep_i(out_size, out_size, {.nobias = true}),
      peep_f(out_size, out_size, {.nobias = true}),
      peep_o(out_size, out_size, {.nobias = true}),
      state_size(out_size) {}

Variable StatefulPeepholeLSTM::operator()(const Variable& x) {
  LinkCall called(*this, x);
  Variable gates = upward(x);
  if (h) gates = gates + lateral(h);
  const Variable before = internal::or_zeros(c, x, state_size);
  const Variable i = sigmoid(gate(gates, 1) + peep_i(before)), f = sigmoid(gate(gates, 2) + peep_f(before));
  const Variable next = tanh(gate(gates, 0)) * i + f * before;
  const Variable o = sigmoid(gate(gates, 3) + peep_o(next));
  c = next;
  return called(h = o * tanh(next));
}

void StatefulPeepholeLSTM::on_device_changed() {
  c = internal::state_on(own_device(), c);
  h = internal::state_on(own_device(), h);
}

StatefulZoneoutLSTM::StatefulZoneoutLSTM(std::optional<int> in_size, int out_size, const Options& o)
    : upward(in_size, 4 * out_size, {.n_batch_axes = 1}),
      lateral(out_size, 4 * out_size, {.nobias = true}),
      state_size(out_size),
      c_ratio(o.c_ratio),
      h_ratio(o.h_ratio),
      train(o.train) {}

Variable StatefulZoneoutLSTM::operator()(const Variable& x) {
  LinkCall called(*this, x);
  Variable gates = upward(x);
  if (h) gates = gates + lateral(h);
  const Variable c_before = internal::or_zeros(c, x, state_size);
  const Variable h_before = internal::or_zeros(h, x, state_size);
  const auto [next, y] = lstm(c_before, gates);
  const Variable kept = zoneout(c_before, next, {.ratio = c_ratio, .train = train});
  h = zoneout(h_before, y, {.ratio = h_ratio, .train = train});
  c = kept;
  return called(h);
}

void StatefulZoneoutLSTM::set_state(const Variable& c_new, const Variable& h_new) {
  c = internal::state_on(own_device(), c_new);
  h = internal::state_on(own_device(), h_new);
}

void StatefulZoneoutLSTM::on_device_changed() { set_state(c, h); }

}  // namespace nn
