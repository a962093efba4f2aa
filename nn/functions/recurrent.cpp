// Recurrent networks are defined by a rule on Variables, one cell after the other. The forward pass and the first
// derivative call NnExtension, which computes all times of a layer at once; a gradient that will be differentiated
// again is computed by the rule.
#include <catena/nn/functions/recurrent.h>

#include <algorithm>

#include <catena/autograd/capture.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/connection.h>

namespace nn {

using autograd::Array;
using autograd::Arrays;
using autograd::FunctionNode;
using autograd::nn_extension;
using autograd::RnnGradients;
using autograd::RnnMode;
using autograd::RnnOperands;
using autograd::RnnOutputGradients;
using autograd::RnnResult;
using autograd::Shape;
using autograd::Slice;
using autograd::Targets;
using autograd::internal::constant_variable;
using autograd::type_check::TypeInfoTuple;
using catena::check;
using catena::ValueError;

namespace {

using Rows = std::vector<std::int64_t>;

// The inputs of a call are one list: hx, cx of an lstm, all matrices, all biases and xs. The outputs are hy, cy of an
// lstm, and ys.
struct Network : autograd::RnnSpec {
  std::optional<bool> use_cudnn;

  int directions() const { return bidirectional ? 2 : 1; }
  int states() const { return int(layers) * directions(); }
  int cells() const { return mode == RnnMode::lstm ? 2 : 1; }
  int matrices() const { return autograd::rnn_matrices(mode); }
  int first_w() const { return cells(); }
  int first_b() const { return first_w() + states() * matrices(); }
  int first_x() const { return first_b() + states() * matrices(); }
  bool drops() const { return dropout > 0 && layers > 1; }

  std::string label() const {
    const char* cell = mode == RnnMode::lstm   ? "LSTM"
                       : mode == RnnMode::gru  ? "GRU"
                       : mode == RnnMode::tanh ? "RNNTanh"
                                               : "RNNReLU";
    return catena::concat("NStep", bidirectional ? "Bi" : "", cell);
  }
  // Returns "hx cx ws[0][0] ... bs[0][0] ... xs[0] ...".
  std::string names(std::size_t inputs) const {
    std::string text = cells() == 2 ? "hx cx" : "hx";
    for (const char* list : {" ws[", " bs["})
      for (int i = 0; i < states() * matrices(); ++i)
        text += catena::concat(list, i / matrices(), "][", i % matrices(), "]");
    for (std::size_t t = 0; t + std::size_t(first_x()) < inputs; ++t) text += catena::concat(" xs[", t, "]");
    return text;
  }

