// lstm and slstm: one kernel in forward, one per side in backward.
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>

namespace nn {

using autograd::Array;
using autograd::Arrays;
using autograd::FunctionNode;
using autograd::Operand;
using autograd::Shape;
using autograd::Slice;
using autograd::Targets;
using autograd::Variables;
using autograd::internal::constant_variable;
using autograd::type_check::TypeInfoTuple;

namespace {

// Splits (b, 4 n, ...) into (b, n, 4, ...).
Shape by_gate(const Shape& x) {
  Shape shape{x[0], x[1] / 4, 4};
  for (int a = 2; a < x.size(); ++a) shape.push_back(x[a]);
  return shape;
}

// The arguments of candidate, input, forget and output gate, as views (b, n, ...).
struct Gates {
  Array of[4];
  explicit Gates(const Array& x) {
    const Array split = autograd::reshape(x, by_gate(x.shape()));
    for (int k = 0; k < 4; ++k) of[k] = autograd::squeeze(autograd::slice(split, 2, k, k + 1), 2);
  }
};
struct GateVariables {
  Variable of[4];
  explicit GateVariables(const Variable& x) {
    const Variable split = reshape(x, by_gate(x.shape()));
    for (int k = 0; k < 4; ++k) of[k] = get_item(split, {Slice(), Slice(), k});
  }
};

// Checks x (b, 4 n, ...) against c (B, n, ...); `c` and `x` are positions among the inputs.
void expect_cell(const TypeInfoTuple& in_types, int c, int x, bool same_batch) {
  using namespace autograd::type_check;
  expect(in_types[c].dtype.kind() == 'f', in_types[x].dtype == in_types[c].dtype, in_types[c].ndim >= 2,
         in_types[x].ndim == in_types[c].ndim);
  if (same_batch) expect(in_types[x].shape[0] == in_types[c].shape[0]);
  else expect(in_types[x].shape[0] <= in_types[c].shape[0]);
  expect(in_types[x].shape[1] == 4 * in_types[c].shape[1]);
  for (int a = 2; a < in_types.shape(std::size_t(c)).size(); ++a) expect(in_types[x].shape[a] == in_types[c].shape[a]);
}

// The gradients of one side: of the arguments of its gates, in the shape of x, and of its previous state.
struct SideArrays {
  Array x, c;
};
SideArrays side_backward(const Array& x, const Array& before, const Operand& other, const Array& c, const Array& gc,
                         const Array& gh) {
  SideArrays g{autograd::arrays::empty(x.shape(), x.dtype(), x.device()), autograd::empty_like(before)};
  const Gates in(x), out(g.x);  // views of g.x, which is contiguous
  const Operand absent = 0.0;
  const Operand operands[] = {
      in.of[0], in.of[1], in.of[2], in.of[3], before, other, c, gc ? Operand(gc) : absent, gh ? Operand(gh) : absent};
  const Array results[] = {out.of[0], out.of[1], out.of[2], out.of[3], g.c};
  autograd::apply_into(catena::kernels::lstm_bwd, operands, results);
  return g;
}

// The same on Variables. `out` is the output gate, `c` the new state, d the gradient of the new state.
struct SideVariables {
  Variable x, c;
};
SideVariables side_rule(const GateVariables& v, const Variable& before, const Variable& d, const Variable& go) {
  const Variable a = tanh(v.of[0]), i = sigmoid(v.of[1]), f = sigmoid(v.of[2]);
  const Variable parts[] = {d * i * (1 - square(a)), d * a * i * (1 - i), d * before * f * (1 - f), go};
  const Shape& s = before.shape();
  Shape with_gate{s[0], s[1], 1}, merged{s[0], 4 * s[1]};
  for (int k = 2; k < s.size(); ++k) {
    with_gate.push_back(s[k]);
    merged.push_back(s[k]);
  }
  Variables gates;
  for (const Variable& p : parts) gates.push_back(reshape(p, with_gate));
  return {reshape(autograd::concat(gates, 2), merged), d * f};
}

Variable zeros_like(const Variable& v) { return constant_variable(autograd::zeros_like(v.data())); }

Variable head(const Variable& x, std::int64_t n) { return x && n < x.shape(0) ? get_item(x, {Slice(0, n)}) : x; }
Array head(const Array& x, std::int64_t n) { return n < x.shape(0) ? autograd::slice(x, 0, 0, n) : x; }
Array tail(const Array& x, std::int64_t n) { return autograd::slice(x, 0, n, x.shape(0)); }

class LSTM final : public FunctionNode {
 public:
  std::string label() const override { return "LSTM"; }
  std::string_view input_names() const override { return "c_prev x"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 2);
    expect_cell(in_types, 0, 1, false);
  }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    retain_outputs({0});
    const Array &before = in[0], &x = in[1];
    const std::int64_t b = x.shape(0);
    const Array c = autograd::empty_like(before), going_on = head(before, b), h = autograd::empty_like(going_on);
    if (b < before.shape(0)) autograd::assign(tail(c, b), tail(before, b));
    const Gates g(x);
    const Operand operands[] = {g.of[0], g.of[1], g.of[2], g.of[3], going_on};
    const Array results[] = {head(c, b), h};
    autograd::apply_into(catena::kernels::lstm, operands, results);
    return {c, h};
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable before = retained_input(0), x = retained_input(1), gc = gy[0], gh = gy[1];
    const std::int64_t b = x.shape(0);
    const SideVariables g =
        needs_double_backprop() ? rule(before, x, gc, gh, b) : fused(before.data(), x.data(), gc, gh, b);
    Variables gradients;
    for (const int target : targets) gradients.push_back(target == 0 ? with_ended(g.c, before, gc, b) : g.x);
    return gradients;
  }

