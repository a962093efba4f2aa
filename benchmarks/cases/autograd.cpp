// The overhead of the graph, on arrays so small that arithmetic takes almost no time, and a gradient of a gradient.
#include <memory>

#include <catena/benchmarks/cases.h>
#include <catena/benchmarks/networks.h>

namespace bench {
namespace {

const Parameters full{{"n", 100}}, tiny{};

autograd::Array operand(const Parameters& p) { return uniform({p.at("n")}, 0); }

Ready add_no_graph(const Parameters& p) {
  const autograd::Variable x(operand(p), {.volatile_ = autograd::AUTO});
  const auto add = [x] { return x + x; };
  return {[add = repeated(add)](std::int64_t calls) {
            const auto mode = autograd::no_backprop_mode();
            add(calls);
          },
          [add] { return nd::Array(add().data()); }};
}

Ready add(const Parameters& p) {
  const autograd::Variable x(operand(p));
  const auto add = [x] { return x + x; };
  return {repeated(add), [add] { return nd::Array(add().data()); }};
}

// (x * x).sum().backward()
Ready square_sum_backward(const Parameters& p) {
  return ready([x = autograd::Variable(operand(p))]() mutable {
    x.cleargrad();
    sum(x * x).backward();
    return nd::Array(x.grad());
  });
}

struct Critic : nn::Chain {
  nn::Linear l1, l2, l3;
  explicit Critic(const Parameters& p)
      : l1(int(p.at("inputs")), int(p.at("units"))), l2(l1.W.shape(0), l1.W.shape(0)), l3(l1.W.shape(0), 1) {
    initialize(l1, 1000);
    initialize(l2, 1001);
    initialize(l3, 1002);
  }
  NN_MEMBERS(l1, l2, l3)
  autograd::Variable operator()(const autograd::Variable& x) { return l3(tanh(l2(tanh(l1(x))))); }
};

// The mean of (|dy/dx| - 1)^2 over the batch, which keeps the slope of a critic near 1 (Gulrajani et al. 2017), and its
// gradients. The compared result is the gradient of the weights of the first layer.
Ready gradient_penalty(const Parameters& p) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return autograd::Variable(autograd::Array(uniform({p.at("batch"), p.at("inputs")}, seed, -1)));
      },
      [critic = std::make_shared<Critic>(p)](autograd::Variable x) {
        critic->cleargrads();
        x.cleargrad();
        const autograd::Variable gx = autograd::grad({sum((*critic)(x))}, {x}, {}, true)[0];
        mean(square(sqrt(sum(square(gx), 1)) - 1)).backward();
        return nd::Array(critic->l1.W.grad());
      });
}

Parameters critic(Draw& draw) {
  return {{"batch", draw.at_most(draw.log_uniform(1, 1024))},
          {"inputs", draw.length(2, draw.at_most(1024))},
          {"units", draw.length(8, draw.at_most(1024))},
          {"sets", 2}};
}
Parameters small(Draw& draw) { return {{"n", draw.length(1, 2000)}}; }

const Cases cases{
    {"autograd/add_no_graph", full, tiny, add_no_graph, small},
    {"autograd/add", full, tiny, add, small},
    {"autograd/square_sum_backward", full, tiny, square_sum_backward, small},
    {"autograd/gradient_penalty",
     {{"batch", 64}, {"inputs", 256}, {"units", 256}, {"sets", 8}},
     {{"batch", 3}, {"inputs", 4}, {"units", 5}, {"sets", 2}},
     gradient_penalty,
     critic},
};

}  // namespace
}  // namespace bench
