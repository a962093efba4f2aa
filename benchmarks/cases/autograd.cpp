// The overhead of the graph, on arrays so small that arithmetic takes no time.
#include <catena/benchmarks/cases.h>

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

Parameters small(Draw& draw) { return {{"n", draw.length(1, 2000)}}; }

const Cases cases{
    {"autograd/add_no_graph", full, tiny, add_no_graph, small},
    {"autograd/add", full, tiny, add, small},
    {"autograd/square_sum_backward", full, tiny, square_sum_backward, small},
};

}  // namespace
}  // namespace bench
