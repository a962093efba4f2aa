// Activation functions and dropout: forward without a graph, and with the gradient.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters line{{"n", 1 << 24}, {"sets", 8}}, short_line{{"n", 60}, {"sets", 2}};

nd::Array operand(const Parameters& p, std::int64_t seed) { return input(p, {p.at("n")}, seed, -3, 3); }

Ready relu(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return operand(p, seed); },
      [](const nd::Array& x) {
        const auto mode = autograd::no_backprop_mode();
        return nd::Array(nn::relu(x).data());
      });
}

Ready relu_backward(const Parameters& p) {
  const nd::Array gy = operand(p, 2000);
  return rotating(
      p, [&](std::int64_t seed) { return autograd::Variable(autograd::Array(operand(p, seed))); },
      [gy](autograd::Variable x) {
        x.cleargrad();
        autograd::Variable y = nn::relu(x);
        y.set_grad(gy);
        y.backward();
        return nd::Array(x.grad());
      });
}

// Which elements are dropped depends on the generator: contenders compare the number of elements.
Ready dropout(const Parameters& p) {
  Ready timed = rotating(
      p, [&](std::int64_t seed) { return operand(p, seed); },
      [](const nd::Array& x) {
        const auto mode = autograd::no_backprop_mode();
        return nd::Array(nn::dropout(x, 0.5).data());
      });
  timed.result = [n = p.at("n")] { return nd::array({n}); };
  return timed;
}

Parameters floats(Draw& draw) { return draw.line("fde"); }

const Cases cases{
    {"activation/dropout", line, short_line, dropout, floats},
    {"activation/relu", line, short_line, relu, floats},
    {"activation/relu_backward", line, short_line, relu_backward, floats},
};

}  // namespace
}  // namespace bench