  // Reserves the random numbers for the masks of dropout, for `rows` elements of all sequences.
  void draw(std::int64_t rows, std::int64_t units, autograd::Device device) {
    if (!drops()) return;
    autograd::Generator& g = autograd::default_generator();
    seed = g.seed;
    const std::int64_t n = rows * units * directions();
    for (int k = directions(); k < states(); ++k)
      offsets.push_back(
          autograd::live_scalar(device, g.take(n), [n] { return autograd::default_generator().take(n); }));
  }
  // Returns the dropout mask of the input of state k, which belongs to a layer above the first.
  Array mask(int k, const Array& input) const {
    const Array ones = autograd::arrays::ones(input.shape(), input.dtype(), input.device()),
                y = autograd::empty_like(ones);
    const autograd::Operand operands[] = {ones, catena::Scalar(seed), offsets[std::size_t(k - directions())], dropout};
    autograd::apply_indexed(catena::kernels::dropout, operands, {&y, 1});
    return y;
  }
};

void expect_network(const Network& n, const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  expect(in_types.size() > n.first_x());
  const auto h = in_types[0], x = in_types[n.first_x()];
  expect(x.dtype.kind() == 'f', x.ndim == 2, h.dtype == x.dtype, h.ndim == 3,
         h.shape[0] == variable(n.states(), "n_layers * directions"), h.shape[1] == x.shape[0]);
  if (n.cells() == 2) expect(in_types[1].dtype == h.dtype, in_types[1].shape == h.shape);
  for (int i = 0; i < n.states() * n.matrices(); ++i) {
    const auto W = in_types[n.first_w() + i], b = in_types[n.first_b() + i];
    expect(W.dtype.kind() == 'f', W.ndim == 2, W.shape[0] == h.shape[2], b.dtype == x.dtype, b.ndim == 1,
           b.shape[0] == h.shape[2]);
    if (i % n.matrices() >= n.matrices() / 2) expect(W.shape[1] == h.shape[2]);
    else if (i < n.directions() * n.matrices()) expect(W.shape[1] == x.shape[1]);
    else expect(W.shape[1] == h.shape[2] * variable(n.directions(), "directions"));
  }
  for (int t = n.first_x() + 1; t < int(in_types.count()); ++t)
    expect(in_types[t].dtype == x.dtype, in_types[t].ndim == 2, in_types[t - 1].shape[0] >= in_types[t].shape[0],
           in_types[t].shape[1] == x.shape[1]);
}

// Returns the first row of each time in arrays with the rows of all times, followed by the total number of rows.
Rows starts_of(const Rows& batches) {
  Rows starts{0};
  for (const std::int64_t n : batches) starts.push_back(starts.back() + n);
  return starts;
}

// ---- the rule -----------------------------------------------------------------------------------
struct State {
  Variable h, c;  // of all sequences, (B_0, N); c only for an lstm
};

Variable rows_of(const Variable& x, std::int64_t begin, std::int64_t end) { return get_item(x, {Slice(begin, end)}); }

// Concatenates the matrices, or biases, of one side of a cell along axis 0, in the order in which step() reads the
// gates.
Variable side_of(const Network& n, const Variable* all, bool of_state) {
  const int gates = n.matrices() / 2;
  const Variable* const of = all + (of_state ? gates : 0);
  if (n.mode == RnnMode::lstm) {
    Shape shape = of[0].shape();
    shape[0] *= 4;
    return reshape(autograd::stack({of[2], of[0], of[1], of[3]}, 1), shape);
  }
  Variables parts;
  for (int j = 0; j < gates; ++j) parts.push_back(of[j]);
  return autograd::concat(parts, 0);
}

// Returns the next h of the continuing sequences, whose W x + b is `from_x`. Stores the new c in the state.
Variable step(const Network& n, const Variable& from_x, const Variable& h, State& state, const Variable& W,
              const Variable& b) {
  const Variable from_h = linear(h, W, b);
  if (n.mode == RnnMode::lstm) {
    const LSTMState next = lstm(state.c, from_x + from_h);
    state.c = next.c;
    return next.h;
  }
  if (n.mode == RnnMode::gru) {
    const Variables x = split_axis(from_x, 3, 1), y = split_axis(from_h, 3, 1);
    const Variable r = sigmoid(x[0] + y[0]), z = sigmoid(x[1] + y[1]);
    return linear_interpolate(z, h, tanh(x[2] + r * y[2]));
  }
  return n.mode == RnnMode::tanh ? tanh(from_x + from_h) : relu(from_x + from_h);
}

// Computes one layer in one direction. x and the result have the rows of all times. `state` becomes the state after the
// last time.
Variable run_direction(const Network& n, const Rows& batches, bool reverse, const Variable& x, const Variable* ws,
                       const Variable* bs, State& state) {
  const Rows starts = starts_of(batches);
  const Variable from_x = linear(x, side_of(n, ws, false), side_of(n, bs, false));
  const Variable W = side_of(n, ws, true), b = side_of(n, bs, true);
  const std::int64_t all = batches[0];
  Variables ys(batches.size());
  for (std::size_t k = 0; k < batches.size(); ++k) {
    const std::size_t t = reverse ? batches.size() - 1 - k : k;
    const std::int64_t going_on = batches[t];
    const Variable h = going_on < all ? rows_of(state.h, 0, going_on) : state.h;
    ys[t] = step(n, rows_of(from_x, starts[t], starts[t + 1]), h, state, W, b);
    if (going_on < all) state.h = autograd::concat({ys[t], rows_of(state.h, going_on, all)}, 0);
    else state.h = ys[t];
  }
  return autograd::concat(ys, 0);
}

Variables rule(const Network& n, const Variables& given) {
  const autograd::Dtype dtype = given[std::size_t(n.first_x())].dtype();
  Variables in;
  for (const Variable& v : given) in.push_back(cast(v, catena::compute_dtype(dtype)));
  Variables xs;
  Rows batches;
  for (std::size_t t = std::size_t(n.first_x()); t < in.size(); ++t) {
    xs.push_back(in[t]);
    batches.push_back(in[t].shape(0));
  }
  Variable x = autograd::concat(xs, 0);
  Variables hy, cy;
  for (std::int64_t layer = 0; layer < n.layers; ++layer) {
    Variables both;
    for (int d = 0; d < n.directions(); ++d) {
      const int k = int(layer) * n.directions() + d;
      const Variable below = layer > 0 && n.drops() ? x * constant_variable(n.mask(k, x.data())) : x;
      State state{get_item(in[0], {k}), n.cells() == 2 ? get_item(in[1], {k}) : Variable()};
      both.push_back(run_direction(n, batches, d == 1, below, &in[std::size_t(n.first_w() + k * n.matrices())],
                                   &in[std::size_t(n.first_b() + k * n.matrices())], state));
      hy.push_back(state.h);
      cy.push_back(state.c);
    }
    x = autograd::concat(both, 1);
  }
  Variables out{cast(autograd::stack(hy, 0), dtype)};
  if (n.cells() == 2) out.push_back(cast(autograd::stack(cy, 0), dtype));
  const Variable y = cast(x, dtype);
  const Rows starts = starts_of(batches);
  for (std::size_t t = 0; t < batches.size(); ++t) out.push_back(rows_of(y, starts[t], starts[t + 1]));
  return out;
}

// ---- all times at once --------------------------------------------------------------------------
class NStep final : public FunctionNode {
 public:
  NStep(const Network& network, std::size_t inputs, bool has_graph)
      : n_(network), num_given_(inputs), has_graph_(has_graph) {}
  std::string label() const override { return n_.label(); }
  std::string_view input_names() const override {
    if (names_.empty()) names_ = n_.names(num_given_);
    return names_;
  }
  void check_type_forward(const TypeInfoTuple& in_types) const override { expect_network(n_, in_types); }

