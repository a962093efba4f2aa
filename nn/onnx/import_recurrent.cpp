// LSTM, GRU and RNN: sequences through cells, in one or both directions.
#include <array>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/onnx/import_operator.h>

namespace nn::onnx::importing {

namespace recurrent {
namespace {

namespace kernels = catena::kernels;
using Call = const OperatorCall&;

// The parameters of one direction: W (gates hidden, input), R (gates hidden, hidden), two biases (gates hidden) or
// none.
struct Weights {
  Variable W, R, input_bias, state_bias;
  // Of a GRU that resets the state before the product: the rows of the candidate, which R and state_bias then lack.
  Variable candidate_R, candidate_bias;
};
// The state between two elements of a sequence; c is that of an LSTM.
struct State {
  Variable h, c;
};
// Computes the next state from W x + input_bias (batch, gates hidden).
using Step = State (*)(Call call, const Variable& from_input, const State& before, const Weights& weights);

Variable at_row(const Variable& x, std::int64_t i) { return autograd::get_item(x, {autograd::IndexItem(i)}); }
Variable gate(const Variable& gates, int i, std::int64_t hidden) {
  return autograd::get_item(
      gates, {autograd::IndexItem(catena::Slice()), autograd::IndexItem(catena::Slice(i * hidden, (i + 1) * hidden))});
}

// Order of the gates: input, output, forget, cell.
State lstm_step(Call, const Variable& from_input, const State& before, const Weights& w) {
  const std::int64_t n = before.h.shape(1);
  const Variable all = from_input + nn::linear(before.h, w.R, w.state_bias);
  const Variable i = autograd::sigmoid(gate(all, 0, n)), o = autograd::sigmoid(gate(all, 1, n)),
                 f = autograd::sigmoid(gate(all, 2, n)), a = autograd::tanh(gate(all, 3, n));
  const Variable c = f * before.c + i * a;
  return {o * autograd::tanh(c), c};
}

// Order of the gates: update, reset, candidate.
State gru_step(Call, const Variable& from_input, const State& before, const Weights& w) {
  const std::int64_t n = before.h.shape(1);
  const Variable all = nn::linear(before.h, w.R, w.state_bias);
  const Variable z = autograd::sigmoid(gate(from_input, 0, n) + gate(all, 0, n));
  const Variable r = autograd::sigmoid(gate(from_input, 1, n) + gate(all, 1, n));
  const Variable from_state =
      w.candidate_R ? nn::linear(r * before.h, w.candidate_R, w.candidate_bias) : r * gate(all, 2, n);
  const Variable candidate = autograd::tanh(gate(from_input, 2, n) + from_state);
  return {(1.0 - z) * candidate + z * before.h, {}};
}

State rnn_step(Call call, const Variable& from_input, const State& before, const Weights& w) {
  const Attribute* const names = call.attribute("activations");
  const bool relu = names != nullptr && !names->strings.empty() && names->strings[0] == "Relu";
  const Variable y = from_input + nn::linear(before.h, w.R, w.state_bias);
  return {relu ? nn::relu(y) : autograd::tanh(y), {}};
}

// Only the activations of the definition are imported; an RNN may have Relu.
void check_options(Call c, const std::vector<std::string_view>& activations) {
  if (c.attribute("clip") != nullptr) c.unsupported("clip is not imported");
  if (c.integer("input_forget", 0) != 0) c.unsupported("input_forget is not imported");
  if (c.has(7)) c.unsupported("peepholes are not imported");
  const Attribute* const given = c.attribute("activations");
  if (given == nullptr) return;
  const bool may_be_relu = activations.size() == 1 && !given->strings.empty() && given->strings[0] == "Relu";
  for (std::size_t i = 0; i < given->strings.size(); ++i) {
    const std::string_view expected = may_be_relu ? "Relu" : activations[i % activations.size()];
    if (given->strings[i] != expected) c.unsupported("the activation ", given->strings[i], " is not imported here");
  }
}

struct Sequence {
  std::vector<Variable> states;  // h for each element
  State last;
};

// One direction. `ended` has, for each element, where the sequences have ended already; it is empty if all have the
// whole length.
Sequence run(Call c, Step step, const Variable& x, const Weights& w, State state, bool backward,
             const std::vector<Variable>& ended) {
  const std::int64_t length = x.shape(0);
  const Variable from_input = nn::linear(x, w.W, w.input_bias, 2);
  Sequence result;
  result.states.resize(std::size_t(length));
  const Variable zeros = constant(autograd::arrays::zeros(state.h.shape(), state.h.dtype(), state.h.device()));
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t t = backward ? length - 1 - k : k;
    State next = step(c, at_row(from_input, t), state, w);
    Variable shown = next.h;
    if (!ended.empty()) {
      const Variable& over = ended[std::size_t(t)];
      shown = autograd::where(over, zeros, next.h);
      next.h = autograd::where(over, state.h, next.h);
      if (next.c) next.c = autograd::where(over, state.c, next.c);
    }
    result.states[std::size_t(t)] = shown;
    state = next;
  }
  result.last = state;
  return result;
}

std::vector<Variable> ends_of(Call c, const Variable& x) {
  std::vector<Variable> ended;
  if (!c.has(4)) return ended;
  const Array lengths =
      autograd::reshape(autograd::astype(beside(c.input(4), x).data(), Dtype::int64), {x.shape(1), 1});
  for (std::int64_t t = 0; t < x.shape(0); ++t)
    ended.push_back(constant(autograd::apply(kernels::less_equal, {lengths, t})));
  return ended;
}

Variable rows(const Variable& v, std::int64_t from, std::int64_t to) {
  return autograd::get_item(v, {autograd::IndexItem(catena::Slice(from, to))});
}

// The weights of a direction; the biases of input and state are the halves of B.
Weights weights_of(Call c, std::int64_t direction) {
  Weights w{at_row(c.input(1), direction), at_row(c.input(2), direction), {}, {}, {}, {}};
  const std::int64_t all = w.W.shape(0), first = all / 3 * 2;  // rows of all gates, and of the first two of a GRU
  if (c.has(3)) {
    const Variable both = at_row(c.input(3), direction);
    w.input_bias = rows(both, 0, all);
    w.state_bias = rows(both, all, 2 * all);
  }
  if (c.node().op_type != "GRU" || c.integer("linear_before_reset", 0) != 0) return w;
  w.candidate_R = rows(w.R, first, all);
  w.R = rows(w.R, 0, first);
  if (!w.state_bias) return w;
  w.candidate_bias = rows(w.state_bias, first, all);
  w.state_bias = rows(w.state_bias, 0, first);
  return w;
}

void check_shapes(Call c, const Variable& x, std::int64_t directions, std::int64_t gates, std::int64_t hidden) {
  const Shape W = c.input(1).shape(), R = c.input(2).shape();
  if (x.ndim() != 3) c.refuse("its input has the shape ", x.shape(), "; (length, batch, features) is needed");
  if (x.shape(0) < 1) c.refuse("its sequences have no elements");
  if (W != Shape{directions, gates * hidden, x.shape(2)} || R != Shape{directions, gates * hidden, hidden})
    c.refuse("its weights have the shapes ", W, " and ", R, " for ", x.shape(2), " features, ", hidden, " units and ",
             directions, " directions");
}

Variables recurrent(Call c, Step step, std::int64_t gates, bool has_cell) {
  const bool batch_first = c.integer("layout", 0) != 0;
  const auto turned = [&](const Variable& v) { return batch_first && v ? autograd::swapaxes(v, 0, 1) : v; };
  const Variable x = turned(c.input(0));
  const std::string direction = c.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    c.refuse("its direction is ", direction, "; forward, reverse or bidirectional is needed");
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  const std::int64_t hidden = c.integer("hidden_size", c.input(2).shape(c.input(2).ndim() - 1));
  check_shapes(c, x, directions, gates, hidden);
  const std::vector<Variable> ended = ends_of(c, x);
  const Variable first_h = turned(c.optional(5)), first_c = has_cell ? turned(c.optional(6)) : Variable();
  const Variable zeros = constant(autograd::arrays::zeros({x.shape(1), hidden}, x.dtype(), x.device()));
  std::vector<Sequence> found;
  for (std::int64_t d = 0; d < directions; ++d) {
    State state{first_h ? at_row(first_h, d) : zeros, {}};
    if (has_cell) state.c = first_c ? at_row(first_c, d) : zeros;
    found.push_back(run(c, step, x, weights_of(c, d), state, direction == "reverse" || d == 1, ended));
  }
  Variables rows, h, cells;  // rows: (directions, batch, hidden) for each element
  for (std::int64_t t = 0; t < x.shape(0); ++t) {
    Variables parts;
    for (const Sequence& s : found) parts.push_back(s.states[std::size_t(t)]);
    rows.push_back(autograd::stack(parts, 0));
  }
  for (const Sequence& s : found) {
    h.push_back(s.last.h);
    if (has_cell) cells.push_back(s.last.c);
  }
  const Variable y = autograd::stack(rows, 0);
  Variables result{batch_first ? autograd::transpose(y, {2, 0, 1, 3}) : y, turned(autograd::stack(h, 0))};
  if (has_cell) result.push_back(turned(autograd::stack(cells, 0)));
  return result;
}

Variables lstm(Call c) {
  check_options(c, {"Sigmoid", "Tanh", "Tanh"});
  return recurrent(c, lstm_step, 4, true);
}
Variables gru(Call c) {
  check_options(c, {"Sigmoid", "Tanh"});
  return recurrent(c, gru_step, 3, false);
}
Variables rnn(Call c) {
  check_options(c, {"Tanh"});
  return recurrent(c, rnn_step, 1, false);
}

constexpr std::array kOperators = {
    Operator{"GRU", gru, 1u << 4},
    Operator{"LSTM", lstm, 1u << 4},
    Operator{"RNN", rnn, 1u << 4},
};

}  // namespace
}  // namespace recurrent

std::span<const Operator> recurrent_operators() { return recurrent::kOperators; }

}  // namespace nn::onnx::importing
