#include <catena/nn/links/tree_lstm.h>

#include <string>

#include <catena/nn/functions/array.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/recurrent_state.h>

namespace nn {

using catena::check;
using catena::ValueError;

namespace {

// Checks the states of the children and returns the first that is not null; null if there is none.
Variable checked_states(const char* link, const Variables& cs, const Variables& hs) {
  check<ValueError>(cs.size() == hs.size(), link, "there are ", cs.size(), " c and ", hs.size(), " h");
  for (const Variables* states : {&cs, &hs})
    for (const Variable& v : *states)
      if (v) return v;
  return {};
}

// Returns x, or zeros for a node without an input.
Variable input_of(const char* link, const Variable& x, const Variable& state, std::optional<int> in_size) {
  if (x) return x;
  check<ValueError>(bool(state), link, "x and all states are null");
  check<ValueError>(in_size.has_value(), link, "x is null, and the link was made without an input size");
  return internal::zero_state(state, state.shape(0), *in_size);
}

// The cell from the arguments of its gates: a, i, o and one f for each child.
LSTMState tree_lstm(const Variable& aio, const Variables& fs, const Variables& cs) {
  const Variables gates = autograd::split_axis(aio, 3, 1);
  Variable c = tanh(gates[0]) * sigmoid(gates[1]);
  for (std::size_t k = 0; k < cs.size(); ++k)
    if (cs[k]) c = c + sigmoid(fs[k]) * cs[k];
  return {c, sigmoid(gates[2]) * tanh(c)};
}

LSTMState finished(LinkCall& called, const LSTMState& state) {
  called.end({state.c, state.h});
  return state;
}

}  // namespace

ChildSumTreeLSTM::ChildSumTreeLSTM(std::optional<int> in, int out)
    : W_x(in, 4 * out, {.n_batch_axes = 1}),
      W_h_aio(out, 3 * out, {.nobias = true}),
      W_h_f(out, out, {.nobias = true}),
      in_size(in),
      state_size(out) {
  name_params();
}

LSTMState ChildSumTreeLSTM::operator()(const Variables& cs, const Variables& hs, const Variable& given) {
  LinkCall called(*this, given);
  const internal::CallScope scope(*this);
  const Variable state = checked_states("ChildSumTreeLSTM", cs, hs);
  const Variable x = input_of("ChildSumTreeLSTM", given, state, in_size);
  const Variables of_x = autograd::split_axis(W_x(x), catena::Sections{3 * state_size}, 1);
  Variable h_sum;
  Variables fs;
  for (const Variable& h : hs) {
    fs.push_back(h ? of_x[1] + W_h_f(h) : of_x[1]);
    if (h) h_sum = h_sum ? h_sum + h : h;
  }
  return finished(called, tree_lstm(h_sum ? of_x[0] + W_h_aio(h_sum) : of_x[0], fs, cs));
}

NaryTreeLSTM::NaryTreeLSTM(std::optional<int> in, int out, int n)
    : W_x(in, (3 + n) * out, {.n_batch_axes = 1}), in_size(in), state_size(out), n_ary(n) {
  check<ValueError>(n >= 1, "NaryTreeLSTM", "n_ary is ", n, "; at least 1 is needed");
  for (int k = 1; k <= n; ++k) add_link("W_h" + std::to_string(k), Linear(out, (3 + n) * out, {.nobias = true}));
  name_params();
}

LSTMState NaryTreeLSTM::operator()(const Variables& cs, const Variables& hs, const Variable& given) {
  LinkCall called(*this, given);
  const internal::CallScope scope(*this);
  const Variable state = checked_states("NaryTreeLSTM", cs, hs);
  check<ValueError>(cs.empty() || cs.size() == static_cast<std::size_t>(n_ary), "NaryTreeLSTM", "there are ", cs.size(),
                    " children; ", n_ary, " are needed, or none for a leaf");
  Variable gates = W_x(input_of("NaryTreeLSTM", given, state, in_size));
  for (std::size_t k = 0; k < hs.size(); ++k)
    if (hs[k]) gates = gates + static_cast<Linear&>((*this)["W_h" + std::to_string(k + 1)])(hs[k]);
  const Variables parts = autograd::split_axis(gates, catena::Sections{3 * state_size}, 1);
  return finished(called, tree_lstm(parts[0], autograd::split_axis(parts[1], n_ary, 1), cs));
}

}  // namespace nn