  Arrays forward(const Arrays& in) override {
    const RnnOperands o = operands_of(in);
    n_.draw(o.x.shape(0), o.hx.shape(2), o.x.device());
    n_.training = has_graph_ || n_.drops();
    result_ = nn_extension(o.x, n_.use_cudnn).rnn(o, n_);
    Arrays out{result_.hy};
    if (result_.cy) out.push_back(result_.cy);
    const Rows starts = starts_of(o.batches);
    for (std::size_t t = 0; t < o.batches.size(); ++t)
      out.push_back(autograd::slice(result_.y, 0, starts[t], starts[t + 1]));
    if (!has_graph_) {
      result_ = {};
      return out;
    }
    for (int i = 0; i < int(in.size()); ++i) retain_inputs({i});
    result_.hy = result_.cy = {};  // backward does not read them
    version_ = autograd::internal::version_of(result_.y);
    return out;
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    return needs_double_backprop() ? by_rule(targets, gy) : by_extension(targets, gy);
  }

 private:
  RnnOperands operands_of(const Arrays& in) const {
    RnnOperands o;
    o.hx = in[0];
    if (n_.cells() == 2) o.cx = in[1];
    o.ws.assign(in.begin() + n_.first_w(), in.begin() + n_.first_b());
    o.bs.assign(in.begin() + n_.first_b(), in.begin() + n_.first_x());
    std::vector<Array> xs(in.begin() + n_.first_x(), in.end());
    for (const Array& x : xs) o.batches.push_back(x.shape(0));
    o.x = xs.size() == 1 ? xs[0] : autograd::concatenate(xs, 0);
    return o;
  }

  // Returns the gradient of all ys, with zeros for absent ones; null if all are absent.
  Array joined(const Variables& gy, const Rows& batches) const {
    const std::size_t first = std::size_t(n_.cells());
    if (std::none_of(gy.begin() + first, gy.end(), [](const Variable& g) { return bool(g); })) return {};
    std::vector<Array> parts;
    for (std::size_t t = 0; t < batches.size(); ++t) {
      const Variable& g = gy[first + t];
      const Array& y = result_.y;
      parts.push_back(g ? g.data() : autograd::arrays::full({batches[t], y.shape(1)}, 0, y.dtype(), y.device()));
    }
    return parts.size() == 1 ? parts[0] : autograd::concatenate(parts, 0);
  }

