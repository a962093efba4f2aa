#include <catena/nn/links/torch_recurrent.h>

#include <catena/autograd/functions/array.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/link_hook.h>

namespace nn::torch {
namespace {

// Returns the parts (B, in) of x (T, B, in), or with batch_first (B, T, in), one per time.
Variables by_time(const char* label, const Variable& x, bool batch_first) {
  internal::expect_rank(label, x, 3);
  const int times = batch_first ? 1 : 0;
  catena::check<catena::ValueError>(x.shape(times) > 0, label, "x has the shape ", x.shape(), "; the length of axis ",
                                    times, ", the axis of times, must be at least 1");
  return autograd::separate(x, times);
}
Variable together(const Variables& ys, bool batch_first) { return autograd::stack(ys, batch_first ? 1 : 0); }
int directions(const RecurrentOptions& o) { return o.bidirectional ? 2 : 1; }

}  // namespace

LSTM::LSTM(int in, int out, const Options& o)
    : NStepBase(internal::NStepCell::lstm, directions(o), {o.num_layers, in, out, o.dropout, {}}),
      batch_first(o.batch_first) {}
LSTMResult LSTM::operator()(const Variable& x, const LSTMState& state) {
  LinkCall called(*this, x);
  const NStepLSTMResult y = run_by_time(state.h, state.c, by_time("LSTM", x, batch_first), {});
  return {called(together(y.ys, batch_first)), {y.hy, y.cy}};
}

GRU::GRU(int in, int out, const Options& o)
    : NStepBase(internal::NStepCell::gru, directions(o), {o.num_layers, in, out, o.dropout, {}}),
      batch_first(o.batch_first) {}
GRUResult GRU::operator()(const Variable& x, const Variable& h) {
  LinkCall called(*this, x);
  const NStepLSTMResult y = run_by_time(h, {}, by_time("GRU", x, batch_first), {});
  return {called(together(y.ys, batch_first)), y.hy};
}

}  // namespace nn::torch
