// The backward engine: order, accumulation, seeds, retained gradients, second derivatives, grad().
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include <catena/autograd/function.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/variable_node.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;

namespace {

std::vector<float> floats(const Array& a) { return to_vector<float>(a); }
#define CHECK_VALUES(array, ...) \
  BOOST_TEST(floats(array) == (std::vector<float> __VA_ARGS__), boost::test_tools::per_element())

// x -> (x, x): hands on what it gets and notes the order of calls.
std::vector<std::string> calls;
class Noted final : public FunctionNode {
 public:
  Noted(std::string name, std::size_t outputs = 1) : name_(std::move(name)), outputs_(outputs) {}
  std::string label() const override { return name_; }
  Arrays forward(const Arrays& x) override {
    Arrays y;
    for (std::size_t k = 0; k < outputs_; ++k) y.push_back(copy(x[0]));
    return y;
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    calls.push_back(name_);
    Variable sum;
    for (const Variable& g : gy)
      if (g) sum = sum ? sum + g : g;
    Variables gx(targets.size());
    for (Variable& g : gx) g = sum;
    return gx;
  }

 private:
  std::string name_;
  std::size_t outputs_;
};
Variable noted(const Variable& x, const std::string& name) { return apply_node<Noted>({x}, name)[0]; }

struct Wrong final : FunctionNode {
  explicit Wrong(std::function<Variables(const Variables&)> rule) : rule(std::move(rule)) {}
  std::string label() const override { return "wrong"; }
  Arrays forward(const Arrays& x) override { return {copy(x[0])}; }
  Variables backward(const Targets&, const Variables& gy) override { return rule(gy); }
  std::function<Variables(const Variables&)> rule;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(backward)

BOOST_AUTO_TEST_CASE(on_a_root_nothing_happens) {
  Variable x(arrays::ones({}));
  x.backward();
  BOOST_CHECK(!x.grad());
}

BOOST_AUTO_TEST_CASE(seeds) {
  Variable x(arrays::ones({1, 1}));
  Variable y = x * 3;
  y.backward();
  CHECK_VALUES(y.grad(), {1});
  CHECK_VALUES(x.grad(), {3});
  Variable big(arrays::ones({2}));
  Variable z = big * 2;
  BOOST_CHECK_EXCEPTION(z.backward(), catena::RuntimeError, [](const auto& e) {
    return std::string(e.what()).find("set its grad first") != std::string::npos;
  });
  // With a gradient on another output of the same function it is taken as absent.
  Variables two = apply_node<Noted>({big}, "two", std::size_t(2));
  two[1].set_grad(arrays::full({2}, 5));
  two[0].backward();
  CHECK_VALUES(big.grad(), {5, 5});
}

BOOST_AUTO_TEST_CASE(functions_run_once_from_the_highest_rank_down) {
  calls.clear();
  Variable x(arrays::ones({}));
  const Variable a = noted(x, "a");
  const Variable b = noted(a, "b"), c = noted(a, "c"), d = noted(b, "d");
  Variable y = d + c;  // ranks: d 2, c 1, b 1
  y.backward();
  BOOST_TEST(calls == (std::vector<std::string>{"d", "c", "b", "a"}), boost::test_tools::per_element());
  CHECK_VALUES(x.grad(), {2});
}

BOOST_AUTO_TEST_CASE(one_variable_in_several_slots) {
  Variable x(array<float>({2, 3}, {2}));
  Variable y = sum(x * x * x);
  y.backward();
  CHECK_VALUES(x.grad(), {12, 27});
  Variable z(array<float>({2}, {1}));
  const Variables w = identity(Variables{z, z, z});
  Variable total = w[0] + w[1] + w[2];
  total.backward();
  CHECK_VALUES(z.grad(), {3});
}

BOOST_AUTO_TEST_CASE(leaves_accumulate_over_runs) {
  Variable x(arrays::ones({2}));
  Variable y = sum(x * 2);
  y.backward();
  y.backward();
  CHECK_VALUES(x.grad(), {4, 4});
  Variable h(arrays::ones({2}), {.grad = arrays::full({2}, 10)});
  const Array own = h.grad();
  sum(h * 2).backward();
  CHECK_VALUES(h.grad(), {12, 12});
  BOOST_CHECK(h.grad().get() == own.get());  // what the user set is added to in place
}

BOOST_AUTO_TEST_CASE(intermediates_start_afresh) {
  Variable x(arrays::ones({2}));
  Variable h = x * 2;
  h.set_grad(arrays::full({2}, 100));  // stale
  Variable y = sum(h * 3);
  y.backward();
  CHECK_VALUES(x.grad(), {6, 6});
  BOOST_CHECK(!h.grad());
}

BOOST_AUTO_TEST_CASE(gradients_of_intermediates_are_kept_on_request) {
  Variable x(arrays::ones({2}));
  Variable h = x * 2;
  Variable y = sum(h * 3);
  y.backward({.retain_grad = true});
  CHECK_VALUES(h.grad(), {3, 3});
  CHECK_VALUES(y.grad(), {1});
  y.backward(true);
  CHECK_VALUES(h.grad(), {3, 3});  // not accumulated
  CHECK_VALUES(x.grad(), {12, 12});
  y.backward();
  BOOST_CHECK(!h.grad());
}

// The same array may be returned for two inputs, or be the caller's gradient: it is never written.
BOOST_AUTO_TEST_CASE(arrays_of_functions_are_never_written) {
  Variable a(arrays::ones({2})), b(arrays::ones({2}));
  Variable y = a + b;
  const Array g = arrays::full({2}, 3);
  y.set_grad(g);
  y.backward();
  BOOST_CHECK(a.grad().get() == g.get());
  BOOST_CHECK(b.grad().get() == g.get());
  y.backward();  // shared: replaced by a new array
  CHECK_VALUES(g, {3, 3});
  CHECK_VALUES(a.grad(), {6, 6});
  const Array own = a.grad();
  y.backward();  // now our own: added to in place
  BOOST_CHECK(a.grad().get() == own.get());
  CHECK_VALUES(a.grad(), {9, 9});
  Variable x(arrays::ones({2}));
  Variable z = x + x + x + x;
  z.set_grad(g);
  z.backward();
  CHECK_VALUES(x.grad(), {12, 12});
  CHECK_VALUES(g, {3, 3});
}

// x -> x, with a gradient of its own making, whose memory it notes.
struct Fresh final : FunctionNode {
  const void** made;
  const void** met;
  Array* also_held;
  Fresh(const void** made_at, const void** met_at, Array* held) : made(made_at), met(met_at), also_held(held) {}
  std::string label() const override { return "Fresh"; }
  Arrays forward(const Arrays& x) override { return {copy(x[0])}; }
  Variables backward(const Targets&, const Variables& gy) override {
    if (met) *met = gy[0].data()->data;
    const Array gx = copy(gy[0].data());
    if (made) *made = gx->data;
    if (also_held) *also_held = gx;
    return {Variable(gx)};
  }
};

// A fused rule writes its result over the gradient that it reads, if that has no other owner.
BOOST_AUTO_TEST_CASE(spare_gradients_are_overwritten) {
  const std::vector<float> values{0.5f, -1, 2};
  std::vector<float> slope;
  for (const float v : values) slope.push_back(float(1 - std::tanh(double(v)) * std::tanh(double(v))));
  const auto check = [](const Array& a, const std::vector<float>& expected, double factor) {
    const std::vector<float> got = floats(a);
    for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(std::abs(got[i] - factor * expected[i]) < 1e-5);
  };
  const void *made = nullptr, *met = nullptr;
  const auto run = [&](Array* held, const BackwardOptions& options) {
    Variable x(array<float>(values, {3}));
    Variable middle = apply_node<Fresh>({x}, nullptr, &met, nullptr)[0], t = tanh(middle);
    Variable y = apply_node<Fresh>({t}, &made, nullptr, held)[0];
    y.set_grad(arrays::full({3}, 2));
    y.backward(options);
    check(x.grad(), slope, 2);
    CHECK_VALUES(y.grad(), {2, 2, 2});
    if (options.retain_grad) CHECK_VALUES(t.grad(), {2, 2, 2});
    return made == met;
  };
  BOOST_TEST(run(nullptr, {}));
  BOOST_TEST(!run(nullptr, {.retain_grad = true}));
  BOOST_TEST(!run(nullptr, {.enable_double_backprop = true}));
  Array held;
  BOOST_TEST(!run(&held, {}));
  CHECK_VALUES(held, {2, 2, 2});

  // The gradient that the user gave, one that two functions get, and one that repeats its elements.
  Variable x(array<float>(values, {3})), z(array<float>(values, {3}));
  Variable direct = tanh(x);
  const Array given = arrays::full({3}, 3);
  direct.set_grad(given);
  direct.backward();
  check(x.grad(), slope, 3);
  CHECK_VALUES(given, {3, 3, 3});
  x.cleargrad();
  sum((tanh(x) + tanh(z)) * 5).backward();
  check(x.grad(), slope, 5);
  check(z.grad(), slope, 5);
  x.cleargrad();
  sum(tanh(x)).backward();
  check(x.grad(), slope, 1);
}

// The second contribution is added to the first where that has no other owner.
BOOST_AUTO_TEST_CASE(spare_gradients_are_added_to) {
  const auto run = [](Array* held) {
    const void *made = nullptr, *met = nullptr;
    Variable x(arrays::ones({3}));
    const Variable middle = apply_node<Fresh>({x}, nullptr, &met, nullptr)[0];
    // Of two functions of one rank the one that was reached first goes first: the shorter branch.
    const Variable first = apply_node<Fresh>({middle}, &made, nullptr, held)[0],
                   second = noted(noted(middle, "a"), "b") * 3;
    sum(first + second).backward();
    CHECK_VALUES(x.grad(), {4, 4, 4});
    return made == met;
  };
  BOOST_TEST(run(nullptr));
  Array held;
  BOOST_TEST(!run(&held));
  CHECK_VALUES(held, {1, 1, 1});
}

BOOST_AUTO_TEST_CASE(a_leaf_never_keeps_a_broadcast_view) {
  Variable x(arrays::ones({2, 3}));
  sum(x).backward();
  BOOST_CHECK(x.grad().is_c_contiguous());
  sum(x).backward();
  CHECK_VALUES(x.grad(), {2, 2, 2, 2, 2, 2});
}

// x goes through "x" and then meets w; "join" and the product are what w needs.
BOOST_AUTO_TEST_CASE(rules_run_for_variables_that_are_held) {
  const auto run = [](bool hold_x, bool hold_middle, const BackwardOptions& options) {
    calls.clear();
    Variable w(array<float>({2, 3}, {2})), x(array<float>({5, 7}, {2}));
    Variable first = noted(x, "x"), middle = noted(first, "middle"), y = sum(noted(middle * w, "join"));
    first = {};
    if (!hold_x) x = {};
    if (!hold_middle) middle = {};
    y.backward(options);
    CHECK_VALUES(w.grad(), {5, 7});
    if (hold_x) CHECK_VALUES(x.grad(), {2, 3});
    if (hold_middle && options.retain_grad) CHECK_VALUES(middle.grad(), {2, 3});
    return calls;
  };
  using Names = std::vector<std::string>;
  BOOST_TEST(run(true, false, {}) == (Names{"join", "middle", "x"}), boost::test_tools::per_element());
  BOOST_TEST(run(false, false, {}) == (Names{"join"}), boost::test_tools::per_element());
  BOOST_TEST(run(false, true, {}) == (Names{"join"}), boost::test_tools::per_element());
  BOOST_TEST(run(false, true, {.retain_grad = true}) == (Names{"join"}), boost::test_tools::per_element());
  BOOST_TEST(run(true, false, {.enable_double_backprop = true}) == (Names{"join", "middle", "x"}),
             boost::test_tools::per_element());

  // Two ways lead from h back to x, one of them through a variable that needs no gradient.
  calls.clear();
  Variable x(arrays::ones({2})), constant(arrays::ones({2}), {.requires_grad = false});
  Variable h = noted(x, "h");
  Variable y = sum(noted(h, "left") + noted(h * constant, "right") + noted(noted(constant, "c") * 1, "d"));
  y.backward();
  BOOST_TEST(calls == (Names{"right", "left", "h"}), boost::test_tools::per_element());
  CHECK_VALUES(x.grad(), {2, 2});
}

BOOST_AUTO_TEST_CASE(absent_gradients_stop_there) {
  Variable x(arrays::ones({2}));
  Variable h = x * 2;
  Variable y = apply_node<Wrong>({h}, [](const Variables&) { return Variables(1); })[0];
  y.set_grad(arrays::ones({2}));
  y.backward();
  BOOST_CHECK(!x.grad());
}

BOOST_AUTO_TEST_CASE(wrong_gradients_are_named) {
  Variable x(arrays::ones({2}));
  const auto run = [&](std::function<Variables(const Variables&)> rule) {
    Variable y = apply_node<Wrong>({x}, rule)[0];
    y.set_grad(arrays::ones({2}));
    y.backward();
  };
  const auto named = [](const catena::Error& e) {
    return std::string(e.what()).starts_with("Function `Wrong` (wrong) has a bug.\n");
  };
  BOOST_CHECK_EXCEPTION(run([](const Variables&) { return Variables{Variable(arrays::ones({3}))}; }),
                        catena::ValueError, named);
  BOOST_CHECK_EXCEPTION(run([](const Variables&) { return Variables{Variable(arrays::ones({2}, Dtype::float64))}; }),
                        catena::TypeError, named);
  BOOST_CHECK_THROW(run([](const Variables& g) { return Variables{g[0], g[0]}; }), catena::AssertionError);
}

BOOST_AUTO_TEST_CASE(an_exception_leaves_no_gradient_behind) {
  Variable x(arrays::ones({}));
  Variable h = x * 2;
  Variable bad = apply_node<Wrong>({h}, [](const Variables&) -> Variables { throw catena::RuntimeError("stop"); })[0];
  Variable k = h * 3;
  Variable y = -(bad + k * 1);
  BOOST_CHECK_THROW(y.backward({.enable_double_backprop = true}), catena::RuntimeError);
  BOOST_CHECK(!h.grad());
  k.unchain();
  BOOST_CHECK(!x.grad());
}

BOOST_AUTO_TEST_CASE(inputs_without_requires_grad) {
  Variable x(arrays::ones({2})), w(arrays::ones({2}), {.requires_grad = false});
  sum(x * w).backward();
  BOOST_CHECK(x.grad());
  BOOST_CHECK(!w.grad());
  BOOST_CHECK((w * w).creator() == nullptr);
}

BOOST_AUTO_TEST_CASE(volatile_variables_have_no_graph) {
  Variable x(arrays::ones({}), {.volatile_ = ON});
  Variable y = x * x;
  y.backward();
  BOOST_CHECK(!x.grad());
}

// ---- second derivatives ----

BOOST_AUTO_TEST_CASE(gradients_can_be_differentiated) {
  Variable x(array<float>({2}, {1}));
  Variable y = x * x * x;
  y.backward({.enable_double_backprop = true});
  CHECK_VALUES(x.grad(), {12});
  Variable gx = x.grad_variable();
  BOOST_CHECK(gx.creator() != nullptr);
  x.cleargrad();
  gx.backward();
  CHECK_VALUES(x.grad(), {12});  // 6 x
  x.cleargrad();
  y.backward();
  BOOST_CHECK(x.grad_variable().creator() == nullptr);
}

BOOST_AUTO_TEST_CASE(a_gradient_with_a_graph_does_not_keep_itself_alive) {
  Array data;
  {
    Variable x(arrays::ones({1}));
    data = x.data();
    Variable y = x * x * x;
    y.backward({.enable_double_backprop = true});
    BOOST_CHECK(x.grad_variable().creator() != nullptr);
  }
  BOOST_TEST(data->refs.load() == 1u);
}

BOOST_AUTO_TEST_CASE(second_derivatives_pass_through_dead_variables) {
  Variable x(array<double>({0.3}, {1}));
  Variable y = exp(sin(x * x));  // all intermediates are temporaries
  y.backward({.enable_double_backprop = true});
  Variable gx = x.grad_variable();
  x.cleargrad();
  gx.backward();
  // d2/dx2 exp(sin(x^2)) = exp(sin u) (4 x^2 cos^2 u - 4 x^2 sin u + 2 cos u), u = x^2
  const double u = 0.09, expected = std::exp(std::sin(u)) *
                                    (4 * u * std::cos(u) * std::cos(u) - 4 * u * std::sin(u) + 2 * std::cos(u));
  BOOST_CHECK_SMALL(to_vector<double>(x.grad())[0] - expected, 1e-12);
}

BOOST_AUTO_TEST_CASE(grad_changes_no_gradient) {
  Variable x(array<float>({2}, {1})), w(array<float>({5}, {1}));
  x.set_grad(array<float>({100}, {1}));
  Variable h = x * x;
  Variable y = h * w;
  const Variables g = grad({y}, {x, h, w}, {}, true);
  CHECK_VALUES(g[0].data(), {20});
  CHECK_VALUES(g[1].data(), {5});
  CHECK_VALUES(g[2].data(), {4});
  CHECK_VALUES(x.grad(), {100});
  BOOST_CHECK(!w.grad() && !h.grad() && !y.grad());
  const Variables gg = grad({g[0]}, {x, w});
  CHECK_VALUES(gg[0].data(), {10});
  CHECK_VALUES(gg[1].data(), {4});
  const Variables weighted = grad({y}, {x}, {Variable(array<float>({3}, {1}))});
  CHECK_VALUES(weighted[0].data(), {60});
  BOOST_CHECK(!grad({y}, {Variable(arrays::ones({1}))})[0]);
  BOOST_CHECK_THROW(grad({y}, {x}, {Variable(), Variable()}), catena::ValueError);
}

// The rule differentiates with respect to a variable that has a part of its gradient already.
BOOST_AUTO_TEST_CASE(grad_in_a_rule_changes_no_gradient_of_the_run) {
  struct Square final : FunctionNode {
    std::string label() const override { return "Square"; }
    Arrays forward(const Arrays& x) override {
      retain_inputs({0});
      return {x[0] * x[0]};
    }
    Variables backward(const Targets&, const Variables& gy) override {
      const Variable x = retained_input(0);
      return grad({x * x}, {x}, {gy[0]}, true);
    }
  };
  for (const bool held : {false, true}) {
    Variable x(array<float>({5}, {1})), h = x * 3;
    Variable y = h * 2 + apply_node<Square>({h})[0];
    if (!held) h = {};
    y.backward({.enable_double_backprop = true});
    CHECK_VALUES(x.grad(), {96});  // 3 (2 + 2 h)
  }
}

// ---- Functions on raw arrays ----

struct Cube : Function {
  Arrays forward(const Arrays& x) override { return {x[0] * x[0] * x[0]}; }
  Arrays backward(const Arrays& x, const Arrays& gy) override { return {3 * x[0] * x[0] * gy[0]}; }
};
struct HostOnly : Function {
  Arrays forward_cpu(const Arrays& x) override { return {copy(x[0])}; }
};

struct DeviceOnly : Function {
  Arrays forward_gpu(const Arrays& x) override { return {copy(x[0])}; }
};

BOOST_AUTO_TEST_CASE(functions_on_raw_arrays) {
  Variable x(array<float>({2}, {1}));
  const auto f = make_function<Cube>();
  Variable y = f({x})[0];
  BOOST_TEST(f->label() == "Cube");
  BOOST_TEST(f->rank() == 0);
  BOOST_CHECK(f->input(0).is_same(x));
  BOOST_CHECK(f->output(0).is_same(y));
  y.backward();
  CHECK_VALUES(x.grad(), {12});
  x.cleargrad();
  y.backward({.enable_double_backprop = true});
  CHECK_VALUES(x.grad(), {12});
  Variable gx = x.grad_variable();
  BOOST_CHECK_THROW(gx.backward(), catena::NotImplementedError);
  x.to_cpu();
  Variable z = make_function<HostOnly>()({x})[0];
  x.cleargrad();
  z.backward();
  BOOST_CHECK(!x.grad());
  const auto refused = [](const auto& f, const Array& a, const std::string& message) {
    BOOST_CHECK_EXCEPTION(f({Variable(a)}), catena::NotImplementedError,
                          [&](const catena::NotImplementedError& e) { return e.what() == message; });
  };
  refused(make_function<DeviceOnly>(), x.data(), "DeviceOnly: forward is not implemented for the CPU");
  if (!test::has_cuda()) return;
  x.to_gpu(0);
  refused(make_function<HostOnly>(), x.data(), "HostOnly: forward is not implemented for GPUs");
  Variable there = make_function<DeviceOnly>()({x})[0];
  BOOST_CHECK(there.device() == test::kCuda);
  CHECK_VALUES(there.data(), {2});
}

BOOST_AUTO_TEST_CASE(calling_a_function_again_takes_the_earlier_call_out_of_the_graph) {
  Variable x(array<float>({2}, {1}));
  const auto f = make_function<Cube>();
  Variable first = f({x})[0], behind = first + 1;
  Variable second = f({x})[0];
  second.backward();
  CHECK_VALUES(x.grad(), {12});
  BOOST_CHECK_THROW(behind.backward(), catena::RuntimeError);
  BOOST_CHECK(!first.grad());
  BOOST_CHECK_THROW(first.backward(), catena::RuntimeError);
}

BOOST_AUTO_TEST_CASE(a_node_is_applied_once) {
  const auto node = make_node<Noted>("once");
  const Variable x(arrays::ones({}));
  node->FunctionNode::apply({x});
  BOOST_CHECK_THROW(node->FunctionNode::apply({x}), catena::RuntimeError);
}

BOOST_AUTO_TEST_SUITE_END()