  Variables by_extension(const Targets& targets, const Variables& gy) {
    Arrays in;
    for (int i = 0; i < int(num_inputs()); ++i) in.push_back(retained_input(i).data());
    check_unchanged(result_.y, version_, "the list of outputs ys");
    const RnnOperands o = operands_of(in);
    const Variable gcy = n_.cells() == 2 ? gy[1] : Variable();
    const bool wants_gx = std::any_of(targets.begin(), targets.end(), [&](int i) { return i >= n_.first_x(); });
    const RnnOutputGradients g{joined(gy, o.batches), gy[0] ? gy[0].data() : Array(), gcy ? gcy.data() : Array(),
                               wants_gx};
    const RnnGradients all = nn_extension(o.x, n_.use_cudnn).rnn_backward(o, n_, result_, g);
    const Rows starts = starts_of(o.batches);
    Variables gradients;
    for (const int i : targets) {
      const std::size_t t = std::size_t(i - n_.first_x());
      const Array gradient = i == 0               ? all.ghx
                             : i < n_.first_w()   ? all.gcx
                             : i < n_.first_b()   ? all.gws[std::size_t(i - n_.first_w())]
                             : i < n_.first_x()   ? all.gbs[std::size_t(i - n_.first_b())]
                             : starts.size() == 2 ? all.gx
                                                  : autograd::slice(all.gx, 0, starts[t], starts[t + 1]);
      gradients.push_back(constant_variable(gradient));
    }
    return gradients;
  }

  // An input may be computed from another input. The gradients are therefore taken with respect to new variables, which
  // are independent.
  Variables by_rule(const Targets& targets, const Variables& gy) {
    Variables in, present, grad_outputs, wanted;
    for (int i = 0; i < int(num_inputs()); ++i) in.push_back(retained_input(i));
    in = autograd::identity(in);
    const Variables out = rule(n_, in);
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (!gy[k]) continue;
      present.push_back(out[k]);
      grad_outputs.push_back(gy[k]);
    }
    for (const int i : targets) wanted.push_back(in[std::size_t(i)]);
    return autograd::grad(present, wanted, grad_outputs, true);
  }

  Network n_;
  std::size_t num_given_;
  bool has_graph_;
  RnnResult result_;
  std::uint32_t version_ = 0;  // of the memory of ys, which rnn_backward reads
  mutable std::string names_;
};

// ---- calls --------------------------------------------------------------------------------------
struct Lists {
  const std::vector<Variables>&ws, &bs;
  const Variables& xs;
};

void check_lists(const char* op, const Network& n, const Lists& lists) {
  check<ValueError>(n.layers >= 1, op, "the number of layers ", n.layers, " must be at least 1");
  check<ValueError>(n.dropout >= 0 && n.dropout < 1, op, "the ratio ", n.dropout, " does not lie in [0, 1)");
  const auto check_list = [&](const char* name, const std::vector<Variables>& list) {
    check<ValueError>(list.size() == std::size_t(n.states()), op, name, " has ", list.size(), " lists for ", n.layers,
                      " layers in ", n.directions(), " directions, which need ", n.states());
    for (std::size_t k = 0; k < list.size(); ++k)
      check<ValueError>(list[k].size() == std::size_t(n.matrices()), op, name, "[", k, "] has ", list[k].size(),
                        " elements, it needs ", n.matrices());
  };
  check_list("ws", lists.ws);
  check_list("bs", lists.bs);
}

template <class Options>
Variables call(const char* op, Network n, const Options& o, const Variable& hx, const Variable& cx,
               const Lists& lists) {
  check_lists(op, n, lists);
  if (n.dropout > 0 && !(o.train ? *o.train : autograd::internal::trains(op))) n.dropout = 0;
  n.use_cudnn = o.use_cudnn;
  Variables in{hx};
  if (n.cells() == 2) in.push_back(cx);
  for (const std::vector<Variables>* list : {&lists.ws, &lists.bs})
    for (const Variables& of_layer : *list)
      for (const Variable& v : of_layer) in.push_back(v);
  bool any_empty = false;
  std::int64_t rows = 0;
  for (const Variable& x : lists.xs) {
    in.push_back(x);
    if (!x || x.ndim() != 2) continue;
    rows += x.shape(0);
    any_empty |= x.shape(0) == 0;
  }
  const bool graph = autograd::internal::graph_mode_of(in).graph;
  if (!any_empty && !autograd::internal::wants_elementary_nodes())
    return autograd::apply_node<NStep>(in, n, in.size(), graph);
  // The extension does not accept times without sequences.
  internal::check_inputs(n.label(), n.names(in.size()), in,
                         [&n](const TypeInfoTuple& in_types) { expect_network(n, in_types); });
  n.draw(rows, hx.shape(2), hx.device());
  return rule(n, in);
}

Network network(RnnMode mode, bool bidirectional, int n_layers, double dropout_ratio) {
  Network n;
  n.mode = mode;
  n.layers = n_layers;
  n.bidirectional = bidirectional;
  n.dropout = dropout_ratio;
  return n;
}

Variables behind(const Variables& all, std::size_t first) {
  Variables part;
  for (std::size_t i = first; i < all.size(); ++i) part.push_back(all[i]);
  return part;
}
NStepLSTMResult with_cells(const Variables& out) { return {out[0], out[1], behind(out, 2)}; }
NStepResult without_cells(const Variables& out) { return {out[0], behind(out, 1)}; }

RnnMode mode_of(const char* op, const std::string& activation) {
  if (activation == "tanh") return RnnMode::tanh;
  check<ValueError>(activation == "relu", op, "the activation \"", activation, "\" is not one of tanh, relu");
  return RnnMode::relu;
}

}  // namespace

