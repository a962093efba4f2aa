// Handles of variables are dropped on one thread while another runs backward through their graph. The values are
// compared with those of one thread; what only a sanitizer sees is for the thread-sanitizer build.
#include <atomic>
#include <barrier>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include <catena/autograd/function.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/hooks.h>
#include <catena/kernels/base/array_header.h>

using namespace autograd;

namespace {

constexpr int kLayers = 12, kRounds = 60;

// x -> ... -> loss, with two paths between neighbours, so that gradients are added up.
struct Ladder {
  Variables weights, middle;
  Variable x, loss;
  Ladder() : x(arrays::full({4}, 0.5)) {
    Variable h = x;
    for (int i = 0; i < kLayers; ++i) {
      weights.push_back(Variable(arrays::full({4}, 1 + 0.01 * i)));
      h = tanh(h * weights[std::size_t(i)]) + h * 0.5;
      middle.push_back(h);
    }
    loss = sum(h);
  }
};

std::vector<float> gradient_alone() {
  Ladder l;
  l.loss.backward();
  return to_vector<float>(l.x.grad());
}

// Runs drop() on another thread, from the moment at which work() begins.
template <class D, class W> void at_once(D&& drop, W&& work) {
  std::barrier start(2);
  std::jthread other([&] {
    start.arrive_and_wait();
    drop();
  });
  start.arrive_and_wait();
  work();
}

// A hook that reads the inputs' arrays, as those of users do.
struct ReadingHook final : FunctionHook {
  double total = 0;
  std::string name() const override { return "ReadingHook"; }
  void backward_preprocess(const FunctionNode&, const Arrays& in, const Arrays&) override {
    for (const Array& a : in)
      if (a) total += double(a.size());
  }
};

// Product whose rule calls `during` after it has computed its gradients. The count tells whether a graph was freed.
struct InterruptedProduct final : FunctionNode {
  static inline int alive = 0;
  std::function<void()> during;
  explicit InterruptedProduct(std::function<void()> d) : during(std::move(d)) { ++alive; }
  ~InterruptedProduct() override { --alive; }
  std::string label() const override { return "InterruptedProduct"; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0, 1});
    return {x[0] * x[1]};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gx;
    for (const int i : targets) gx.push_back(gy[0] * retained_input(1 - i));
    during();
    return gx;
  }
};

constexpr BackwardOptions kTwice{.enable_double_backprop = true};

}  // namespace

BOOST_AUTO_TEST_SUITE(dropped_handles)

BOOST_AUTO_TEST_CASE(of_intermediate_variables_and_leaves) {
  const std::vector<float> expected = gradient_alone();
  for (const BackwardOptions& options :
       {BackwardOptions{}, BackwardOptions{.retain_grad = true}, BackwardOptions{.enable_double_backprop = true}})
    for (int round = 0; round < kRounds; ++round) {
      Ladder l;
      Variables middle = std::move(l.middle), weights = std::move(l.weights);
      at_once(
          [&] {
            for (std::size_t i = 0; i < middle.size(); ++i) {
              middle[i] = {};
              weights[i] = {};
            }
          },
          [&] { l.loss.backward(options); });
      BOOST_TEST((to_vector<float>(l.x.grad()) == expected));
    }
}

BOOST_AUTO_TEST_CASE(under_hooks) {
  ReadingHook hook;
  const HookScope scope(hook);
  for (int round = 0; round < kRounds; ++round) {
    Ladder l;
    Variables middle = std::move(l.middle);
    at_once([&] { middle = {}; }, [&] { l.loss.backward(); });
  }
  BOOST_TEST(hook.total > 0);
}

BOOST_AUTO_TEST_CASE(of_another_end_of_the_same_graph) {
  const std::vector<float> expected = gradient_alone();
  for (int round = 0; round < kRounds; ++round) {
    Ladder l;
    std::optional<Variable> branch = sum(l.middle[kLayers / 2] * l.weights[0]);
    at_once([&] { branch.reset(); }, [&] { l.loss.backward(); });
    BOOST_TEST((to_vector<float>(l.x.grad()) == expected));
  }
}

BOOST_AUTO_TEST_CASE(while_grad_isolates_its_gradients) {
  const std::vector<float> expected = gradient_alone();
  for (int round = 0; round < kRounds; ++round) {
    Ladder l;
    Variables middle = std::move(l.middle), weights = std::move(l.weights), found;
    at_once(
        [&] {
          middle = {};
          weights = {};
        },
        [&] { found = grad({l.loss}, {l.x}); });
    BOOST_TEST((to_vector<float>(found[0].data()) == expected));
    BOOST_CHECK(!l.x.grad());
  }
}