 private:
  SideVariables fused(const Array& before, const Array& x, const Variable& gc, const Variable& gh, std::int64_t b) {
    const SideArrays g = side_backward(x, head(before, b), 0.0, head(retained_output(0).data(), b),
                                       gc ? head(gc.data(), b) : Array(), gh ? gh.data() : Array());
    return {constant_variable(g.x), constant_variable(g.c)};
  }

  // The state is computed again as a function of the inputs, so that it can be differentiated.
  SideVariables rule(const Variable& before, const Variable& x, const Variable& gc, const Variable& gh,
                     std::int64_t b) const {
    const GateVariables v(x);
    const Variable c_before = head(before, b), o = sigmoid(v.of[3]);
    const Variable squashed = tanh(tanh(v.of[0]) * sigmoid(v.of[1]) + sigmoid(v.of[2]) * c_before);
    const Variable from_h = gh ? gh : zeros_like(c_before), from_c = gc ? head(gc, b) : zeros_like(c_before);
    return side_rule(v, c_before, from_h * o * (1 - square(squashed)) + from_c, from_h * squashed * o * (1 - o));
  }

  // The states of ended sequences pass through unchanged, and so do their gradients.
  static Variable with_ended(const Variable& g, const Variable& before, const Variable& gc, std::int64_t b) {
    if (b == before.shape(0)) return g;
    const Variable rest =
        gc ? get_item(gc, {Slice(b, {})}) : constant_variable(autograd::zeros_like(tail(before.data(), b)));
    return autograd::concat({g, rest}, 0);
  }
};

class SLSTM final : public FunctionNode {
 public:
  std::string label() const override { return "SLSTM"; }
  std::string_view input_names() const override { return "c_prev1 c_prev2 x1 x2"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 4);
    expect_cell(in_types, 0, 2, true);
    expect_cell(in_types, 1, 3, true);
    expect(in_types[1].dtype == in_types[0].dtype, in_types[1].shape == in_types[0].shape);
  }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1, 2, 3});
    retain_outputs({0});
    const Gates g1(in[2]), g2(in[3]);
    const Operand operands[] = {g1.of[0], g1.of[1], g1.of[2], g1.of[3], in[0],
                                g2.of[0], g2.of[1], g2.of[2], g2.of[3], in[1]};
    return autograd::apply_all(catena::kernels::slstm, operands);
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variables g = needs_double_backprop() ? rule(gy[0], gy[1]) : fused(gy[0], gy[1]);
    Variables gradients;
    for (const int target : targets) gradients.push_back(g[std::size_t(target)]);
    return gradients;
  }

 private:
  Variables fused(const Variable& gc, const Variable& gh) {
    const Array c = retained_output(0).data(), x1 = retained_input(2).data(), x2 = retained_input(3).data();
    const Array from_c = gc ? gc.data() : Array(), from_h = gh ? gh.data() : Array();
    const SideArrays g1 = side_backward(x1, retained_input(0).data(), Gates(x2).of[3], c, from_c, from_h),
                     g2 = side_backward(x2, retained_input(1).data(), Gates(x1).of[3], c, from_c, from_h);
    return {constant_variable(g1.c), constant_variable(g2.c), constant_variable(g1.x), constant_variable(g2.x)};
  }

  Variables rule(const Variable& gc, const Variable& gh) const {
    const Variable c1 = retained_input(0), c2 = retained_input(1);
    const GateVariables v1(retained_input(2)), v2(retained_input(3));
    const auto half = [](const GateVariables& v, const Variable& before) {
      return tanh(v.of[0]) * sigmoid(v.of[1]) + sigmoid(v.of[2]) * before;
    };
    const Variable o = sigmoid(v1.of[3] + v2.of[3]), squashed = tanh(half(v1, c1) + half(v2, c2));
    const Variable from_h = gh ? gh : zeros_like(c1), from_c = gc ? gc : zeros_like(c1);
    const Variable d = from_h * o * (1 - square(squashed)) + from_c, go = from_h * squashed * o * (1 - o);
    const SideVariables g1 = side_rule(v1, c1, d, go), g2 = side_rule(v2, c2, d, go);
    return {g1.c, g2.c, g1.x, g2.x};
  }
};

}  // namespace

LSTMState lstm(const Variable& c_prev, const Variable& x) {
  const Variables y = autograd::apply_node<LSTM>({c_prev, x});
  return {y[0], y[1]};
}

LSTMState slstm(const Variable& c_prev1, const Variable& c_prev2, const Variable& x1, const Variable& x2) {
  const Variables y = autograd::apply_node<SLSTM>({c_prev1, c_prev2, x1, x2});
  return {y[0], y[1]};
}

}  // namespace nn