NStepLSTMResult internal::n_step_lstm(int n_layers, double dropout_ratio, const Variable& hx, const Variable& cx,
                                      const std::vector<Variables>& ws, const std::vector<Variables>& bs,
                                      const Variables& xs, const NStepOptions& o) {
  return with_cells(
      call("n_step_lstm", network(RnnMode::lstm, false, n_layers, dropout_ratio), o, hx, cx, {ws, bs, xs}));
}
NStepLSTMResult internal::n_step_bilstm(int n_layers, double dropout_ratio, const Variable& hx, const Variable& cx,
                                        const std::vector<Variables>& ws, const std::vector<Variables>& bs,
                                        const Variables& xs, const NStepOptions& o) {
  return with_cells(
      call("n_step_bilstm", network(RnnMode::lstm, true, n_layers, dropout_ratio), o, hx, cx, {ws, bs, xs}));
}

NStepResult internal::n_step_gru(int n_layers, double dropout_ratio, const Variable& hx,
                                 const std::vector<Variables>& ws, const std::vector<Variables>& bs,
                                 const Variables& xs, const NStepOptions& o) {
  return without_cells(
      call("n_step_gru", network(RnnMode::gru, false, n_layers, dropout_ratio), o, hx, {}, {ws, bs, xs}));
}
NStepResult internal::n_step_bigru(int n_layers, double dropout_ratio, const Variable& hx,
                                   const std::vector<Variables>& ws, const std::vector<Variables>& bs,
                                   const Variables& xs, const NStepOptions& o) {
  return without_cells(
      call("n_step_bigru", network(RnnMode::gru, true, n_layers, dropout_ratio), o, hx, {}, {ws, bs, xs}));
}

NStepResult internal::n_step_rnn(int n_layers, double dropout_ratio, const Variable& hx,
                                 const std::vector<Variables>& ws, const std::vector<Variables>& bs,
                                 const Variables& xs, const NStepRNNOptions& o) {
  constexpr const char* op = "n_step_rnn";
  return without_cells(
      call(op, network(mode_of(op, o.activation), false, n_layers, dropout_ratio), o, hx, {}, {ws, bs, xs}));
}
NStepResult internal::n_step_birnn(int n_layers, double dropout_ratio, const Variable& hx,
                                   const std::vector<Variables>& ws, const std::vector<Variables>& bs,
                                   const Variables& xs, const NStepRNNOptions& o) {
  constexpr const char* op = "n_step_birnn";
  return without_cells(
      call(op, network(mode_of(op, o.activation), true, n_layers, dropout_ratio), o, hx, {}, {ws, bs, xs}));
}

}  // namespace nn