// The other thread reads a gradient's array and drops it; the engine may write there only afterwards.
BOOST_AUTO_TEST_CASE(of_arrays_that_backward_may_overwrite) {
  struct Shared final : FunctionNode {
    std::atomic<Array*>* slot;
    explicit Shared(std::atomic<Array*>* s) : slot(s) {}
    std::string label() const override { return "Shared"; }
    Arrays forward(const Arrays& x) override { return {copy(x[0])}; }
    Variables backward(const Targets&, const Variables& gy) override {
      const Array gx = copy(gy[0].data());
      slot->store(new Array(gx), std::memory_order_release);
      return {Variable(gx)};
    }
  };
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<Array*> slot{nullptr};
    Variable x(arrays::full({1000}, 0.5));
    Variable y = sum(apply_node<Shared>({tanh(x)}, &slot)[0] * 2);
    float read = 0;
    at_once(
        [&] {
          Array* a;
          while ((a = slot.load(std::memory_order_acquire)) == nullptr) std::this_thread::yield();
          if (a->device().kind == Device::Kind::cpu) read = reinterpret_cast<const float*>((*a)->data)[999];
          delete a;
        },
        [&] { y.backward(); });
    if (x.device().kind == Device::Kind::cpu) BOOST_TEST(read == 2.0f);
  }
}

// With double backprop the graph of the gradient refers to the leaf: a gradient in a leaf without handles would keep
// itself alive.
BOOST_AUTO_TEST_CASE(of_a_leaf_during_the_rule_of_its_function) {
  {
    Variable x(arrays::full({4}, 0.5)), w(arrays::full({4}, 3));
    Variable loss =
        sum(square(apply_node<InterruptedProduct>({x, w}, [&] { std::jthread([&] { w = {}; }).join(); })[0]));
    loss.backward(kTwice);
    BOOST_TEST((to_vector<float>(x.grad()) == std::vector<float>(4, 9)));  // 2 x w^2
  }
  BOOST_TEST(InterruptedProduct::alive == 0);
}

// The run has a handle of h, and h has a gradient, when a rule removes h from the graph.
BOOST_AUTO_TEST_CASE(of_variables_that_a_rule_unchains) {
  for (const BackwardOptions& options : {BackwardOptions{}, kTwice})
    for (const bool all : {false, true}) {
      Array data;
      {
        const Variable x(arrays::full({4}, 0.5)), two(arrays::full({4}, 2));
        Variable h = apply_node<InterruptedProduct>({x, two}, [] {})[0], loss;
        data = h.data();
        const Variable other = apply_node<InterruptedProduct>({h, two}, [&] {
          if (all) loss.unchain_backward();
          else h.unchain();
          h = {};
        })[0];
        loss = sum(square(h * 2 + other));
        loss.backward(options);
        BOOST_CHECK(!x.grad());
      }
      BOOST_CHECK(catena::is_sole_reference(*data.get()));
      BOOST_TEST(InterruptedProduct::alive == 0);
    }
}

// As before, but only the graph refers to h.
BOOST_AUTO_TEST_CASE(of_variables_that_are_unchained_without_handles) {
  {
    Variable x(arrays::full({4}, 0.5)), h = tanh(x);
    FunctionNode* const creator = h.creator();
    Variable loss = sum(square(
        h * 2 + apply_node<InterruptedProduct>({h, Variable(arrays::full({4}, 2))}, [=] { creator->unchain(); })[0]));
    h = {};
    loss.backward(kTwice);
    BOOST_CHECK(!x.grad());
  }
  BOOST_TEST(InterruptedProduct::alive == 0);
}

// grad() visits a variable of which the outer run has a handle, before the last other handle is destroyed.
BOOST_AUTO_TEST_CASE(after_grad_within_a_rule) {
  const auto gradient = [](bool interrupted) {
    Variable x(arrays::full({4}, 0.5)), h = tanh(x), aside = square(h);
    Variable loss = sum(square(h * 2 + apply_node<InterruptedProduct>({h, Variable(arrays::full({4}, 2))}, [&] {
                                 if (!interrupted) return;
                                 grad({aside}, {x});
                                 h = {};
                               })[0]));
    loss.backward();
    return to_vector<float>(x.grad());
  };
  BOOST_TEST((gradient(true) == gradient(false)));
}

// The second call takes h out of the graph, as unchain does.
BOOST_AUTO_TEST_CASE(of_the_output_of_a_function_that_a_rule_calls_again) {
  struct Copy final : Function {
    Arrays forward(const Arrays& x) override { return {copy(x[0])}; }
  };
  Array data;
  {
    Variable x(arrays::full({4}, 0.5));
    const auto f = make_function<Copy>();
    Variable h = f(x);
    data = h.data();
    Variable loss =
        sum(square(h * 2 + apply_node<InterruptedProduct>({h, Variable(arrays::full({4}, 2))}, [&] { f(x); })[0]));
    h = {};
    BOOST_CHECK_THROW(loss.backward(kTwice), catena::RuntimeError);
  }
  BOOST_CHECK(catena::is_sole_reference(*data.get()));
  BOOST_TEST(InterruptedProduct::alive == 0);
}

BOOST_AUTO_TEST_SUITE_END()
