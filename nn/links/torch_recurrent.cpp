#include <catena/nn/links/torch_recurrent.h>

#include <catena/autograd/functions/array.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/link_hook.h>

namespace nn::torch {
namespace {

using nn::internal::NStepCell;
using utils::rnn::PackedSequence;

// Returns the parts (B, in) of x (T, B, in), or with batch_first (B, T, in), one per time.
Variables by_time(const char* label, const Variable& x, bool batch_first) {
  nn::internal::expect_rank(label, x, 3);
  const int times = batch_first ? 1 : 0;
  catena::check<catena::ValueError>(x.shape(times) > 0, label, "x has the shape ", x.shape(), "; the length of axis ",
                                    times, ", the axis of times, must be at least 1");
  return autograd::separate(x, times);
}
Variable together(const Variables& ys, bool batch_first) { return autograd::stack(ys, batch_first ? 1 : 0); }
int directions(const RecurrentOptions& o) { return o.bidirectional ? 2 : 1; }

Variables parts_of(const PackedSequence& x) { return autograd::split(x.data, x.batch_sizes, 0); }
PackedSequence packed_like(const PackedSequence& x, const Variables& ys) {
  PackedSequence result = x;
  result.data = autograd::concat(ys, 0);
  return result;
}

NStepCell cell_of(std::string_view nonlinearity) {
  catena::check<catena::ValueError>(nonlinearity == "tanh" || nonlinearity == "relu", "RNN", "nonlinearity is \"",
                                    nonlinearity, "\"; it must be \"tanh\" or \"relu\"");
  return nonlinearity == "tanh" ? NStepCell::tanh : NStepCell::relu;
}

}  // namespace

Variable internal::reordered(const Variable& states, const std::vector<std::int64_t>& order) {
  if (!states || order.empty()) return states;
  const Array positions = autograd::array(order, {std::int64_t(order.size())}, states.device());
  return autograd::index_select(states, 1, autograd::as_variable(positions));
}

LSTM::LSTM(int in, int out, const Options& o)
    : NStepBase(NStepCell::lstm, directions(o), {o.num_layers, in, out, o.dropout, {}, o.bias}),
      batch_first(o.batch_first) {
  nn::internal::place(*this, o.device, o.dtype);
}
LSTMResult LSTM::operator()(const Variable& x, const LSTMState& state) {
  LinkCall called(*this, x);
  const NStepLSTMResult y = run_by_time(state.h, state.c, by_time("LSTM", x, batch_first), {});
  return {called(together(y.ys, batch_first)), {y.hy, y.cy}};
}
PackedLSTMResult LSTM::operator()(const PackedSequence& x, const LSTMState& state) {
  LinkCall called(*this, x.data);
  const NStepLSTMResult y = run_by_time(internal::reordered(state.h, x.sorted_indices),
                                        internal::reordered(state.c, x.sorted_indices), parts_of(x), {});
  PackedSequence output = packed_like(x, y.ys);
  output.data = called(output.data);
  return {output, {internal::reordered(y.hy, x.unsorted_indices), internal::reordered(y.cy, x.unsorted_indices)}};
}

internal::OneState::OneState(NStepCell cell, int in, int out, const RecurrentOptions& o)
    : NStepBase(cell, directions(o), {o.num_layers, in, out, o.dropout, {}, o.bias}), batch_first(o.batch_first) {
  nn::internal::place(*this, o.device, o.dtype);
}
GRUResult internal::OneState::operator()(const Variable& x, const Variable& h) {
  LinkCall called(*this, x);
  const NStepLSTMResult y = run_by_time(h, {}, by_time("RNN", x, batch_first), {});
  return {called(together(y.ys, batch_first)), y.hy};
}
PackedGRUResult internal::OneState::operator()(const PackedSequence& x, const Variable& h) {
  LinkCall called(*this, x.data);
  const NStepLSTMResult y = run_by_time(internal::reordered(h, x.sorted_indices), {}, parts_of(x), {});
  PackedSequence output = packed_like(x, y.ys);
  output.data = called(output.data);
  return {output, internal::reordered(y.hy, x.unsorted_indices)};
}

GRU::GRU(int in, int out, const Options& o) : OneState(NStepCell::gru, in, out, o) {}
RNN::RNN(int in, int out, const Options& o)
    : OneState(cell_of(o.nonlinearity), in, out,
               {.num_layers = o.num_layers,
                .bias = o.bias,
                .batch_first = o.batch_first,
                .dropout = o.dropout,
                .bidirectional = o.bidirectional,
                .device = o.device,
                .dtype = o.dtype}) {}

}  // namespace nn::torch
